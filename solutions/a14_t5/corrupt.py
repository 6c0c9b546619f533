"""Spans of a text replaced by sentinels, and the spans asked for: T5's span corruption."""

from __future__ import annotations

import random

from coursekit.check.probe import after
from coursetools.questions import hidden, visible


def corrupt(tokens, spans, sentinel=32_099, end=1):
    """tokens, spans [(start, stop), ...] -> what is read and what is to be written, two lists."""
    hidden = {place for start, stop in spans for place in range(start, stop)}
    read, written = [], []
    for place, token in enumerate(tokens):
        if place not in hidden:
            read.append(token)
            continue
        if place - 1 not in hidden:
            read.append(sentinel)
            written.append(sentinel)
            sentinel -= 1
        written.append(token)
    return [*read, end], [*written, sentinel, end]


@visible("ten tokens, two spans")
def two_spans(student):
    return student.corrupt([*range(10, 20)], [(2, 4), (8, 9)])


@visible("the first token and the last, other ids")
def first_and_last(student):
    return student.corrupt([*range(10, 19)], [(0, 1), (3, 5), (7, 9)], 900, 5)


@visible("spans that touch", weight=2)
def touching(student):
    spans = [(1, 2), (2, 4), (5, 6), (7, 8), (8, 9), (9, 10)]
    return student.corrupt([*range(10, 22)], spans)


@visible("nothing hidden, and everything")
def nothing_and_everything(student):
    return student.corrupt([10, 11, 12], []), student.corrupt([10, 11, 12], [(0, 3)])


@visible("tokens that come twice; what was given stays as it was")
def twice(student):
    return after(student.corrupt, [11, 12, 11, 13, 12, 12, 11, 13], [(2, 4), (5, 6)])


def holes(seed, length, share, longest, apart):
    """Return a text with repeated ids, and spans in order; with `apart=0` many of them touch."""
    chance = random.Random(1400 + seed)
    tokens = [chance.randrange(40, 70) for _ in range(length)]
    spans, place = [], chance.randrange(3)
    while place < length:
        stop = min(place + chance.randint(1, longest), length)
        if chance.random() < share:
            spans.append((place, stop))
        place = stop + (apart if chance.random() < 0.7 else 0)
    return tokens, spans


@hidden("long texts, spans of many lengths", weight=2)
def corrupt_long(student):
    return [student.corrupt(*holes(n, 90, 0.5, 5, 1)) for n in range(4)]


@hidden("many spans that touch", weight=2)
def corrupt_touching(student):
    return [student.corrupt(*holes(10 + n, 40, 0.7, 2, 0)) for n in range(4)]


@hidden("every second token: as many sentinels as T5 has, but for one")
def corrupt_every_second(student):
    return student.corrupt([*range(500, 698)], [(place, place + 1) for place in range(0, 198, 2)])


@hidden("one token, hidden and not")
def corrupt_one(student):
    return student.corrupt([77], [(0, 1)]), student.corrupt([77], [])


@hidden("other sentinels, another end, and text that has 1 and 32,099")
def corrupt_other(student):
    return student.corrupt([1, 32_099, 0, 1, 32_098, 5], [(0, 2), (3, 4), (4, 5)], 258, 2)


@hidden("one side touching: at the beginning, at the end")
def corrupt_sides(student):
    tokens = [*range(31, 40)]
    return [
        student.corrupt(tokens[:], spans)
        for spans in ([(0, 1), (1, 3)], [(5, 7), (7, 9)], [(0, 2), (7, 9)], [(0, 4), (4, 9)])
    ]


@hidden("both lists are left as they were", weight=0.5)
def corrupt_keeps(student):
    return after(student.corrupt, *holes(20, 25, 0.8, 3, 0))
