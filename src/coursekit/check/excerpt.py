"""Two arrays side by side, where they differ most, small enough to read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from coursekit.check.compare import TENSORS, Difference

ROWS, COLUMNS = 8, 8  # a matrix of this size is shown whole
WIDTH = 84  # of text; halves that are wider are one below the other


@dataclass(frozen=True)
class Excerpt:
    """The same corner of what came and of what was expected; True in `wrong` marks a difference."""

    title: str  # "rows 0 to 3 of 6 of output[0][1]"
    yours: list[list[str]]
    expected: list[list[str]]
    wrong: list[list[bool]]

    def text(self) -> str:
        """Return both halves beside each other, in plain characters; a star marks a difference."""
        starred = [
            [cell + ("*" if mark else " ") for cell, mark in zip(row, marks)]
            for row, marks in zip(self.yours, self.wrong)
        ]
        left, right = _aligned(starred), _aligned(self.expected)
        if len(left[0]) + len(right[0]) > WIDTH:
            below = ["yours", *left, "expected", *right]
            return "\n".join([*([self.title] if self.title else []), *below])
        wide = max(len("yours"), *map(len, left))
        lines = [f"{'yours':{wide}}   expected"]
        lines += [f"{a:{wide}}   {b}".rstrip() for a, b in zip(left, right)]
        return "\n".join([*([self.title] if self.title else []), *lines])


def excerpt(difference: Difference, tolerance: float) -> Excerpt | None:
    """Return what to show of a difference; None where its sentence says all."""
    a, e = _array(difference.actual), _array(difference.expected)
    if a is None or e is None or a.shape != e.shape or a.dtype != e.dtype or not a.size:
        return None
    index = difference.index or (0,) * a.ndim
    path = "".join(f"[{step!r}]" for step in difference.place)
    if a.ndim > 2:
        path += str(list(index[:-2]))
        a, e, index = a[index[:-2]], e[index[:-2]], index[-2:]
    if a.ndim < 2:
        a, e = np.atleast_1d(a)[None], np.atleast_1d(e)[None]
        index = (0, *(index or (0,)))
    wrong = ~_alike(a, e, tolerance)
    rows = _window(wrong.sum(axis=1), index[0], ROWS)
    columns = _window(wrong[rows].sum(axis=0), index[1], COLUMNS)
    cut = (rows, columns)
    title = _title(path, rows, columns, a.shape, int(wrong.sum() - wrong[cut].sum()))
    return Excerpt(title, _written(a[cut]), _written(e[cut]), wrong[cut].tolist())


def _array(value: Any) -> np.ndarray | None:
    if type(value) in TENSORS:
        value = value.detach().cpu()
        if value.dtype in (torch.bfloat16, torch.float16):
            value = value.float()
        return value.resolve_conj().resolve_neg().numpy()
    return value if type(value) is np.ndarray and value.dtype.kind in "biufc" else None


def _window(wrong: np.ndarray, place: int, wide: int) -> slice:
    """Return the stretch that shows most of what differs, with `place` in it, in its middle if any.

    `wrong` has the number of differences of each row or column.
    """
    last = max(len(wrong) - wide, 0)
    starts = range(min(max(place - wide + 1, 0), last), min(place, last) + 1)
    start = max(starts, key=lambda n: (wrong[n : n + wide].sum(), -abs(n + wide // 2 - place)))
    return slice(start, min(start + wide, len(wrong)))


def _title(path: str, rows: slice, columns: slice, shape: tuple[int, ...], outside: int) -> str:
    parts = [f"in output{path}"] if path else []
    for name, cut, size in (("rows", rows, shape[0]), ("columns", columns, shape[1])):
        if cut.stop - cut.start < size:
            parts.append(f"{name} {cut.start} to {cut.stop - 1} of 0 to {size - 1}")
    if outside:
        parts.append(f"{outside} more differ{'s' if outside == 1 else ''} outside")
    return ", ".join(parts)


def _alike(a: np.ndarray, e: np.ndarray, tolerance: float) -> np.ndarray:
    if a.dtype.kind not in "fc":
        return a == e
    with np.errstate(invalid="ignore"):
        close = np.abs(a - e) <= tolerance * (1 + np.abs(e))
    return (a == e) | (np.isnan(a) & np.isnan(e)) | (close & np.isfinite(e))


def _written(block: np.ndarray) -> list[list[str]]:
    return [[_number(value) for value in row] for row in block.tolist()]


def _number(value: Any) -> str:
    if isinstance(value, float):
        if not math.isfinite(value):
            return str(value)
        if value == int(value) and abs(value) < 1e6:
            return f"{value:.0f}."
        return f"{value:.4g}" if abs(value) < 1e-3 or abs(value) >= 1e4 else f"{value:.4f}"
    return f"{value:.3g}" if isinstance(value, complex) else str(value)


def _aligned(rows: list[list[str]]) -> list[str]:
    """Return one line a row, each column as wide as its widest entry."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [" ".join(f"{cell:>{wide}}" for cell, wide in zip(row, widths)) for row in rows]
