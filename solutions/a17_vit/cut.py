"""A picture as a sequence: patches in reading order, each the list of its numbers."""

from __future__ import annotations

import re

import torch

from coursekit.check.probe import after, gradients, randn
from coursekit.questions import hidden, visible


def cut(images, patch):
    """images (B, C, R, L), the side of a patch -> patches (B, N, P·P·C)."""
    B, C, R, L = images.shape
    if R % patch or L % patch:
        raise ValueError(f"patches of {patch} do not divide pictures of {R} x {L} pixels")
    x = images.reshape(B, C, R // patch, patch, L // patch, patch)  # (B, C, rows, P, columns, P)
    x = x.permute(0, 2, 4, 3, 5, 1)  # (B, rows, columns, P, P, C)
    return x.reshape(B, -1, patch * patch * C)


def refused(student, shape, patch):
    """Say how the answer refuses, and which of the three numbers its sentence leaves out."""
    numbers = (patch, *shape[2:])
    try:
        found = student.cut(torch.zeros(shape), patch)
    except ValueError as error:
        said = re.findall(r"\d+", str(error))
        missing = [number for number in numbers if str(number) not in said]
        return f"a ValueError that does not name {missing}" if missing else "a ValueError"
    except Exception as error:
        return type(error).__name__
    return f"no error, {tuple(getattr(found, 'shape', ()))}"


def counted(*shape, dtype=torch.float32):
    """Pictures whose numbers count from 0, so that one sees where each has gone."""
    return torch.arange(torch.Size(shape).numel()).reshape(shape).to(dtype)


@visible("one channel, 4 × 4 pixels that count from 0, patches of 2")
def sixteen_pixels(student):
    return student.cut(counted(1, 1, 4, 4), 2)


@visible("two pictures of three channels, wider than high", weight=2)
def wider_than_high(student):
    return student.cut(counted(2, 3, 4, 6), 2)


@visible("higher than wide, and a patch of three")
def higher_than_wide(student):
    return student.cut(randn(1, 2, 9, 3), 3), student.cut(randn(3, 1, 6, 3, seed=1), 3)


@visible("patches of one pixel, and one patch for the whole picture")
def smallest_and_largest(student):
    return student.cut(randn(2, 3, 2, 3, seed=2), 1), student.cut(randn(2, 3, 4, 4, seed=3), 4)


@visible("whole numbers from 0 to 255, as a photograph is stored")
def photograph(student):
    return student.cut(counted(1, 3, 4, 8, dtype=torch.uint8), 4)


@visible("gradients")
def with_gradients(student):
    return gradients(student.cut, randn(2, 2, 4, 6, seed=4), 2)


@visible("patches that do not divide the rows, the columns, or both")
def not_divided(student):
    shapes = (3, 10, 8), (3, 8, 10), (1, 9, 14), (1, 2, 8), (1, 6, 12), (2, 16, 3)
    return [refused(student, (2, *shape), 4) for shape in shapes]


@visible("what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.cut, randn(1, 2, 4, 4, seed=5, dtype=torch.float64), 2)


def numbered(B, C, R, L):
    """Return pictures in which each number says where it stands, two digits for each axis."""
    axes = [torch.arange(n).float() for n in (B, C, R, L)]
    picture, channel, row, column = torch.meshgrid(*axes, indexing="ij")
    return 1e6 * picture + 1e4 * channel + 100 * row + column


@hidden("every number says where it stood: three channels, 6 × 9 pixels", weight=2)
def cut_numbered(student):
    return student.cut(numbered(2, 3, 6, 9), 3)


@hidden("a photograph's size, 32 × 48 pixels in patches of 16", weight=2)
def cut_photograph(student):
    return student.cut(randn(2, 3, 32, 48, seed=301), 16)


@hidden("as many channels as pixels in a row; five channels, patches of two")
def cut_channels(student):
    return student.cut(numbered(1, 4, 4, 4), 2), student.cut(randn(3, 5, 8, 2, seed=303), 2)


@hidden("very high, very wide, and a single pixel")
def cut_edges(student):
    sizes = (2, 1, 12, 2), (1, 2, 3, 15), (1, 1, 1, 1)
    return [student.cut(numbered(*size), side) for size, side in zip(sizes, (2, 3, 1))]


@hidden("whole numbers: uint8, and int64 below zero")
def cut_whole(student):
    bytes_ = (numbered(2, 1, 6, 6) % 256).to(torch.uint8)
    return student.cut(bytes_, 3), student.cut(numbered(1, 2, 4, 6).long() - 100, 2)


@hidden("gradients in double precision")
def cut_gradients(student):
    return gradients(student.cut, randn(2, 3, 6, 4, seed=305, dtype=torch.float64), 2)


def refusal(student, size, side):
    """Return the kind of error, and which of the three numbers stand in its sentence."""
    try:
        student.cut(numbered(*size), side)
    except ValueError as told:
        told = set(re.findall(r"\d+", str(told)))
        return "ValueError", [wanted for wanted in (side, *size[2:]) if str(wanted) in told]
    except Exception as told:
        return type(told).__name__, []
    return "nothing raised", []


@hidden("rows or columns that the patch does not divide")
def cut_refused(student):
    sizes = [(2, 3, 28, 30), (1, 1, 30, 28), (1, 3, 25, 31), (2, 2, 5, 7), (1, 3, 98, 4)]
    return [refusal(student, size, 14) for size in sizes]


@hidden("the pictures are left as they were")
def cut_keeps(student):
    return after(student.cut, numbered(1, 3, 6, 6), 3)
