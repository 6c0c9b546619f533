"""How decided is a row? Its entropy, in bits."""

from __future__ import annotations

import math

import torch

from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


def entropy_bits(weights):
    """weights (..., T, S) -> entropy of each row in bits, (..., T)."""
    return -torch.special.xlogy(weights, weights).sum(dim=-1) / math.log(2)


QUESTION = Question(
    name="entropy_bits",
    title="How decided is a row?",
    points=3,
    difficulty=2,
    minutes=15,
    page="scaling.html#sec-scaling-saturation",
    hint="A weight of 0 has the logarithm -inf, and 0 · -inf is nan. Take the logarithm of "
    "something harmless there: the weight of 0 wipes it out. Then sum along the keys, and "
    "mind the sign and the base.",
    reference=entropy_bits,
    forbidden=("torch.distributions", "torch.special.entr", "torch.Tensor.entropy", "scipy"),
)


@QUESTION.visible(says="four equal weights, and a half and two quarters")
def four_equal_weights_and_a_half(student):
    return student.entropy_bits(torch.tensor([[0.25, 0.25, 0.25, 0.25], [0.5, 0.25, 0.125, 0.125]]))


@QUESTION.visible(says="a batch of random rows")
def a_batch_of_random_rows(student):
    return student.entropy_bits(randn(2, 3, 6).softmax(dim=-1))


@QUESTION.visible(says="a row that has decided")
def a_row_that_has_decided(student):
    return student.entropy_bits(torch.tensor([[0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]]))


QUESTION.mistake(
    "the natural logarithm",
    old=" / math.log(2)",
    new="",
    hint="Your numbers are in nats: the logarithm is the natural one. Bits have base 2.",
)

QUESTION.mistake(
    "zero times minus infinity",
    old="torch.special.xlogy(weights, weights).sum(dim=-1) / math.log(2)",
    new="(weights * weights.log2()).sum(dim=-1)",
    hint="Right as long as no weight is 0. For those, 0 · log2(0) is nan on a computer, while "
    "the limit is 0: a key without weight adds nothing to the entropy.",
)

QUESTION.mistake(
    "no minus",
    old="-torch.special",
    new="torch.special",
    hint="Your entropy is negative. The logarithm of a weight below 1 is negative, so the sum "
    "needs a minus.",
)

QUESTION.mistake(
    "a mean for a sum",
    old=".sum(",
    new=".mean(",
    hint="You average over the keys. The entropy is the sum; the weights in front of the "
    "logarithms are the averaging.",
)

QUESTION.mistake(
    "entropy of the columns",
    old="dim=-1",
    new="dim=-2",
    hint="You sum over the queries. Each row has an entropy of its own: sum over the last axis.",
)

QUESTION.mistake(
    "one number for all rows",
    old=".sum(dim=-1)",
    new=".sum()",
    hint="You sum over everything. Each row has an entropy of its own: only the last axis goes.",
)
