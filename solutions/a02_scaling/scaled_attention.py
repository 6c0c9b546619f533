"""Scaled dot-product attention."""

from __future__ import annotations

import math

import torch

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def scaled_attention(q, k, v):
    """q (..., T, d), k (..., S, d), v (..., S, Dv) -> output (..., T, Dv), weights (..., T, S)."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


@visible("one query, two keys, width 4")
def one_query_two_keys_width_4(student):
    return student.scaled_attention(
        torch.tensor([[2.0, 0.0, 0.0, 0.0]]),
        torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]),
        torch.tensor([[10.0], [20.0]]),
    )


@visible("every size its own")
def every_size_its_own(student):
    return student.scaled_attention(randn(4, 6), randn(5, 6, seed=1), randn(5, 3, seed=2))


@visible("a batch of two")
def a_batch_of_two(student):
    return student.scaled_attention(randn(2, 4, 6), randn(2, 5, 6, seed=1), randn(2, 5, 3, seed=2))


@visible("queries, keys and values stay as they were")
def all_three_stay(student):
    return after(
        student.scaled_attention, randn(2, 3, seed=3), randn(4, 3, seed=4), randn(4, 2, seed=5)
    )


@hidden("one key only")
def one_key(student):
    return student.scaled_attention(randn(3, 4), randn(1, 4, seed=1), randn(1, 2, seed=2))


@hidden("axes in front that broadcast")
def attention_broadcast(student):
    return student.scaled_attention(
        randn(2, 1, 4, 6), randn(3, 5, 6, seed=1), randn(2, 3, 5, 2, seed=2)
    )


@hidden("large scores", weight=2)
def attention_large(student):
    k, v = randn(5, 8, seed=1), randn(5, 2, seed=2)
    return [student.scaled_attention(size * randn(4, 8), k, v) for size in (300, 3)]


@hidden("double precision", tolerance=1e-12)
def attention_double(student):
    shapes = ((4, 6), (5, 6), (5, 3))
    numbers = (randn(*shape, seed=41 + n, dtype=torch.float64) for n, shape in enumerate(shapes))
    return student.scaled_attention(*numbers)


@hidden("gradients", weight=2)
def attention_gradients(student):
    return gradients(student.scaled_attention, randn(3, 4), randn(5, 4, seed=1), randn(5, 2))


@hidden("the inputs are left as they were")
def attention_keeps(student):
    return after(student.scaled_attention, randn(3, 4), randn(5, 4, seed=1), randn(5, 2))
