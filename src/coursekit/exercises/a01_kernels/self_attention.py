"""A sentence that asks itself: self-attention from x and three matrices."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from coursekit.assignments.forbidden import LIBRARY
from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


def self_attention(x, wq, wk, wv):
    """x (..., T, D), wq and wk (D, d), wv (D, Dv) -> (..., T, Dv)."""
    q, k, v = x @ wq, x @ wk, x @ wv
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (..., T, T)
    return scores.softmax(dim=-1) @ v


QUESTION = Question(
    name="self_attention",
    title="A sentence that asks itself",
    points=4,
    difficulty=2,
    minutes=20,
    page="kernels.html#sec-kernels-self",
    hint="First the three projections of x. Then a score for each pair of words: for that the keys "
    "want their last two axes swapped. Divide by the root of the width of q; shares makes "
    "weights of them.",
    reference=self_attention,
    forbidden=LIBRARY,
    needs=("shares",),
)


def _matrices(width: int, inner: int, out: int) -> tuple[Tensor, Tensor, Tensor]:
    return randn(width, inner, seed=1), randn(width, inner, seed=2), randn(width, out, seed=3)


@QUESTION.visible(says="three words of two numbers")
def three_words_of_two_numbers(student):
    return student.self_attention(
        torch.tensor([[2.0, 0.0], [0.0, 1.0], [1.5, 0.5]]), *_matrices(2, 2, 2)
    )


@QUESTION.visible(says="every width its own")
def every_width_its_own(student):
    return student.self_attention(randn(5, 6), *_matrices(6, 3, 4))


@QUESTION.visible(says="two sentences")
def two_sentences(student):
    return student.self_attention(randn(2, 5, 6), *_matrices(6, 3, 4))


QUESTION.mistake(
    "no scale",
    old=" / math.sqrt(q.shape[-1])",
    new="",
    hint="Your output equals attention without the 1/√d. Divide the scores by the root of the "
    "width of the queries; the next chapter is about why.",
)

QUESTION.mistake(
    "width of x",
    old="q.shape[-1]",
    new="x.shape[-1]",
    hint="You divide by the root of the width of x. What grows with its width is the dot "
    "product of q and k, so the width of q counts: q.shape[-1].",
)

QUESTION.mistake(
    "softmax over the queries",
    old="dim=-1",
    new="dim=-2",
    hint="Your weights sum to 1 down the columns. Each row belongs to one word that asks, and "
    "its weights run over the words that answer: the last axis.",
)

QUESTION.mistake(
    "values not projected",
    old="softmax(dim=-1) @ v",
    new="softmax(dim=-1) @ x",
    hint="You average x itself. What is handed over are the values, x @ wv.",
)

QUESTION.mistake(
    "queries and keys changed over",
    old="q @ k.transpose",
    new="k @ q.transpose",
    hint="Your scores are transposed: the keys ask and the queries answer. Row t of the scores "
    "belongs to query t: q @ k.transpose(-2, -1).",
)

QUESTION.mistake(
    "no softmax",
    old="scores.softmax(dim=-1)",
    new="scores",
    hint="You mix the values with the raw scores. They may be negative and sum to anything; "
    "shares makes a weighted mean of it.",
)
