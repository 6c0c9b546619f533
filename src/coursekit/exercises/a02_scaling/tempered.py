"""From the mean to the maximum: a softmax with a temperature, down to 0."""

from __future__ import annotations

import torch

from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


def tempered(scores, temperature):
    """scores (..., T, S), temperature from 0 to infinity -> weights (..., T, S)."""
    if temperature > 0:
        return (scores / temperature).softmax(dim=-1)
    best = (scores == scores.amax(dim=-1, keepdim=True)).to(scores.dtype)
    return best / best.sum(dim=-1, keepdim=True)


QUESTION = Question(
    name="tempered",
    title="From the mean to the maximum",
    points=3,
    difficulty=2,
    minutes=15,
    page="scaling.html#sec-scaling-temperature",
    hint="Above 0 it is one division and a softmax, and infinity needs no care. At 0, compare the "
    "scores with the largest of their row: True where equal, and the rest is a division.",
    reference=tempered,
)


@QUESTION.visible(says="temperature 2")
def temperature_2(student):
    return student.tempered(torch.tensor([[2.0, 0.0, -2.0]]), 2.0)


@QUESTION.visible(says="temperature 0.3, a batch")
def temperature_03_a_batch(student):
    return student.tempered(randn(2, 3, 4), 0.3)


@QUESTION.visible(says="temperature 0")
def temperature_0(student):
    return student.tempered(torch.tensor([[1.0, 3.0, 2.0], [0.0, -1.0, 5.0]]), 0)


@QUESTION.visible(says="temperature 0 and a tie")
def temperature_0_and_a_tie(student):
    return student.tempered(torch.tensor([[1.0, 4.0, 4.0], [2.0, 2.0, 2.0]]), 0.0)


@QUESTION.visible(says="temperature 0 and scores that are nearly equal")
def temperature_0_and_scores_nearly_equal(student):
    return student.tempered(torch.tensor([[1.0, 1.0 + 2**-22, 0.0]]), 0)


QUESTION.mistake(
    "multiplied by the temperature",
    old=("> 0:\n        return (scores / temperature)"),
    new=(">= 0:\n        return (scores * temperature)"),
    hint="You multiply the scores by the temperature, so a hot row is a decided one. Divide: "
    "heat makes the scores smaller and the row more even.",
)

QUESTION.mistake(
    "temperature after the softmax",
    old=("> 0:\n        return (scores / temperature).softmax(dim=-1)"),
    new=(">= 0:\n        return scores.softmax(dim=-1) / temperature"),
    hint="You divide the weights, and your rows no longer sum to 1. Divide the scores, before "
    "the softmax.",
)

QUESTION.mistake(
    "division by zero",
    old="temperature > 0",
    new="temperature >= 0",
    hint="Right above 0. At temperature 0 you divide by it, and inf - inf is nan. Take that "
    "limit yourself: all weight on the largest score.",
)

QUESTION.mistake(
    "the first of a tie takes all",
    old=(
        "best = (scores == scores.amax(dim=-1, keepdim=True)).to(scores.dtype)\n"
        "    return best / best.sum(dim=-1, keepdim=True)"
    ),
    new=(
        "first = scores.argmax(dim=-1, keepdim=True)\n"
        "    return torch.zeros_like(scores).scatter(-1, first, 1.0)"
    ),
    hint="argmax names one key even where several are equally good. For every temperature above "
    "0 equal scores have equal weights, and so it is in the limit.",
)

QUESTION.mistake(
    "a tie counted twice",
    old="best / best.sum(dim=-1, keepdim=True)",
    new="best",
    hint="In a tie you give each of the best keys a weight of 1. Weights sum to 1: divide by "
    "how many there are.",
)

QUESTION.mistake(
    "a tiny temperature for 0",
    old="if temperature > 0:",
    new="temperature = max(temperature, 1e-6)\n    if temperature > 0:",
    hint="A tiny temperature is not 0: two scores that differ by less than it share the weight as "
    "if they were equal. Treat 0 by itself, and compare the scores with the largest one.",
)
