"""The best answer in a passage: where it begins and where it ends, chosen together."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible

from .shared import between


def answer_span(start, end, passage, longest=30):
    """start, end, passage (B, T) -> first, last (B,)."""
    T = start.shape[1]
    scores = start[:, :, None] + end[:, None, :]  # (B, T, T)
    size = torch.arange(T)[None, :] - torch.arange(T)[:, None] + 1  # (T, T)
    inside = passage[:, :, None] & passage[:, None, :]  # (B, T, T)
    scores = scores.masked_fill(~(inside & (size >= 1) & (size <= longest)), -torch.inf)
    best = scores.flatten(1).argmax(dim=1)  # (B,)
    return best // T, best % T


@visible("one passage of five tokens")
def five_tokens(student):
    start = torch.tensor([[0.0, 0.5, 0.2, 1.0, 2.0, 0.1, 0.3, 0.0]])
    end = torch.tensor([[0.0, 0.1, 0.3, 2.2, 0.6, 1.5, 0.4, 0.0]])
    return student.answer_span(start, end, between([2], [6], 8))


@visible("the largest scores lie in the question, at [CLS] and at [SEP]")
def large_outside(student):
    start = torch.tensor([[9.0, 7.0, 5.0, 1.0, 0.5, 2.0, 6.0, 0.0]])
    end = torch.tensor([[8.0, 3.0, 9.0, 0.2, 1.0, 0.4, 7.0, 4.0]])
    return student.answer_span(start, end, between([3], [5], 8))


@visible("an answer of at most three tokens")
def three_tokens(student):
    start = torch.tensor([[-9.0, 5.0, 1.0, 2.5, 0.0, -1.0, -1.0, 3.0]])
    end = torch.tensor([[-9.0, -4.0, -4.0, 0.0, 2.0, 1.0, 4.0, -2.0]])
    return student.answer_span(start, end, between([1], [7], 8), 3)


@visible("an answer of at most two tokens, all scores below zero")
def below_zero(student):
    start, end = -5 - randn(1, 9, seed=3).abs(), -4 - randn(1, 9, seed=4).abs()
    return student.answer_span(start, end, between([3], [7], 9), longest=2)


@visible("six passages of several lengths", weight=2)
def six_passages(student):
    passage = between([3 + n for n in range(6)], [12 - n // 2 for n in range(6)], 14)
    start, end = randn(6, 14, seed=13), randn(6, 14, seed=14)
    return student.answer_span(start, end, passage, 4)


@visible("scores and passage stay as they were")
def scores_and_passage_stay(student):
    given = randn(2, 6, seed=5), randn(2, 6, seed=6), between([1, 2], [4, 5], 6)
    return after(student.answer_span, *given, 3)


@hidden("many passages, several greatest lengths", weight=2)
def span_many(student):
    start, end = 2 * randn(12, 25, seed=401), 2 * randn(12, 25, seed=402)
    passage = between([2 + n for n in range(12)], [23 - n // 3 for n in range(12)], 25)
    return [student.answer_span(start, end, passage, longest) for longest in (1, 2, 5, 25)]


@hidden("the greatest length unless told otherwise", weight=2)
def span_default(student):
    start, end = torch.zeros(3, 60), torch.zeros(3, 60)
    passage = between([4] * 3, [57] * 3, 60)
    start[:, 10], start[:, 20], start[:, 12] = 5.0, 3.0, 2.0
    for row, last in enumerate((38, 39, 40)):  # 29, 30 and 31 tokens from place 10
        end[row, last], end[row, 49], end[row, 11] = 6.0, 5.5, 1.0
    return student.answer_span(start, end, passage)


@hidden("a passage of one token")
def span_one(student):
    start, end = randn(2, 6, seed=405), randn(2, 6, seed=406)
    return student.answer_span(start, end, between([3, 5], [3, 5], 6))


@hidden("scores far below zero", weight=2)
def span_negative(student):
    start, end = randn(5, 18, seed=407) - 30, randn(5, 18, seed=408) - 20
    return student.answer_span(start, end, between([4, 5, 6, 7, 8], [16] * 5, 18), 3)


@hidden("the best end comes before the best start, in double precision")
def span_crossed(student):
    place = torch.arange(16, dtype=torch.float64)
    start = torch.stack([place / 3, (place - 9).abs() / 4]) + randn(2, 16, seed=409) / 9
    end = torch.stack([-place / 4, 3 - place.sqrt()]) + randn(2, 16, seed=410) / 9
    return student.answer_span(start.double(), end.double(), between([2, 3], [14, 13], 16), 6)


@hidden("row by row, the same answers")
def span_rows(student):
    start, end = randn(4, 12, seed=411), randn(4, 12, seed=412)
    passage = between([1, 2, 3, 4], [10, 9, 10, 8], 12)
    one = [student.answer_span(*(x[n : n + 1] for x in (start, end, passage)), 5) for n in range(4)]
    return student.answer_span(start, end, passage, 5), one


@hidden("what was given stays as it was")
def span_keeps(student):
    given = randn(3, 9, seed=413), randn(3, 9, seed=414), between([2, 3, 4], [7, 6, 5], 9)
    return after(student.answer_span, *given, 2)
