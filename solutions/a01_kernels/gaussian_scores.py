"""Near is high: the scores of a Gaussian kernel."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def gaussian_scores(q, k, bandwidth):
    """q (..., T, D), k (..., S, D), bandwidth (D,) or a number -> scores (..., T, S)."""
    difference = q[..., :, None, :] - k[..., None, :, :]  # (..., T, S, D)
    return -(difference.square() / (2 * bandwidth**2)).sum(dim=-1)


def _lengths(*numbers: float, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.tensor(numbers, dtype=dtype)


@visible("one query, two keys on a plane")
def one_query_two_keys_on_a(student):
    return student.gaussian_scores(
        torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]]), _lengths(0.5, 2.0)
    )


@visible("four queries, six keys")
def four_queries_six_keys(student):
    return student.gaussian_scores(randn(4, 3), randn(6, 3, seed=1), _lengths(2.0, 0.7, 1.2))


@visible("a batch, with the number 1 for all axes")
def a_batch_with_the_number_1(student):
    return student.gaussian_scores(randn(2, 4, 3), randn(2, 6, 3, seed=1), 1.0)


@hidden("axes in front that broadcast")
def gaussian_broadcast(student):
    return student.gaussian_scores(
        randn(2, 1, 4, 3), randn(3, 5, 3, seed=1), _lengths(0.7, 3.0, 1.1)
    )


@hidden("long vectors that lie close together", weight=2, tolerance=1e-3)
def close_together(student):
    start = 1000 + randn(1, 16)
    return student.gaussian_scores(
        start + 0.1 * randn(3, 16, seed=1), start, randn(16, seed=2).exp()
    )


@hidden("a width of one, and a number")
def gaussian_narrow(student):
    return student.gaussian_scores(randn(3, 1), randn(2, 1, seed=1), 1.5)


@hidden("double precision", tolerance=1e-12)
def gaussian_double(student):
    q, k = randn(3, 4, dtype=torch.float64), randn(5, 4, seed=1, dtype=torch.float64)
    return student.gaussian_scores(q, k, _lengths(0.3, 0.4, 2.0, 1.0, dtype=torch.float64))


@hidden("gradients, also at the lengths")
def gaussian_gradients(student):
    lengths = _lengths(0.8, 1.5, 0.9, 4.0)
    return gradients(student.gaussian_scores, randn(3, 4), randn(5, 4, seed=1), lengths)


@hidden("as many queries and keys as axes")
def gaussian_square(student):
    return student.gaussian_scores(randn(3, 3), randn(3, 3, seed=1), _lengths(2.5, 0.6, 1.4))


@hidden("an axis whose length is so large that it does not count")
def gaussian_ignored(student):
    return student.gaussian_scores(randn(3, 2), randn(4, 2, seed=1), _lengths(1e6, 0.5))


@hidden("what was given stays as it was")
def gaussian_keeps(student):
    return after(student.gaussian_scores, randn(2, 3), randn(4, 3, seed=1), _lengths(0.5, 1.5, 2.0))
