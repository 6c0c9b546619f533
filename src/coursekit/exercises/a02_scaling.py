"""Assignment 2, to the page "Scaling": how large scores are, what a softmax makes of them, and what
is left of the gradient.

The wrong answers, each with the hint for whoever gave it, are in `mistakes/a02_scaling.py`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from coursekit.assignments.forbidden import LIBRARY
from coursekit.attention import attention
from coursekit.exercises.mistakes import a02_scaling as wrong
from coursekit.exercises.probe import randn
from coursekit.exercises.question import Assignment, Case, Misconception, Question, Written

AUTOGRAD = ("torch.autograd", "torch.func", "torch.Tensor.backward")

# --- score_factor


def _score_factor(width: int, q_variance: float, k_variance: float) -> float:
    return 1 / math.sqrt(width * q_variance * k_variance)


FACTOR = Question(
    name="score_factor",
    title="The factor, from the variance",
    points=2,
    difficulty=1,
    minutes=10,
    hint="What is the variance of one product q_i k_i, and of the sum of `width` of them? A factor "
    "c turns a variance V into c² V. Return a plain number; math.sqrt is enough.",
    page="scaling.html#sec-scaling-variance",
    reference=_score_factor,
    cases=(
        Case("variance 1, width 64", lambda student: student.score_factor(64, 1.0, 1.0)),
        Case("variances 4 and 9, width 16", lambda student: student.score_factor(16, 4.0, 9.0)),
        Case("small variances, width 300", lambda student: student.score_factor(300, 0.5, 0.02)),
    ),
    misconceptions=(
        Misconception(
            "no root",
            wrong.factor_no_root,
            "This is one over the variance of the scores. A factor c changes a variance by c², so "
            "take one over its root.",
        ),
        Misconception(
            "variances forgotten",
            wrong.factor_width_only,
            "1/√d is right where queries and keys have variance 1, as in the footnote. Here they "
            "may have others: what is the variance of one product q_i k_i?",
        ),
        Misconception(
            "root of the width only",
            wrong.factor_root_of_width_only,
            "You take the root of the width and not of the variances. The variance of the scores "
            "is width times both variances, and the root is of all of it.",
        ),
        Misconception(
            "what to divide by",
            wrong.factor_divisor,
            "This is the standard deviation of the scores, the number to divide by. The question "
            "asks for the factor to multiply with: one over it.",
        ),
        Misconception(
            "variances added",
            wrong.factor_sum_of_variances,
            "You add the variances. That is the rule for a sum of two numbers; for a product of "
            "two independent numbers with mean 0 they are multiplied.",
        ),
    ),
)

# --- scaled_attention


def _scaled_attention(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    return attention(q, k, v, return_weights=True)


ATTENTION = Question(
    name="scaled_attention",
    title="Scaled dot-product attention",
    points=4,
    difficulty=1,
    minutes=15,
    hint="scores = q @ k.transpose(-2, -1), then the factor, then softmax(dim=-1), then @ v. The "
    "width is the last axis of q. Return both, the output first.",
    page="scaling.html#sec-scaling-variance",
    reference=_scaled_attention,
    cases=(
        Case(
            "one query, two keys, width 4",
            lambda student: student.scaled_attention(
                torch.tensor([[2.0, 0.0, 0.0, 0.0]]),
                torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]),
                torch.tensor([[10.0], [20.0]]),
            ),
        ),
        Case(
            "every size its own",
            lambda student: student.scaled_attention(
                randn(4, 6), randn(5, 6, seed=1), randn(5, 3, seed=2)
            ),
        ),
        Case(
            "a batch of two",
            lambda student: student.scaled_attention(
                randn(2, 4, 6), randn(2, 5, 6, seed=1), randn(2, 5, 3, seed=2)
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "no scale",
            wrong.attention_no_scale,
            "Your output equals attention without the 1/√d. Multiply the scores by it before the "
            "softmax.",
        ),
        Misconception(
            "divided by the width",
            wrong.attention_by_width,
            "Your scores are divided by d, not by √d. Perhaps the root is missing, or both q and k "
            "have been divided by √d; once is enough.",
        ),
        Misconception(
            "scaled after the softmax",
            wrong.attention_scaled_late,
            "You divide the weights by √d, so your rows sum to 1/√d. The softmax has decided by "
            "then; divide the scores before it.",
        ),
        Misconception(
            "softmax over the queries",
            wrong.attention_over_queries,
            "Your weights sum to 1 down the columns. Each row belongs to one query and runs over "
            "the keys: the last axis.",
        ),
        Misconception(
            "root of the number of keys",
            wrong.attention_by_keys,
            "You divide by the root of the number of keys. A score is a sum over the width, so it "
            "grows with the width: the last axis of q and k.",
        ),
        Misconception(
            "multiplied by the root",
            wrong.attention_multiplied,
            "You multiply the scores by √d, which makes them larger still. Divide.",
        ),
    ),
    forbidden=LIBRARY,
)

# --- entropy_bits


def _entropy_bits(weights: Tensor) -> Tensor:
    return -torch.special.xlogy(weights, weights).sum(dim=-1) / math.log(2)


ENTROPY = Question(
    name="entropy_bits",
    title="How decided is a row?",
    points=3,
    difficulty=2,
    minutes=15,
    hint="-(w · log2 w), summed over the last axis. A weight of 0 has log2 = -inf, and 0 · -inf is "
    "nan: use torch.where or clamp_min inside the logarithm, or torch.special.xlogy.",
    page="scaling.html#sec-scaling-saturation",
    reference=_entropy_bits,
    cases=(
        Case(
            "four equal weights, and a half and two quarters",
            lambda student: student.entropy_bits(
                torch.tensor([[0.25, 0.25, 0.25, 0.25], [0.5, 0.25, 0.125, 0.125]])
            ),
        ),
        Case(
            "a batch of random rows",
            lambda student: student.entropy_bits(randn(2, 3, 6).softmax(dim=-1)),
        ),
        Case(
            "a row that has decided",
            lambda student: student.entropy_bits(
                torch.tensor([[0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "the natural logarithm",
            wrong.entropy_in_nats,
            "Your numbers are in nats: the logarithm is the natural one. Bits have base 2.",
        ),
        Misconception(
            "zero times minus infinity",
            wrong.entropy_of_zeros,
            "Right as long as no weight is 0. For those, 0 · log2(0) is nan on a computer, while "
            "the limit is 0: a key without weight adds nothing to the entropy.",
        ),
        Misconception(
            "no minus",
            wrong.entropy_negative,
            "Your entropy is negative. The logarithm of a weight below 1 is negative, so the sum "
            "needs a minus.",
        ),
        Misconception(
            "a mean for a sum",
            wrong.entropy_mean,
            "You average over the keys. The entropy is the sum; the weights in front of the "
            "logarithms are the averaging.",
        ),
        Misconception(
            "entropy of the columns",
            wrong.entropy_of_columns,
            "You sum over the queries. Each row has an entropy of its own: sum over the last axis.",
        ),
        Misconception(
            "one number for all rows",
            wrong.entropy_of_everything,
            "You sum over everything. Each row has an entropy of its own: only the last axis goes.",
        ),
    ),
    forbidden=("torch.distributions", "torch.special.entr", "torch.Tensor.entropy", "scipy"),
)

# --- tempered


def _tempered(scores: Tensor, temperature: float) -> Tensor:
    if temperature == 0:
        best = (scores == scores.amax(dim=-1, keepdim=True)).to(scores.dtype)
        return best / best.sum(dim=-1, keepdim=True)
    return (scores / temperature).softmax(dim=-1)


TEMPERED = Question(
    name="tempered",
    title="From the mean to the maximum",
    points=3,
    difficulty=2,
    minutes=15,
    hint="Above 0 it is one division and a softmax, and infinity needs no care. At 0, compare the "
    "scores with the largest of their row: True where equal, and the rest is a division.",
    page="scaling.html#sec-scaling-temperature",
    reference=_tempered,
    cases=(
        Case(
            "temperature 2",
            lambda student: student.tempered(torch.tensor([[2.0, 0.0, -2.0]]), 2.0),
        ),
        Case("temperature 0.3, a batch", lambda student: student.tempered(randn(2, 3, 4), 0.3)),
        Case(
            "temperature 0",
            lambda student: student.tempered(torch.tensor([[1.0, 3.0, 2.0], [0.0, -1.0, 5.0]]), 0),
        ),
        Case(
            "temperature 0 and a tie",
            lambda student: student.tempered(torch.tensor([[1.0, 4.0, 4.0], [2.0, 2.0, 2.0]]), 0.0),
        ),
    ),
    misconceptions=(
        Misconception(
            "multiplied by the temperature",
            wrong.tempered_multiplied,
            "You multiply the scores by the temperature, so a hot row is a decided one. Divide: "
            "heat makes the scores smaller and the row more even.",
        ),
        Misconception(
            "temperature after the softmax",
            wrong.tempered_late,
            "You divide the weights, and your rows no longer sum to 1. Divide the scores, before "
            "the softmax.",
        ),
        Misconception(
            "division by zero",
            wrong.tempered_zero_divides,
            "Right above 0. At temperature 0 you divide by it, and inf - inf is nan. Take that "
            "limit yourself: all weight on the largest score.",
        ),
        Misconception(
            "the first of a tie takes all",
            wrong.tempered_first_takes_all,
            "argmax names one key even where several are equally good. For every temperature above "
            "0 equal scores have equal weights, and so it is in the limit.",
        ),
        Misconception(
            "a tie counted twice",
            wrong.tempered_not_shared,
            "In a tie you give each of the best keys a weight of 1. Weights sum to 1: divide by "
            "how many there are.",
        ),
    ),
)

# --- softmax_jacobian


def _softmax_jacobian(p: Tensor) -> Tensor:
    return torch.diag_embed(p) - p[..., :, None] * p[..., None, :]


JACOBIAN = Question(
    name="softmax_jacobian",
    title="What a softmax passes back",
    points=3,
    difficulty=2,
    minutes=20,
    hint="torch.diag_embed puts the last axis on a diagonal, for any axes in front. The product "
    "p pᵀ is p[..., :, None] * p[..., None, :].",
    page="scaling.html#sec-scaling-gradient",
    reference=_softmax_jacobian,
    cases=(
        Case(
            "three weights", lambda student: student.softmax_jacobian(torch.tensor([0.5, 0.3, 0.2]))
        ),
        Case(
            "a row that has decided",
            lambda student: student.softmax_jacobian(torch.tensor([0.0, 1.0, 0.0, 0.0])),
        ),
        Case(
            "a batch of rows",
            lambda student: student.softmax_jacobian(randn(2, 3, 4).softmax(dim=-1)),
        ),
    ),
    misconceptions=(
        Misconception(
            "diagonal only",
            wrong.jacobian_diagonal,
            "You have p(1 - p) on the diagonal and nothing beside it. Raising one score takes "
            "weight from all other keys: -p_i p_j off the diagonal.",
        ),
        Misconception(
            "diagonal forgotten",
            wrong.jacobian_product_only,
            "You have -p pᵀ without diag(p). A score that rises would then take weight from its "
            "own key.",
        ),
        Misconception(
            "sign turned round",
            wrong.jacobian_sign,
            "Your signs are turned round: on the diagonal a higher score must mean more weight. "
            "It is diag(p) - p pᵀ.",
        ),
        Misconception(
            "one row only",
            wrong.jacobian_one_row,
            "Right for a single row. torch.diag and torch.outer know no axes in front; "
            "torch.diag_embed and broadcasting do.",
        ),
        Misconception(
            "weights taken for scores",
            wrong.jacobian_of_scores,
            "You put p through a softmax again. It holds the weights already; the Jacobian is "
            "written in terms of them.",
        ),
    ),
    forbidden=AUTOGRAD,
)

# --- query_gradient


def _query_gradient(q: Tensor, k: Tensor, upstream: Tensor) -> Tensor:
    factor = 1 / math.sqrt(q.shape[-1])
    p = (q @ k.transpose(-2, -1) * factor).softmax(dim=-1)  # (..., T, S)
    at_scores = p * (upstream - (p * upstream).sum(dim=-1, keepdim=True))  # J times upstream
    return at_scores @ k * factor  # (..., T, d)


GRADIENT = Question(
    name="query_gradient",
    title="What arrives at the query",
    points=5,
    difficulty=3,
    minutes=30,
    hint="Go backwards through the three steps: weights to scores, scores to dot products, dot "
    "products to q. The first multiplies by J, and J g = p · (g - Σ p g) needs no matrix; the "
    "second by the factor; the third is a product with k.",
    page="scaling.html#sec-scaling-gradient",
    reference=_query_gradient,
    cases=(
        Case(
            "one query, two keys, width 4",
            lambda student: student.query_gradient(
                torch.zeros(1, 4),
                torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]),
                torch.tensor([[1.0, 0.0]]),
            ),
        ),
        Case(
            "every size its own",
            lambda student: student.query_gradient(
                randn(3, 6), randn(5, 6, seed=1), randn(3, 5, seed=2)
            ),
        ),
        Case(
            "a batch of two",
            lambda student: student.query_gradient(
                randn(2, 3, 6), randn(2, 5, 6, seed=1), randn(2, 3, 5, seed=2)
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "factor only on the way there",
            wrong.gradient_factor_once,
            "Your gradient is √d times too large. The factor stands between dot products and "
            "scores, so the way back passes it again.",
        ),
        Misconception(
            "factor only on the way back",
            wrong.gradient_weights_unscaled,
            "Your weights are those of scores without the factor. It belongs into the softmax as "
            "well as into the gradient.",
        ),
        Misconception(
            "nothing subtracted",
            wrong.gradient_nothing_subtracted,
            "You multiply by p, the diagonal of J, and leave out -p pᵀ. What is subtracted is the "
            "mean of the upstream gradient, weighted by p.",
        ),
        Misconception(
            "softmax left out",
            wrong.gradient_no_softmax,
            "You treat the weights as if they were the scores. Between them stands the softmax: "
            "multiply by J.",
        ),
        Misconception(
            "a plain sum subtracted",
            wrong.gradient_sum_of_upstream,
            "You subtract the plain sum of the upstream gradient. It is the sum weighted by p: "
            "(p * g).sum(dim=-1, keepdim=True).",
        ),
        Misconception(
            "factor squared",
            wrong.gradient_by_width,
            "Your gradient is √d times too small: on the way back you divide by d. The factor is "
            "passed once on the way there and once on the way back.",
        ),
    ),
    forbidden=(*AUTOGRAD, *LIBRARY),
    needs=("softmax_jacobian",),
)


ASSIGNMENT = Assignment(
    name="a02_scaling",
    title="Scaling",
    questions=(FACTOR, ATTENTION, ENTROPY, TEMPERED, JACOBIAN, GRADIENT),
    written=(
        Written(
            name="repair",
            title="Would it not repair itself?",
            points=3,
            minutes=20,
            page="scaling.html",
        ),
    ),
)
