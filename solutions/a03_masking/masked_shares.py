"""Shares of what may be seen, and zeros where nothing may."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.check.probe import after, gradients, randn
from coursekit.questions import hidden, visible

TEN_THOUSAND = (  # people write each of these in two ways, which differ in their gradients
    "-1e4 is not minus infinity. If the allowed scores lie lower still, the forbidden key wins; "
    "in a row where all is forbidden, equal scores give equal weights. Use -torch.inf, and see to "
    "such rows yourself."
)


BILLION = (
    "With -1e9 nothing becomes nan, and a row where all is forbidden attends evenly to just that, "
    "since equal scores give equal weights. Such a row should be zeros."
)


NAN = (
    "Right, but for a row where all is forbidden: it is 0/0, nan, and one such row spoils the "
    "gradients of all values. Find these rows before the softmax, compute them on zeros, and erase "
    "the result."
)


def masked_shares(scores, mask):
    """scores (..., T, S), mask that broadcasts to it -> weights (..., T, S)."""
    empty = ~mask.any(dim=-1, keepdim=True)  # (..., T, 1)
    scores = scores.masked_fill(~mask, -torch.inf).masked_fill(empty, 0.0)
    return scores.softmax(dim=-1).masked_fill(empty, 0.0)


def _far() -> Tensor:
    return torch.tensor([[-20000.0, 0.0, -20001.0], [0.0, 2.0, 0.0], [50.0, -200.0, 60.0]])


def _far_mask() -> Tensor:
    return torch.tensor([[True, False, True], [True, True, True], [False, True, False]])


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


@visible("scores of 0, and scores of -20000")
def scores_of_0_and_scores_of(student):
    return student.masked_shares(_far(), _far_mask())


@visible("a row with nothing to attend to")
def a_row_with_nothing_to_attend(student):
    return student.masked_shares(randn(3, 4, seed=1), _empty())


@visible("gradients, with such a row")
def gradients_with_such_a_row(student):
    return gradients(student.masked_shares, randn(2, 3, 4, seed=2), _empty())


def some_mask(*shape, seed=0):
    """Return a random mask with an empty row here and there."""
    return randn(*shape, seed=70 + seed) > 0.4


@hidden("axes in front that broadcast")
def shares_broadcast(student):
    return student.masked_shares(randn(2, 3, 4, 5), some_mask(2, 1, 4, 5))


@hidden("one mask for a whole batch")
def shares_one_mask(student):
    return student.masked_shares(randn(3, 2, 6, 4, seed=1), some_mask(6, 4, seed=3))


@hidden("a forbidden key far in front", weight=2)
def shares_far(student):
    scores = torch.tensor([[300.0, 1.0, 0.0, -1.0], [-5.0, 4000.0, -5.0, 4000.0]])
    mask = torch.tensor([[False, True, True, True], [True, False, True, False]])
    return student.masked_shares(scores, mask)


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
