"""The matrix that moves all clocks on."""

from __future__ import annotations

import torch

from coursekit.exercises.question import Question
from coursekit.positions import sinusoidal


def shift(delta, width, base=10_000.0):
    """Return A (width, width) with PE(t + delta) = A PE(t) for every t."""
    angles = delta * base ** (-torch.arange(0, width, 2) / width)
    pairs = zip(angles.cos(), angles.sin())
    return torch.block_diag(*[torch.tensor([[cos, sin], [-sin, cos]]) for cos, sin in pairs])


QUESTION = Question(
    name="shift",
    title="Five places on",
    points=4,
    difficulty=2,
    minutes=25,
    page="positions.html#sec-positions-sinusoidal",
    hint="Write sin(a + b) and cos(a + b) out, with a = ωt and b = ωΔ. The two lines are the two "
    "rows of one block. Make the blocks, width/2 of them, and put them on the diagonal: "
    "torch.block_diag does, or a loop that fills a matrix of zeros.",
    reference=shift,
    forbidden=("coursekit", "torch.linalg", "torch.Tensor.pinverse"),
)


@QUESTION.visible(says="one clock, one place on")
def one_clock_one_place_on(student):
    return student.shift(1.0, 2)


@QUESTION.visible(says="three clocks, five places on")
def three_clocks_five_places_on(student):
    return student.shift(5.0, 6, 100.0)


@QUESTION.visible(says="the usual base, two places back")
def the_usual_base_two_places_back(student):
    return student.shift(-2.0, 4)


@QUESTION.visible(says="from place 3 to place 10")
def from_place_3_to_place_10(student):
    return student.shift(7.0, 8, 200.0) @ sinusoidal(torch.tensor(3.0), 8, base=200.0)


QUESTION.mistake(
    "one speed for all clocks",
    old="base ** (-torch.arange(0, width, 2) / width)",
    new="torch.ones(width // 2)",
    hint="Right for one clock and no other: all your blocks turn by Δ. Each clock has a speed "
    "of its own and turns by ω_i Δ. (Some slides lose the ω too.)",
)

QUESTION.mistake(
    "turned back",
    old="[[cos, sin], [-sin, cos]]",
    new="[[cos, -sin], [sin, cos]]",
    hint="Your matrix goes Δ places back. In a pair the sine stands first, so the minus "
    "belongs in the lower row: cos(a + b) = cos a cos b - sin a sin b.",
)

QUESTION.mistake(
    "no minus",
    old="[-sin, cos]",
    new="[sin, cos]",
    hint="Your block has no minus, so it does not turn, it stretches. Look at the cosine of a "
    "sum once more.",
)

QUESTION.mistake(
    "blocks for halves",
    old=(
        "pairs = zip(angles.cos(), angles.sin())\n"
        "    return torch.block_diag("
        "*[torch.tensor([[cos, sin], [-sin, cos]]) for cos, sin in pairs])"
    ),
    new=(
        "cos, sin = angles.cos().diag(), angles.sin().diag()\n"
        "    return torch.cat([torch.cat([cos, sin], dim=1), torch.cat([-sin, cos], dim=1)])"
    ),
    hint="This is the matrix for vectors with all sines first and all cosines behind. Here the "
    "two numbers of a clock are neighbours, so each block is a small square on the "
    "diagonal.",
)

QUESTION.mistake(
    "frequencies squared in the blocks",
    old="-torch.arange",
    new="-2 * torch.arange",
    hint="Your later clocks turn too little: each ω is squared. torch.arange(0, width, 2) is "
    "2i already.",
)
