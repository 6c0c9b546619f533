"""Shares of what may be seen, and zeros where nothing may."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def masked_shares(scores, mask):
    """scores (..., T, S), mask that broadcasts to it -> weights (..., T, S)."""
    scores = scores.masked_fill(~mask, -torch.inf)
    best = scores.amax(dim=-1, keepdim=True)  # (..., T, 1)
    raised = (scores - best.where(best > -torch.inf, 0.0)).exp()
    total = raised.sum(dim=-1, keepdim=True)
    return raised / total.where(total > 0, 1.0)


def _far() -> Tensor:
    rows = [[-20000.0, 0.0, -20001.0], [0.0, 2.0, 0.0], [50.0, -200.0, 60.0], [200.0, 0.0, 201.0]]
    return torch.tensor(rows)


def _far_mask() -> Tensor:
    rows = [[True, False, True], [True, True, True], [False, True, False], [True, True, True]]
    return torch.tensor(rows)


def _empty() -> Tensor:
    return torch.tensor([[True, True, False, True], [False] * 4, [False, False, True, False]])


def _keep() -> Tensor:
    return torch.tensor([[True, True, True, False, True], [False, True, True, False, False]])


@visible("two queries, three keys")
def two_queries_three_keys(student):
    return student.masked_shares(
        torch.tensor([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]]),
        torch.tensor([[True, True, False], [False, True, True]]),
    )


@visible("two sentences, three heads, one mask (2, 1, 1, 5)")
def two_sentences_three_heads_one_mask(student):
    return student.masked_shares(randn(2, 3, 4, 5), _keep()[:, None, None, :])


@visible("scores of 0, of 200 and of -20000")
def scores_of_0_of_200_and(student):
    return student.masked_shares(_far(), _far_mask())


@visible("a row with nothing to attend to")
def a_row_with_nothing_to_attend(student):
    return student.masked_shares(randn(3, 4, seed=1), _empty())


@visible("gradients, with such a row")
def gradients_with_such_a_row(student):
    return gradients(student.masked_shares, randn(2, 3, 4, seed=2), _empty())


@visible("scores and mask stay as they were")
def scores_and_mask_stay(student):
    return after(student.masked_shares, randn(3, 4, seed=3), _empty())


def some_mask(*shape, seed=0):
    """Return a random mask with an empty row here and there."""
    return randn(*shape, seed=70 + seed) > 0.4


@hidden("axes in front that broadcast")
def shares_broadcast(student):
    return student.masked_shares(randn(2, 3, 4, 5), some_mask(2, 1, 4, 5))


@hidden("one mask for a whole batch")
def shares_one_mask(student):
    return student.masked_shares(randn(3, 2, 6, 4, seed=1), some_mask(6, 4, seed=3))


@hidden("a key far in front, forbidden or not", weight=2)
def shares_far(student):
    scores = torch.tensor([[300.0, 1.0, 0.0, -1.0], [-5.0, 4000.0, -5.0, 4000.0]])
    mask = torch.tensor([[False, True, True, True], [True, False, True, False]])
    return student.masked_shares(scores, mask), student.masked_shares(scores, ~mask)


@hidden("double precision", tolerance=1e-12)
def shares_double(student):
    return student.masked_shares(randn(5, 6, dtype=torch.float64), some_mask(5, 6, seed=2))


@hidden("gradients in a batch with empty rows", weight=2)
def shares_gradients(student):
    mask = some_mask(2, 1, 1, 5, seed=3).clone()
    mask[1] = False
    return gradients(student.masked_shares, randn(2, 2, 3, 5, seed=3), mask)


@hidden("a forbidden key is not felt at all")
def shares_not_felt(student):
    mask = torch.tensor([[True, False, True]])
    one = student.masked_shares(torch.tensor([[0.3, 5.0, -0.2]]), mask)
    other = student.masked_shares(torch.tensor([[0.3, -7.0, -0.2]]), mask)
    assert torch.equal(one, other)
    return one


@hidden("scores and mask are left as they were")
def shares_keep(student):
    return after(student.masked_shares, randn(3, 4, seed=4), some_mask(3, 4, seed=4))
