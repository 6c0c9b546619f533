"""A map cut into windows, and the windows put back where they were."""

from __future__ import annotations

import re

import torch

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def windows(x, side, size=None):
    """x (B, R, C, D) -> windows (B·W, M², D); with size (R, C), windows -> the maps again."""
    R, C = size or x.shape[1:3]
    down, across, D = R // side, C // side, x.shape[-1]
    if size is None and (R % side or C % side):
        raise ValueError(f"windows of {side} do not divide a map of {R} x {C} cells")
    if size is None:
        split, joined = (-1, down, side, across, side), (-1, side * side)
    else:
        split, joined = (-1, down, across, side, side), (-1, R, C)
    return x.reshape(*split, D).transpose(2, 3).reshape(*joined, D)  # both ways


def placed(maps, high, wide, numbers=2, dtype=torch.float32):
    """Return maps whose numbers say map, row, column and which number of the cell it is."""
    axes = [torch.arange(n, dtype=torch.float64) for n in (maps, high, wide, numbers)]
    one, row, column, number = torch.meshgrid(*axes, indexing="ij")
    return (1000 * one + 50 * row + column + 0.25 * number).to(dtype)


def objection(student, high, wide, side):
    """Return the kind of error, and which of the three numbers stand in its sentence."""
    try:
        student.windows(placed(2, high, wide), side)
    except ValueError as told:
        told = set(re.findall(r"\d+", str(told)))
        return "ValueError", [wanted for wanted in (side, high, wide) if str(wanted) in told]
    except Exception as told:
        return type(told).__name__, []
    return "nothing raised", []


@visible("4 × 4 cells that count from 0, windows of 2")
def sixteen_cells(student):
    return student.windows(torch.arange(16.0).reshape(1, 4, 4, 1), 2)


@visible("two maps, wider than high: row 2, column 3 of map 1 is 1103", weight=2)
def wider_than_high(student):
    return student.windows(placed(2, 4, 6), 2)


@visible("the way back: 4 × 4 cells, and maps that are wide or high", weight=2)
def the_way_back(student):
    return (
        student.windows(torch.arange(16.0).reshape(4, 4, 1), 2, (4, 4)),
        student.windows(randn(12, 4, 3, seed=3), 2, (4, 6)),
        student.windows(randn(6, 9, 2, seed=4), 3, (9, 6)),
    )


@visible("windows of one cell, and one window for the whole map")
def smallest_and_largest(student):
    return (
        student.windows(placed(2, 2, 3), 1),
        student.windows(placed(3, 4, 4), 4),
        student.windows(randn(12, 1, 2, seed=1), 1, (2, 3)),
        student.windows(randn(3, 16, 2, seed=2), 4, (4, 4)),
    )


@visible("windows that do not divide the rows, the columns, or both")
def not_divided(student):
    sizes = (10, 8, 4), (8, 10, 4), (9, 14, 4), (2, 8, 4), (6, 6, 4)
    return [objection(student, *size) for size in sizes]


@visible("gradients; whole numbers stay whole; what was given stays as it was")
def gradients_and_dtypes(student):
    return (
        gradients(student.windows, randn(2, 4, 6, 2, seed=5), 2),
        gradients(student.windows, randn(6, 4, 2, seed=6), 2, (6, 4)),
        after(student.windows, placed(1, 4, 2, dtype=torch.int64), 2),
    )


@hidden("each number says where it stood: three maps of 6 × 9 cells", weight=2)
def windows_placed(student):
    return student.windows(placed(3, 6, 9), 3)


@hidden("Swin's own size, 14 × 21 cells in windows of 7, there and back", weight=2)
def windows_of_seven(student):
    return (
        student.windows(placed(2, 14, 21), 7),
        student.windows(placed(12, 49, 1, 3)[:, :, 0], 7, (14, 21)),
    )


@hidden("back into maps that are high, wide, and many", weight=2)
def windows_back(student):
    sizes = (10, 4), (2, 12), (6, 6)
    return [student.windows(randn(3 * R * C // 4, 4, 3, seed=501), 2, (R, C)) for R, C in sizes]


@hidden("as many maps as rows, columns and numbers")
def windows_alike(student):
    return student.windows(placed(4, 4, 4, 4), 2), student.windows(
        placed(4, 4, 4, 1)[..., 0], 2, (4, 4)
    )


@hidden("a single cell, a single row of windows, one number")
def windows_edges(student):
    sizes = (1, 1, 1, 1, 1), (2, 3, 15, 1, 3), (3, 8, 2, 5, 2)
    return [student.windows(placed(*size), side) for *size, side in sizes]


@hidden("rows or columns that the windows do not divide")
def windows_refused(student):
    sizes = (14, 15, 7), (15, 14, 7), (20, 30, 7), (3, 27, 9), (4, 8, 5), (5, 7, 10)
    return [objection(student, *size) for size in sizes]


@hidden("gradients in double precision, there and back")
def windows_gradients(student):
    cut, wide = randn(2, 6, 3, 2, seed=503, dtype=torch.float64), (3, 6)
    return gradients(student.windows, cut, 3), gradients(
        student.windows, cut.reshape(4, 9, 2), 3, wide
    )


@hidden("bytes, whole numbers below zero, True and False")
def windows_kinds(student):
    whole = placed(1, 4, 6).long() - 60
    kinds = whole, whole.to(torch.uint8), whole % 3 == 0
    return [student.windows(kind, 2) for kind in kinds], [
        student.windows(kind.reshape(6, 4, 2), 2, (6, 4)) for kind in kinds
    ]


@hidden("the maps and the windows are left as they were", weight=0.5)
def windows_keeps(student):
    return after(student.windows, placed(1, 4, 6), 2), after(
        student.windows, randn(6, 4, 1, seed=505), 2, (4, 6)
    )
