"""The factor that brings the variance of a score to 1."""

from __future__ import annotations

import math

from coursekit.exercises.question import Question


def score_factor(width, q_variance, k_variance):
    """Return the factor that brings the variance of q · k to 1."""
    return 1 / math.sqrt(width * q_variance * k_variance)


QUESTION = Question(
    name="score_factor",
    title="The factor, from the variance",
    points=2,
    difficulty=1,
    minutes=10,
    page="scaling.html#sec-scaling-variance",
    hint="What is the variance of one product q_i k_i, and of the sum of `width` of them? A factor "
    "c turns a variance V into c² V. Return a plain number; math.sqrt is enough.",
    reference=score_factor,
)


@QUESTION.visible(says="variance 1, width 64")
def variance_1_width_64(student):
    return student.score_factor(64, 1.0, 1.0)


@QUESTION.visible(says="variances 4 and 9, width 16")
def variances_4_and_9_width_16(student):
    return student.score_factor(16, 4.0, 9.0)


@QUESTION.visible(says="small variances, width 300")
def small_variances_width_300(student):
    return student.score_factor(300, 0.5, 0.02)


QUESTION.mistake(
    "no root",
    old="math.sqrt(width * q_variance * k_variance)",
    new="(width * q_variance * k_variance)",
    hint="This is one over the variance of the scores. A factor c changes a variance by c², so "
    "take one over its root.",
)

QUESTION.mistake(
    "variances forgotten",
    old="width * q_variance * k_variance",
    new="width",
    hint="1/√d is right where queries and keys have variance 1, as in the footnote. Here they "
    "may have others: what is the variance of one product q_i k_i?",
)

QUESTION.mistake(
    "root of the width only",
    old="math.sqrt(width * q_variance * k_variance)",
    new="(math.sqrt(width) * q_variance * k_variance)",
    hint="You take the root of the width and not of the variances. The variance of the scores "
    "is width times both variances, and the root is of all of it.",
)

QUESTION.mistake(
    "what to divide by",
    old="1 / math.sqrt",
    new="math.sqrt",
    hint="This is the standard deviation of the scores, the number to divide by. The question "
    "asks for the factor to multiply with: one over it.",
)

QUESTION.mistake(
    "variances added",
    old="width * q_variance * k_variance",
    new="width * (q_variance + k_variance) / 2",
    hint="You add the variances. That is the rule for a sum of two numbers; for a product of "
    "two independent numbers with mean 0 they are multiplied.",
)
