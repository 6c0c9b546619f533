"""Attention within shifted windows, one head of it, from the roll to the roll back."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, gradients, randn
from coursekit.questions import hidden, visible


def shifted_attention(q, k, v, bias, side, shift=0):
    """q, k (B, R, C, D), v (B, R, C, E), bias (M², M²) -> (B, R, C, E)."""
    R, C = q.shape[1:3]

    def cut(x):  # (B, R, C, D) -> (B, W, M², D)
        x = x.reshape(len(x), R // side, side, C // side, side, -1).transpose(2, 3)
        return x.flatten(3, 4).flatten(1, 2)

    q, k, v = (cut(x.roll((-shift, -shift), dims=(1, 2))) for x in (q, k, v))
    around = 2 * (torch.arange(R) >= R - shift)[:, None] + (torch.arange(C) >= C - shift)
    region = cut(around[None, :, :, None])  # (1, W, M², 1)
    scores = q @ k.mT / q.shape[3] ** 0.5 + bias  # (B, W, M², M²)
    scores = scores.masked_fill(region != region.mT, -torch.inf)
    seen = scores.softmax(dim=-1) @ v  # (B, W, M², E)
    seen = seen.reshape(-1, R // side, C // side, side, side, v.shape[3]).transpose(2, 3)
    return seen.reshape(-1, R, C, v.shape[3]).roll((shift, shift), dims=(1, 2))


def looking(B, R, C, D, side, seed, E=None, dtype=torch.float32):
    """Return queries, keys, values of E numbers, and biases for a window."""
    widths = D, D, E or D
    given = [randn(B, R, C, d, seed=seed + n, dtype=dtype) for n, d in enumerate(widths)]
    given[0] = 1.5 * given[0]
    return *given, randn(side**2, side**2, seed=seed + 3, dtype=dtype)


@visible("one map, windows that stay")
def windows_that_stay(student):
    return student.shifted_attention(*looking(1, 4, 4, 3, 2, seed=10), 2)


@visible("one map, windows of 2, a shift of 1", weight=2)
def a_shift_of_one(student):
    return student.shifted_attention(*looking(1, 4, 4, 3, 2, seed=14), 2, 1)


@visible("three maps, wider than high", weight=2)
def three_maps(student):
    return [student.shifted_attention(*looking(3, 4, 6, 2, 2, seed=18), 2, s) for s in (0, 1)]


@visible("higher than wide, windows of 3, values of another width")
def another_width(student):
    given = looking(2, 6, 3, 2, 3, seed=22, E=5)
    return [student.shifted_attention(*given, 3, shift) for shift in (1, 2)]


@visible("what a cell hears of: the mean of the numbers of the cells it may see")
def what_is_heard(student):
    q, k, _, bias = looking(1, 8, 8, 2, 4, seed=26)
    cells = torch.arange(64.0).reshape(1, 8, 8, 1)
    return student.shifted_attention(0 * q, 0 * k, cells, 0 * bias, 4, 2)


@visible("strangers with very large scores get nothing", tolerance=2e-3)
def loud_strangers(student):
    q, k, v, bias = looking(1, 4, 4, 2, 2, seed=30)
    q, k = torch.ones_like(q), 0.01 * k
    k[:, 0], k[:, :, 0] = k[:, 0] + 400, k[:, :, 0] + 500  # what comes around, when it is rolled
    return student.shifted_attention(q, k, v, bias, 2, 1)


@visible("scores in the thousands", tolerance=2e-3)
def thousands(student):
    q, k, v, bias = looking(1, 4, 4, 2, 2, seed=34)
    return student.shifted_attention(70 * q, 70 * k, v, 1000 * bias, 2, 1)


@visible("gradients at queries, keys, values and biases")
def with_gradients(student):
    return gradients(student.shifted_attention, *looking(2, 4, 4, 2, 2, seed=38), 2, 1)


@visible("what was given stays as it was; double precision")
def what_was_given_stays(student):
    given = looking(2, 4, 2, 3, 2, seed=42, dtype=torch.float64)
    return after(student.shifted_attention, *given, 2, 1)


def sight(size, side, seed, wide=3, value=None, dtype=torch.float32):
    """Return maps of queries, keys and values and the biases of a window."""
    made = [randn(*size, wide, seed=seed + n, dtype=dtype) for n in (0, 1)]
    made.append(3 + randn(*size, value or wide, seed=seed + 2, dtype=dtype))
    return *made, 0.7 * randn(side * side, side * side, seed=seed + 3, dtype=dtype)


@hidden("two maps of 14 × 14 cells, windows of 7, a shift of 3", weight=2)
def shifted_swin(student):
    return student.shifted_attention(*sight((2, 14, 14), 7, seed=521), 7, 3)


@hidden("windows that stay: high, wide, many maps")
def shifted_still(student):
    sizes = (1, 6, 2), (2, 2, 8), (5, 4, 4)
    return [student.shifted_attention(*sight(size, 2, seed=525), 2) for size in sizes]


@hidden("every shift of windows of 4, not half a window only", weight=2)
def shifted_every(student):
    given = sight((2, 8, 12), 4, seed=529, wide=2, value=1)
    return [student.shifted_attention(*given, 4, shift) for shift in (1, 2, 3)]


@hidden("a single window that is shifted all the same")
def shifted_single(student):
    given = sight((3, 3, 3), 3, seed=533)
    return [student.shifted_attention(*given, 3, shift=shift) for shift in (0, 1, 2)]


@hidden("as many maps as windows and cells in a window")
def shifted_alike(student):
    return student.shifted_attention(*sight((4, 4, 4), 2, seed=537, wide=4), 2, 1)


@hidden("gradients at everything, windows of 3, a shift of 2", weight=2)
def shifted_gradients(student):
    return gradients(student.shifted_attention, *sight((1, 6, 6), 3, seed=541, wide=2), 3, 2)


@hidden("strangers with scores of hundreds", tolerance=2e-3)
def shifted_loud(student):
    q, k, v, bias = sight((1, 6, 6), 3, seed=545, wide=2)
    q = q.abs() + 1
    k[:, -1] -= 300  # the quiet ones sit with loud strangers, once the map is rolled
    k[:, :, -1] -= 200
    return student.shifted_attention(q, k, v, bias, 3, 1)


@hidden("scores of many thousands, gradients", tolerance=2e-3)
def shifted_thousands(student):
    q, k, v, bias = sight((2, 4, 4), 2, seed=549)
    return gradients(student.shifted_attention, 200 * q, 200 * k, v, 5000 * bias, 2, 1)


@hidden("double precision", tolerance=1e-12)
def shifted_double(student):
    return student.shifted_attention(*sight((1, 4, 8), 4, seed=553, dtype=torch.float64), 4, 2)


@hidden("what was given is left as it was", weight=0.5)
def shifted_keeps(student):
    return after(student.shifted_attention, *sight((1, 4, 4), 2, seed=557), 2, 1)
