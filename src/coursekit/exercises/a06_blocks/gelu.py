"""A soft bend."""

from __future__ import annotations

import math

import torch

from coursekit.exercises.probe import gradients, randn
from coursekit.exercises.question import Question

READY_GELU = (
    "torch.nn.functional.gelu",
    "torch.nn.GELU",
    "torch.special.ndtr",
    "torch.special.log_ndtr",
    "torch.distributions",  # Normal(0, 1).cdf
    "coursekit",
)


def gelu(x):
    """x (...) -> x Φ(x), the same shape."""
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


QUESTION = Question(
    name="gelu",
    title="A coin that x weighs",
    points=2,
    difficulty=1,
    minutes=10,
    page="blocks.html#sec-blocks-gelu",
    hint="Φ(x) = ½ (1 + erf(x / √2)), and torch.erf works on each number of a tensor. Then it is "
    "one product.",
    reference=gelu,
    forbidden=READY_GELU,
)


@QUESTION.visible(says="five numbers")
def five_numbers(student):
    return student.gelu(torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0]))


@QUESTION.visible(says="a batch")
def a_batch(student):
    return student.gelu(2 * randn(2, 3, 4))


@QUESTION.visible(says="far from zero")
def far_from_zero(student):
    return student.gelu(torch.tensor([[-50.0, 50.0, 1000.0]]))


@QUESTION.visible(says="gradients")
def gradients_alone(student):
    return gradients(student.gelu, randn(3, 4, seed=1))


QUESTION.mistake(
    "the tanh",
    old="x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))",
    new="0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))",
    hint="This is the imitation with a tanh, off by less than 0.0005: GPT-2's, and close, but "
    "here the exact Φ is asked for. torch.erf has it.",
)

QUESTION.mistake(
    "the sigmoid",
    old="x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))",
    new="x * torch.sigmoid(1.702 * x)",
    hint="This is the imitation σ(1.702 x), off by about 0.02 at worst. The exact Φ comes from "
    "torch.erf.",
)

QUESTION.mistake(
    "SiLU",
    old="x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))",
    new="x * torch.sigmoid(x)",
    hint="x σ(x) is SiLU, a cousin. The gate here is Φ(x), the probability that a standard "
    "normal number lies below x.",
)

QUESTION.mistake(
    "ReLU",
    old="x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))",
    new="x.clamp_min(0)",
    hint="This is ReLU, whose gate is 0 or 1. GELU's gate is Φ(x), which is ½ at 0 and smooth.",
)

QUESTION.mistake(
    "no root of two",
    old="x / math.sqrt(2)",
    new="x",
    hint="You call erf(x). The error function belongs to a normal of variance ½; for the "
    "standard one it is erf(x / √2).",
)

QUESTION.mistake(
    "no half",
    old=" * 0.5",
    new="",
    hint="Twice as large as it should be: 1 + erf runs from 0 to 2, and a probability from 0 to 1.",
)

QUESTION.mistake(
    "the gate alone",
    old="x * 0.5",
    new="0.5",
    hint="You return Φ(x), the probability of the coin. If it shows 1 you keep x: multiply.",
)
