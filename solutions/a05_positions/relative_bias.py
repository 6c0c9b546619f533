"""A number for each distance."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def relative_bias(table, length):
    """table (2K + 1, H) -> bias (H, T, T), T = length."""
    place, limit = torch.arange(length), len(table) // 2
    distance = (place[None, :] - place[:, None]).clamp(-limit, limit)
    return table[distance + limit].movedim(-1, 0)


@visible("one head, K = 1, three words")
def one_head_k_1_three_words(student):
    return student.relative_bias(torch.tensor([[-1.0], [5.0], [2.0]]), 3)


@visible("two heads, every distance its own row")
def two_heads_every_distance_its_own(student):
    return student.relative_bias(randn(7, 2), 4)


@visible("three heads, K = 2, seven words")
def three_heads_k_2_seven_words(student):
    return student.relative_bias(randn(5, 3), 7)


@hidden("one word only")
def bias_one_word(student):
    return student.relative_bias(randn(5, 2), 1)


@hidden("a table with one row")
def bias_one_row(student):
    return student.relative_bias(randn(1, 3), 4)


@hidden("long sentences", weight=2)
def bias_long(student):
    return student.relative_bias(randn(9, 4, seed=3), 30)


@hidden("constant along diagonals")
def bias_diagonals(student):
    found = student.relative_bias(randn(7, 2, seed=4), 6)
    assert found.shape == (2, 6, 6)
    assert (found[:, 1:, 1:] - found[:, :-1, :-1]).abs().max() == 0


@hidden("gradients: how often each row is used", weight=2)
def bias_gradients(student):
    return gradients(student.relative_bias, randn(5, 2, seed=5), 4)


@hidden("the table stays as it was")
def bias_keeps(student):
    return after(student.relative_bias, randn(3, 4, seed=6), 5)
