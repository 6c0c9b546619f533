"""How decided is a row? Its entropy, in bits."""

from __future__ import annotations

import math

import torch

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible


def entropy_bits(weights):
    """weights (..., T, S) -> entropy of each row in bits, (..., T)."""
    return -torch.special.xlogy(weights, weights).sum(dim=-1) / math.log(2)


@visible("four equal weights, and a half and two quarters")
def four_equal_weights_and_a_half(student):
    return student.entropy_bits(torch.tensor([[0.25, 0.25, 0.25, 0.25], [0.5, 0.25, 0.125, 0.125]]))


@visible("a batch of random rows")
def a_batch_of_random_rows(student):
    return student.entropy_bits(randn(2, 3, 6).softmax(dim=-1))


@visible("a row that has decided")
def a_row_that_has_decided(student):
    return student.entropy_bits(torch.tensor([[0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]]))


@visible("a million equal weights")
def a_million_equal_weights(student):
    return student.entropy_bits(torch.full((1, 2**20), 2.0**-20))


@visible("the weights stay as they were")
def the_weights_stay(student):
    return after(student.entropy_bits, torch.tensor([[0.5, 0.0, 0.5], [0.0, 0.0, 1.0]]))


@hidden("one key only")
def entropy_one_key(student):
    return student.entropy_bits(torch.ones(2, 3, 1))


@hidden("many equal weights")
def entropy_equal(student):
    return student.entropy_bits(torch.full((2, 1024), 1 / 1024))


@hidden("tiny weights", weight=2)
def entropy_tiny(student):
    return student.entropy_bits((40 * randn(3, 12, seed=1)).softmax(dim=-1))


@hidden("double precision and several axes in front", tolerance=1e-12)
def entropy_double(student):
    return student.entropy_bits(randn(2, 3, 4, 5, dtype=torch.float64).softmax(dim=-1))


@hidden("the input is left as it was")
def entropy_keeps(student):
    return after(student.entropy_bits, torch.tensor([[0.0, 0.75, 0.25]]))
