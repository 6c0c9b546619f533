"""A stack of blocks, and a last norm where they need one."""

from __future__ import annotations

from torch import Tensor, nn

from coursekit.exercises.a06_blocks.block import Block
from coursekit.exercises.a06_blocks.shared import READY_BLOCK, weights
from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


class Stack(nn.Module):
    def __init__(self, *, depth, width, heads, hidden, placement="pre"):
        super().__init__()
        sizes = {"width": width, "heads": heads, "hidden": hidden, "placement": placement}
        self.blocks = nn.ModuleList([Block(**sizes) for _ in range(depth)])
        self.final = nn.LayerNorm(width) if placement == "pre" else nn.Identity()

    def forward(self, x):
        """x (B, T, width) -> (B, T, width)."""
        for block in self.blocks:
            x = block(x)
        return self.final(x)


QUESTION = Question(
    name="Stack",
    title="The pile",
    points=4,
    difficulty=2,
    minutes=20,
    page="blocks.html#sec-blocks-placement",
    hint="nn.ModuleList of `depth` blocks, each made anew, and a loop in forward in which x is "
    "replaced by what the block makes of it. Whether self.final is a norm or does nothing is "
    "decided in __init__.",
    reference=Stack,
    forbidden=READY_BLOCK,
    needs=("Block", "TokenNorm"),
)


def _stacked(student: object, x: Tensor, depth: int, placement: str) -> Tensor:
    sizes = {"width": x.shape[-1], "heads": 2, "hidden": 10, "placement": placement}
    module = student.Stack(depth=depth, **sizes)
    module.load_state_dict(weights(Stack(depth=depth, **sizes)))
    return module(x)


@QUESTION.visible(says="one block, Pre-LN")
def one_block_pre_ln(student):
    return _stacked(student, randn(1, 3, 4), 1, "pre")


@QUESTION.visible(says="three blocks, Pre-LN")
def three_blocks_pre_ln(student):
    return _stacked(student, randn(2, 5, 6), 3, "pre")


@QUESTION.visible(says="three blocks, Post-LN")
def three_blocks_post_ln(student):
    return _stacked(student, randn(2, 5, 6), 3, "post")


@QUESTION.visible(says="names of the weights")
def names_of_the_weights(student):
    return {
        placement: sorted(
            student.Stack(depth=2, width=4, heads=1, hidden=3, placement=placement)
            .state_dict()
            .keys()
        )
        for placement in ("pre", "post")
    }


QUESTION.mistake(
    "one block many times",
    old="[Block(**sizes) for _ in range(depth)]",
    new="[Block(**sizes)] * depth",
    hint="All your layers are one and the same block: [block] * depth repeats the name, not the "
    "block. Make each anew: [Block(...) for _ in range(depth)].",
)

QUESTION.mistake(
    "a plain list",
    old="nn.ModuleList([Block(**sizes) for _ in range(depth)])",
    new="[Block(**sizes) for _ in range(depth)]",
    hint="torch does not see the blocks in a Python list, so they have no weights to load, to "
    "train or to save. nn.ModuleList takes the list.",
)

QUESTION.mistake(
    "no last norm",
    old='nn.LayerNorm(width) if placement == "pre" else nn.Identity()',
    new="nn.Identity()",
    hint="Post-LN passes. A Pre-LN stack leaves its main path unnormalised, so one norm stands "
    "at the end, in self.final.",
)

QUESTION.mistake(
    "a last norm for Post-LN too",
    old='nn.LayerNorm(width) if placement == "pre" else nn.Identity()',
    new="nn.LayerNorm(width)",
    hint="Pre-LN passes. The last thing that a Post-LN block does is to normalise, so its "
    "stack has no norm of its own: nn.Identity().",
)

QUESTION.mistake(
    "last norm after each block",
    old=("x = block(x)\n        return self.final(x)"),
    new=("x = self.final(block(x))\n        return x"),
    hint="You apply self.final after each block, inside the loop. It stands behind the last one "
    "only.",
)

QUESTION.mistake(
    "placement not passed on",
    old=', "placement": placement',
    new="",
    hint="Your blocks are Pre-LN whatever `placement` says: give it to each Block.",
)

QUESTION.mistake(
    "each block reads the input",
    old=("x = block(x)\n        return self.final(x)"),
    new=("out = block(x)\n        return self.final(out)"),
    hint="Each of your blocks gets the input, and only the last one counts. Block 2 reads what "
    "block 1 has made: x = block(x).",
)

QUESTION.mistake(
    "top block first",
    old="in self.blocks",
    new="in reversed(self.blocks)",
    hint="Your blocks run in the wrong order: blocks.0 comes first.",
)
