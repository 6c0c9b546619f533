"""Clocks of many speeds: sine and cosine of a place."""

from __future__ import annotations

import torch

from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


def sinusoids(places, width, base=10_000.0):
    """places (...) -> (..., width): sine and cosine of each place at width / 2 speeds."""
    speeds = base ** (-torch.arange(0, width, 2, dtype=places.dtype) / width)  # (width / 2,)
    angles = places[..., None] * speeds  # (..., width / 2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


QUESTION = Question(
    name="sinusoids",
    title="A shelf of clocks",
    points=3,
    difficulty=1,
    minutes=20,
    page="positions.html#sec-positions-sinusoidal",
    hint="Make the width/2 speeds first; the exponents 2i are every other whole number below "
    "width. Then the angles of all places and all speeds at once, (..., width/2), which asks "
    "for one more axis. Sine and cosine alternate in the result: stack the two on a new last "
    "axis and flatten it, or write into every other column.",
    reference=sinusoids,
    forbidden=("coursekit",),
)


@QUESTION.visible(says="three places, width 4, base 100")
def three_places_width_4_base_100(student):
    return student.sinusoids(torch.tensor([0.0, 1.0, 2.0]), 4, 100.0)


@QUESTION.visible(says="six places, width 8, the usual base")
def six_places_width_8_the_usual(student):
    return student.sinusoids(torch.arange(6.0), 8)


@QUESTION.visible(says="places with a batch axis, between the whole numbers too")
def places_with_a_batch_axis_between(student):
    return student.sinusoids(5 * randn(2, 3), 6, 50.0)


@QUESTION.visible(says="places in double precision")
def places_in_double_precision(student):
    return student.sinusoids(torch.tensor([0.5, 3.0], dtype=torch.float64), 4)


QUESTION.mistake(
    "all sines, then all cosines",
    old="torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)",
    new="torch.cat([angles.sin(), angles.cos()], dim=-1)",
    hint="Your numbers are right and stand in the wrong columns: all sines come first, then all "
    "cosines. In the formula they alternate, so that each clock's two numbers are "
    "neighbours.",
)

QUESTION.mistake(
    "frequencies squared",
    old="-torch.arange",
    new="-2 * torch.arange",
    hint="Your clocks are too slow: each ω is the square of what it should be. "
    "torch.arange(0, width, 2) is 2i already, so do not multiply by 2 again.",
)

QUESTION.mistake(
    "half the exponent",
    old="torch.arange(0, width, 2, dtype",
    new="torch.arange(width // 2, dtype",
    hint="Your clocks are too fast, the last ones most: the exponent is 2i / width, and you "
    "have i / width.",
)


@QUESTION.mistake(
    "a speed for each column",
    hint="Each of your columns has a speed of its own. The sine and the cosine of one pair are "
    "the two coordinates of one clock hand: columns 2i and 2i + 1 share ω_i.",
)
def sines_each_its_own(places, width, base=10_000.0):
    speeds = base ** (-torch.arange(width, dtype=places.dtype) / width)
    angles = places[..., None] * speeds
    return torch.stack([angles[..., 0::2].sin(), angles[..., 1::2].cos()], dim=-1).flatten(-2)


QUESTION.mistake(
    "cosine first",
    old="[angles.sin(), angles.cos()]",
    new="[angles.cos(), angles.sin()]",
    hint="Sine and cosine are changed over: even columns are sines, so place 0 reads 0, 1, 0, "
    "1 and so on.",
)

QUESTION.mistake(
    "faster and faster",
    old="-torch.arange",
    new="torch.arange",
    hint="Your clocks run faster from pair to pair. The first has ω = 1 and the others are "
    "slower: a minus is missing in the exponent.",
)

QUESTION.mistake(
    "the base is always 10,000",
    old="base **",
    new="10_000.0 **",
    hint="The case with the usual base passes, the others do not: you use 10,000 whatever "
    "`base` says.",
)

QUESTION.mistake(
    "always single precision",
    old="speeds = base",
    new="places = places.float()\n    speeds = base",
    hint="Your result is float32 whatever the places are. Let the speeds have the dtype of the "
    "places, and the result has it too.",
)
