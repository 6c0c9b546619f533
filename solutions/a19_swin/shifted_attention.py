"""Attention within shifted windows, one head of it, from the roll to the roll back."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible

from .hide_strangers import hide_strangers
from .windows import windows


def shifted_attention(q, k, v, bias, side, shift=0):
    """q, k (B, R, C, D), v (B, R, C, E), bias (M², M²) -> (B, R, C, E)."""
    B, R, C, D = q.shape
    allowed = hide_strangers(R, C, side, shift, shift)  # (W, M², M²)
    back, there = (shift, shift), (-shift, -shift)
    q, k, v = (windows(x.roll(there, dims=(1, 2)), side) for x in (q, k, v))  # (B·W, M², ...)
    scores = q @ k.mT / D**0.5 + bias  # (B·W, M², M²)
    scores = scores.masked_fill(~allowed.repeat(B, 1, 1), -torch.inf)
    return windows(scores.softmax(dim=-1) @ v, side, (R, C)).roll(back, dims=(1, 2))


def sight(size, side, seed, wide=3, value=None, dtype=torch.float32):
    """Return maps of queries, keys and values and the biases of a window."""
    made = [randn(*size, wide, seed=seed + n, dtype=dtype) for n in (0, 1)]
    made.append(3 + randn(*size, value or wide, seed=seed + 2, dtype=dtype))
    return *made, 0.7 * randn(side * side, side * side, seed=seed + 3, dtype=dtype)


@visible("one map, windows that stay")
def windows_that_stay(student):
    return student.shifted_attention(*sight((1, 4, 4), 2, 10), 2)


@visible("one map, windows of 2, a shift of 1")
def a_shift_of_one(student):
    return student.shifted_attention(*sight((1, 4, 4), 2, 14), 2, 1)


@visible("three maps, wider than high", weight=2)
def three_maps(student):
    return [student.shifted_attention(*sight((3, 4, 6), 2, 18, wide=2), 2, s) for s in (0, 1)]


@visible("higher than wide, windows of 3, values of another width", weight=2)
def another_width(student):
    given = sight((2, 6, 3), 3, 22, wide=2, value=5)
    return [student.shifted_attention(*given, 3, shift) for shift in (1, 2)]


@visible("what a cell hears of: the mean of the numbers of the cells it may see")
def what_is_heard(student):
    q, k, _, bias = sight((1, 8, 8), 4, 26)
    cells = torch.arange(64.0).reshape(1, 8, 8, 1)
    return student.shifted_attention(0 * q, 0 * k, cells, 0 * bias, 4, 2)


@visible("scores in the thousands; strangers with large scores get nothing", tolerance=2e-3)
def loud_strangers(student):
    q, k, v, bias = sight((1, 4, 4), 2, 30, wide=2)
    thousands = student.shifted_attention(70 * q, 70 * k, v, 1000 * bias, 2, 1)
    q, k = torch.ones_like(q), 0.01 * k
    k[:, 0], k[:, :, 0] = k[:, 0] + 400, k[:, :, 0] + 500  # what comes around, when it is rolled
    return thousands, student.shifted_attention(q, k, v, bias, 2, 1)


@visible("gradients; what was given stays as it was; double precision")
def with_gradients(student):
    given = sight((2, 4, 2), 2, 42, dtype=torch.float64)
    answer = student.shifted_attention
    return gradients(answer, *sight((2, 4, 4), 2, 38, wide=2), 2, 1), after(answer, *given, 2, 1)


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
