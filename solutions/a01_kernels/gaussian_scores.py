"""Near is high: the scores of a Gaussian kernel."""

from __future__ import annotations

import torch

from coursekit.check.probe import gradients, randn
from coursekit.questions import hidden, visible


def gaussian_scores(q, k, bandwidth):
    """q (..., T, D), k (..., S, D) -> scores (..., T, S)."""
    difference = q[..., :, None, :] - k[..., None, :, :]  # (..., T, S, D)
    return -difference.square().sum(dim=-1) / (2 * bandwidth**2)


@visible("one query, two keys on a plane")
def one_query_two_keys_on_a(student):
    return student.gaussian_scores(
        torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]]), 0.5
    )


@visible("four queries, six keys")
def four_queries_six_keys(student):
    return student.gaussian_scores(randn(4, 3), randn(6, 3, seed=1), 2.0)


@visible("a batch, with bandwidth 1")
def a_batch_with_bandwidth_1(student):
    return student.gaussian_scores(randn(2, 4, 3), randn(2, 6, 3, seed=1), 1.0)


@hidden("axes in front that broadcast")
def gaussian_broadcast(student):
    return student.gaussian_scores(randn(2, 1, 4, 3), randn(3, 5, 3, seed=1), 0.7)


@hidden("long vectors that lie close together", weight=2, tolerance=1e-3)
def close_together(student):
    start = 1000 + randn(1, 16)
    return student.gaussian_scores(start + 0.1 * randn(3, 16, seed=1), start, 0.5)


@hidden("a width of one")
def gaussian_narrow(student):
    return student.gaussian_scores(randn(3, 1), randn(2, 1, seed=1), 1.5)


@hidden("double precision", tolerance=1e-12)
def gaussian_double(student):
    q, k = randn(3, 4, dtype=torch.float64), randn(5, 4, seed=1, dtype=torch.float64)
    return student.gaussian_scores(q, k, 0.3)


@hidden("gradients")
def gaussian_gradients(student):
    return gradients(student.gaussian_scores, randn(3, 4), randn(5, 4, seed=1), 0.8)
