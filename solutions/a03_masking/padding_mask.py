"""Nobody looks at padding, and the end of a text is none."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.check.probe import after
from coursetools.questions import hidden, visible

from .shared import nines


def padding_mask(tokens, end):
    """tokens (B, S) -> (B, 1, 1, S), True up to the first end of each row."""
    ends = (tokens == end).long()
    return (ends.cumsum(dim=-1) - ends == 0)[:, None, None, :]  # no end before it


def _texts() -> Tensor:
    return torch.tensor([[5, 3, 8, 0], [7, 0, 0, 0]])  # 0 closes a text and fills its row


@visible("two texts, end = 0")
def two_texts_end_0(student):
    return student.padding_mask(_texts(), 0)


@visible("three texts, one of them without an end, end = 9")
def three_texts_end_9(student):
    return student.padding_mask(nines(), 9)


@visible("a text that is empty")
def a_text_that_is_empty(student):
    return student.padding_mask(torch.tensor([[6, 6, 6, 6], [2, 4, 6, 6]]), 6)


@hidden("full rows: one closed, one cut off")
def padding_full(student):
    return student.padding_mask(torch.tensor([[2, 1, 7], [1, 4, 2]]), 7)


@hidden("as many texts as tokens in each")
def padding_square(student):
    tokens = torch.tensor([[1, 0, 0], [0, 0, 0], [4, 5, 6]])
    return student.padding_mask(tokens, 0)


@hidden("an end below 0")
def padding_negative(student):
    return student.padding_mask(torch.tensor([[3, 0, -1, -1], [0, 5, 3, -1]]), -1)


@hidden("one token a text")
def padding_one(student):
    return student.padding_mask(torch.tensor([[3], [2], [2]]), 2)


@hidden("the tokens are left as they were")
def padding_keeps(student):
    return after(student.padding_mask, torch.tensor([[3, 0, 0], [4, 5, 0]]), 0)
