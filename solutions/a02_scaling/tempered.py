"""From the mean to the maximum: a softmax with a temperature, down to 0."""

from __future__ import annotations

import math

import torch

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible


def tempered(scores, temperature):
    """scores (..., T, S), temperature from 0 to infinity -> weights (..., T, S)."""
    if temperature > 0:
        return (scores / temperature).softmax(dim=-1)
    best = (scores == scores.amax(dim=-1, keepdim=True)).to(scores.dtype)
    return best / best.sum(dim=-1, keepdim=True)


@visible("temperature 2")
def temperature_2(student):
    return student.tempered(torch.tensor([[2.0, 0.0, -2.0]]), 2.0)


@visible("temperature 0.3, a batch")
def temperature_03_a_batch(student):
    return student.tempered(randn(2, 3, 4), 0.3)


@visible("temperature 0")
def temperature_0(student):
    return student.tempered(torch.tensor([[1.0, 3.0, 2.0], [0.0, -1.0, 5.0]]), 0)


@visible("temperature 0 and a tie")
def temperature_0_and_a_tie(student):
    return student.tempered(torch.tensor([[1.0, 4.0, 4.0], [2.0, 2.0, 2.0]]), 0.0)


@visible("temperature 0 and scores that are nearly equal")
def temperature_0_and_scores_nearly_equal(student):
    return student.tempered(torch.tensor([[1.0, 1.0 + 2**-22, 0.0]]), 0)


@visible("the scores stay as they were")
def the_scores_stay(student):
    return after(student.tempered, randn(2, 3, seed=1), 4.0)


@hidden("an infinite temperature")
def tempered_infinite(student):
    return student.tempered(randn(2, 3, 5), math.inf)


@hidden("temperature 0 and scores below 0", weight=2)
def tempered_below(student):
    close = torch.tensor([[-3.0, -3.0 - 2**-21, -4.0]])
    return student.tempered(-5 - randn(2, 4, 6).abs(), 0), student.tempered(close, 0)


@hidden("a very low temperature")
def tempered_low(student):
    return student.tempered(torch.tensor([[0.1, 0.2, 0.15], [3.0, -3.0, 2.9]]), 1e-4)


@hidden("double precision at temperature 0", tolerance=1e-12)
def tempered_double(student):
    scores = torch.tensor([[1.0, 1.0, 0.0]], dtype=torch.float64)
    return student.tempered(scores, 0.0), student.tempered(scores, 1.5)


@hidden("the input is left as it was")
def tempered_keeps(student):
    return after(student.tempered, randn(3, 4), 0.5)
