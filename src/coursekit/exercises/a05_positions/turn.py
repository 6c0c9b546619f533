"""A turn in place of an addition."""

from __future__ import annotations

import math

import torch

from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


def turn(x, places, base=10_000.0):
    """x (..., T, D), places (T,) -> (..., T, D), each pair of neighbours turned."""
    speeds = base ** (-torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1])  # (D / 2,)
    angles = places[:, None] * speeds  # (T, D / 2)
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


QUESTION = Question(
    name="turn",
    title="Turn in place of adding",
    points=4,
    difficulty=2,
    minutes=25,
    page="positions.html#sec-positions-relative",
    hint="Each row has its place and each pair its speed, so the angles are (T, D/2). The first "
    "numbers of all pairs are every other column of x, the second ones the columns between; "
    "both meet the angles by broadcasting. Put the two new numbers of a pair side by side "
    "again.",
    reference=turn,
    forbidden=("coursekit",),
)


@QUESTION.visible(says="one pair, a quarter of a turn")
def one_pair_a_quarter_of_a(student):
    return student.turn(
        torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0]]),
        torch.tensor([0.0, math.pi / 2, math.pi / 2]),
    )


@QUESTION.visible(says="four words of width 6")
def four_words_of_width_6(student):
    return student.turn(randn(4, 6), torch.tensor([0.0, 1.0, 5.0, 9.0]), 100.0)


@QUESTION.visible(says="a batch of two, three heads")
def a_batch_of_two_three_heads(student):
    return student.turn(randn(2, 3, 5, 8), torch.arange(5.0))


QUESTION.mistake(
    "the wrong way round",
    old="[a * cos - b * sin, a * sin + b * cos]",
    new="[a * cos + b * sin, b * cos - a * sin]",
    hint="You turn clockwise. Scores would not notice, since queries and keys turn the same "
    "way, but weights that somebody else has trained would. (1, 0) turned by a quarter is "
    "(0, 1): a cos - b sin comes first.",
)

QUESTION.mistake(
    "halves for pairs",
    old=(
        "a, b = x[..., 0::2], x[..., 1::2]\n"
        "    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)"
    ),
    new=(
        "a, b = x.chunk(2, dim=-1)\n"
        "    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)"
    ),
    hint="You pair number i with number i + D/2, as Llama's code does. This question pairs "
    "neighbours, (0, 1), (2, 3) and so on, as the paper does: x[..., 0::2] and "
    "x[..., 1::2].",
)


@QUESTION.mistake(
    "speeds of halves, pairs of neighbours",
    hint="You mix two conventions: you pair neighbours, but the angles are laid out for halves. "
    "Then the two numbers of a pair turn at different speeds, and lengths change. Both "
    "need the same angle; repeat_interleave gives each angle twice.",
)
def turn_mixed(x, places, base=10_000.0):
    speeds = base ** (-torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1])
    angles = torch.cat([places[:, None] * speeds] * 2, dim=-1)
    turned = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
    return x * angles.cos() + turned * angles.sin()


QUESTION.mistake(
    "one speed for all pairs",
    old="places[:, None] * speeds",
    new="places[:, None].to(x.dtype)",
    hint="All your pairs turn by t. Pair i turns by ω_i t, the later ones ever more slowly.",
)

QUESTION.mistake(
    "frequencies squared in the turn",
    old="-torch.arange",
    new="-2 * torch.arange",
    hint="Your later pairs turn too slowly: each ω is squared. torch.arange(0, D, 2) is 2i "
    "already.",
)

QUESTION.mistake(
    "places along the wrong axis",
    old="places[:, None] * speeds",
    new="(places[:, None] * speeds)[:, None]",
    hint="Your angles have an axis of length 1 between place and width, so the place runs along "
    "the third axis from the end. T is the last but one: angles of shape (T, D/2) fit as "
    "they are.",
)

QUESTION.mistake(
    "waves added",
    old="return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)",
    new="return x + torch.stack([sin, cos], dim=-1)",
    hint="You add the waves to x. Rotary positions add nothing: each pair is turned and keeps "
    "its length.",
)
