"""The hidden cases of assignment 14: students may read what a case `says`, and nothing else."""

import random

from coursekit.exercises import hidden
from coursekit.exercises.probe import after

# --- corrupt


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


@hidden("corrupt", says="long texts, spans of many lengths", weight=2)
def corrupt_long(student):
    return [student.corrupt(*holes(n, 90, 0.5, 5, 1)) for n in range(4)]


@hidden("corrupt", says="many spans that touch", weight=2)
def corrupt_touching(student):
    return [student.corrupt(*holes(10 + n, 40, 0.7, 2, 0)) for n in range(4)]


@hidden("corrupt", says="every second token: as many sentinels as T5 has, but for one")
def corrupt_every_second(student):
    return student.corrupt([*range(500, 698)], [(place, place + 1) for place in range(0, 198, 2)])


@hidden("corrupt", says="one token, hidden and not")
def corrupt_one(student):
    return student.corrupt([77], [(0, 1)]), student.corrupt([77], [])


@hidden("corrupt", says="other sentinels, another end, and text that has 1 and 32,099")
def corrupt_other(student):
    return student.corrupt([1, 32_099, 0, 1, 32_098, 5], [(0, 2), (3, 4), (4, 5)], 258, 2)


@hidden("corrupt", says="one side touching: at the beginning, at the end")
def corrupt_sides(student):
    tokens = [*range(31, 40)]
    return [
        student.corrupt(tokens[:], spans)
        for spans in ([(0, 1), (1, 3)], [(5, 7), (7, 9)], [(0, 2), (7, 9)], [(0, 4), (4, 9)])
    ]


@hidden("corrupt", says="both lists are left as they were", weight=0.5)
def corrupt_keeps(student):
    return after(student.corrupt, *holes(20, 25, 0.8, 3, 0))


# --- infill


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


@hidden("infill", says="long documents, spans in no order", weight=2)
def infill_long(student):
    return [student.infill(*stretches(n, 70, 0.5)) for n in range(4)]


@hidden("infill", says="little but masks, another mask")
def infill_dense(student):
    return [student.infill(*stretches(10 + n, 20, 0.95), 103) for n in range(3)]


@hidden("infill", says="empty spans alone, several at one place")
def infill_empty(student):
    return student.infill([51, 52, 53], [(3, 0), (1, 0), (0, 0), (1, 0), (3, 0), (1, 0)])


@hidden("infill", says="one token: an empty span on each side, and all of it")
def infill_one(student):
    return student.infill([9], [(1, 0), (0, 0)]), student.infill([9], [(0, 1), (1, 0)])


@hidden("infill", says="an empty span and a longer one that start together, in both orders")
def infill_together(student):
    tokens = [*range(60, 68)]
    return student.infill(tokens[:], [(2, 3), (2, 0)]), student.infill(
        tokens[:], [(0, 0), (0, 8), (8, 0)]
    )


@hidden("infill", says="overlaps of many kinds, and spans that only seem to")
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


@hidden("infill", says="documents that have the mask's id already")
def infill_masks(student):
    return student.infill([4, 50_264, 4, 4, 50_264, 7], [(2, 1), (0, 1)], 4)


@hidden("infill", says="document and spans are left as they were", weight=0.5)
def infill_keeps(student):
    return after(student.infill, *stretches(20, 30, 0.6))


# --- shuffle_sentences


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


@hidden("shuffle_sentences", says="long documents", weight=2)
def shuffle_long(student):
    return [student.shuffle_sentences(*told(n, 12, (4,))) for n in range(3)]


@hidden("shuffle_sentences", says="several stops, no stop at the end", weight=2)
def shuffle_several(student):
    return [
        student.shuffle_sentences(*told(10 + n, 9, (4, 116, 328), closed=False)) for n in range(3)
    ]


@hidden("shuffle_sentences", says="only stops, and none at all")
def shuffle_stops(student):
    return [
        student.shuffle_sentences([4, 5, 4, 4], [0], [4, 5]),
        student.shuffle_sentences([41, 42, 43], [0], [4, 5]),
        student.shuffle_sentences([], [], [4, 5]),
    ]


@hidden("shuffle_sentences", says="stops that open the document")
def shuffle_opened(student):
    return student.shuffle_sentences([5, 41, 42, 5, 4, 43], [2, 0, 1], [4, 5])


@hidden("shuffle_sentences", says="the order in which they stand, and back to front")
def shuffle_same(student):
    tokens, _, stops = told(20, 5, (4, 5))
    return [
        student.shuffle_sentences(tokens[:], order, stops[:])
        for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0])
    ]


@hidden("shuffle_sentences", says="orders that do not fit, and two that do")
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


@hidden("shuffle_sentences", says="what was given is left as it was", weight=0.5)
def shuffle_keeps(student):
    return after(student.shuffle_sentences, *told(40, 6, (4, 5), closed=False))


# --- put_back


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


@hidden("put_back", says="many holes, answers in order and in none", weight=2)
def back_many(student):
    given = [asked(n, 12, [32_087, 1], order) for n, order in enumerate((True, False, None, None))]
    return [student.put_back(*one) for one in given]


@hidden("put_back", says="stopped before the end", weight=2)
def back_stopped(student):
    return [
        student.put_back(*asked(10 + n, 6, tail))
        for n, tail in enumerate(([], [99], [32_093], [1], [1, 32_093, 98, 1]))
    ]


@hidden("put_back", says="a hundred holes")
def back_hundred(student):
    return student.put_back(*asked(20, 100, [1]))


@hidden("put_back", says="nothing written, nothing read, no hole")
def back_nothing(student):
    return [
        student.put_back([41, 32_099, 42, 1], [1]),
        student.put_back([41, 32_099, 42, 1], []),
        student.put_back([1], [32_099, 61, 1]),
        student.put_back([41, 42, 43], [32_099, 61, 1]),
    ]


@hidden("put_back", says="holes and answers that do not fit, words that belong to none")
def back_unmatched(student):
    read, written = asked(30, 8, [1])
    some = [token for token in written if token not in (32_099, 32_095)]
    return student.put_back(read, [66, 67, *some]), student.put_back([32_010, *read], some)


@hidden("put_back", says="other sentinels, few of them, and another end")
def back_other(student):
    read = [1, 502, 499, 500, 498, 503, 501, 32_099, 9, 1]
    written = [500, 1, 1, 502, 498, 503, 32_000, 501, 9, 502, 3]
    return student.put_back(read, written, 502, 3, 9), student.put_back(read, written, 502, 1, 9)


@hidden("put_back", says="both lists are left as they were", weight=0.5)
def back_keeps(student):
    read, written = asked(40, 5, [1, 0, 0])
    return after(student.put_back, [*read, 0], written)


# --- byte_ids


def spelled(text):
    """Return the ids of a text, without an end."""
    return [byte + 3 for byte in text.encode()]


@hidden("byte_ids", says="a sentence in five languages", weight=2)
def bytes_languages(student):
    texts = ["Où est-ce ?", "Что это?", "これは何ですか", "ما هذا؟", "यह क्या है"]
    return [student.byte_ids(text) for text in texts]


@hidden("byte_ids", says="their ids, read", weight=2)
def bytes_languages_read(student):
    texts = ["Où est-ce ?", "Что это?", "これは何ですか", "ما هذا؟", "यह क्या है"]
    return [student.byte_ids([*spelled(text), 1]) for text in texts]


@hidden("byte_ids", says="all characters up to U+07FF, there and back again")
def bytes_many(student):
    text = "".join(map(chr, range(0x800)))
    return student.byte_ids(text), student.byte_ids([*spelled(text), 1, 0, 0])


@hidden("byte_ids", says="signs with several parts, white space that matters, no text")
def bytes_signs(student):
    return [student.byte_ids(text) for text in ("👩‍💻", "A\u030a", "\ufeffx", " \t\n ", "ﬁ", "")]


@hidden("byte_ids", says="ends: none, several, at once")
def bytes_ends(student):
    several = [*spelled("a"), 1, 1, *spelled("b")], [*spelled("a"), 1, *spelled("b"), 1, 0]
    return [student.byte_ids(ids) for ids in (spelled("né"), *several, [1, *spelled("c")], [])]


@hidden("byte_ids", says="characters cut short, bytes that never occur")
def bytes_broken(student):
    cut = spelled("a数")[:-1], spelled("🙂")[:2], spelled("🙂")[1:], [*spelled("né")[:-1], 1, 175]
    return [student.byte_ids([*ids]) for ids in (*cut, [3 + 0xC0, 3 + 0x80], [256, 257, 258, 1])]


@hidden("byte_ids", says="ids that are no bytes, everywhere")
def bytes_none(student):
    mixed = [one for pair in zip(spelled("Straße 数"), [0, 2, 259, 384] * 4) for one in pair]
    return student.byte_ids([*mixed, 1]), student.byte_ids([2, 0, 400])


@hidden("byte_ids", says="the ids are left as they were", weight=0.5)
def bytes_keep(student):
    return after(student.byte_ids, [0, 2, *spelled("ça"), 259, 1, 0, 75])
