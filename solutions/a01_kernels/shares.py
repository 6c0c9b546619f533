"""Scores become shares: a softmax, built by hand."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def shares(scores):
    """scores (..., T, S) -> weights (..., T, S); each row sums to 1."""
    raised = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return raised / raised.sum(dim=-1, keepdim=True)


@visible("two queries, three keys")
def two_queries_three_keys(student):
    return student.shares(torch.tensor([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]))


@visible("a batch of four")
def a_batch_of_four(student):
    return student.shares(randn(4, 2, 5))


@visible("scores of a thousand")
def scores_of_a_thousand(student):
    return student.shares(torch.tensor([[1000.0, 999.0], [-1000.0, -1001.0]]))


@visible("gradients")
def gradients_alone(student):
    return gradients(student.shares, randn(3, 4, seed=1))


@visible("the scores stay as they were")
def the_scores_stay(student):
    return after(student.shares, randn(2, 4, seed=2))


@hidden("one key only")
def one_key(student):
    return student.shares(randn(3, 1))


@hidden("several axes in front")
def many_axes(student):
    return student.shares(randn(2, 3, 4, 5, seed=3))


@hidden("double precision", tolerance=1e-12)
def double(student):
    return student.shares(randn(3, 6, seed=4, dtype=torch.float64))


@hidden("rows that lie far apart", weight=2)
def far_apart(student):
    return student.shares(torch.tensor([[300.0, 301.0, 299.0], [-300.0, -301.0, -300.5]]))


@hidden("scores of minus infinity")
def minus_infinity(student):
    return student.shares(torch.tensor([[0.0, -torch.inf, 1.0], [-torch.inf, 2.0, -torch.inf]]))


@hidden("the input is left as it was")
def shares_keep(student):
    return after(student.shares, randn(2, 3, seed=5))


@hidden("gradients where rows lie far apart")
def shares_gradients(student):
    return gradients(student.shares, torch.tensor([[90.0, 91.0, 92.5], [-1.0, 0.0, 0.5]]))
