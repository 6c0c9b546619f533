"""Where a place of a picture is: sines of its row and of its column, as DETR has them."""

from __future__ import annotations

import math

import torch

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible


def places_2d(keep, width, temperature):
    """keep (B, h, w), True at real pixels -> (B, h, w, width)."""
    half = width // 2
    speeds = temperature ** (-torch.arange(0, half, 2) / half)  # (width / 4,)
    halves = []
    for dim in (1, 2):
        count = keep.cumsum(dim=dim)  # (B, h, w), real pixels up to here
        total = keep.sum(dim=dim, keepdim=True).clamp(min=1)
        angles = (2 * math.pi * count / total)[..., None] * speeds  # (B, h, w, width / 4)
        halves.append(torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2))
    return torch.cat(halves, dim=-1)


def corner(sizes):
    """Return the masks of a batch of pictures of these heights and widths."""
    tall, wide = (max(size[axis] for size in sizes) for axis in (0, 1))
    down, right = torch.arange(tall)[:, None], torch.arange(wide)
    return torch.stack([(down < rows) & (right < columns) for rows, columns in sizes])


@visible("a picture of two rows and four columns, width 8, a temperature of 4")
def small(student):
    return student.places_2d(corner([(2, 4)]), 8, 4)


@visible("10,000, as for sentences")
def as_for_sentences(student):
    return student.places_2d(corner([(5, 7)]), 16, 10_000)


@visible("three pictures of different sizes in one batch", weight=2)
def different_sizes(student):
    return student.places_2d(corner([(4, 6), (7, 3), (2, 5)]), 12, 20)


@visible("other temperatures, and a mask with holes", weight=2)
def other_temperatures(student):
    keep = randn(2, 6, 5, seed=130) > 0
    return [student.places_2d(keep, 8, temperature) for temperature in (1, 2.5, 300.0)]


@visible("what was given stays as it was")
def what_was_given_stays(student):
    return after(student.places_2d, corner([(3, 4), (2, 2)]), 20, 50)


@hidden("twelve rows and twenty columns, width 64", weight=2)
def places_large(student):
    return student.places_2d(corner([(12, 20)]), 64, 20)


@hidden("four pictures padded to one size", weight=2)
def places_padded(student):
    return student.places_2d(corner([(3, 9), (8, 4), (5, 5), (1, 2)]), 16, 40)


@hidden("the same picture with and without padding")
def places_same(student):
    padded = student.places_2d(corner([(4, 6), (9, 11)]), 8, 10_000)
    return padded[:1, :4, :6], student.places_2d(corner([(4, 6)]), 8, 10_000)


@hidden("one pixel, one row, one column")
def places_small(student):
    return [student.places_2d(corner([size]), 12, 30) for size in ((1, 1), (1, 6), (7, 1))]


@hidden("widths 4 and 8, and as many rows as columns as numbers")
def places_alike(student):
    keep = corner([(4, 4), (4, 4), (2, 3), (3, 1)])
    return [student.places_2d(keep, width, 20) for width in (4, 8)]


@hidden("pictures that are mirrored or scattered")
def places_scattered(student):
    mirrored = corner([(3, 4), (5, 6)]).flip(1, 2)
    scattered = randn(3, 5, 6, seed=801) > -0.5
    return student.places_2d(mirrored, 8, 100), student.places_2d(scattered, 8, 1.5)


@hidden("a picture that is only padding")
def places_nothing(student):
    keep = corner([(3, 3), (2, 3)])
    keep[1] = False
    return student.places_2d(keep, 8, 20)


@hidden("temperatures from 1, where all waves are alike, to a million", weight=2)
def places_temperatures(student):
    keep = corner([(5, 3), (4, 6)])
    return [student.places_2d(keep, 24, temperature) for temperature in (1, 3.0, 80, 1e6)]


@hidden("what was given is left as it was", weight=0.5)
def places_keeps(student):
    return after(student.places_2d, corner([(2, 5), (3, 3)]), 12, 20)
