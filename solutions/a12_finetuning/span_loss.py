"""The loss of a model that marks an answer in a passage."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def span_loss(start, end, first, last, passage):
    """start, end, passage (B, T), first, last (B,) -> the loss, one number."""
    loss = 0.0
    for scores, place in ((start, first), (end, last)):
        logs = scores.masked_fill(~passage, -torch.inf).log_softmax(dim=-1)  # (B, T)
        loss = loss - logs[torch.arange(len(place)), place].mean()
    return loss / 2


def marked(begins, ends, firsts, lasts, length, seed, scale=2.0, dtype=torch.float32):
    """Return scores, the right places, and where the passages lie."""
    start, end = (scale * randn(len(begins), length, seed=seed + n, dtype=dtype) for n in (0, 1))
    place = torch.arange(length)
    passage = (place >= torch.tensor(begins)[:, None]) & (place <= torch.tensor(ends)[:, None])
    return start, end, torch.tensor(firsts), torch.tensor(lasts), passage


@visible("one passage of three tokens")
def one_passage(student):
    start, end = torch.tensor([[[9.0, 1.0, 2.0, 0.0, 5.0]], [[3.0, 0.0, 1.0, 3.0, 7.0]]])
    passage = torch.tensor([[False, True, True, True, False]])
    return student.span_loss(start, end, torch.tensor([2]), torch.tensor([3]), passage)


@visible("five passages of several lengths", weight=2)
def five_passages(student):
    return student.span_loss(
        *marked([2, 3, 4, 2, 3], [10, 9, 8, 7, 10], [2, 4, 4, 3, 3], [4, 5, 4, 5, 8], 12, seed=3)
    )


@visible("gradients")
def with_gradients(student):
    return gradients(
        student.span_loss, *marked([2, 3, 4], [6, 5, 5], [2, 4, 4], [4, 5, 5], 8, seed=5)
    )


@visible("scores far below zero, but for one outside")
def thousands(student):
    start, end, *rest = marked([2, 3, 4], [8, 7, 6], [2, 4, 4], [4, 5, 4], 10, 8, scale=2e3)
    start, end = start - 50_000, end - 50_000
    start[:, 0], end[:, 1] = 20_000, 0
    return student.span_loss(start, end, *rest)


@visible("what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(
        student.span_loss, *marked([2, 3], [7, 6], [3, 3], [5, 5], 9, 11, dtype=torch.float64)
    )


@hidden("many passages", weight=2)
def span_many(student):
    begins, ends = [2 + n % 5 for n in range(16)], [20 - n // 2 for n in range(16)]
    firsts = [b + n % 3 for n, b in enumerate(begins)]
    lasts = [e - n % 4 for n, e in enumerate(ends)]
    return student.span_loss(*marked(begins, ends, firsts, lasts, 24, seed=101))


@hidden("a passage of one token beside a longer one")
def span_one(student):
    return student.span_loss(*marked([3, 1], [3, 6], [3, 2], [3, 6], 8, seed=103))


@hidden("double precision", tolerance=1e-11)
def span_double(student):
    given = marked([2, 3], [8, 9], [4, 3], [5, 9], 12, seed=105, dtype=torch.float64)
    return student.span_loss(*given)


@hidden("gradients, and none outside the passage", weight=2)
def span_gradients(student):
    given = marked([2, 4, 3], [7, 9, 5], [2, 6, 4], [5, 9, 4], 11, seed=107)
    return gradients(student.span_loss, *given)


@hidden("scores of tens of thousands, above and below zero")
def span_huge(student):
    start, end, *rest = marked([2, 3], [8, 9], [4, 3], [5, 9], 12, seed=109, scale=2e4)
    start[:, 0] = 90_000
    return student.span_loss(start, end - 40_000, *rest), student.span_loss(start, end, *rest)


@hidden("one row at a time, and all of them together")
def span_rows(student):
    given = marked([2, 4, 3], [7, 9, 5], [2, 6, 4], [5, 9, 4], 11, seed=111)
    rows = [student.span_loss(*(x[n : n + 1] for x in given)) for n in range(3)]
    return student.span_loss(*given), rows


@hidden("all equal: the logarithm of the number of places, scores as they were")
def span_equal(student):
    _, _, first, last, passage = marked([2, 4], [7, 9], [2, 6], [5, 9], 12, seed=113)
    return after(student.span_loss, torch.ones(2, 12), torch.zeros(2, 12), first, last, passage)
