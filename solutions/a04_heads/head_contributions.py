"""What each head adds to the result."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def head_contributions(x, weight):
    """x (B, H, T, Dh), weight (D, H·Dh) -> (B, H, T, D)."""
    bands = weight.T.unflatten(0, (x.shape[1], -1))  # (H, Dh, D)
    return x @ bands


@visible("one place, two heads of width 1")
def one_place_two_heads_of_width(student):
    return student.head_contributions(
        torch.tensor([[[[3.0]], [[5.0]]]]), torch.tensor([[1.0, 2.0], [10.0, 20.0]])
    )


@visible("three heads of width 2, a square weight")
def three_heads_of_width_2_a(student):
    return student.head_contributions(randn(2, 3, 4, 2), randn(6, 6, seed=1))


@visible("two heads of width 4, out to width 5")
def two_heads_of_width_4_out(student):
    return student.head_contributions(randn(2, 2, 3, 4), randn(5, 8, seed=1))


@hidden("one head")
def contributions_one(student):
    return student.head_contributions(randn(2, 1, 3, 4), randn(5, 4, seed=1))


@hidden("they add up to what the layer gives", weight=2)
def contributions_sum(student):
    x, weight = randn(2, 4, 3, 2, seed=2), randn(7, 8, seed=3)
    found = student.head_contributions(x, weight)
    assert found.shape == (2, 4, 3, 7)
    assert (found.sum(dim=1) - x.transpose(1, 2).flatten(-2) @ weight.T).abs().max() < 1e-5
    return found


@hidden("a head that is silent adds nothing")
def contributions_silent(student):
    x = randn(1, 3, 2, 4, seed=4)
    x[:, 1] = 0
    return student.head_contributions(x, randn(12, 12, seed=5))


@hidden("double precision", tolerance=1e-12)
def contributions_double(student):
    x, weight = randn(2, 3, 4, 2, dtype=torch.float64), randn(5, 6, seed=6, dtype=torch.float64)
    return student.head_contributions(x, weight)


@hidden("gradients")
def contributions_gradients(student):
    return gradients(student.head_contributions, randn(1, 2, 3, 3), randn(4, 6, seed=7))


@hidden("what was given stays as it was")
def contributions_keeps(student):
    return after(student.head_contributions, randn(1, 3, 2, 2, seed=8), randn(3, 6, seed=9))
