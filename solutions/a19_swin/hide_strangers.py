"""Who may attend to whom within the windows of a rolled map."""

from __future__ import annotations

import torch

from coursetools.questions import hidden, visible


def hide_strangers(rows, columns, side, shift):
    """The sizes of a rolled map -> (W, M², M²), True = may attend."""
    down, right = (torch.arange(n) >= n - shift for n in (rows, columns))  # True: come around
    region = 2 * down[:, None] + right  # (R, C), one of four numbers
    region = region.reshape(rows // side, side, columns // side, side)
    region = region.transpose(1, 2).reshape(-1, side * side)  # (W, M²)
    return region[:, :, None] == region[:, None, :]  # (W, M², M²)


@visible("4 × 4 cells, windows of 2, a shift of 1")
def four_windows(student):
    return student.hide_strangers(4, 4, 2, 1)


@visible("8 × 8 cells, windows of 4, a shift of 2, as on the page", weight=2)
def as_on_the_page(student):
    return student.hide_strangers(8, 8, 4, 2)


@visible("wider than high, and higher than wide", weight=2)
def not_square(student):
    return student.hide_strangers(4, 6, 2, 1), student.hide_strangers(9, 6, 3, 1)


@visible("windows of 5: shifts of 0, 1, 3 and 4 cells")
def other_shifts(student):
    return [student.hide_strangers(10, 15, 5, shift) for shift in (0, 1, 3, 4)]


@visible("a single window, a single row of windows, a single column of windows")
def single_windows(student):
    return [student.hide_strangers(*size, 3, 1) for size in ((3, 3), (3, 9), (6, 3))]


@hidden("windows of 7, a shift of 3, as in Swin's first stage", weight=2)
def strangers_first_stage(student):
    return student.hide_strangers(28, 28, 7, 3)


@hidden("14 × 14 cells: how many pairs are left in each window")
def strangers_counted(student):
    return student.hide_strangers(14, 14, 7, 3).long().sum(dim=(1, 2))


@hidden("high maps and wide maps, every possible shift", weight=2)
def strangers_every_shift(student):
    sizes = (12, 4), (4, 12)
    return [student.hide_strangers(*size, 4, shift) for size in sizes for shift in range(4)]


@hidden("a single window, every possible shift")
def strangers_alone(student):
    return [student.hide_strangers(6, 6, 6, shift) for shift in range(1, 6)]


@hidden("windows of two cells a side, many of them")
def strangers_many(student):
    return student.hide_strangers(12, 18, 2, 1)


@hidden("windows of one cell, and nothing shifted", weight=0.5)
def strangers_nobody(student):
    return student.hide_strangers(3, 5, 1, 0), student.hide_strangers(10, 5, 5, 0)
