"""The sentences of a document in another order, each of them whole: BART's permutation."""

from __future__ import annotations

import random

from coursekit.check.probe import after
from coursetools.questions import hidden, visible


def shuffle_sentences(tokens, order, stops):
    """tokens, the order of its sentences, ids that end one -> the document in that order."""
    sentences = []
    for place, token in enumerate(tokens):
        if place == 0 or (tokens[place - 1] in stops and token not in stops):
            sentences.append([])
        sentences[-1].append(token)
    if sorted(order) != list(range(len(sentences))):
        raise ValueError(f"order must name each of {len(sentences)} sentences once, found {order}")
    return [token for number in order for token in sentences[number]]


@visible("three sentences")
def three_sentences(student):
    return student.shuffle_sentences([11, 12, 4, 13, 4, 14, 15, 16, 4], [1, 2, 0], [4])


@visible("several kinds of stops, and some in a row", weight=2)
def stops_in_a_row(student):
    tokens = [11, 5, 6, 12, 13, 4, 4, 4, 14, 7, 15, 6, 5, 16, 5, 4]
    return student.shuffle_sentences(tokens, [3, 1, 4, 0, 2], [4, 5, 6, 7])


@visible("no stop behind the last sentence; what was given stays as it was")
def no_stop_at_the_end(student):
    return after(student.shuffle_sentences, [11, 4, 12, 13, 5, 14, 15], [2, 0, 1], [4, 5])


@visible("stops in front of everything; and nothing at all")
def stops_in_front(student):
    tokens = [4, 5, 11, 12, 4, 11, 12, 4, 5, 12, 5]
    found = student.shuffle_sentences(tokens, [2, 3, 1, 0], [5, 4])
    return found, student.shuffle_sentences([], [], [4])


@visible("an order that leaves a sentence out, or names one twice, or one too many")
def wrong_orders(student):
    said = []
    for order in ([0, 1], [0, 2, 2], [2, 1, 0, 3], [1, 2, 3], [0, 1, -1], [0, 1, 2, 1]):
        try:
            said.append(student.shuffle_sentences([11, 4, 12, 4, 13, 14], order, [4]))
        except Exception as error:
            said.append(type(error).__name__)
    return said


def told(seed, count, stops, closed=True):
    """Return a document of so many sentences, and an order that is not its own inverse."""
    chance = random.Random(1600 + seed)
    tokens = []
    for number in range(count):
        tokens += [chance.randrange(40, 60) for _ in range(chance.randint(1, 5))]
        if closed or number < count - 1:
            tokens += [chance.choice(stops) for _ in range(chance.choice([1, 1, 1, 2, 3]))]
    order = [*range(count)]
    chance.shuffle(order)
    return tokens, order, [*stops]


@hidden("long documents", weight=2)
def shuffle_long(student):
    return [student.shuffle_sentences(*told(n, 12, (4,))) for n in range(3)]


@hidden("several stops, no stop at the end", weight=2)
def shuffle_several(student):
    return [
        student.shuffle_sentences(*told(10 + n, 9, (4, 116, 328), closed=False)) for n in range(3)
    ]


@hidden("only stops, and none at all")
def shuffle_stops(student):
    return [
        student.shuffle_sentences([4, 5, 4, 4], [0], [4, 5]),
        student.shuffle_sentences([41, 42, 43], [0], [4, 5]),
        student.shuffle_sentences([], [], [4, 5]),
    ]


@hidden("stops that open the document")
def shuffle_opened(student):
    return student.shuffle_sentences([5, 41, 42, 5, 4, 43], [2, 0, 1], [4, 5])


@hidden("the order in which they stand, and back to front")
def shuffle_same(student):
    tokens, _, stops = told(20, 5, (4, 5))
    return [
        student.shuffle_sentences(tokens[:], order, stops[:])
        for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0])
    ]


@hidden("orders that do not fit, and two that do")
def shuffle_wrong(student):
    tokens, said = told(30, 4, (4,))[0], []
    strange = [1, 1, 2, 3], [1, 2, 3, 4], [0, 1, 2, 3, 4], [0, 1, 2, -1], [3, 1, 0, 2, 1]
    for order in ([], [0, 1, 2], *strange):
        try:
            said.append(student.shuffle_sentences(tokens[:], order, [4]))
        except ValueError:
            said.append("ValueError")
    fit = student.shuffle_sentences([], [], [4])
    return said, fit, student.shuffle_sentences(tokens[:], [3, 0, 2, 1], [4])


@hidden("what was given is left as it was", weight=0.5)
def shuffle_keeps(student):
    return after(student.shuffle_sentences, *told(40, 6, (4, 5), closed=False))
