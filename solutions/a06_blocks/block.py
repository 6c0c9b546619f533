"""A block: attention and a network, each added to what was there."""

from __future__ import annotations

import torch
from torch import nn

from coursekit.check.probe import after, module_gradients, randn
from coursetools.questions import hidden, visible

from .feed_forward import FeedForward
from .shared import block_shapes, fill


class Block(nn.Module):
    def __init__(self, *, width, heads, hidden, placement="pre"):
        super().__init__()
        self.placement = placement
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.feed_forward = FeedForward(width=width, hidden=hidden)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x):
        """x (B, T, width) -> (B, T, width)."""
        if self.placement == "post":
            x = self.norm1(x + self.attend(x))
            return self.norm2(x + self.feed_forward(x))
        x = x + self.attend(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))

    def attend(self, x):
        return self.attention(x, x, x, need_weights=False)[0]


def block(student, placement, width=6, heads=3, hidden_width=8):
    module = student.Block(width=width, heads=heads, hidden=hidden_width, placement=placement)
    return fill(module, block_shapes(width, hidden_width))


@visible("Pre-LN, two tokens of four numbers")
def pre_ln_two_tokens_of_four(student):
    return block(student, "pre", 4, 1, 6)(randn(1, 2, 4))


@visible("Post-LN, two tokens of four numbers")
def post_ln_two_tokens_of_four(student):
    return block(student, "post", 4, 1, 6)(randn(1, 2, 4))


@visible("Pre-LN, two heads, three sentences")
def pre_ln_two_heads_three_sentences(student):
    return block(student, "pre", 8, 2, 12)(2 * randn(3, 5, 8))


@visible("Post-LN, two heads, three sentences")
def post_ln_two_heads_three_sentences(student):
    return block(student, "post", 8, 2, 12)(2 * randn(3, 5, 8))


@visible("names and shapes of the weights")
def names_and_shapes_of_the_weights(student):
    return {
        name: list(weight.shape)
        for name, weight in student.Block(width=4, heads=2, hidden=6).state_dict().items()
    }


@visible("the tokens stay as they were")
def the_tokens_stay(student):
    return [after(block(student, kind, 4, 2, 5), randn(1, 3, 4)) for kind in ("pre", "post")]


@hidden("one token only")
def block_one_token(student):
    x = randn(2, 1, 6)
    return block(student, "pre")(x), block(student, "post")(x)


@hidden("shuffled tokens give shuffled outputs")
def block_shuffled(student):
    module, x = block(student, "pre"), randn(2, 5, 6)
    order = torch.tensor([3, 0, 4, 1, 2])
    return module(x)[:, order], module(x[:, order])


@hidden("no sentence of a batch changes another", weight=2)
def block_company(student):
    module, x = block(student, "post"), randn(3, 4, 6)
    return module(x)[1], module(x[1:2])[0]


@hidden("Pre-LN: where both halves say nothing, x comes through", weight=2)
def block_quiet(student):
    module = student.Block(width=4, heads=2, hidden=6, placement="pre")
    shapes = block_shapes(4, 6)
    module.load_state_dict({name: torch.zeros(*shape) for name, shape in shapes.items()})
    x = 3 * randn(2, 5, 4)
    found = module(x)
    assert (found - x).abs().max() < 1e-6
    return found


@hidden("Post-LN: the size of the output is that of a norm")
def block_sized(student):
    module = student.Block(width=6, heads=2, hidden=8, placement="post")
    shapes = block_shapes(6, 8)
    filled = {name: 0.4 * randn(*shape, seed=n) for n, (name, shape) in enumerate(shapes.items())}
    for n in (1, 2):
        filled |= {f"norm{n}.weight": torch.ones(6), f"norm{n}.bias": torch.zeros(6)}
    module.load_state_dict(filled)
    return module(50 * randn(2, 3, 6))


@hidden("gradients at input and weights, Pre-LN", weight=2)
def block_gradients_pre(student):
    return module_gradients(block(student, "pre"), randn(2, 4, 6))


@hidden("gradients at input and weights, Post-LN", weight=2)
def block_gradients_post(student):
    return module_gradients(block(student, "post"), randn(2, 4, 6))


@hidden("the norm stands before unless told otherwise")
def block_default(student):
    module = student.Block(width=4, heads=1, hidden=5)
    return fill(module, block_shapes(4, 5))(randn(2, 3, 4))


@hidden("what was given stays as it was, in both placements")
def block_keeps(student):
    return [after(block(student, kind), 2 * randn(2, 3, 6, seed=1)) for kind in ("post", "pre")]
