"""A soft bend, and how soft."""

from __future__ import annotations

import math

import torch

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def gelu(x, sigma):
    """x (...) -> x Φ(x / σ), the same shape."""
    z = x / sigma
    return x * 0.5 * (1 + torch.erf(z / math.sqrt(2)))


@visible("five numbers, with a σ of 1")
def five_numbers_sigma_1(student):
    return student.gelu(torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0]), 1.0)


@visible("five numbers, σ = 2")
def five_numbers_sigma_2(student):
    return student.gelu(torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0]), 2.0)


@visible("a batch, σ = 0.5")
def a_batch_sigma_one_half(student):
    return student.gelu(randn(2, 3, 4), 0.5)


@visible("gradients, σ = 3")
def gradients_sigma_3(student):
    return gradients(student.gelu, 2 * randn(3, 4, seed=1), 3.0)


@visible("the numbers stay as they were")
def the_numbers_stay(student):
    return after(student.gelu, randn(4, seed=2), 1.5)


@hidden("double precision", tolerance=1e-12)
def gelu_double(student):
    return student.gelu(3 * randn(4, 5, dtype=torch.float64), 1.7)


@hidden("what is kept and what is dropped add up", weight=2)
def gelu_sum(student):
    x = torch.linspace(-4, 4, 33)
    kept, dropped = student.gelu(x, 2.5), -student.gelu(-x, 2.5)
    assert (kept + dropped - x).abs().max() < 1e-5
    return kept


@hidden("the dip lies where σ puts it")
def gelu_dip(student):
    x = torch.linspace(-3, 0, 301)
    found = student.gelu(x, 2.0)
    assert abs(float(x[found.argmin()]) + 1.5) < 0.03
    return found.min()


@hidden("nearly a ReLU, nearly a half", weight=2)
def gelu_ends(student):
    x = torch.tensor([-5.0, -0.5, 0.0, 0.25, 4.0])
    sharp, soft = student.gelu(x, 1e-4), student.gelu(x, 1e4)
    assert (sharp - x.clamp_min(0)).abs().max() < 1e-5
    return sharp, soft


@hidden("far from zero")
def gelu_far(student):
    return student.gelu(torch.tensor([[-50.0, 50.0, 1000.0]]), 30.0)


@hidden("a single number")
def gelu_scalar(student):
    return student.gelu(torch.tensor(0.3), 0.4)


@hidden("the input is left as it was, with a σ of 1")
def gelu_keeps(student):
    return after(student.gelu, randn(3, 4), 1.0)


@hidden("gradients on both sides of zero")
def gelu_gradients(student):
    return gradients(student.gelu, torch.tensor([-3.0, -0.75, 0.0, 1.5]), 0.8)
