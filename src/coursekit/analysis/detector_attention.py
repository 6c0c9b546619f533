"""Where a detector looks: from the middle of an object, and from the query that answers for it.

The book explains it in "DETR". A map has h rows and w columns of cells, S = h·w of them, row by
row; boxes are corners in parts of the picture. Attention is told against attention that is spread
evenly: 1 means as much as the cells' share of the map. Shapes: n objects of one picture.
"""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.boxes.geometry import check_corners

RINGS = (0.5, 1.0, 1.5)  # in half sides of the box: its inner half, the rest of it, just outside


def cell_middles(grid: tuple[int, int], like: Tensor) -> Tensor:
    """(h, w) -> (S, 2): x and y of the middle of each cell, in parts of the picture."""
    rows, columns = grid
    y = (torch.arange(rows).to(like) + 0.5) / rows  # (h,)
    x = (torch.arange(columns).to(like) + 0.5) / columns  # (w,)
    return torch.stack([x.repeat(rows), y.repeat_interleave(columns)], dim=-1)  # (S, 2)


def cells_inside(boxes: Tensor, grid: tuple[int, int]) -> Tensor:
    """boxes (n, 4) -> (n, S): does the middle of a cell lie in a box?"""
    check_corners(boxes)
    middles = cell_middles(grid, boxes)  # (S, 2)
    after = (middles > boxes[:, None, :2]).all(dim=-1)  # (n, S)
    return after & (middles < boxes[:, None, 2:]).all(dim=-1)


def object_lifts(weights: Tensor, boxes: Tensor, grid: tuple[int, int]) -> Tensor:
    """weights (S, S) of an encoder, boxes (n, 4) -> (n, 3): where the middle of an object looks.

    To its own cells, to those of other objects, to the rest; NaN where there are none. The cell in
    its middle is always its own.
    """
    rows, columns = grid
    if weights.shape != (rows * columns, rows * columns):
        raise ValueError(
            f"weights must have shape {(rows * columns,) * 2} on a map of {rows}×{columns}, "
            f"found {tuple(weights.shape)}"
        )
    inside = cells_inside(boxes, grid)  # (n, S)
    x, y = ((boxes[:, :2] + boxes[:, 2:]) / 2).unbind(-1)  # 2 × (n,)
    middle = (y * rows).long().clamp(0, rows - 1) * columns + (x * columns).long().clamp(
        0, columns - 1
    )  # (n,)
    itself = inside.clone()
    itself[torch.arange(len(boxes)), middle] = True
    others = (inside.sum(dim=0) - inside.int() > 0) & ~itself  # (n, S)
    groups = torch.stack([itself, others, ~(itself | others)], dim=1).to(weights)  # (n, 3, S)
    received = (groups * weights[middle][:, None]).sum(dim=-1)  # (n, 3)
    return received / groups.mean(dim=-1)  # 0 / 0 where a group is empty


def ring_shares(weights: Tensor, boxes: Tensor, grid: tuple[int, int]) -> tuple[Tensor, Tensor]:
    """weights (n, S) of the queries of n objects, boxes (n, 4) -> 2 × (n, 4), shares of the rings.

    First the attention, then the cells: in the inner half of the box, in the rest of it, just
    outside (up to half a side further, as `RINGS` has it), farther away.
    """
    if weights.shape != (len(boxes), grid[0] * grid[1]):
        raise ValueError(
            f"weights must have shape {(len(boxes), grid[0] * grid[1])}, a row for each box, "
            f"found {tuple(weights.shape)}"
        )
    check_corners(boxes)
    half = (boxes[:, 2:] - boxes[:, :2]) / 2  # (n, 2)
    away = cell_middles(grid, boxes) - (boxes[:, None, :2] + half[:, None])  # (n, S, 2)
    away = (away.abs() / half[:, None]).amax(dim=-1)  # (n, S): 1 on the border of the box
    ring = torch.bucketize(away, torch.tensor(RINGS).to(away), right=True)  # (n, S): 0 … 3
    groups = (ring[:, None] == torch.arange(4)[:, None]).to(weights)  # (n, 4, S)
    return (groups * weights[:, None]).sum(dim=-1), groups.mean(dim=-1)
