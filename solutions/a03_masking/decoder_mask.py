"""Both rules at once: neither ahead nor at padding."""

from __future__ import annotations

import torch

from coursekit.check.probe import after
from coursetools.questions import hidden, visible

from .shared import nines


def decoder_mask(tokens, end):
    """tokens (B, T) -> (B, 1, T, T), True where neither rule forbids it."""
    T = tokens.shape[-1]
    past = torch.ones(T, T, dtype=torch.bool).tril()
    ends = (tokens == end).long()
    real = ends.cumsum(dim=-1) - ends == 0
    return past & real[:, None, None, :]


@visible("one text, one place padded")
def one_text_one_place_padded(student):
    return student.decoder_mask(torch.tensor([[5, 3, 0, 0]]), 0)


@visible("three texts, end = 9")
def three_texts_end_9(student):
    return student.decoder_mask(nines(), 9)


@visible("a text that is empty")
def a_text_that_is_empty(student):
    return student.decoder_mask(torch.tensor([[6, 6, 6, 6], [2, 6, 6, 6]]), 6)


@hidden("one token a text")
def decoder_one(student):
    return student.decoder_mask(torch.tensor([[4], [0]]), 0)


@hidden("no end at all")
def decoder_plain(student):
    return student.decoder_mask(torch.tensor([[4, 5, 6, 7, 8], [8, 7, 6, 5, 4]]), 0)


@hidden("as many texts as tokens in each", weight=2)
def decoder_square(student):
    tokens = torch.tensor([[1, 1, 1, 1], [2, 3, 1, 1], [3, 1, 1, 1], [2, 2, 2, 2]])
    return student.decoder_mask(tokens, 1)


@hidden("each text as it would be alone")
def decoder_batch(student):
    tokens = torch.tensor([[5, 6, 0, 0, 0], [0, 0, 0, 0, 0]])
    return student.decoder_mask(tokens, 0)[1], student.decoder_mask(tokens[1:], 0)[0]


@hidden("the tokens are left as they were")
def decoder_keeps(student):
    return after(student.decoder_mask, torch.tensor([[3, 0, 0], [2, 4, 0]]), 0)
