"""The matrix that moves all clocks on."""

from __future__ import annotations

import torch

from coursekit.positions import sinusoidal
from coursetools.questions import hidden, visible


def shift(delta, width, base=10_000.0):
    """Return A (width, width) with PE(t + delta) = A PE(t) for every t."""
    angles = delta * base ** (-torch.arange(0, width, 2) / width)
    pairs = zip(angles.cos(), angles.sin())
    return torch.block_diag(*[torch.tensor([[cos, sin], [-sin, cos]]) for cos, sin in pairs])


@visible("one clock, one place on")
def one_clock_one_place_on(student):
    return student.shift(1.0, 2)


@visible("three clocks, five places on")
def three_clocks_five_places_on(student):
    return student.shift(5.0, 6, 100.0)


@visible("the usual base, two places back")
def the_usual_base_two_places_back(student):
    return student.shift(-2.0, 4)


@visible("from place 3 to place 10")
def from_place_3_to_place_10(student):
    return student.shift(7.0, 8, 200.0) @ sinusoidal(torch.tensor(3.0), 8, base=200.0)


@hidden("nowhere to go")
def nowhere(student):
    return student.shift(0.0, 8)


@hidden("far away", tolerance=1e-3)
def far_shift(student):
    return student.shift(1000.0, 16)


@hidden("there and back")
def there_and_back(student):
    both = student.shift(4.5, 6, 70.0) @ student.shift(-4.5, 6, 70.0)
    assert (both - torch.eye(6)).abs().max() < 1e-5
    return both


@hidden("two steps are one", weight=2)
def two_steps(student):
    return student.shift(2.0, 10) @ student.shift(3.0, 10), student.shift(5.0, 10)


@hidden("it moves every place by the same matrix", weight=2)
def every_place(student):
    places = torch.tensor([0.0, 1.0, 7.0, 30.0])
    speeds = 90.0 ** (-torch.arange(0, 12, 2) / 12)

    def waves(t):
        turned = t[:, None] * speeds
        return torch.stack([turned.sin(), turned.cos()], dim=-1).flatten(-2)

    moved = waves(places) @ student.shift(6.0, 12, 90.0).transpose(-2, -1)
    assert (moved - waves(places + 6)).abs().max() < 1e-4
