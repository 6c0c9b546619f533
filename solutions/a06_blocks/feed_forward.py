"""A network for each token."""

from __future__ import annotations

import torch
from torch import nn

from coursekit.check.probe import after, module_gradients, randn
from coursetools.questions import hidden, visible

from .gelu import gelu
from .shared import fill


class FeedForward(nn.Module):
    def __init__(self, *, width, hidden):
        super().__init__()
        self.expand = nn.Linear(width, hidden)
        self.contract = nn.Linear(hidden, width)

    def forward(self, x):
        """x (..., width) -> (..., width)."""
        return self.contract(gelu(self.expand(x), 1.0))


def feed(student, width, hidden_width, seed=40):
    shapes = {
        "expand.weight": (hidden_width, width),
        "expand.bias": (hidden_width,),
        "contract.weight": (width, hidden_width),
        "contract.bias": (width,),
    }
    return fill(student.FeedForward(width=width, hidden=hidden_width), shapes, seed)


@visible("one token of two numbers")
def one_token_of_two_numbers(student):
    return feed(student, 2, 3)(torch.tensor([[1.0, -2.0]]))


@visible("two sentences of four tokens")
def two_sentences_of_four_tokens(student):
    return feed(student, 5, 20)(randn(2, 4, 5))


@visible("narrower in the middle")
def narrower_in_the_middle(student):
    return feed(student, 6, 4)(randn(3, 6, seed=1))


@visible("names and shapes of the weights")
def names_and_shapes_of_the_weights(student):
    return {
        name: list(weight.shape)
        for name, weight in student.FeedForward(width=3, hidden=7).state_dict().items()
    }


@hidden("each token by itself", weight=2)
def feed_tokens(student):
    module, x = feed(student, 4, 9), randn(2, 5, 4)
    together = module(x)
    assert (together[:, 3] - module(x[:, 3])).abs().max() < 1e-5
    return together


@hidden("a middle of one number")
def feed_narrow(student):
    return feed(student, 3, 1)(randn(4, 3))


@hidden("gradients at input and weights", weight=2)
def feed_gradients(student):
    return module_gradients(feed(student, 3, 8), randn(4, 3))


@hidden("large numbers")
def feed_large(student):
    return feed(student, 4, 6)(100 * randn(3, 4))


@hidden("the input is left as it was")
def feed_keeps(student):
    return after(feed(student, 4, 6), randn(2, 3, 4))
