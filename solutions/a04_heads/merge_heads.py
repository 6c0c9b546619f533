"""Heads are joined to the width again."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, gradients, randn
from coursekit.questions import hidden, visible


def merge_heads(x):
    """x (B, H, T, Dh) -> (B, T, H·Dh)."""
    return x.transpose(1, 2).flatten(-2)


@visible("two heads of width 2, three places")
def two_heads_of_width_2_three(student):
    return student.merge_heads(torch.arange(12.0).reshape(1, 2, 3, 2))


@visible("two sentences, three heads of width 4")
def two_sentences_three_heads_of_width(student):
    return student.merge_heads(randn(2, 3, 5, 4))


@visible("six heads of width 1")
def six_heads_of_width_1(student):
    return student.merge_heads(randn(2, 6, 3, 1, seed=1))


@hidden("one head")
def merge_one(student):
    return student.merge_heads(randn(2, 1, 3, 5))


@hidden("as many places as heads, of the same width")
def merge_cube(student):
    return student.merge_heads(randn(3, 3, 3, 3, seed=1))


@hidden("it undoes the split")
def merge_undoes(student):
    x = randn(2, 5, 12, seed=2)
    merged = student.merge_heads(student.split_heads(x, 4))
    assert torch.equal(merged, x)
    assert student.merge_heads(randn(2, 4, 5, 3)).shape == (2, 5, 12)
    return student.merge_heads(randn(2, 4, 5, 3, seed=3))


@hidden("gradients, and the input as it was")
def merge_gradients(student):
    x = randn(2, 3, 4, 2, seed=4)
    return gradients(student.merge_heads, x), after(student.merge_heads, x)
