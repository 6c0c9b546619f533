"""Whole sentences in order, as many as an input can hold, across documents: FULL-SENTENCES."""

from __future__ import annotations

from coursekit.check.probe import Chance, after
from coursetools.questions import hidden, visible


def fill_inputs(documents, length, cls=0, sep=2):
    """Documents, lists of sentences, each a list of ids -> inputs, lists of at most length ids."""
    room, inputs, held = length - 2, [], []
    for document in documents:
        border = [sep] if held else []
        pieces = [s[i : i + room] for s in document for i in range(0, len(s), room)]
        for piece in pieces:
            if len(held + border + piece) > room:
                inputs.append(held)
                held, border = [], []
            held, border = held + border + piece, []
    if held:
        inputs.append(held)
    return [[cls, *text, sep] for text in inputs]


def _document(start: int, *sizes: int) -> list[list[int]]:
    """Sentences of these sizes, whose ids count on from `start`."""
    ends = [start + sum(sizes[: n + 1]) for n in range(len(sizes))]
    return [list(range(end - size, end)) for end, size in zip(ends, sizes)]


@visible("two short documents, one input")
def one_input(student):
    return student.fill_inputs([_document(11, 2, 1), _document(21, 2)], 12)


@visible("several documents, and borders at all places of an input", weight=2)
def several_documents(student):
    sizes = [(3, 1), (2, 3), (4, 2), (1,), (2, 2), (3,), (6,), (2, 4, 1), (3,)]
    documents = [_document(100 + 20 * n, *size) for n, size in enumerate(sizes)]
    return student.fill_inputs(documents, 9)


@visible("sentences that no input can hold")
def too_long(student):
    return student.fill_inputs([_document(11, 8, 2, 1), _document(31, 13, 3, 4)], 7)


@visible("other ids, and a document that comes twice")
def other_ids(student):
    twins = [_document(11, 2), _document(11, 2)]
    return student.fill_inputs([*twins, _document(21, 1, 4), _document(31, 6)], 9, 101, 102)


@visible("empty documents, also in front, and no text at all")
def empty_documents(student):
    documents = [[], _document(11, 2), [], [], _document(21, 3)]
    return student.fill_inputs(documents, 10), student.fill_inputs([], 10)


@visible("the documents stay as they were")
def documents_stay(student):
    return after(
        student.fill_inputs, [_document(11, 2, 1, 3), _document(21, 8), _document(41, 1, 1)], 6
    )


def corpus(seed, documents, longest, empty=0.0):
    """Return documents of up to six sentences, of 1 to `longest` ids each; some have none."""
    chance = Chance(5000 + seed)

    def whole(low, high):
        return int(chance.randint(low, high + 1, ()))

    made, next_id = [], 300
    for _ in range(documents):
        document = []
        for _ in range(whole(1, 6) if chance.rand(()) >= empty else 0):
            size = whole(1, longest)
            document.append(list(range(next_id, next_id + size)))
            next_id += size
        made.append(document)
    return made


@hidden("many documents, several lengths", weight=2)
def fill_many(student):
    return [student.fill_inputs(corpus(length, 30, 6), length) for length in (8, 9, 13, 30)]


@hidden("many sentences that no input can hold", weight=2)
def fill_long(student):
    return [student.fill_inputs(corpus(length, 12, 14), length) for length in (5, 7, 10)]


@hidden("the shortest inputs: one id of text each")
def fill_short(student):
    return student.fill_inputs(corpus(41, 3, 3), 3)


@hidden("everything in one input that just has room")
def fill_one(student):
    return [
        student.fill_inputs([[[31, 32], [33]], [[34, 35, 36]], [[37]]], size)
        for size in (10, 11, 12)
    ]


@hidden("many empty documents, and nothing else")
def fill_empty(student):
    return [
        student.fill_inputs(documents, 9)
        for documents in (corpus(42, 20, 4, empty=0.6), [[], []], [[], [[31]], [], [[32, 33]]])
    ]


@hidden("the ids of another vocabulary, text that has 0 and 2, a document twice")
def fill_other(student):
    documents = [[[0, 2], [2, 5, 0]], [[7]], [[7]]]
    return [student.fill_inputs(some, 7, 98, 99) for some in (documents, documents[1:])]


@hidden("the documents are left as they were")
def fill_keeps(student):
    return after(student.fill_inputs, corpus(43, 6, 9), 8)


@hidden("inputs that share no list")
def fill_apart(student):
    return student.fill_inputs([[[61, 62, 63]], [[64, 65, 66]], [[67, 68, 69]]], 6)
