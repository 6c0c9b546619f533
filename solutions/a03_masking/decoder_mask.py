"""Both rules at once: neither ahead nor at padding."""

from __future__ import annotations

import torch

from coursekit.check.probe import after
from coursekit.questions import hidden, visible

from .shared import nines


def decoder_mask(tokens, pad):
    """tokens (B, T) -> (B, 1, T, T), True where neither rule forbids it."""
    T = tokens.shape[-1]
    past = torch.ones(T, T, dtype=torch.bool).tril()
    return past & (tokens != pad)[:, None, None, :]


@visible("one sentence, one place padded")
def one_sentence_one_place_padded(student):
    return student.decoder_mask(torch.tensor([[5, 3, 8, 0]]), 0)


@visible("three sentences, pad = 9")
def three_sentences_pad_9(student):
    return student.decoder_mask(nines(), 9)


@visible("padding on the left")
def padding_on_the_left(student):
    return student.decoder_mask(nines().flip(-1), 9)


@hidden("a sentence of one token")
def decoder_one(student):
    return student.decoder_mask(torch.tensor([[4], [0]]), 0)


@hidden("no padding at all")
def decoder_plain(student):
    return student.decoder_mask(torch.tensor([[4, 5, 6, 7, 8], [8, 7, 6, 5, 4]]), 0)


@hidden("padding on both sides, in as many sentences as tokens", weight=2)
def decoder_sides(student):
    tokens = torch.tensor([[1, 2, 3, 1], [1, 1, 2, 3], [2, 3, 1, 1], [2, 2, 2, 2]])
    return student.decoder_mask(tokens, 1)


@hidden("each sentence as it would be alone")
def decoder_batch(student):
    tokens = torch.tensor([[5, 6, 0, 0, 0], [0, 0, 0, 7, 8]])
    return student.decoder_mask(tokens, 0)[1], student.decoder_mask(tokens[1:], 0)[0]


@hidden("the tokens are left as they were")
def decoder_keeps(student):
    return after(student.decoder_mask, torch.tensor([[3, 2, 0], [0, 4, 4]]), 0)
