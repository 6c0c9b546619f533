"""Clocks of many speeds: sine and cosine of a place."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible


def sinusoids(places, width, base=10_000.0):
    """places (...) -> (..., width): sine and cosine of each place at width / 2 speeds."""
    speeds = base ** (-torch.arange(0, width, 2, dtype=places.dtype) / width)  # (width / 2,)
    angles = places[..., None] * speeds  # (..., width / 2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


@visible("three places, width 4, base 100")
def three_places_width_4_base_100(student):
    return student.sinusoids(torch.tensor([0.0, 1.0, 2.0]), 4, 100.0)


@visible("six places, width 8, the usual base")
def six_places_width_8_the_usual(student):
    return student.sinusoids(torch.arange(6.0), 8)


@visible("places with a batch axis, between the whole numbers too")
def places_with_a_batch_axis_between(student):
    return student.sinusoids(5 * randn(2, 3), 6, 50.0)


@visible("places in double precision")
def places_in_double_precision(student):
    return student.sinusoids(torch.tensor([0.5, 3.0], dtype=torch.float64), 4)


@hidden("one place, one clock")
def one_clock(student):
    return student.sinusoids(torch.tensor([3.0]), 2)


@hidden("double precision, far away", weight=2, tolerance=1e-9)
def far_away(student):
    return student.sinusoids(torch.tensor([0.0, 12_345.0, 100_000.0], dtype=torch.float64), 64)


@hidden("places before zero")
def before_zero(student):
    return student.sinusoids(torch.tensor([-3.0, -0.5, 2.0]), 10)


@hidden("several axes in front")
def sinusoids_axes(student):
    return student.sinusoids(3 * randn(2, 3, 4, seed=3), 6, 500.0)


@hidden("each clock's hand has length one")
def hands(student):
    found = student.sinusoids(torch.arange(50.0), 16)
    assert found.shape == (50, 16) and found.dtype == torch.float32
    assert (found.unflatten(-1, (8, 2)).square().sum(dim=-1) - 1).abs().max() < 1e-5


@hidden("the product of two places depends on their distance")
def distances(student):
    found = student.sinusoids(torch.tensor([2.0, 5.0, 12.0, 15.0]), 12, 300.0)
    return found @ found.transpose(-2, -1)


@hidden("the places stay as they were")
def sinusoids_keep(student):
    return after(student.sinusoids, 7 * randn(5, seed=4), 8, 40.0)
