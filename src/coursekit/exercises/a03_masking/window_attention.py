"""A window that never pays for what it may not see."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from coursekit.assignments.forbidden import LIBRARY
from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


def window_attention(q, k, v, radius):
    """q, k (..., T, d), v (..., T, Dv) -> (..., T, Dv), each query sees its neighbours."""
    T = q.shape[-2]
    seen = torch.arange(T)[:, None] + torch.arange(-radius, radius + 1)  # (T, W), some outside
    keys, values = k[..., seen.clamp(0, T - 1), :], v[..., seen.clamp(0, T - 1), :]
    scores = (q[..., None, :] * keys).sum(dim=-1) / math.sqrt(q.shape[-1])  # (..., T, W)
    weights = scores.masked_fill((seen < 0) | (seen >= T), -torch.inf).softmax(dim=-1)
    return (weights[..., None] * values).sum(dim=-2)


QUESTION = Question(
    name="window_attention",
    title="A window that costs no square",
    points=6,
    difficulty=3,
    minutes=40,
    page="masking.html#sec-masking-cost",
    hint="Which keys does query t see? Write their places as (T, 2·radius + 1), a column of "
    "queries plus a row of steps from -radius to radius. A tensor of places as an index "
    "fetches them all, once the places are brought back into the sequence by clamp; those "
    "that lay outside it are what masked_shares must hide.",
    reference=window_attention,
    forbidden=LIBRARY,
    needs=("masked_shares",),
)


def _sequence(*front: int, width: int = 4, out: int = 3) -> tuple[Tensor, Tensor, Tensor]:
    return randn(*front, width), randn(*front, width, seed=1), randn(*front, out, seed=2)


@QUESTION.visible(says="three places of one number, radius 1")
def three_places_of_one_number_radius(student):
    return student.window_attention(
        torch.zeros(3, 1),
        torch.tensor([[1.0], [2.0], [3.0]]),
        torch.tensor([[1.0], [3.0], [8.0]]),
        1,
    )


@QUESTION.visible(says="seven places, radius 2")
def seven_places_radius_2(student):
    return student.window_attention(*_sequence(7), 2)


@QUESTION.visible(says="two sentences, three heads, radius 1")
def two_sentences_three_heads_radius_1(student):
    return student.window_attention(*_sequence(2, 3, 6), 1)


@QUESTION.visible(says="a window wider than the sequence")
def a_window_wider_than_the_sequence(student):
    return student.window_attention(*_sequence(4), 6)


@QUESTION.mistake(
    "the filling takes part",
    hint="In the middle you are right, at the ends not: the zeros beyond them take part. Their "
    "score is 0, so their weight is not. Hide them before the softmax.",
)
def window_filling_counts(q, k, v, radius):
    ends = (0, 0, radius, radius)
    k, v = (F.pad(x, ends).unfold(-2, 2 * radius + 1, 1) for x in (k, v))  # (..., T, D, W)
    weights = (q[..., None, :] @ k / math.sqrt(q.shape[-1])).softmax(dim=-1)
    return (weights @ v.transpose(-2, -1))[..., 0, :]


QUESTION.mistake(
    "the ends count several times",
    old=".masked_fill((seen < 0) | (seen >= T), -torch.inf)",
    new="",
    hint="You bring places outside the sequence back to its ends and leave it at that, so the "
    "first and the last key count several times. Hide what lay outside, by a mask made "
    "from the places before clamp.",
)

QUESTION.mistake(
    "round the end",
    old="torch.arange(T)[:, None] + torch.arange(-radius, radius + 1)",
    new="(torch.arange(T)[:, None] + torch.arange(-radius, radius + 1)) % T",
    hint="Your window goes round: the first place sees the last. So do negative indices, and "
    "torch.roll. Hide what lies outside the sequence.",
)

QUESTION.mistake(
    "looks back only",
    old="torch.arange(-radius, radius + 1)",
    new="torch.arange(-radius, 1)",
    hint="Your queries look back only. This window has two sides: radius places before the "
    "query and radius places after it.",
)

QUESTION.mistake(
    "one place short",
    old="torch.arange(-radius, radius + 1)",
    new="torch.arange(-radius, max(radius, 1))",
    hint="Your window ends one place early on the right: arange leaves its end out. Steps from "
    "-radius to radius are 2·radius + 1 of them.",
)

QUESTION.mistake(
    "radius taken for the whole width",
    old="torch.arange(-radius, radius + 1)",
    new="torch.arange(-(radius // 2), radius // 2 + 1)",
    hint="Your window is about half as wide as it should be: radius is the distance to either "
    "side, so 2·radius + 1 keys are seen.",
)

QUESTION.mistake(
    "no scale",
    old=" / math.sqrt(q.shape[-1])",
    new="",
    hint="Your output equals window attention without the 1/√d. Divide the scores by the root "
    "of the width of q.",
)
