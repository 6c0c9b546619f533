"""Who may attend to whom within the windows of a rolled map."""

from __future__ import annotations

import torch

from coursetools.questions import hidden, visible


def hide_strangers(rows, columns, side, down, right):
    """The sizes of a rolled map -> (W, M², M²), True = may attend."""
    shifts = (rows, down), (columns, right)
    down, right = (torch.arange(n) >= n - shift for n, shift in shifts)  # True: come around
    region = 2 * down[:, None] + right  # (R, C), one of four numbers
    region = region.reshape(rows // side, side, columns // side, side)
    region = region.transpose(1, 2).reshape(-1, side * side)  # (W, M²)
    return region[:, :, None] == region[:, None, :]  # (W, M², M²)


@visible("4 × 4 cells, windows of 2, moved by 1 both ways")
def four_windows(student):
    return student.hide_strangers(4, 4, 2, 1, 1)


@visible("8 × 8 cells, windows of 4, moved by 2 both ways as on the page", weight=2)
def as_on_the_page(student):
    return student.hide_strangers(8, 8, 4, 2, 2)


@visible("wider than high, and higher than wide; not equally far down and right", weight=2)
def not_square(student):
    return student.hide_strangers(4, 6, 2, 0, 1), student.hide_strangers(9, 6, 3, 1, 2)


@visible("windows of 5, moved by 0 to 4 cells down and to the right")
def other_shifts(student):
    return [student.hide_strangers(10, 15, 5, *both) for both in ((0, 0), (1, 0), (3, 3), (4, 2))]


@visible("a single window, a single row of windows, a single column of windows")
def single_windows(student):
    return [student.hide_strangers(*size, 3, 1, 2) for size in ((3, 3), (3, 9), (6, 3))]


@hidden("windows of 7, moved by 3 both ways, as in Swin's second stage", weight=2)
def strangers_second_stage(student):
    return student.hide_strangers(28, 28, 7, 3, 3)


@hidden("14 × 14 cells: how many pairs are left in each window")
def strangers_counted(student):
    return student.hide_strangers(14, 14, 7, 3, 5).long().sum(dim=(1, 2))


@hidden("high maps and wide maps, every possible pair of shifts", weight=2)
def strangers_every_shift(student):
    sizes, shifts = ((12, 4), (4, 12)), [(down, right) for down in range(4) for right in range(4)]
    return [student.hide_strangers(*size, 4, *both) for size in sizes for both in shifts]


@hidden("a single window, moved by 1 to 5 cells")
def strangers_alone(student):
    return [student.hide_strangers(6, 6, 6, down, 6 - down) for down in range(1, 6)]


@hidden("windows of two cells a side, many of them, moved one way only")
def strangers_many(student):
    return student.hide_strangers(12, 18, 2, 1, 0), student.hide_strangers(12, 18, 2, 0, 1)


@hidden("windows of one cell, and nothing shifted", weight=0.5)
def strangers_nobody(student):
    return student.hide_strangers(3, 5, 1, 0, 0), student.hide_strangers(10, 5, 5, 0, 0)
