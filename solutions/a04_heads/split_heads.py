"""The queries, keys and values of a fused projection, each cut into heads."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def split_heads(qkv, heads):
    """qkv (B, T, 3·H·Dh) -> (3, B, H, T, Dh)."""
    cut = qkv.unflatten(-1, (3, heads, -1))  # (B, T, 3, H, Dh)
    return cut.permute(2, 0, 3, 1, 4)


@visible("two places, two heads of width 2")
def two_places_two_heads_of_width_2(student):
    return student.split_heads(torch.arange(24.0).reshape(1, 2, 12), 2)


@visible("two sentences, five places, three heads of width 4")
def two_sentences_five_places_three_heads(student):
    return student.split_heads(randn(2, 5, 36), 3)


@visible("six places, six heads of width 2")
def six_places_six_heads_of_width_2(student):
    return student.split_heads(randn(1, 6, 36, seed=1), 6)


@hidden("one head")
def split_one(student):
    return student.split_heads(randn(2, 3, 15), 1)


@hidden("heads of width one")
def split_narrow(student):
    return student.split_heads(randn(2, 3, 12, seed=1), 4)


@hidden("three heads of width three, in three sentences of three places")
def split_threes(student):
    return student.split_heads(randn(3, 3, 27, seed=5), 3)


@hidden("one place only")
def split_one_place(student):
    return student.split_heads(randn(3, 1, 18, seed=2), 2)


@hidden("an input whose numbers lie apart in memory")
def split_strided(student):
    return student.split_heads(randn(2, 24, 5, seed=3).transpose(1, 2), 2)


@hidden("gradients, and the input as it was")
def split_gradients(student):
    qkv = randn(2, 3, 18, seed=4)
    return gradients(student.split_heads, qkv, 3), after(student.split_heads, qkv, 3)
