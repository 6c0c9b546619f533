"""A row of a table for each place, added."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def add_places(x, table, first=0):
    """x (B, T, D), table (size, D) -> (B, T, D)."""
    return x + table[first : first + x.shape[1]]


@visible("one sentence of two words")
def one_sentence_of_two_words(student):
    return student.add_places(
        torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]),
        torch.tensor([[10.0, 0.0], [20.0, 0.5], [30.0, 1.0]]),
    )


@visible("three sentences that start at place 2")
def three_sentences_that_start_at_place(student):
    return student.add_places(randn(3, 4, 5), randn(9, 5, seed=1), 2)


@visible("as many sentences as words")
def as_many_sentences_as_words(student):
    return student.add_places(randn(3, 3, 2), randn(6, 2, seed=1), 1)


@visible("what was given stays as it was")
def what_was_given_stays(student):
    return after(student.add_places, randn(1, 2, 3), randn(4, 3, seed=1), 1)


@hidden("one word only")
def add_one_word(student):
    return student.add_places(randn(2, 1, 3), randn(5, 3, seed=1), 4)


@hidden("a table that is used up to its end")
def add_to_the_end(student):
    return student.add_places(randn(4, 3, 2), randn(8, 2, seed=1), 5)


@hidden("the inputs are left as they were", weight=2)
def add_keeps(student):
    return after(student.add_places, randn(2, 3, 4), randn(7, 4, seed=1), 2)


@hidden("gradients of words and table")
def add_gradients(student):
    return gradients(student.add_places, randn(3, 2, 4), randn(6, 4, seed=1), 3)


@hidden("double precision, from the first place on", tolerance=1e-12)
def add_double(student):
    x, table = randn(2, 3, 4, dtype=torch.float64), randn(5, 4, seed=1, dtype=torch.float64)
    return student.add_places(x, table)
