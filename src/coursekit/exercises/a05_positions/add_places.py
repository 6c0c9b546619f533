"""A row of a table for each place, added."""

from __future__ import annotations

import torch

from coursekit.exercises.probe import after, randn
from coursekit.exercises.question import Question


def add_places(x, table, first=0):
    """x (B, T, D), table (size, D) -> (B, T, D)."""
    return x + table[first : first + x.shape[1]]


QUESTION = Question(
    name="add_places",
    title="A vector for each place",
    points=2,
    difficulty=1,
    minutes=10,
    page="positions.html#sec-positions-learned",
    hint="Cut T rows out of the table, from row `first` on. They are (T, D), and broadcasting adds "
    "them to each sentence of x, which is (B, T, D).",
    reference=add_places,
    forbidden=("coursekit",),
)


@QUESTION.visible(says="one sentence of two words")
def one_sentence_of_two_words(student):
    return student.add_places(
        torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]),
        torch.tensor([[10.0, 0.0], [20.0, 0.5], [30.0, 1.0]]),
    )


@QUESTION.visible(says="three sentences that start at place 2")
def three_sentences_that_start_at_place(student):
    return student.add_places(randn(3, 4, 5), randn(9, 5, seed=1), 2)


@QUESTION.visible(says="as many sentences as words")
def as_many_sentences_as_words(student):
    return student.add_places(randn(3, 3, 2), randn(6, 2, seed=1), 1)


@QUESTION.visible(says="what was given stays as it was")
def what_was_given_stays(student):
    return after(student.add_places, randn(1, 2, 3), randn(4, 3, seed=1), 1)


QUESTION.mistake(
    "multiplied",
    old="x + table",
    new="x * table",
    hint="You multiply words and places. A place whose vector is near 0 would wipe the word "
    "out; the two are added.",
)

QUESTION.mistake(
    "always from place 0",
    old="first : first + x.shape[1]",
    new=": x.shape[1]",
    hint="Your first word always stands at place 0. It stands at place `first`: cut the table "
    "from that row on.",
)

QUESTION.mistake(
    "counted from 1",
    old="first : first + x.shape[1]",
    new="first + 1 : first + 1 + x.shape[1]",
    hint="You are one row too far: the first word gets row `first` itself, and places are "
    "counted from 0.",
)

QUESTION.mistake(
    "places along the batch",
    old="first : first + x.shape[1]",
    new="first : first + x.shape[0], None",
    hint="You give each sentence a vector, the same for all its words. The place of a word "
    "runs along axis 1, not along the batch.",
)

QUESTION.mistake(
    "appended",
    old="return x + table[first : first + x.shape[1]]",
    new=(
        "rows = table[first : first + x.shape[1]].expand_as(x)\n"
        "    return torch.cat([x, rows], dim=-1)"
    ),
    hint="You put the place behind the word, so the width has doubled. Here it is added, number "
    "by number; the page has a note on why both can work.",
)

QUESTION.mistake(
    "the place without the word",
    old="x + table[first : first + x.shape[1]]",
    new="table[first : first + x.shape[1]].expand_as(x).clone()",
    hint="You return the places alone. The words in x are still needed: add.",
)

QUESTION.mistake(
    "x changed in place",
    old="return x + table[first : first + x.shape[1]]",
    new="x += table[first : first + x.shape[1]]\n    return x",
    hint="The numbers are right, but x itself is changed: += writes into the tensor that you were "
    "given, and whoever gave it has lost the words. x + ... makes a new one.",
)
