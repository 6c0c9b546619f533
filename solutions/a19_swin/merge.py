"""Four cells of a map become one, twice as wide."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def merge(x, gain, bias, weight, eps=1e-5):
    """x (B, R, C, D), gain and bias (4D,), weight (E, 4D) -> (B, ⌈R/2⌉, ⌈C/2⌉, E)."""
    x = F.pad(x, (0, 0, 0, x.shape[2] % 2, 0, x.shape[1] % 2))
    corners = [x[:, row::2, column::2] for column in (0, 1) for row in (0, 1)]
    x = torch.cat(corners, dim=-1)  # (B, R/2, C/2, 4D)
    mean, variance = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True, correction=0)
    return (gain * (x - mean) / (variance + eps).sqrt() + bias) @ weight.T  # (B, R/2, C/2, E)


def quarter(size, width, out, seed, dtype=torch.float32):
    """Return maps of a scale that changes from cell to cell, and the three weights."""
    loud = torch.linspace(0.2, 4.0, size[1] * size[2], dtype=dtype).reshape(1, *size[1:], 1)
    x = loud * randn(*size, width, seed=seed, dtype=dtype) - loud
    gain, bias = (0.5 + randn(4 * width, seed=seed + n, dtype=dtype) for n in (1, 2))
    return x, gain, bias, randn(out, 4 * width, seed=seed + 3, dtype=dtype)


@visible("one map of 2 × 2 cells with one number each")
def four_cells(student):
    cells = torch.tensor([[1.0, 3.0], [2.0, 5.0]]).reshape(1, 2, 2, 1)
    steps = torch.tensor([[1.0, 10.0, 100.0, 1000.0], [1.0, 0.0, 0.0, 0.0]])
    return student.merge(cells, torch.ones(4), torch.zeros(4), steps)


@visible("two maps, wider than high; one, five and eight new numbers", weight=2)
def wider_than_high(student):
    return [student.merge(*quarter((2, 4, 6), 2, E, 50)) for E in (1, 5, 8)]


@visible("an odd number of rows, of columns, of both", weight=2)
def odd_sides(student):
    return [student.merge(*quarter((2, *size), 2, 4, 54)) for size in ((3, 4), (2, 5), (5, 3))]


@visible("four cells that are nearly alike; other values of eps", tolerance=1e-3)
def alike(student):
    x, *weights = quarter((1, 2, 4), 2, 4, 62)
    x = 0.1 + 0.01 * x
    return [student.merge(x, *weights, *eps) for eps in ((), (1e-3,), (0.5,))]


@visible("gradients")
def with_gradients(student):
    return gradients(student.merge, *quarter((2, 3, 4), 2, 4, 66))


@visible("what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.merge, *quarter((2, 4, 3), 2, 4, 70, dtype=torch.float64))


@hidden("four maps of 8 × 8 cells, six numbers become twelve", weight=2)
def merge_many(student):
    return student.merge(*quarter((4, 8, 8), 6, 12, seed=561))


@hidden("odd numbers of rows and of columns", weight=2)
def merge_odd(student):
    sizes = (2, 7, 6), (1, 6, 9), (3, 5, 5), (1, 3, 2)
    return [student.merge(*quarter(size, 3, 6, seed=565)) for size in sizes]


@hidden("other widths: one number in, one number out")
def merge_widths(student):
    return [
        student.merge(*quarter((2, 4, 2), width, out, seed=569))
        for width, out in ((1, 1), (1, 2), (4, 16), (2, 3))
    ]


@hidden("a map of one colour, and one that is nearly so", tolerance=2e-3)
def merge_flat(student):
    x, *weights = quarter((2, 4, 4), 1, 2, seed=573)
    return [student.merge(0.2 + share * x, *weights) for share in (0.0, 0.003)]


@hidden("other values of eps")
def merge_eps(student):
    given = quarter((1, 4, 6), 2, 4, seed=577)
    return [student.merge(*given, eps=eps) for eps in (1e-12, 1e-2, 2.0)]


@hidden("gradients at the map and at all weights, odd sides")
def merge_gradients(student):
    return gradients(student.merge, *quarter((2, 3, 5), 2, 3, seed=581))


@hidden("double precision", tolerance=1e-12)
def merge_double(student):
    return student.merge(*quarter((2, 4, 5), 3, 6, seed=585, dtype=torch.float64))


@hidden("what was given is left as it was", weight=0.5)
def merge_keeps(student):
    return [after(student.merge, *quarter((1, R, 4), 2, 4, seed=589)) for R in (4, 3)]
