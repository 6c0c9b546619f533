"""What arrives at the query: the gradient of attention's weights, by hand."""

from __future__ import annotations

import math

import torch

from coursekit.assignments.forbidden import LIBRARY
from coursekit.exercises.a02_scaling.shared import AUTOGRAD
from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


def query_gradient(q, k, upstream):
    """q (..., T, d), k (..., S, d), upstream (..., T, S) -> gradient at q, (..., T, d)."""
    factor = 1 / math.sqrt(q.shape[-1])
    p = (q @ k.transpose(-2, -1) * factor).softmax(dim=-1)  # (..., T, S)
    at_scores = p * (upstream - (p * upstream).sum(dim=-1, keepdim=True))  # J times upstream
    return at_scores @ k * factor  # (..., T, d)


QUESTION = Question(
    name="query_gradient",
    title="What arrives at the query",
    points=5,
    difficulty=3,
    minutes=30,
    page="scaling.html#sec-scaling-gradient",
    hint="Go backwards through the three steps: weights to scores, scores to dot products, dot "
    "products to q. The first multiplies by J, and J g = p · (g - Σ p g) needs no matrix; the "
    "second by the factor; the third is a product with k.",
    reference=query_gradient,
    forbidden=(*AUTOGRAD, *LIBRARY),
    needs=("softmax_jacobian",),
)


@QUESTION.visible(says="one query, two keys, width 4")
def one_query_two_keys_width_4(student):
    return student.query_gradient(
        torch.zeros(1, 4),
        torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]),
        torch.tensor([[1.0, 0.0]]),
    )


@QUESTION.visible(says="every size its own")
def every_size_its_own(student):
    return student.query_gradient(randn(3, 6), randn(5, 6, seed=1), randn(3, 5, seed=2))


@QUESTION.visible(says="a batch of two")
def a_batch_of_two(student):
    return student.query_gradient(randn(2, 3, 6), randn(2, 5, 6, seed=1), randn(2, 3, 5, seed=2))


QUESTION.mistake(
    "factor only on the way there",
    old="at_scores @ k * factor",
    new="at_scores @ k",
    hint="Your gradient is √d times too large. The factor stands between dot products and "
    "scores, so the way back passes it again.",
)

QUESTION.mistake(
    "factor only on the way back",
    old="(-2, -1) * factor",
    new="(-2, -1)",
    hint="Your weights are those of scores without the factor. It belongs into the softmax as "
    "well as into the gradient.",
)

QUESTION.mistake(
    "nothing subtracted",
    old="(upstream - (p * upstream).sum(dim=-1, keepdim=True))",
    new="upstream",
    hint="You multiply by p, the diagonal of J, and leave out -p pᵀ. What is subtracted is the "
    "mean of the upstream gradient, weighted by p.",
)

QUESTION.mistake(
    "softmax left out",
    old="at_scores @ k",
    new="upstream @ k",
    hint="You treat the weights as if they were the scores. Between them stands the softmax: "
    "multiply by J.",
)

QUESTION.mistake(
    "a plain sum subtracted",
    old="(p * upstream).sum",
    new="upstream.sum",
    hint="You subtract the plain sum of the upstream gradient. It is the sum weighted by p: "
    "(p * g).sum(dim=-1, keepdim=True).",
)

QUESTION.mistake(
    "factor squared",
    old="at_scores @ k * factor",
    new="at_scores @ k * factor**2",
    hint="Your gradient is √d times too small: on the way back you divide by d. The factor is "
    "passed once on the way there and once on the way back.",
)
