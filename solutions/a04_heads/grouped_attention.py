"""Several heads share a memory."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def grouped_attention(q, k, v):
    """q (B, H, T, Dh), k (B, G, S, Dh), v (B, G, S, Dv) -> (B, H, T, Dv)."""
    times = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(times, dim=1), v.repeat_interleave(times, dim=1)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, S)
    return scores.softmax(dim=-1) @ v


def _groups(heads: int, groups: int) -> tuple[Tensor, Tensor, Tensor]:
    return randn(2, heads, 3, 4), randn(2, groups, 5, 4, seed=1), randn(2, groups, 5, 6, seed=2)


@visible("four heads share two")
def four_heads_share_two(student):
    return student.grouped_attention(
        torch.zeros(1, 4, 1, 1),
        torch.zeros(1, 2, 2, 1),
        torch.tensor([[[[1.0], [3.0]], [[10.0], [30.0]]]]),
    )


@visible("six heads share two")
def six_heads_share_two(student):
    return student.grouped_attention(*_groups(6, 2))


@visible("four heads share one")
def four_heads_share_one(student):
    return student.grouped_attention(*_groups(4, 1))


@visible("three heads, each its own")
def three_heads_each_its_own(student):
    return student.grouped_attention(*_groups(3, 3))


@visible("queries, keys and values stay as they were")
def all_three_stay(student):
    return after(student.grouped_attention, *_groups(2, 1))


def groups(heads, shared, out=3, dtype=torch.float32):
    shapes = ((2, heads, 4, 5), (2, shared, 6, 5), (2, shared, 6, out))
    return [randn(*shape, seed=71 + n, dtype=dtype) for n, shape in enumerate(shapes)]


@hidden("eight heads share four", weight=2)
def grouped_eight(student):
    return student.grouped_attention(*groups(8, 4))


@hidden("six heads share three")
def grouped_six(student):
    return student.grouped_attention(*groups(6, 3))


@hidden("large scores")
def grouped_large(student):
    q, k, v = groups(4, 2)
    return student.grouped_attention(100 * q, k, v)


@hidden("double precision", tolerance=1e-12)
def grouped_double(student):
    return student.grouped_attention(*groups(4, 2, dtype=torch.float64))


@hidden("gradients: what is shared hears from all who share it", weight=2)
def grouped_gradients(student):
    return gradients(student.grouped_attention, *groups(6, 2))


@hidden("nine heads share three, and what was given stays as it was")
def grouped_keeps(student):
    return after(student.grouped_attention, *groups(9, 3))
