"""What the decoder reads, what it should say, and where that counts."""

from __future__ import annotations

import torch

from coursekit.check.probe import after
from coursetools.questions import hidden, visible


def teacher_forcing(target, start=1, pad=0):
    """target (B, T) -> read (B, T), labels (B, T), counts (B, T)."""
    first = torch.full_like(target[:, :1], start)  # (B, 1)
    return torch.cat([first, target[:, :-1]], dim=1), target, target != pad


@visible("one sentence of three words and its end")
def one_sentence_of_three_words_and(student):
    return student.teacher_forcing(torch.tensor([[7, 8, 9, 2]]))


@visible("three sentences, two of them padded", weight=2)
def three_sentences_two_of_them_padded(student):
    return student.teacher_forcing(
        torch.tensor([[5, 6, 7, 8, 2], [9, 4, 2, 0, 0], [3, 2, 0, 0, 0]])
    )


@visible("another start, another padding")
def another_start_another_padding(student):
    return student.teacher_forcing(torch.tensor([[4, 0, 2, 9], [0, 3, 5, 2]]), 8, 9)


@visible("start and padding are one symbol, as in T5")
def start_and_padding_are_one_symbol(student):
    return student.teacher_forcing(torch.tensor([[4, 5, 2], [6, 2, 0]]), 0, 0)


@hidden("sentences of one symbol")
def forcing_one(student):
    return student.teacher_forcing(torch.tensor([[2], [2], [0]]))


@hidden("a row of nothing but padding")
def forcing_empty(student):
    return student.teacher_forcing(torch.tensor([[0, 0, 0], [4, 2, 0]]))


@hidden("large numbers for words", weight=2)
def forcing_large(student):
    target = torch.tensor([[31_999, 17, 250_000, 65_536, 36_998], [8, 36_998, 11, 11, 11]])
    return student.teacher_forcing(target, 36_997, 11)


@hidden("the start symbol is also a word of the sentence")
def forcing_start_again(student):
    return student.teacher_forcing(torch.tensor([[1, 1, 5, 2, 0], [7, 1, 2, 0, 0]]))


@hidden("the target is left as it was", weight=2)
def forcing_keeps(student):
    return after(student.teacher_forcing, torch.tensor([[6, 5, 2, 0], [9, 8, 7, 2]]), 3, 0)
