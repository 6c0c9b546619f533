"""Spans of a document, empty ones too, each replaced by one mask: BART's text infilling."""

from __future__ import annotations

import random

from coursekit.check.probe import after
from coursetools.questions import hidden, visible


def infill(tokens, spans, mask=50_264):
    """tokens, spans [(start, length), ...] -> what is read, and the share that is hidden."""
    read, place = [], 0
    for start, length in sorted(spans):
        if start < place:
            raise ValueError(f"spans must not overlap, found {start} below {place}")
        read += [*tokens[place:start], mask]
        place = start + length
    hidden = sum(length for _, length in spans)
    return [*read, *tokens[place:]], hidden / len(tokens)


@visible("eight tokens, spans of 2, 1 and 0 tokens")
def three_spans(student):
    return student.infill([*range(10, 18)], [(1, 2), (4, 1), (6, 0)])


@visible("empty spans: first, last, and two at one place; another mask", weight=2)
def empty_spans(student):
    return student.infill([*range(10, 15)], [(0, 0), (2, 0), (2, 0), (3, 1), (5, 0)], 4)


@visible("spans that touch, a span of all tokens, and none")
def touching(student):
    spans = [(0, 2), (2, 1), (4, 0), (4, 3), (7, 0), (9, 1)]
    return [student.infill([*range(10, 20)], given) for given in (spans, [(0, 10)], [])]


@visible("spans in any order; what was given stays as it was")
def any_order(student):
    spans = [(9, 3), (1, 1), (14, 2), (4, 3), (14, 0), (7, 0)]
    return after(student.infill, [*range(10, 26)], spans)


@visible("spans that overlap, and an empty one inside another")
def overlapping(student):
    overlaps = ([(1, 3), (3, 2)], [(3, 3), (2, 2)], [(2, 2), (2, 1)], [(1, 6), (3, 1)])
    said = []
    for spans in (*overlaps, [(2, 3), (4, 0)], [(4, 0), (1, 4)]):
        try:
            said.append(student.infill([*range(10, 18)], spans))
        except Exception as error:
            said.append(type(error).__name__)
    return said


def stretches(seed, length, share):
    """Return a document with repeated ids, and spans in no order, some of them empty."""
    chance = random.Random(1500 + seed)
    tokens = [chance.randrange(40, 60) for _ in range(length)]
    spans, place = [], 0
    while place <= length:
        size = min(chance.choice([0, 0, 1, 2, 3, 5]), length - place)
        if chance.random() < share:
            spans.append((place, size))
        place += size + chance.randrange(3) + (size == 0)
    chance.shuffle(spans)
    return tokens, spans


@hidden("long documents, spans in no order", weight=2)
def infill_long(student):
    return [student.infill(*stretches(n, 70, 0.5)) for n in range(4)]


@hidden("little but masks, another mask")
def infill_dense(student):
    return [student.infill(*stretches(10 + n, 20, 0.95), 103) for n in range(3)]


@hidden("empty spans alone, several at one place")
def infill_empty(student):
    return student.infill([51, 52, 53], [(3, 0), (1, 0), (0, 0), (1, 0), (3, 0), (1, 0)])


@hidden("one token: an empty span on each side, all of it, and no span")
def infill_one(student):
    return [student.infill([9], spans) for spans in ([(1, 0), (0, 0)], [(0, 1), (1, 0)], [])]


@hidden("an empty span and a longer one that start together, in both orders")
def infill_together(student):
    tokens = [*range(60, 68)]
    return student.infill(tokens[:], [(2, 3), (2, 0)]), student.infill(
        tokens[:], [(0, 0), (0, 8), (8, 0)]
    )


@hidden("overlaps of many kinds, and spans that only seem to")
def infill_overlaps(student):
    said = []
    for spans in (
        [(5, 2), (0, 6)],
        [(0, 8), (7, 1)],
        [(6, 2), (7, 0)],
        [(3, 1), (3, 1)],
        [(2, 4), (3, 1), (7, 1)],
        [(6, 2), (0, 6)],
        [(4, 0), (4, 0), (0, 4)],
    ):
        try:
            said.append(student.infill([*range(70, 78)], spans))
        except ValueError:
            said.append("ValueError")
    return said


@hidden("documents that have the mask's id already")
def infill_masks(student):
    return student.infill([4, 50_264, 4, 4, 50_264, 7], [(2, 1), (0, 1)], 4)


@hidden("document and spans are left as they were", weight=0.5)
def infill_keeps(student):
    return after(student.infill, *stretches(20, 30, 0.6))
