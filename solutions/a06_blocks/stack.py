"""A stack of blocks, and a last norm where they need one."""

from __future__ import annotations

from torch import nn

from coursekit.check.probe import after, module_gradients, randn
from coursetools.questions import hidden, visible

from .block import Block
from .shared import block_shapes, fill


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


def stack(student, depth, placement, width=4, seed=40):
    shapes = {}
    for layer in range(depth):
        shapes |= block_shapes(width, 7, f"blocks.{layer}.")
    if placement == "pre":
        shapes |= {"final.weight": (width,), "final.bias": (width,)}
    module = student.Stack(depth=depth, width=width, heads=2, hidden=7, placement=placement)
    return fill(module, shapes, seed)


@visible("one block, Pre-LN")
def one_block_pre_ln(student):
    return stack(student, 1, "pre", seed=70)(randn(1, 3, 4))


@visible("three blocks, Pre-LN")
def three_blocks_pre_ln(student):
    return stack(student, 3, "pre", 6, 70)(randn(2, 5, 6))


@visible("three blocks, Post-LN")
def three_blocks_post_ln(student):
    return stack(student, 3, "post", 6, 70)(randn(2, 5, 6))


@visible("names of the weights")
def names_of_the_weights(student):
    return {
        placement: sorted(
            student.Stack(depth=2, width=4, heads=1, hidden=3, placement=placement)
            .state_dict()
            .keys()
        )
        for placement in ("pre", "post")
    }


@hidden("one block, Post-LN")
def stack_one(student):
    return stack(student, 1, "post")(randn(2, 3, 4))


@hidden("eight blocks, Pre-LN", weight=2)
def stack_deep(student):
    return stack(student, 8, "pre")(randn(2, 5, 4))


@hidden("eight blocks, Post-LN", weight=2)
def stack_deep_post(student):
    return stack(student, 8, "post")(randn(2, 5, 4))


@hidden("every block has weights of its own")
def stack_own_weights(student):
    names = stack(student, 3, "pre").state_dict()
    return sorted(name for name in names if name.endswith("expand.bias"))


@hidden("gradients at input and weights", weight=2)
def stack_gradients(student):
    return module_gradients(stack(student, 2, "pre"), randn(2, 3, 4))


@hidden("the norm stands before unless told otherwise")
def stack_default(student):
    module = student.Stack(depth=1, width=4, heads=2, hidden=7)
    shapes = {**block_shapes(4, 7, "blocks.0."), "final.weight": (4,), "final.bias": (4,)}
    return fill(module, shapes)(randn(1, 3, 4))


@hidden("what was given stays as it was")
def stack_keeps(student):
    return after(stack(student, 2, "post"), randn(2, 3, 4, seed=1))
