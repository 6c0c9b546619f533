"""How much of x tells its tokens apart."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible


def apart(x, keep):
    """x (..., T, D), keep (..., T) -> (...), which part of x tells its real tokens apart."""
    real = keep[..., None]  # (..., T, 1)
    tokens = x * real
    rest = (x - tokens.sum(dim=-2, keepdim=True) / real.sum(dim=-2, keepdim=True)) * real
    return rest.norm(dim=(-2, -1)) / tokens.norm(dim=(-2, -1))


def first(lengths: list[int], places: int):
    """Return keep (B, T): in each sentence the first `length` tokens are real."""
    return torch.arange(places) < torch.tensor(lengths)[:, None]


@visible("two tokens of two numbers")
def two_tokens_of_two_numbers(student):
    return student.apart(torch.tensor([[3.0, 1.0], [1.0, 3.0]]), torch.tensor([True, True]))


@visible("the same two tokens, and padding")
def the_same_two_tokens_and_padding(student):
    x = torch.tensor([[3.0, 1.0], [1.0, 3.0], [-8.0, 2.0]])
    return student.apart(x, torch.tensor([True, True, False]))


@visible("five tokens of seven are real")
def five_tokens_of_seven_are_real(student):
    keep = torch.tensor([False, True, True, True, False, True, True])
    return student.apart(randn(7, 3) + 1, keep)


@visible("four sentences of different lengths", weight=2)
def four_sentences_of_different_lengths(student):
    return student.apart(randn(4, 6, 3) + 0.5, first([6, 2, 4, 3], 6))


@visible("twice the same token, and padding")
def twice_the_same_token_and_padding(student):
    x = torch.tensor([[1.0, 2.0, -4.0], [5.0, 5.0, 0.0], [1.0, 2.0, -4.0]])
    return student.apart(x, torch.tensor([True, False, True]))


@visible("x and keep stay as they were")
def x_and_keep_stay(student):
    return after(student.apart, randn(3, 2, seed=4) + 1, torch.tensor([True, False, True]))


@hidden("one real token only")
def apart_one(student):
    x = torch.tensor([[7.0, 7.0, 0.0], [2.0, -3.0, 1.0], [0.0, 1.0, 4.0]])
    return student.apart(x, torch.tensor([False, True, False]))


@hidden("neither larger tokens nor larger padding change it", weight=2)
def apart_scaled(student):
    x, keep = randn(6, 4) + 1, torch.tensor([True, True, False, True, True, False])
    small = student.apart(x, keep)
    large = student.apart(1000 * x, keep)
    other = student.apart(torch.where(keep[:, None], x, 1e5 * randn(6, 4, seed=1)), keep)
    assert (small - large).abs() < 1e-5 and (small - other).abs() < 1e-5
    return other


@hidden("several axes in front", weight=2)
def apart_axes(student):
    keep = randn(2, 3, 5, seed=7) > -0.5
    keep[..., 2] = True
    return student.apart(randn(2, 3, 5, 4) + 0.3, keep)


@hidden("as many sentences as tokens and numbers")
def apart_cube(student):
    return student.apart(randn(4, 4, 4, seed=2) + 0.4, first([2, 4, 1, 3], 4))


@hidden("tokens that are nearly equal, in double precision", tolerance=1e-12)
def apart_near(student):
    token = randn(1, 5, dtype=torch.float64)
    x = token + 1e-4 * randn(7, 5, seed=1, dtype=torch.float64)
    x[4] = 9.0
    return student.apart(x, torch.arange(7) != 4)


@hidden("tokens without a common part, no padding")
def apart_opposite(student):
    return student.apart(torch.tensor([[1.0, -2.0], [-1.0, 2.0]]), torch.tensor([True, True]))


@hidden("x and keep are left as they were")
def apart_keeps(student):
    return after(student.apart, randn(2, 4, 3, seed=3), first([3, 2], 4))
