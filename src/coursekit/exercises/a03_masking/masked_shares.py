"""Shares of what may be seen, and zeros where nothing may."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.assignments.forbidden import LIBRARY
from coursekit.exercises.probe import gradients, randn
from coursekit.exercises.question import Question

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


QUESTION = Question(
    name="masked_shares",
    title="Before the softmax",
    points=5,
    difficulty=2,
    minutes=25,
    page="masking.html#sec-masking-empty",
    hint="Scores become -inf where the mask is False, and then the softmax takes the last axis. "
    "That leaves the rows that are False all over: find them first, let them compute on "
    "harmless numbers, and erase their result.",
    reference=masked_shares,
    forbidden=LIBRARY,
)


def _far() -> Tensor:
    return torch.tensor([[-20000.0, 0.0, -20001.0], [0.0, 2.0, 0.0], [50.0, -200.0, 60.0]])


def _far_mask() -> Tensor:
    return torch.tensor([[True, False, True], [True, True, True], [False, True, False]])


def _empty() -> Tensor:
    return torch.tensor([[True, True, False, True], [False] * 4, [False, False, True, False]])


def _keep() -> Tensor:
    return torch.tensor([[True, True, True, False, True], [False, True, True, False, False]])


@QUESTION.visible(says="two queries, three keys")
def two_queries_three_keys(student):
    return student.masked_shares(
        torch.tensor([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]]),
        torch.tensor([[True, True, False], [False, True, True]]),
    )


@QUESTION.visible(says="two sentences, three heads, one mask (2, 1, 1, 5)")
def two_sentences_three_heads_one_mask(student):
    return student.masked_shares(randn(2, 3, 4, 5), _keep()[:, None, None, :])


@QUESTION.visible(says="scores of 0, and scores of -20000")
def scores_of_0_and_scores_of(student):
    return student.masked_shares(_far(), _far_mask())


@QUESTION.visible(says="a row with nothing to attend to")
def a_row_with_nothing_to_attend(student):
    return student.masked_shares(randn(3, 4, seed=1), _empty())


@QUESTION.visible(says="gradients, with such a row")
def gradients_with_such_a_row(student):
    return gradients(student.masked_shares, randn(2, 3, 4, seed=2), _empty())


QUESTION.mistake(
    "polarity",
    old="empty = ~mask.any",
    new=("mask = ~mask\n    empty = ~mask.any"),
    hint="You forbid where the mask is True. In this course True means may attend: fill where "
    "it is False, ~mask.",
)


@QUESTION.mistake(
    "polarity, and empty rows",
    hint="You forbid where the mask is True, and it means may attend: fill where it is False, "
    "~mask. After that a row without any True will give nan; see to it as well.",
)
def shares_polarity_and_nan(scores, mask):
    return scores.masked_fill(mask, -torch.inf).softmax(dim=-1)


@QUESTION.mistake(
    "mask after the softmax",
    hint="You erase weights after the softmax. The forbidden keys have voted by then: they "
    "stand in the sum that every weight was divided by, and your rows do not sum to 1. "
    "Mask the scores, before the softmax.",
)
def shares_masked_late(scores, mask):
    return scores.softmax(dim=-1) * mask


@QUESTION.mistake(
    "divided once more",
    hint="Erasing weights and dividing again is right on paper. Where a forbidden key leads by "
    "a lot, the allowed weights have been rounded to 0 by then, and 0/0 is nan. Mask the "
    "scores, before the softmax.",
)
def shares_divided_again(scores, mask):
    weights = scores.softmax(dim=-1) * mask
    return weights / weights.sum(dim=-1, keepdim=True)


@QUESTION.mistake(
    "a score of zero",
    hint="You multiply the scores by the mask, so a forbidden key has the score 0. That is a "
    "score like any other, and exp(0) is 1. Its weight is 0 if its score is -inf.",
)
def shares_scores_of_zero(scores, mask):
    return (scores * mask).softmax(dim=-1)


@QUESTION.mistake(
    "mask taken from the scores",
    hint="You look for zeros in the scores to find out what is forbidden. An allowed score may "
    "be 0 by itself, and then its key is lost. What is forbidden is told by the mask: "
    "masked_fill(~mask, -torch.inf).",
)
def shares_mask_from_scores(scores, mask):
    scores = scores * mask
    return scores.masked_fill(scores == 0, -torch.inf).softmax(dim=-1)


@QUESTION.mistake("minus ten thousand", hint=TEN_THOUSAND)
def shares_ten_thousand(scores, mask):
    return scores.masked_fill(~mask, -1e4).softmax(dim=-1)


@QUESTION.mistake("ten thousand taken off", hint=TEN_THOUSAND)
def shares_ten_thousand_added(scores, mask):
    return (scores + (~mask) * -1e4).softmax(dim=-1)


@QUESTION.mistake("minus a billion", hint=BILLION)
def shares_billion(scores, mask):
    return scores.masked_fill(~mask, -1e9).softmax(dim=-1)


@QUESTION.mistake("a billion taken off", hint=BILLION)
def shares_billion_added(scores, mask):
    return (scores + (~mask) * -1e9).softmax(dim=-1)


@QUESTION.mistake("nan in empty rows", hint=NAN)
def shares_nan(scores, mask):
    return scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)


@QUESTION.mistake("nan in empty rows, minus infinity added", hint=NAN)
def shares_nan_added(scores, mask):
    M = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, -torch.inf)
    return (scores + M).softmax(dim=-1)


@QUESTION.mistake(
    "nan cleaned up afterwards",
    hint="Your weights are right and your gradients are nan. Cleaning up mends the way there; "
    "the way back still goes through 0/0. No nan may arise at all: give the empty rows "
    "other scores before the softmax.",
)
def shares_nan_cleaned(scores, mask):
    M = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, -torch.inf)
    return (scores + M).softmax(dim=-1).nan_to_num(0.0)
