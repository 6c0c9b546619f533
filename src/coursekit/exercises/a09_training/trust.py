"""How far RAdam trusts what it has seen."""

from __future__ import annotations

import math

from coursekit.exercises.a09_training.shared import READY_ADAM
from coursekit.exercises.question import Question


def trust(step, beta2=0.999):
    """Return how many squares are known, and RAdam's factor, None where it does not divide."""
    most = 2 / (1 - beta2) - 1
    known = most - 2 * step * beta2**step / (1 - beta2**step)
    if known <= 5:
        return known, None
    square = (known - 4) * (known - 2) * most / ((most - 4) * (most - 2) * known)
    return known, math.sqrt(square)


QUESTION = Question(
    name="trust",
    title="How many squares do you know?",
    points=3,
    difficulty=2,
    minutes=20,
    page="training.html#sec-training-radam",
    hint="ρ∞ first, then ρₜ, each in a line of its own; β₂ᵗ is beta2**step. Return (ρₜ, None) "
    "where ρₜ is 5 or less. Else three quotients under one root.",
    reference=trust,
    forbidden=READY_ADAM,
)


@QUESTION.visible(says="beta 0.5, steps 1 and 2")
def beta_05_steps_1_and_2(student):
    return [student.trust(t, 0.5) for t in (1, 2)]


@QUESTION.visible(says="beta 0.9, step by step")
def beta_09_step_by_step(student):
    return [student.trust(t, 0.9) for t in range(1, 9)]


@QUESTION.visible(says="beta 0.999, the first ten steps")
def beta_0999_the_first_ten_steps(student):
    return [student.trust(t) for t in range(1, 11)]


@QUESTION.visible(says="beta 0.98, a hundred and a thousand steps")
def beta_098_a_hundred_and_a(student):
    return [student.trust(t, 0.98) for t in (100, 1000)]


QUESTION.mistake(
    "from four on",
    old="known <= 5",
    new="known <= 4",
    hint="You begin to divide above 4, where the formula begins to hold: so says the paper. "
    "Here, as in its authors' program, it is above 5.",
)

QUESTION.mistake(
    "one for None",
    old="known, None",
    new="known, 1.0",
    hint="While ρ is 5 or less you return a factor of 1, which is plain Adam at full length, "
    "just where it knows least. Return None there: no division.",
)

QUESTION.mistake(
    "zero for None",
    old="known, None",
    new="known, 0.0",
    hint="While ρ is 5 or less you return a factor of 0: the weights would not move. RAdam "
    "moves, by the mean gradient, and does not divide. None says that.",
)

QUESTION.mistake(
    "no root",
    old="math.sqrt(square)",
    new="square",
    hint="Your factor is the square of the right one: the root is missing.",
)

QUESTION.mistake(
    "upside down",
    old="math.sqrt(square)",
    new="1 / math.sqrt(square)",
    hint="Your factor is above 1 and falls to it: early steps would be longer than Adam's. It "
    "is upside down; in the first two quotients ρₜ belongs above, ρ∞ below.",
)

QUESTION.mistake(
    "the last quotient missing",
    old=" * most / ((most - 4) * (most - 2) * known)",
    new=" / ((most - 4) * (most - 2))",
    hint="Two of the three quotients are there. The last one, ρ∞ / ρₜ, is missing.",
)

QUESTION.mistake(
    "not twice",
    old="most - 2 * step",
    new="most - step",
    hint="Your ρₜ is too large in the beginning: it is 2 t β₂ᵗ / (1 - β₂ᵗ) that is subtracted, "
    "and the 2 is missing. At step 1 ρ is 1.",
)

QUESTION.mistake(
    "not divided",
    old=" / (1 - beta2**step)",
    new="",
    hint="You subtract 2 t β₂ᵗ. It has a denominator, 1 - β₂ᵗ, which is small at first.",
)

QUESTION.mistake(
    "one step ahead",
    old="most = 2 /",
    new="step, most = step + 1, 2 /",
    hint="You are one step ahead: the first step is number 1, and there ρ is 1, for one "
    "square is known.",
)
