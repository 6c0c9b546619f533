"""What a position encoding is good for, measured: four criteria with a number for each.

A scheme is given as a function from a length T to one row for each place. Encodings that are added
give their vectors; schemes that act on the scores give what one query sees at each distance. The
book shows the table in "Positions". Shapes: T, S places, D numbers for each place, H heads.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from coursekit._base.checks import check_int, check_numbers

Encode = Callable[[int], Tensor]  # T -> (T, D)
Score = Callable[[int], Tensor]  # T -> (..., T, T), rows are queries


def length_dependence(encode: Encode, length: int) -> float:
    """Return how much the rows of places 0 … length − 1 change when the sequence doubles.

    0 is a deterministic encoding: a place has its row, whatever else is in the text. The largest
    change is divided by the size of a row. A scheme that cannot be asked for 2·length places is
    asked twice for `length`.
    """
    check_int(length=length)
    short = _rows(encode, length)
    try:
        long = _rows(encode, 2 * length)[:length]
    except ValueError:
        long = _rows(encode, length)
    return float((long - short).norm(dim=-1).max() / _size(short))


def closest_pair(encode: Encode, length: int) -> float:
    """Return the distance of the two most similar rows among `length`, over the size of a row.

    0 means that two places cannot be told apart.
    """
    check_int(2, length=length)
    rows = _rows(encode, length).double()
    gaps = torch.cdist(rows, rows, compute_mode="donot_use_mm_for_euclid_dist")  # (T, T)
    gaps.fill_diagonal_(math.inf)
    return float(gaps.min() / _size(rows))


def growth(encode: Encode, length: int, *, times: int, bias: bool = False) -> float:
    """Return how much larger rows get when the text is `times` as long as `length`.

    The largest norm far out is divided by the largest norm within `length`; infinity stands for a
    scheme that has no row there. With `bias` the rows are added to scores, where only a rise does
    harm (a bias towards −∞ merely forgets): the largest numbers are compared, 1 + rise / size.
    """
    check_int(length=length, times=times)
    near = _rows(encode, length)
    try:
        far = _rows(encode, times * length)
    except ValueError:
        return math.inf
    if not far.isfinite().all():
        return math.inf
    if bias:
        return 1 + float((far.max() - near.max()) / near.abs().max())
    return float(far.norm(dim=-1).max() / near.norm(dim=-1).max())


def shift_residual(encode: Encode, length: int, delta: int, *, seed: int = 0) -> float:
    """Return how badly the best affine map from the row at t predicts the row at t + delta.

    The map is fitted by least squares to half of the places, drawn at random, and judged on the
    other half: the mean square of its error over the variance of the rows, so 0 is a shift that a
    linear layer can make and about 1 is no better than guessing the mean row. Judging it on the
    places of the fit would flatter every encoding, for a map with D² numbers can learn T rows by
    heart.
    """
    check_int(length=length, delta=delta)
    check_int(0, seed=seed)
    rows = _rows(encode, length).double()
    before = torch.cat([rows, torch.ones(length, 1, dtype=rows.dtype)], dim=1)[:-delta]
    after = rows[delta:]  # (T − delta, D)
    if len(before) < 4:
        raise ValueError(f"{length} places leave fewer than 4 pairs at a shift of {delta}")
    order = torch.randperm(len(before), generator=torch.Generator().manual_seed(seed))
    fit, judge = order[::2], order[1::2]
    shift = torch.linalg.pinv(before[fit], rtol=1e-10) @ after[fit]  # (D + 1, D)
    error = (before[judge] @ shift - after[judge]).square().mean()
    return float(error / (after[judge] - after[fit].mean(dim=0)).square().mean())


def shift_dependence(score: Score, length: int, shift: int) -> float:
    """Return how much the score of a pair changes when both places move by `shift`.

    The largest change is divided by the spread of the scores; 0 means that a score depends on
    i − j alone.
    """
    check_int(length=length, shift=shift)
    if not shift < length:
        raise ValueError(f"shift must lie between 0 and the length {length}, found {shift}")
    scores = score(length)
    if scores.shape[-2:] != (length, length):
        raise ValueError(f"score({length}) must end on (T, T), found {tuple(scores.shape)}")
    moved = scores[..., shift:, shift:] - scores[..., :-shift, :-shift]
    return float(moved.abs().max() / scores.std())


def falls_until(similarity: Tensor) -> int:
    """similarity by distance (T,) -> the last distance before it first rises again."""
    if similarity.ndim != 1:
        raise ValueError(f"similarity must have one axis, found {tuple(similarity.shape)}")
    check_numbers(similarity, "similarity")
    rises = (similarity.diff() > 1e-6).nonzero()
    return int(rises[0]) if len(rises) else len(similarity) - 1


def _rows(encode: Encode, length: int) -> Tensor:
    rows = encode(length)
    if rows.ndim != 2 or rows.shape[0] != length:
        raise TypeError(f"encode({length}) must return ({length}, D), found {tuple(rows.shape)}")
    return rows.detach()


def _size(rows: Tensor) -> Tensor:
    """Return the root mean square of the rows' norms, or 1 where all are zero."""
    size = rows.norm(dim=-1).square().mean().sqrt()
    return size if size > 0 else torch.ones_like(size)
