"""The width is cut into heads."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, gradients, randn
from coursekit.questions import hidden, visible


def split_heads(x, heads):
    """x (B, T, H·Dh) -> (B, H, T, Dh)."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


@visible("two places, width 4, two heads")
def two_places_width_4_two_heads(student):
    return student.split_heads(torch.arange(8.0).reshape(1, 2, 4), 2)


@visible("two sentences, five places, width 12, three heads")
def two_sentences_five_places_width_12(student):
    return student.split_heads(randn(2, 5, 12), 3)


@visible("six places, width 12, six heads")
def six_places_width_12_six_heads(student):
    return student.split_heads(randn(1, 6, 12, seed=1), 6)


@hidden("one head")
def split_one(student):
    return student.split_heads(randn(2, 3, 5), 1)


@hidden("heads of width one")
def split_narrow(student):
    return student.split_heads(randn(2, 3, 4, seed=1), 4)


@hidden("one place only")
def split_one_place(student):
    return student.split_heads(randn(3, 1, 6, seed=2), 2)


@hidden("an input whose numbers lie apart in memory")
def split_strided(student):
    return student.split_heads(randn(2, 8, 5, seed=3).transpose(1, 2), 2)


@hidden("gradients, and the input as it was")
def split_gradients(student):
    x = randn(2, 3, 6, seed=4)
    return gradients(student.split_heads, x, 3), after(student.split_heads, x, 3)
