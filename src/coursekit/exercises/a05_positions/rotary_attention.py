"""Attention whose scores know how far apart two words stand."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from coursekit.assignments.forbidden import LIBRARY
from coursekit.exercises.a05_positions.turn import turn
from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question

BASE = 10_000.0


class RotaryAttention(nn.Module):
    def __init__(self, *, width, base=10_000.0):
        super().__init__()
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.base = base

    def forward(self, x, places):
        """x (B, T, width), places (T,) -> (B, T, width)."""
        q, k = turn(self.query(x), places, self.base), turn(self.key(x), places, self.base)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, T, T)
        return scores.softmax(dim=-1) @ self.value(x)


QUESTION = Question(
    name="RotaryAttention",
    title="Attention that knows how far",
    points=5,
    difficulty=3,
    minutes=30,
    page="positions.html#sec-positions-relative",
    hint="Only queries and keys meet in a product, and the turn belongs after the matrix that "
    "makes them. The rest is scaled dot-product attention, with the root of the width.",
    reference=RotaryAttention,
    forbidden=LIBRARY,
    needs=("turn",),
)


def _attend(
    student: object, x: Tensor, places: Tensor, base: float = BASE, scale: float = 1.0
) -> Tensor:
    """Build the module, give it weights that are always the same, and call it."""
    width = x.shape[-1]
    module = student.RotaryAttention(width=width, base=base)
    names = ("query.weight", "key.weight", "value.weight")
    module.load_state_dict(
        {name: scale * randn(width, width, seed=n) for n, name in enumerate(names, 11)}
    )
    return module(x, places)


@QUESTION.visible(says="two words of two numbers")
def two_words_of_two_numbers(student):
    return _attend(student, torch.tensor([[[1.0, 0.0], [0.5, 2.0]]]), torch.tensor([0.0, 1.0]))


@QUESTION.visible(says="two sentences of five words")
def two_sentences_of_five_words(student):
    return _attend(student, randn(2, 5, 6), torch.arange(5.0), 10_000.0, 0.5)


@QUESTION.visible(says="base 50, and places with gaps")
def base_50_and_places_with_gaps(student):
    return _attend(student, randn(3, 4, 8), torch.tensor([2.0, 3.0, 9.0, 20.0]), 50.0, 0.5)


@QUESTION.visible(says="names and shapes of the weights")
def names_and_shapes_of_the_weights(student):
    return {
        name: list(weight.shape)
        for name, weight in student.RotaryAttention(width=4).state_dict().items()
    }


QUESTION.mistake(
    "values turned too",
    old="self.value(x)",
    new="turn(self.value(x), places, self.base)",
    hint="You turn the values as well. Then what is handed over depends on where it stands, and "
    "no longer on distances alone. Only queries and keys meet in a product; turn those.",
)

QUESTION.mistake(
    "turned before the projections",
    old="q, k = turn(self.query(x), places, self.base), turn(self.key(x), places, self.base)",
    new=(
        "placed = turn(x, places, self.base)\n        q, k = self.query(placed), self.key(placed)"
    ),
    hint="You turn x and project afterwards. The matrices then stand between the two turns, and "
    "the score no longer depends on the distance alone. Project first, then turn.",
)

QUESTION.mistake(
    "queries only",
    old="turn(self.key(x), places, self.base)",
    new="self.key(x)",
    hint="You turn the queries and not the keys, so the score knows where the query stands and "
    "not how far away the key is. Turn both.",
)

QUESTION.mistake(
    "keys turned the other way",
    old="turn(self.key(x), places",
    new="turn(self.key(x), -places",
    hint="Your keys turn against your queries, so the score depends on the sum of the two "
    "places. Turn both the same way; the product takes the difference by itself.",
)

QUESTION.mistake(
    "places not used",
    old="q, k = turn(self.query(x), places, self.base), turn(self.key(x), places, self.base)",
    new="q, k = self.query(x), self.key(x)",
    hint="Your result does not depend on `places` at all: this is attention over a bag of "
    "words. Turn queries and keys before the product.",
)

QUESTION.mistake(
    "no scale",
    old=" / math.sqrt(q.shape[-1])",
    new="",
    hint="The turns are right; the 1/√d on the scores is missing.",
)

QUESTION.mistake(
    "base not passed on",
    old="self.base = base",
    new="self.base = 10_000.0",
    hint="The case with a base of its own fails and the others pass: keep `base` in __init__ "
    "and give it to turn.",
)
