"""Several heads share a memory."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from coursekit.assignments.forbidden import LIBRARY
from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


def grouped_attention(q, k, v):
    """q (B, H, T, Dh), k (B, G, S, Dh), v (B, G, S, Dv) -> (B, H, T, Dv)."""
    times = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(times, dim=1), v.repeat_interleave(times, dim=1)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, S)
    return scores.softmax(dim=-1) @ v


QUESTION = Question(
    name="grouped_attention",
    title="Many questions, few memories",
    points=3,
    difficulty=2,
    minutes=15,
    page="heads.html#sec-heads-cache",
    hint="H // G neighbouring query heads share one head of keys and values. Write each of these "
    "H // G times in a row, so that there are H of them, and go on as always. "
    "repeat_interleave and repeat are not the same.",
    reference=grouped_attention,
    forbidden=LIBRARY,
)


def _groups(heads: int, groups: int) -> tuple[Tensor, Tensor, Tensor]:
    return randn(2, heads, 3, 4), randn(2, groups, 5, 4, seed=1), randn(2, groups, 5, 6, seed=2)


@QUESTION.visible(says="four heads share two")
def four_heads_share_two(student):
    return student.grouped_attention(
        torch.zeros(1, 4, 1, 1),
        torch.zeros(1, 2, 2, 1),
        torch.tensor([[[[1.0], [3.0]], [[10.0], [30.0]]]]),
    )


@QUESTION.visible(says="six heads share two")
def six_heads_share_two(student):
    return student.grouped_attention(*_groups(6, 2))


@QUESTION.visible(says="four heads share one")
def four_heads_share_one(student):
    return student.grouped_attention(*_groups(4, 1))


@QUESTION.visible(says="three heads, each its own")
def three_heads_each_its_own(student):
    return student.grouped_attention(*_groups(3, 3))


QUESTION.mistake(
    "every other head",
    old="k, v = k.repeat_interleave(times, dim=1), v.repeat_interleave(times, dim=1)",
    new="k, v = k.repeat(1, times, 1, 1), v.repeat(1, times, 1, 1)",
    hint="You write the memories one after the other and then again, so head 0 and head G share "
    "one. Neighbours share: 0 0 1 1, not 0 1 0 1. That is repeat_interleave.",
)

QUESTION.mistake(
    "the first memory for all",
    old="k, v = k.repeat_interleave(times, dim=1), v.repeat_interleave(times, dim=1)",
    new="k, v = k[:, :1], v[:, :1]",
    hint="All your heads read the first head of keys and values. That is right where there is "
    "one; here each group has its own.",
)

QUESTION.mistake(
    "memories averaged",
    old="k, v = k.repeat_interleave(times, dim=1), v.repeat_interleave(times, dim=1)",
    new="k, v = k.mean(dim=1, keepdim=True), v.mean(dim=1, keepdim=True)",
    hint="You average the keys and values of all groups. Each group keeps its own; what is "
    "shared is shared by the query heads of one group.",
)

QUESTION.mistake(
    "queries averaged",
    old="k, v = k.repeat_interleave(times, dim=1), v.repeat_interleave(times, dim=1)",
    new="q = q.unflatten(1, (k.shape[1], -1)).mean(dim=2)",
    hint="You average the queries of a group and get one head for each. All H heads still ask "
    "their own question; only what they read is shared.",
)

QUESTION.mistake(
    "no scale",
    old=" / math.sqrt(q.shape[-1])",
    new="",
    hint="Your output equals the one without a scale. Divide the scores by the root of the "
    "width of a head.",
)
