"""A soft bend."""

from __future__ import annotations

import math

import torch

from coursekit.check.probe import after, gradients, randn
from coursekit.questions import hidden, visible


def gelu(x):
    """x (...) -> x Φ(x), the same shape."""
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


@visible("five numbers")
def five_numbers(student):
    return student.gelu(torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0]))


@visible("a batch")
def a_batch(student):
    return student.gelu(2 * randn(2, 3, 4))


@visible("far from zero")
def far_from_zero(student):
    return student.gelu(torch.tensor([[-50.0, 50.0, 1000.0]]))


@visible("gradients")
def gradients_alone(student):
    return gradients(student.gelu, randn(3, 4, seed=1))


@hidden("double precision", tolerance=1e-12)
def gelu_double(student):
    return student.gelu(3 * randn(4, 5, dtype=torch.float64))


@hidden("what is kept and what is dropped add up", weight=2)
def gelu_sum(student):
    x = torch.linspace(-4, 4, 33)
    kept, dropped = student.gelu(x), -student.gelu(-x)
    assert (kept + dropped - x).abs().max() < 1e-5
    return kept


@hidden("the dip")
def gelu_dip(student):
    x = torch.linspace(-1.5, 0, 151)
    found = student.gelu(x)
    assert abs(float(x[found.argmin()]) + 0.75) < 0.02
    return found.min()


@hidden("a single number")
def gelu_scalar(student):
    return student.gelu(torch.tensor(0.3))


@hidden("the input is left as it was")
def gelu_keeps(student):
    return after(student.gelu, randn(3, 4))


@hidden("gradients on both sides of zero")
def gelu_gradients(student):
    return gradients(student.gelu, torch.tensor([-3.0, -0.75, 0.0, 1.5]))
