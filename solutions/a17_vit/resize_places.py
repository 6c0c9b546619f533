"""Learned positions for a picture of another size: stretched as a picture is, class token apart."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible


def resize_places(table, old, new):
    """table (1 + R·L, D) of the grid (R, L) -> (1 + r·l, D) for the grid (r, l)."""
    first, places = table[:1], table[1:]
    D = table.shape[1]
    x = places.reshape(1, *old, D).permute(0, 3, 1, 2)  # (1, D, R, L), a picture of D channels
    x = F.interpolate(x, size=new, mode="bilinear", align_corners=False)  # (1, D, r, l)
    x = x.permute(0, 2, 3, 1).reshape(-1, D)  # (r·l, D)
    return torch.cat([first, x])


def learned(rows, columns, width, seed, dtype=torch.float32):
    """Return a table as a ViT learns it: a row's share and a column's share, and some noise."""
    grid = randn(rows, 1, width, seed=seed) + randn(1, columns, width, seed=seed + 1)
    grid = grid + 0.3 * randn(rows, columns, width, seed=seed + 2)
    first = 10 + randn(1, width, seed=seed + 3)
    return torch.cat([first, grid.reshape(-1, width)]).to(dtype)


@visible("one row of two places becomes one row of four")
def two_to_four(student):
    return student.resize_places(torch.tensor([[9.0], [0.0], [4.0]]), (1, 2), (1, 4))


@visible("two rows of three become four rows of six", weight=2)
def twice_as_many(student):
    return student.resize_places(learned(2, 3, 4, seed=1), (2, 3), (4, 6))


@visible("other grids: more rows, more columns, another shape, a grid that stays")
def other_grids(student):
    grids = ((3, 2), (7, 3)), ((2, 2), (2, 5)), ((2, 6), (3, 4)), ((3, 3), (3, 3))
    return [student.resize_places(learned(*old, 3, seed=2), old, new) for old, new in grids]


@visible("fewer patches")
def fewer(student):
    return student.resize_places(learned(6, 5, 3, seed=3), (6, 5), (3, 2))


@visible("what was given stays as it was; double precision")
def what_was_given_stays(student):
    table = learned(2, 2, 3, seed=7, dtype=torch.float64)
    return after(student.resize_places, table, (2, 2), (3, 4))


@hidden("from 224 to 384 pixels: 14 × 14 places become 24 × 24", weight=2)
def resize_paper(student):
    return student.resize_places(learned(14, 14, 4, seed=351), (14, 14), (24, 24))


@hidden("a page on its side, and upright", weight=2)
def resize_sides(student):
    wide, high = learned(3, 5, 4, seed=355), learned(5, 3, 4, seed=359)
    return [
        student.resize_places(wide, (3, 5), (5, 3)),
        student.resize_places(high, (5, 3), (4, 9)),
        student.resize_places(wide, (3, 5), (6, 10)),
    ]


@hidden("to fewer patches, and to a single one")
def resize_fewer(student):
    table = learned(7, 6, 3, seed=363)
    return [student.resize_places(table.clone(), (7, 6), new) for new in ((3, 4), (2, 5), (1, 1))]


@hidden("from a single row, a single column, a single patch")
def resize_single(student):
    olds = (1, 4), (4, 1), (1, 1)
    return [student.resize_places(learned(*old, 2, seed=367), old, (3, 6)) for old in olds]


@hidden("numbers that say their row and column")
def resize_ramp(student):
    row, column = torch.meshgrid(torch.arange(4.0), torch.arange(6.0), indexing="ij")
    table = torch.stack([row.flatten(), 100 * column.flatten()], dim=1)
    return student.resize_places(torch.cat([torch.tensor([[-7.0, -8.0]]), table]), (4, 6), (9, 4))


@hidden("double precision", tolerance=1e-12)
def resize_double(student):
    return student.resize_places(learned(3, 4, 5, seed=371, dtype=torch.float64), (3, 4), (5, 6))


@hidden("the table is left as it was, also where the grid stays", weight=0.5)
def resize_keeps(student):
    return [
        after(student.resize_places, learned(2, 3, 4, seed=375), (2, 3), new)
        for new in ((2, 3), (4, 2))
    ]
