"""Scores become shares: a softmax, built by hand."""

from __future__ import annotations

import torch

from coursekit.assignments.forbidden import SOFTMAX
from coursekit.exercises.probe import gradients, randn
from coursekit.exercises.question import Question


def shares(scores):
    """scores (..., T, S) -> weights (..., T, S); each row sums to 1."""
    raised = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return raised / raised.sum(dim=-1, keepdim=True)


QUESTION = Question(
    name="shares",
    title="Scores become shares",
    points=3,
    difficulty=1,
    minutes=15,
    page="kernels.html#sec-kernels-regression",
    hint="Three steps, each along the last axis: subtract the largest score, take exp, divide by "
    "the sum. The largest score and the sum have to stay rows of length 1, so that each meets "
    "its own row.",
    reference=shares,
    forbidden=SOFTMAX,
)


@QUESTION.visible(says="two queries, three keys")
def two_queries_three_keys(student):
    return student.shares(torch.tensor([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]))


@QUESTION.visible(says="a batch of four")
def a_batch_of_four(student):
    return student.shares(randn(4, 2, 5))


@QUESTION.visible(says="scores of a thousand")
def scores_of_a_thousand(student):
    return student.shares(torch.tensor([[1000.0, 999.0], [-1000.0, -1001.0]]))


@QUESTION.visible(says="gradients")
def gradients_alone(student):
    return gradients(student.shares, randn(3, 4, seed=1))


@QUESTION.mistake(
    "over the queries",
    hint="Your columns sum to 1. Each row belongs to one query, and its shares run over the "
    "keys, so sum along the last axis: dim=-1.",
)
def shares_of_columns(scores):
    return scores.softmax(dim=-2)


QUESTION.mistake(
    "largest score not subtracted",
    old="(scores - scores.amax(dim=-1, keepdim=True))",
    new="scores",
    hint="Right on paper. But exp(1000) is infinite on a computer, exp(-1000) is 0, and the "
    "quotient is nan. Subtract the largest score of the row before exp; the ratio stays.",
)

QUESTION.mistake(
    "one maximum for all rows",
    old="scores.amax(dim=-1, keepdim=True)",
    new="scores.max()",
    hint="You subtract the largest score of the whole tensor. A row that lies far below it is "
    "rounded to 0 everywhere, and 0/0 is nan. Every row needs its own maximum: "
    "amax(dim=-1, keepdim=True).",
)


@QUESTION.mistake(
    "one sum for all rows",
    hint="All your numbers together sum to 1. Each row must: it is the shares of one query. "
    "Take maximum and sum along dim=-1, with keepdim=True.",
)
def shares_of_everything(scores):
    raised = (scores - scores.max()).exp()
    return raised / raised.sum()


QUESTION.mistake(
    "no exponential",
    old="(scores - scores.amax(dim=-1, keepdim=True)).exp()",
    new="scores",
    hint="You divide the scores themselves by their sum. Scores may be negative, or sum to 0; "
    "exp makes them positive first.",
)

QUESTION.mistake(
    "not divided by the sum",
    old="raised / raised.sum(dim=-1, keepdim=True)",
    new="raised",
    hint="Positive, and in the right order, but your rows do not sum to 1. Divide each by its sum.",
)
