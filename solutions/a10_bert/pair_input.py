"""Two texts as one input: [CLS] A [SEP] B [SEP], with segments and padding."""

from __future__ import annotations

import torch

from coursekit.check.probe import after
from coursetools.questions import hidden, visible


def pair_input(first, second, length, cls=101, sep=102, pad=0):
    """Two lists of ids -> tokens, segments, keep, each (length,)."""
    first, second = list(first), list(second)
    while len(first) + len(second) > length - 3:
        (first if len(first) > len(second) else second).pop()
    tokens = [cls, *first, sep, *second, sep]
    segments = [0] * (len(first) + 2) + [1] * (len(second) + 1)
    fill = length - len(tokens)
    tokens, segments = tokens + [pad] * fill, segments + [0] * fill
    keep = torch.arange(length) < length - fill
    return torch.tensor(tokens), torch.tensor(segments), keep


@visible("a short pair, padded")
def a_short_pair(student):
    return student.pair_input([*range(11, 14)], [*range(21, 23)], 12)


@visible("a first text that is too long")
def first_too_long(student):
    return student.pair_input([*range(11, 18)], [*range(31, 34)], 11)


@visible("two texts of one length, and an odd room for both")
def both_too_long(student):
    return student.pair_input([*range(11, 17)], [*range(31, 37)], 10)


@visible("other ids")
def other_ids(student):
    return student.pair_input([*range(11, 13)], [*range(21, 24)], 10, cls=5, sep=6, pad=1)


@visible("the two lists stay as they were")
def lists_stay(student):
    return after(student.pair_input, [*range(11, 17)], [*range(31, 39)], 12)


@hidden("many lengths of both texts", weight=2)
def pair_many(student):
    sizes = [(a, b) for a in (1, 4, 9) for b in (1, 5, 8)]
    return [
        student.pair_input([*range(200, 200 + a)], [*range(300, 300 + b)], 11) for a, b in sizes
    ]


@hidden("one of them alone is longer than the row", weight=2)
def pair_long(student):
    return (
        student.pair_input([*range(40, 70)], [7, 8], 9),
        student.pair_input([7, 8], [*range(40, 70)], 9),
        student.pair_input([*range(40, 70)], [*range(80, 120)], 8),
    )


@hidden("the shortest row, a token of each")
def pair_short(student):
    return student.pair_input([31, 32, 33], [41, 42], 5), student.pair_input([31], [41], 5)


@hidden("the ids of RoBERTa's vocabulary")
def pair_other(student):
    return student.pair_input([9, 101, 12], [102, 14], 11, 0, 2, 1)


@hidden("a short row, and one with much padding; lists as they were")
def pair_padded(student):
    cut = after(student.pair_input, [*range(40, 60)], [*range(80, 90)], 12)
    return cut, after(student.pair_input, [500, 600], [700], 40)
