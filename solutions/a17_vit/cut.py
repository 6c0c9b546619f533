"""A picture as a sequence: patches in reading order, overlapping, each the list of its numbers."""

from __future__ import annotations

import re

import torch

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def cut(images, patch, stride):
    """images (B, C, R, L), the side of a patch, the stride -> patches (B, N, P·P·C)."""
    R, L = images.shape[2:]
    if min(R, L) < patch or (R - patch) % stride or (L - patch) % stride:
        raise ValueError(f"patches of {patch}, one every {stride}, do not fit {R} x {L} pixels")
    x = images.unfold(2, patch, stride).unfold(3, patch, stride)  # (B, C, rows, columns, P, P)
    x = x.permute(0, 2, 3, 4, 5, 1)  # (B, rows, columns, P, P, C)
    return x.flatten(3).flatten(1, 2)


def refused(student, shape, patch, stride):
    """Say how the answer refuses, and which of the four numbers its sentence leaves out."""
    try:
        found = student.cut(torch.zeros(shape), patch, stride)
    except ValueError as error:
        said = re.findall(r"\d+", str(error))
        missing = [number for number in (patch, stride, *shape[2:]) if str(number) not in said]
        return f"a ValueError that does not name {missing}" if missing else "a ValueError"
    except Exception as error:
        return type(error).__name__
    return f"no error, {tuple(getattr(found, 'shape', ()))}"


def numbered(B, C, R, L):
    """Return pictures in which each number says where it stands, two digits for each axis."""
    axes = [torch.arange(n).float() for n in (B, C, R, L)]
    picture, channel, row, column = torch.meshgrid(*axes, indexing="ij")
    return 1e6 * picture + 1e4 * channel + 100 * row + column


@visible("one channel, 3 × 4 pixels that say their row and column, patches of 2, one every pixel")
def twelve_pixels(student):
    return student.cut(numbered(1, 1, 3, 4), 2, 1)


@visible("two pictures of three channels, patches that overlap by half", weight=2)
def half_overlaps(student):
    return student.cut(numbered(2, 3, 6, 8), 4, 2)


@visible("higher than wide, and patches side by side")
def higher_than_wide(student):
    return student.cut(randn(1, 2, 9, 3), 3, 2), student.cut(randn(3, 1, 6, 3, seed=1), 3, 3)


@visible("whole numbers from 0 to 255, as a photograph is stored")
def photograph(student):
    return student.cut((numbered(1, 3, 4, 7) % 256).to(torch.uint8), 4, 3)


@visible("gradients")
def with_gradients(student):
    return gradients(student.cut, randn(2, 2, 3, 5, seed=4), 3, 2)


@visible("pictures whose edge the last patch does not meet, or too small for a patch")
def not_met(student):
    sizes = (9, 8), (10, 11), (9, 12), (1, 10), (7, 2), (2, 2)
    return [refused(student, (2, 3, *size), 4, 3) for size in sizes]


@visible("what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.cut, randn(1, 2, 5, 5, seed=5, dtype=torch.float64), 3, 2)


@hidden("every number says where it stood: three channels, 7 × 9 pixels", weight=2)
def cut_numbered(student):
    return student.cut(numbered(2, 3, 7, 9), 3, 2)


@hidden("a photograph's size, 32 × 48 pixels in patches of 16, one every 8", weight=2)
def cut_photograph(student):
    return student.cut(randn(2, 3, 32, 48, seed=301), 16, 8)


@hidden("as many channels as pixels in a row; five channels, patches of three")
def cut_channels(student):
    return student.cut(numbered(1, 4, 4, 4), 2, 1), student.cut(randn(3, 5, 9, 3, seed=303), 3, 2)


@hidden("very high, very wide, and a single pixel")
def cut_edges(student):
    given = ((2, 1, 12, 2), 2, 1), ((1, 2, 3, 15), 3, 2), ((1, 1, 1, 1), 1, 1)
    return [student.cut(numbered(*size), patch, stride) for size, patch, stride in given]


@hidden("one patch for the whole picture, whatever the stride")
def cut_whole_picture(student):
    return [student.cut(numbered(2, 3, 5, 5), 5, stride) for stride in (1, 2, 3, 4)]


@hidden("side by side")
def cut_side_by_side(student):
    return student.cut(numbered(2, 3, 6, 9), 3, 3)


@hidden("whole numbers: uint8, and int64 below zero")
def cut_whole(student):
    bytes_ = (numbered(2, 1, 7, 5) % 256).to(torch.uint8)
    return student.cut(bytes_, 3, 2), student.cut(numbered(1, 2, 4, 6).long() - 100, 2, 1)


@hidden("gradients in double precision: a pixel of several patches hears of all")
def cut_gradients(student):
    return gradients(student.cut, randn(2, 3, 6, 5, seed=305, dtype=torch.float64), 3, 1)


@hidden("an edge that the last patch does not meet, and too few pixels")
def cut_refused(student):
    sizes = [(2, 3, 30, 28), (1, 1, 32, 30), (1, 3, 28, 32), (2, 2, 10, 18), (1, 3, 98, 6)]
    return [refused(student, size, 14, 4) for size in sizes]


@hidden("the pictures are left as they were")
def cut_keeps(student):
    return after(student.cut, numbered(1, 3, 7, 7), 3, 2)
