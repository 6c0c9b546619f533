"""A turn in place of an addition."""

from __future__ import annotations

import math

import torch

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def turn(x, places, base=10_000.0):
    """x (..., T, D), places (T,) -> (..., T, D), each pair of neighbours turned."""
    speeds = base ** (-torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1])  # (D / 2,)
    angles = places[:, None] * speeds  # (T, D / 2)
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


@visible("one pair, a quarter of a turn")
def one_pair_a_quarter_of_a(student):
    return student.turn(
        torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0]]),
        torch.tensor([0.0, math.pi / 2, math.pi / 2]),
    )


@visible("four words of width 6")
def four_words_of_width_6(student):
    return student.turn(randn(4, 6), torch.tensor([0.0, 1.0, 5.0, 9.0]), 100.0)


@visible("a batch of two, three heads")
def a_batch_of_two_three_heads(student):
    return student.turn(randn(2, 3, 5, 8), torch.arange(5.0))


@visible("vectors and places stay as they were")
def vectors_and_places_stay(student):
    return after(student.turn, randn(3, 4, seed=1), torch.tensor([1.0, 2.0, 4.0]))


@hidden("scores know the distance and nothing else", weight=2)
def only_the_distance(student):
    q, k = randn(1, 8), randn(1, 8, seed=1)

    def score(i, j):
        at = torch.tensor([i]), torch.tensor([j])
        return (student.turn(q, at[0]) * student.turn(k, at[1])).sum()

    near, same_distance = score(5.0, 2.0), score(25.0, 22.0)
    assert (near - same_distance).abs() < 1e-4
    return near, score(5.0, 3.0)


@hidden("lengths are kept")
def lengths(student):
    x = randn(3, 6, 4)
    turned = student.turn(x, 2 * torch.arange(6.0))
    assert (turned.norm(dim=-1) - x.norm(dim=-1)).abs().max() < 1e-5
    return turned


@hidden("whole-number places")
def whole_numbers(student):
    return student.turn(randn(2, 3, 4), torch.tensor([4, 0, 7]))


@hidden("double precision and several axes in front", tolerance=1e-12)
def turn_double(student):
    places = torch.tensor([0.0, 3.0, 11.0], dtype=torch.float64)
    return student.turn(randn(2, 2, 5, 3, 6, dtype=torch.float64), places, 77.0)


@hidden("the inputs are left as they were")
def turn_keeps(student):
    return after(student.turn, randn(4, 6), torch.arange(4.0))


@hidden("gradients")
def turn_gradients(student):
    return gradients(student.turn, randn(3, 4), torch.tensor([1.0, 2.0, 6.0]))
