"""Where a place of a picture is: sines of its row and of its column, as DETR has them."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from coursekit.check.probe import after, randn
from coursekit.questions import hidden, visible


def places_2d(keep, width):
    """keep (B, h, w), True at real pixels -> (B, h, w, width)."""
    half = width // 2
    speeds = 10_000.0 ** (-torch.arange(0, half, 2) / half)  # (width / 4,)
    halves = []
    for dim in (1, 2):
        count = keep.cumsum(dim=dim)  # (B, h, w), real pixels up to here
        total = keep.sum(dim=dim, keepdim=True).clamp(min=1)
        angles = (2 * math.pi * count / total)[..., None] * speeds  # (B, h, w, width / 4)
        halves.append(torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2))
    return torch.cat(halves, dim=-1)


def real(sizes: tuple[tuple[int, int], ...], height: int, columns: int) -> Tensor:
    """Return masks of pictures of these sizes in the upper left corner, (B, height, columns)."""
    keep = torch.zeros(len(sizes), height, columns, dtype=torch.bool)
    for one, (rows, width) in zip(keep, sizes):
        one[:rows, :width] = True
    return keep


@visible("a picture of two rows and four columns, width 4")
def small(student):
    return student.places_2d(torch.ones(1, 2, 4, dtype=torch.bool), 4)


@visible("a picture without padding, width 16", weight=2)
def no_padding(student):
    return student.places_2d(torch.ones(1, 5, 7, dtype=torch.bool), 16)


@visible("three pictures of different sizes in one batch", weight=2)
def different_sizes(student):
    return student.places_2d(real(((4, 6), (7, 3), (2, 5)), 7, 6), 12)


@visible("as many pictures as rows, columns and numbers")
def all_alike(student):
    return student.places_2d(
        real(((8, 8), (3, 5), (8, 2), (1, 1), (5, 8), (2, 8), (6, 6), (7, 1)), 8, 8), 8
    )


@visible("a wide picture, of one row, in a square")
def one_row(student):
    return student.places_2d(real(((1, 9),), 9, 9), 8)


@visible("a mask with holes")
def holes(student):
    return student.places_2d(randn(2, 6, 5, seed=130) > 0, 8)


@visible("what was given stays as it was")
def what_was_given_stays(student):
    return after(student.places_2d, real(((3, 4), (2, 2)), 4, 4), 20)


def corner(sizes):
    """Return the masks of a batch of pictures of these heights and widths."""
    tall, wide = (max(size[axis] for size in sizes) for axis in (0, 1))
    down, right = torch.arange(tall)[:, None], torch.arange(wide)
    return torch.stack([(down < rows) & (right < columns) for rows, columns in sizes])


@hidden("twelve rows and twenty columns, width 64", weight=2)
def places_large(student):
    return student.places_2d(corner([(12, 20)]), 64)


@hidden("four pictures padded to one size", weight=2)
def places_padded(student):
    return student.places_2d(corner([(3, 9), (8, 4), (5, 5), (1, 2)]), 16)


@hidden("the same picture with and without padding")
def places_same(student):
    padded = student.places_2d(corner([(4, 6), (9, 11)]), 8)
    return padded[:1, :4, :6], student.places_2d(corner([(4, 6)]), 8)


@hidden("one pixel, one row, one column")
def places_small(student):
    return [student.places_2d(corner([size]), 12) for size in ((1, 1), (1, 6), (7, 1))]


@hidden("width 4, and as many rows as columns as numbers")
def places_alike(student):
    return student.places_2d(corner([(4, 4), (4, 4), (2, 3), (3, 1)]), 4)


@hidden("pictures that are mirrored or scattered")
def places_scattered(student):
    mirrored = corner([(3, 4), (5, 6)]).flip(1, 2)
    return student.places_2d(mirrored, 8), student.places_2d(randn(3, 5, 6, seed=801) > -0.5, 8)


@hidden("a picture that is only padding")
def places_nothing(student):
    keep = corner([(3, 3), (2, 3)])
    keep[1] = False
    return student.places_2d(keep, 8)


@hidden("what was given is left as it was", weight=0.5)
def places_keeps(student):
    return after(student.places_2d, corner([(2, 5), (3, 3)]), 12)
