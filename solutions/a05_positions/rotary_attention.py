"""Attention whose scores know how far apart two words stand."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from coursekit.check.probe import after, module_gradients, randn
from coursetools.questions import hidden, visible

from .turn import turn

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


@visible("two words of two numbers")
def two_words_of_two_numbers(student):
    return _attend(student, torch.tensor([[[1.0, 0.0], [0.5, 2.0]]]), torch.tensor([0.0, 1.0]))


@visible("two sentences of five words")
def two_sentences_of_five_words(student):
    return _attend(student, randn(2, 5, 6), torch.arange(5.0), 10_000.0, 0.5)


@visible("base 50, and places with gaps")
def base_50_and_places_with_gaps(student):
    return _attend(student, randn(3, 4, 8), torch.tensor([2.0, 3.0, 9.0, 20.0]), 50.0, 0.5)


@visible("names and shapes of the weights")
def names_and_shapes_of_the_weights(student):
    return {
        name: list(weight.shape)
        for name, weight in student.RotaryAttention(width=4).state_dict().items()
    }


def build(student, width, base=10_000.0, scale=0.5):
    built = student.RotaryAttention(width=width, base=base)
    parts = [f"{part}.weight" for part in ("query", "key", "value")]
    built.load_state_dict(
        {name: scale * randn(width, width, seed=n) for n, name in enumerate(parts, 21)}
    )
    return built


@hidden("all places moved on by a hundred", weight=2, tolerance=1e-3)
def moved_on(student):
    module, x = build(student, 6, 60.0), randn(2, 5, 6)
    here, there = module(x, torch.arange(5.0)), module(x, torch.arange(5.0) + 100)
    assert (here - there).abs().max() < 1e-3
    return here


@hidden("one word only")
def rotary_one_word(student):
    return build(student, 4)(randn(3, 1, 4), torch.tensor([17.0]))


@hidden("shuffled with their places, words keep what they get")
def shuffled(student):
    module, x, places = build(student, 8), randn(2, 5, 8), torch.arange(5.0)
    order = torch.tensor([3, 0, 4, 1, 2])
    return module(x, places)[:, order], module(x[:, order], places[order])


@hidden("no sentence of a batch changes another")
def rotary_batch(student):
    module, x, places = build(student, 4, 30.0), randn(2, 6, 4), torch.arange(6.0)
    return module(x, places)[1], module(x[1:], places)[0]


@hidden("gradients at inputs and weights", weight=2)
def rotary_gradients(student):
    return module_gradients(build(student, 6, 25.0), randn(2, 4, 6), torch.arange(4.0))


@hidden("large scores")
def rotary_large(student):
    return build(student, 4, scale=5.0)(randn(1, 3, 4), torch.tensor([0.0, 2.0, 5.0]))


@hidden("the base unless told otherwise")
def rotary_default(student):
    module = student.RotaryAttention(width=4)
    module.load_state_dict(build(student, 4).state_dict())
    return module(randn(2, 3, 4), torch.tensor([0.0, 40.0, 90.0]))


@hidden("what was given stays as it was")
def rotary_keeps(student):
    return after(build(student, 4), randn(2, 3, 4, seed=1), torch.tensor([0.0, 1.0, 6.0]))
