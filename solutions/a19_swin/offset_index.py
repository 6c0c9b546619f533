"""Which number of a table belongs to each pair of cells of a window."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from coursekit.check.probe import randn
from coursetools.questions import hidden, visible


def offset_index(rows, columns):
    """A window of N = rows · columns cells -> (N, N), from 0 to (2·rows − 1)(2·columns − 1) − 1."""
    row = torch.arange(rows).repeat_interleave(columns)  # (N,), of each cell in reading order
    column = torch.arange(columns).repeat(rows)  # (N,)
    down, right = (x[:, None] - x + x.max() for x in (row, column))  # (N, N), each from 0
    return down * (2 * columns - 1) + right


@visible("a window of 2 × 2, as on the page")
def as_on_the_page(student):
    return student.offset_index(2, 2)


@visible("windows of 3 × 3 and 4 × 4", weight=2)
def square(student):
    return student.offset_index(3, 3), student.offset_index(4, 4)


@visible("windows that are wider than high, or higher than wide", weight=2)
def not_square(student):
    return student.offset_index(2, 4), student.offset_index(5, 3)


@visible("a single row, a single column, a single cell", weight=0.5)
def single(student):
    return [student.offset_index(*size) for size in ((1, 4), (3, 1), (1, 1))]


@hidden("windows of 7 and of 5, as square as Swin's", weight=2)
def index_square(student):
    return student.offset_index(7, 7), student.offset_index(5, 5)


@hidden("windows of all shapes up to 6 × 6", weight=2)
def index_shapes(student):
    return [student.offset_index(high, wide) for high in (2, 3, 6) for wide in (2, 5, 6)]


@hidden("one row and one column")
def index_lines(student):
    return student.offset_index(1, 7), student.offset_index(6, 1), student.offset_index(1, 1)


@hidden("how often each number is used")
def index_uses(student):
    return [student.offset_index(*size).flatten().bincount() for size in ((4, 4), (2, 6), (5, 3))]


@hidden("a learned table, looked up for three heads")
def index_table(student):
    return F.embedding(student.offset_index(4, 5), randn(7 * 9, 3, seed=511)).permute(2, 0, 1)
