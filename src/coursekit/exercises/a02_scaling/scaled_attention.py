"""Scaled dot-product attention."""

from __future__ import annotations

import math

import torch

from coursekit.assignments.forbidden import LIBRARY
from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


def scaled_attention(q, k, v):
    """q (..., T, d), k (..., S, d), v (..., S, Dv) -> output (..., T, Dv), weights (..., T, S)."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


QUESTION = Question(
    name="scaled_attention",
    title="Scaled dot-product attention",
    points=4,
    difficulty=1,
    minutes=15,
    page="scaling.html#sec-scaling-variance",
    hint="Four steps: the scores of all pairs in one product, for which the last two axes of k are "
    "swapped; the factor; a softmax, along which axis? the values, weighted. The width is the "
    "last axis of q. Return both, the output first.",
    reference=scaled_attention,
    forbidden=LIBRARY,
)


@QUESTION.visible(says="one query, two keys, width 4")
def one_query_two_keys_width_4(student):
    return student.scaled_attention(
        torch.tensor([[2.0, 0.0, 0.0, 0.0]]),
        torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]),
        torch.tensor([[10.0], [20.0]]),
    )


@QUESTION.visible(says="every size its own")
def every_size_its_own(student):
    return student.scaled_attention(randn(4, 6), randn(5, 6, seed=1), randn(5, 3, seed=2))


@QUESTION.visible(says="a batch of two")
def a_batch_of_two(student):
    return student.scaled_attention(randn(2, 4, 6), randn(2, 5, 6, seed=1), randn(2, 5, 3, seed=2))


QUESTION.mistake(
    "no scale",
    old=" / math.sqrt(q.shape[-1])",
    new="",
    hint="Your output equals attention without the 1/√d. Multiply the scores by it before the "
    "softmax.",
)

QUESTION.mistake(
    "divided by the width",
    old="math.sqrt(q.shape[-1])",
    new="q.shape[-1]",
    hint="Your scores are divided by d, not by √d. Perhaps the root is missing, or both q and k "
    "have been divided by √d; once is enough.",
)

QUESTION.mistake(
    "scaled after the softmax",
    old=(" / math.sqrt(q.shape[-1])\n    weights = scores.softmax(dim=-1)"),
    new=("\n    weights = scores.softmax(dim=-1) / math.sqrt(q.shape[-1])"),
    hint="You divide the weights by √d, so your rows sum to 1/√d. The softmax has decided by "
    "then; divide the scores before it.",
)

QUESTION.mistake(
    "softmax over the queries",
    old="dim=-1",
    new="dim=-2",
    hint="Your weights sum to 1 down the columns. Each row belongs to one query and runs over "
    "the keys: the last axis.",
)

QUESTION.mistake(
    "root of the number of keys",
    old="q.shape[-1]",
    new="k.shape[-2]",
    hint="You divide by the root of the number of keys. A score is a sum over the width, so it "
    "grows with the width: the last axis of q and k.",
)

QUESTION.mistake(
    "multiplied by the root",
    old="/ math.sqrt",
    new="* math.sqrt",
    hint="You multiply the scores by √d, which makes them larger still. Divide.",
)
