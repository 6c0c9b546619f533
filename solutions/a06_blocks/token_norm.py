"""A norm for each token."""

from __future__ import annotations

import torch
from torch import nn

from coursekit.check.probe import after, module_gradients, randn
from coursetools.questions import hidden, visible

from .shared import fill


class TokenNorm(nn.Module):
    def __init__(self, *, width, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        """x (..., width) -> (..., width), each token by itself."""
        mean, var = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True, correction=0)
        return (x - mean) / (var + self.eps).sqrt() * self.weight + self.bias


def norm(student, width, eps=1e-5, seed=40):
    shapes = {"weight": (width,), "bias": (width,)}
    return fill(student.TokenNorm(width=width, eps=eps), shapes, seed, scale=1.0)


@visible("a fresh norm, one token of four numbers")
def a_fresh_norm_one_token_of(student):
    return student.TokenNorm(width=4)(torch.tensor([[1.0, 2.0, 3.0, 6.0]]))


@visible("gain and bias loaded")
def gain_and_bias_loaded(student):
    return norm(student, 4)(randn(5, 4) + 1)


@visible("a batch of two")
def a_batch_of_two(student):
    return norm(student, 6)(3 * randn(2, 5, 6) - 1)


@visible("eps of a half")
def eps_of_a_half(student):
    return norm(student, 4, 0.5)(randn(3, 4, seed=1))


@visible("names and start of the weights")
def names_and_start_of_the_weights(student):
    return {
        name: weight.tolist() for name, weight in student.TokenNorm(width=3).state_dict().items()
    }


@visible("the tokens stay as they were")
def the_tokens_stay(student):
    return after(norm(student, 3), randn(2, 3, seed=2) + 1)


@hidden("a token a hundred times as large, and one moved up")
def norm_moved(student):
    module, x = norm(student, 8), randn(3, 8)
    return module(100 * x), module(x + 5)


@hidden("quiet tokens", weight=2)
def norm_quiet(student):
    return norm(student, 6)(0.003 * randn(2, 4, 6))


@hidden("the eps unless told otherwise")
def norm_default(student):
    return student.TokenNorm(width=6)(0.003 * randn(2, 4, 6))


@hidden("a token of equal numbers")
def norm_constant(student):
    return norm(student, 4)(torch.full((2, 4), 3.0))


@hidden("no sentence of a batch changes another", weight=2)
def norm_company(student):
    module, x = norm(student, 5), randn(2, 4, 5)
    louder = torch.cat([x[:1], 10 * x[1:]])
    first = module(x)[0]
    assert (first - module(louder)[0]).abs().max() < 1e-6
    return first


@hidden("several axes in front")
def norm_axes(student):
    return norm(student, 4, eps=0.1)(randn(2, 3, 2, 4))


@hidden("gradients at input and weights", weight=2)
def norm_gradients(student):
    return module_gradients(norm(student, 6, eps=1e-3), randn(3, 6))


@hidden("the input is left as it was")
def norm_keeps(student):
    return after(norm(student, 4), randn(3, 4))
