"""Nobody looks at padding."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.check.probe import after
from coursekit.questions import hidden, visible

from .shared import nines


def padding_mask(tokens, pad):
    """tokens (B, S) -> (B, 1, 1, S), True where a token is real."""
    return (tokens != pad)[:, None, None, :]


def _right() -> Tensor:
    return torch.tensor([[5, 3, 8, 2], [7, 1, 0, 0]])  # 0 is padding


@visible("two sentences, pad = 0")
def two_sentences_pad_0(student):
    return student.padding_mask(_right(), 0)


@visible("three sentences, pad = 9")
def three_sentences_pad_9(student):
    return student.padding_mask(nines(), 9)


@visible("padding on the left")
def padding_on_the_left(student):
    return student.padding_mask(_right().flip(-1), 0)


@hidden("a sentence of padding alone")
def padding_alone(student):
    return student.padding_mask(torch.tensor([[7, 7, 7], [1, 7, 2]]), 7)


@hidden("as many sentences as tokens in each")
def padding_square(student):
    tokens = torch.tensor([[1, 0, 0], [2, 3, 0], [4, 5, 6]])
    return student.padding_mask(tokens, 0)


@hidden("a padding token below 0")
def padding_negative(student):
    return student.padding_mask(torch.tensor([[3, -100, 0, -1], [0, 5, -100, -100]]), -100)


@hidden("a padding token in the middle")
def padding_middle(student):
    return student.padding_mask(torch.tensor([[3, 2, 4, 2, 6, 1]]), 2)


@hidden("the tokens are left as they were")
def padding_keeps(student):
    return after(student.padding_mask, torch.tensor([[3, 0], [0, 0]]), 0)
