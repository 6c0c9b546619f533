"""A window that never pays for what it may not see."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def window_attention(q, k, v, radius):
    """q, k (..., T, d), v (..., T, Dv) -> (..., T, Dv), each query sees its neighbours."""
    T = q.shape[-2]
    seen = torch.arange(T)[:, None] + torch.arange(-radius, radius + 1)  # (T, W), some outside
    keys, values = k[..., seen.clamp(0, T - 1), :], v[..., seen.clamp(0, T - 1), :]
    scores = (q[..., None, :] * keys).sum(dim=-1) / math.sqrt(q.shape[-1])  # (..., T, W)
    weights = scores.masked_fill((seen < 0) | (seen >= T), -torch.inf).softmax(dim=-1)
    return (weights[..., None] * values).sum(dim=-2)


def _sequence(*front: int, width: int = 4, out: int = 3) -> tuple[Tensor, Tensor, Tensor]:
    return randn(*front, width), randn(*front, width, seed=1), randn(*front, out, seed=2)


@visible("three places of one number, radius 1")
def three_places_of_one_number_radius(student):
    return student.window_attention(
        torch.zeros(3, 1),
        torch.tensor([[1.0], [2.0], [3.0]]),
        torch.tensor([[1.0], [3.0], [8.0]]),
        1,
    )


@visible("seven places, radius 2")
def seven_places_radius_2(student):
    return student.window_attention(*_sequence(7), 2)


@visible("two sentences, three heads, radius 1")
def two_sentences_three_heads_radius_1(student):
    return student.window_attention(*_sequence(2, 3, 6), 1)


@visible("a window wider than the sequence")
def a_window_wider_than_the_sequence(student):
    return student.window_attention(*_sequence(4), 6)


def sequence(*front, width=4, out=3, dtype=torch.float32):
    return [
        randn(*front, size, seed=81 + n, dtype=dtype) for n, size in enumerate((width, width, out))
    ]


@hidden("radius 0")
def window_itself(student):
    return student.window_attention(*sequence(5), 0)


@hidden("one place only")
def window_one(student):
    return student.window_attention(*sequence(2, 1), 3)


@hidden("a change outside the window is not felt")
def window_edge(student):
    q, k, v = sequence(9)
    one = student.window_attention(q, k, v, 2)
    k, v = k.clone(), v.clone()
    k[6], v[6] = 5 - k[6], 5 - v[6]
    other = student.window_attention(q, k, v, 2)
    moved = (one - other).abs().amax(dim=-1) > 1e-4
    assert moved.tolist() == [False] * 4 + [True] * 5
    return other


@hidden("a very long sequence, without its square", weight=5)
def window_long(student):
    return student.window_attention(*sequence(60_000, width=2, out=2), 2)


@hidden("low scores at the ends")
def window_low(student):
    q, k, v = sequence(6)
    return student.window_attention(100 * q.abs(), -k.abs(), v, 2)


@hidden("double precision and several axes in front", tolerance=1e-12)
def window_double(student):
    return student.window_attention(*sequence(2, 3, 2, 7, dtype=torch.float64), 2)


@hidden("gradients")
def window_gradients(student):
    return gradients(student.window_attention, *sequence(6), 1)


@hidden("what was given stays as it was")
def window_keeps(student):
    return after(student.window_attention, *sequence(2, 5), 1)
