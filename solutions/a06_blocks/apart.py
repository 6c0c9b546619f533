"""How much of x tells its tokens apart."""

from __future__ import annotations

import torch

from coursekit.check.probe import randn
from coursekit.questions import hidden, visible


def apart(x):
    """x (..., T, D) -> (...), which part of x tells its tokens apart."""
    rest = x - x.mean(dim=-2, keepdim=True)  # (..., T, D)
    return rest.norm(dim=(-2, -1)) / x.norm(dim=(-2, -1))


@visible("two tokens of two numbers")
def two_tokens_of_two_numbers(student):
    return student.apart(torch.tensor([[3.0, 1.0], [1.0, 3.0]]))


@visible("five tokens, width 3")
def five_tokens_width_3(student):
    return student.apart(randn(5, 3) + 1)


@visible("a batch of four sentences", weight=2)
def a_batch_of_four_sentences(student):
    return student.apart(randn(4, 6, 3) + 0.5)


@visible("twice the same token")
def twice_the_same_token(student):
    return student.apart(torch.tensor([[1.0, 2.0, -4.0], [1.0, 2.0, -4.0]]))


@hidden("one token only")
def apart_one(student):
    return student.apart(torch.tensor([[2.0, -3.0, 1.0]]))


@hidden("larger tokens are not further apart", weight=2)
def apart_scaled(student):
    x = randn(6, 4) + 1
    small, large = student.apart(x), student.apart(1000 * x)
    assert (small - large).abs() < 1e-5
    return large


@hidden("several axes in front", weight=2)
def apart_axes(student):
    return student.apart(randn(2, 3, 5, 4) + 0.3)


@hidden("tokens that are nearly equal, in double precision", tolerance=1e-12)
def apart_near(student):
    token = randn(1, 5, dtype=torch.float64)
    return student.apart(token + 1e-4 * randn(7, 5, seed=1, dtype=torch.float64))


@hidden("tokens without a common part")
def apart_opposite(student):
    return student.apart(torch.tensor([[1.0, -2.0], [-1.0, 2.0]]))
