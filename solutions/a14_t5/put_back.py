"""What a model has written for the holes of a text, put into them."""

from __future__ import annotations

import random

from coursekit.check.probe import after
from coursetools.questions import hidden, visible


def put_back(read, written, sentinel=32_099, sentinels=100, end=1):
    """What was read, what was written -> the whole text, a list of ids."""

    def body(ids):
        return ids[: ids.index(end)] if end in ids else ids

    def is_sentinel(token):
        return sentinel - sentinels < token <= sentinel

    spans, answer = {}, []  # what stands in front of the first sentinel belongs to no span
    for token in body(written):
        if is_sentinel(token):
            answer = spans[token] = []
        else:
            answer.append(token)
    text = []
    for token in body(read):
        if is_sentinel(token):
            text += spans.get(token, [])
        else:
            text.append(token)
    return text


@visible("two holes, with a final sentinel")
def two_holes(student):
    read = [11, 12, 32_099, 15, 32_098, 20, 1]
    return student.put_back(read, [32_099, 13, 14, 32_098, 19, 32_097, 1])


@visible("without a final sentinel, and without an end")
def without_the_last(student):
    read, written = [32_099, 11, 12, 32_098, 13, 32_097], [32_099, 21, 32_098, 22, 23, 32_097, 24]
    return [student.put_back(read + more, written + more) for more in ([], [1])]


@visible("sentinels in another order", weight=2)
def another_order(student):
    read = [32_097, 11, 32_098, 12, 13, 32_099, 1]
    written = [32_098, 21, 22, 32_099, 23, 32_097, 24, 25, 26, 32_096, 1]
    return student.put_back(read, written)


@visible("holes without an answer, answers without a hole, words in front")
def unmatched(student):
    read = [11, 32_099, 12, 32_098, 13, 32_097, 14, 32_095, 1]
    written = [31, 32, 32_097, 21, 32_096, 22, 23, 32_099, 32_095, 24, 32_090, 1]
    return student.put_back(read, written), student.put_back([11, 32_099, 12, 1], [31, 1])


@visible("more behind the end; what was given stays as it was")
def behind_the_end(student):
    read = [11, 32_099, 12, 32_098, 13, 1, 0, 0]
    return after(student.put_back, read, [32_099, 21, 22, 1, 23, 32_098, 24, 1, 0])


@visible("the highest and the lowest sentinels, and ids beside them; other sentinels and end")
def beside(student):
    read = [32_100, 32_099, 0, 31_999, 32_000, 32_105, 31_998, 1]
    found = student.put_back(read, [32_000, 32_101, 32_100, 32_099, 31_999, 21, 31_000, 1])
    other = [1, 258, 255, 257, 32_099, 2, 258], [257, 1, 254, 258, 32_098, 255, 2, 7]
    return found, student.put_back(*other, 258, 3, 2)


def asked(seed, count, tail, order=None):
    """Return what is read with `count` holes, and what is written for them in some order."""
    chance = random.Random(1700 + seed)
    read, spans = [], []
    for number in range(count):
        read += [chance.randrange(40, 60) for _ in range(chance.randint(0, 3))]
        read.append(32_099 - number)
        answer = [chance.randrange(60, 80) for _ in range(chance.randint(0, 4))]
        spans.append([32_099 - number, *answer])
    chance.shuffle(spans) if order is None else spans.sort(reverse=order)
    return [*read, 45, 1], [token for span in spans for token in span] + tail


@hidden("many holes, answers in order and in none", weight=2)
def back_many(student):
    given = [asked(n, 12, [32_087, 1], order) for n, order in enumerate((True, False, None, None))]
    return [student.put_back(*one) for one in given]


@hidden("stopped before the end", weight=2)
def back_stopped(student):
    return [
        student.put_back(*asked(10 + n, 6, tail))
        for n, tail in enumerate(([], [99], [32_093], [1], [1, 32_093, 98, 1]))
    ]


@hidden("a hundred holes, and text with the ids above and below the sentinels")
def back_hundred(student):
    read, written = asked(20, 100, [1])
    return student.put_back([31_999, *read[:-1], 32_100, 1], written)


@hidden("nothing written, nothing read, no hole")
def back_nothing(student):
    return [
        student.put_back([41, 32_099, 42, 1], [1]),
        student.put_back([41, 32_099, 42, 1], []),
        student.put_back([1], [32_099, 61, 1]),
        student.put_back([41, 42, 43], [32_099, 61, 1]),
    ]


@hidden("holes and answers that do not fit, words that belong to none")
def back_unmatched(student):
    read, written = asked(30, 8, [1])
    some = [token for token in written if token not in (32_099, 32_095)]
    return student.put_back(read, [66, 67, *some]), student.put_back([32_010, *read], some)


@hidden("other sentinels, few of them, and another end")
def back_other(student):
    read = [1, 502, 499, 500, 498, 503, 501, 32_099, 9, 1]
    written = [500, 1, 1, 502, 498, 503, 32_000, 501, 9, 502, 3]
    return student.put_back(read, written, 502, 3, 9), student.put_back(read, written, 502, 1, 9)


@hidden("both lists are left as they were", weight=0.5)
def back_keeps(student):
    read, written = asked(40, 5, [1, 0, 0])
    return after(student.put_back, [*read, 0], written)
