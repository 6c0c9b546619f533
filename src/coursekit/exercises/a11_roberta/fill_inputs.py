"""Whole sentences in order, as many as an input can hold, across documents: FULL-SENTENCES."""

from __future__ import annotations

from coursekit.exercises.probe import after
from coursekit.exercises.question import Question


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


QUESTION = Question(
    name="fill_inputs",
    title="Whole sentences, full inputs",
    points=5,
    difficulty=3,
    minutes=35,
    page="roberta.html#sec-roberta-inputs",
    hint="Keep two lists: the inputs that are finished, and the ids that the current one holds. "
    "For each sentence ask first: does it fit, with the [SEP] of a border if it needs one, beside "
    "[CLS] and the last [SEP]? If not, the current input is finished, and the sentence begins a "
    "new one. What is still held when the text ends is an input too. Cut long sentences before "
    "all that.",
    reference=fill_inputs,
    forbidden=("coursekit",),
)


def _document(start: int, *sizes: int) -> list[list[int]]:
    """Sentences of these sizes, whose ids count on from `start`."""
    ends = [start + sum(sizes[: n + 1]) for n in range(len(sizes))]
    return [list(range(end - size, end)) for end, size in zip(ends, sizes)]


@QUESTION.visible(says="two short documents, one input")
def one_input(student):
    return student.fill_inputs([_document(11, 2, 1), _document(21, 2)], 12)


@QUESTION.visible(says="one document, several inputs")
def one_document(student):
    return student.fill_inputs([_document(11, 3, 3, 4, 3, 1, 2, 5)], 8)


@QUESTION.visible(says="several documents, and borders at all places of an input", weight=2)
def several_documents(student):
    sizes = [(3, 1), (2, 3), (4, 2), (1,), (2, 2), (3,), (6,), (2, 4, 1), (3,)]
    documents = [_document(100 + 20 * n, *size) for n, size in enumerate(sizes)]
    return student.fill_inputs(documents, 9)


@QUESTION.visible(says="sentences that no input can hold")
def too_long(student):
    return student.fill_inputs([_document(11, 8, 2, 1), _document(31, 13, 3, 4)], 7)


@QUESTION.visible(says="other ids, and a document that comes twice")
def other_ids(student):
    twins = [_document(11, 2), _document(11, 2)]
    return student.fill_inputs([*twins, _document(21, 1, 4), _document(31, 6)], 9, 101, 102)


@QUESTION.visible(says="empty documents, also in front, and no text at all")
def empty_documents(student):
    documents = [[], _document(11, 2), [], [], _document(21, 3)]
    return student.fill_inputs(documents, 10), student.fill_inputs([], 10)


@QUESTION.visible(says="the documents stay as they were")
def documents_stay(student):
    return after(
        student.fill_inputs, [_document(11, 2, 1, 3), _document(21, 8), _document(41, 1, 1)], 6
    )


QUESTION.mistake(
    "the last input dropped",
    old="    if held:\n        inputs.append(held)\n",
    new="",
    hint="The end of the text is missing: the last input never overflows, so nothing closes it. "
    "What is still held after the loop is an input too.",
)

QUESTION.mistake(
    "an input of nothing",
    old="    if held:\n        inputs.append(held)\n",
    new="    inputs.append(held)\n",
    hint="Where there is no text at all you return an input with no text in it. Close the last "
    "input only if it holds something.",
)

QUESTION.mistake(
    "borders unmarked",
    old="[sep] if held else []",
    new="[]",
    hint="Where one document ends and the next begins nothing stands in yours. Between the two "
    "belongs one more [SEP].",
)

QUESTION.mistake(
    "the border does not count",
    old="len(held + border + piece)",
    new="len(held + piece)",
    hint="Some of your inputs are one too long, those with a border. When you ask whether a "
    "sentence fits, the [SEP] before it takes a place as well.",
)

QUESTION.mistake(
    "[CLS] and [SEP] not counted",
    old="length - 2",
    new="length",
    hint="Your inputs are too long by two: [CLS] and the last [SEP] take places as well.",
)

QUESTION.mistake(
    "only one of them counted",
    old="length - 2",
    new="length - 1",
    hint="Your inputs are too long by one: both take a place, [CLS] and the last [SEP].",
)

QUESTION.mistake(
    "a place kept for the border",
    old="length - 2",
    new="length - 3",
    hint="You keep a place free that nobody needs: without a border, text may take all but two "
    "places. The [SEP] of a border counts only where there is one.",
)

QUESTION.mistake(
    "never quite full",
    old="> room",
    new=">= room",
    hint="A sentence that just fits is put into the next input by you. An input may have exactly "
    "`length` ids.",
)


@QUESTION.mistake(
    "chopped",
    hint="You put everything in one row and chop it at equal lengths. So sentences are torn, and "
    "a border may open an input. A sentence that does not fit begins the next input, whole.",
)
def chopped(documents, length, cls=0, sep=2):
    row = []
    for document in documents:
        row += [sep] if row and document else []
        row += [token for sentence in document for token in sentence]
    room = length - 2
    return [[cls, *row[i : i + room], sep] for i in range(0, len(row), room)]


@QUESTION.mistake(
    "cut early",
    hint="You cut a sentence to fill its input to the last place. Only a sentence that is longer "
    "than any input can hold is cut; another one begins the next input, whole.",
)
def cut_early(documents, length, cls=0, sep=2):
    inputs, held = [], []
    for document in documents:
        border = [sep] if held else []
        for sentence in document:
            while len(held + border + sentence) > length - 2:
                free = max(length - 2 - len(held + border), 0)
                inputs.append(held + border + sentence[:free] if free else held)
                held, border, sentence = [], [], sentence[free:]
            held, border = held + border + sentence, []
    inputs += [held] if held else []
    return [[cls, *text, sep] for text in inputs]


QUESTION.mistake(
    "an input ends with its document",
    old="        border = [sep] if held else []\n",
    new="        if held:\n            inputs.append(held)\n        held, border = [], []\n",
    hint="Your inputs end where their document ends. That is RoBERTa's DOC-SENTENCES; here an "
    "input goes on into the next document, with a [SEP] between the two.",
)

QUESTION.mistake(
    "a border opens an input",
    old="held, border = [], []\n            held",
    new="held = []\n            held",
    hint="Some of your inputs begin with [CLS] [SEP]. A border is marked only inside an input: "
    "where a new one begins anyway, nothing is left to divide.",
)

QUESTION.mistake(
    "a border closes an input",
    old="border = [sep] if held else []",
    new="held, border = (held + [sep] if held else []), []",
    hint="You set a [SEP] as soon as a document ends, and some inputs end with two of them. Wait "
    "until the first sentence of the next document is known to fit.",
)

QUESTION.mistake(
    "[SEP] after each sentence",
    old="held + border + piece, []",
    new="held + border + piece, [sep]",
    hint="You put a [SEP] between any two sentences. It stands between documents only, and at "
    "the end of the input.",
)

QUESTION.mistake(
    "no [SEP] at the end",
    old="*text, sep]",
    new="*text]",
    hint="Your inputs are not closed: each of them ends with a [SEP].",
)

QUESTION.mistake(
    "what does not fit is lost",
    old="[], []\n            held, border = held + border + piece, []",
    new="[], []\n            else:\n                held, border = held + border + piece, []",
    hint="Each sentence that did not fit is missing from yours. It ends one input, and then it is "
    "the first of the next.",
)

QUESTION.mistake(
    "a long sentence cut off",
    old="s[i : i + room] for s in document for i in range(0, len(s), room)",
    new="s[:room] for s in document",
    hint="Of a sentence that no input can hold you keep the beginning alone. No id may be lost: "
    "the rest goes into the next inputs.",
)

QUESTION.mistake(
    "a long sentence left whole",
    old="s[i : i + room] for s in document for i in range(0, len(s), room)]\n"
    "        for piece in pieces:\n            if len",
    new="s for s in document]\n        for piece in pieces:\n            if held and len",
    hint="A very long sentence makes an input that is too long. What no input can hold is cut "
    "into pieces of `length - 2` ids.",
)


@QUESTION.mistake(
    "a long sentence begins too early",
    hint="Short sentences are right. A sentence that no input can hold begins in the rest of the "
    "current input in yours. It is cut first, into pieces of `length - 2`, and each piece then "
    "goes where a sentence of its size would go.",
)
def long_begins_early(documents, length, cls=0, sep=2):
    room, inputs, held = length - 2, [], []
    for document in documents:
        border = [sep] if held else []
        for sentence in document:
            if len(sentence) <= room < len(held + border + sentence):
                inputs.append(held)
                held, border = [], []
            while len(held + border + sentence) > room:
                free = room - len(held + border)
                inputs.append(held + border + sentence[:free] if free > 0 else held)
                held, border, sentence = [], [], sentence[max(free, 0) :]
            held, border = held + border + sentence, []
    inputs += [held] if held else []
    return [[cls, *text, sep] for text in inputs]


QUESTION.mistake(
    "a sentence an input",
    old="if len(held + border + piece) > room:",
    new="if held:",
    hint="Each of your inputs has one sentence. Go on filling as long as the next one fits: short "
    "inputs are what this format does away with.",
)

QUESTION.mistake(
    "a border before the first text",
    old="for document in documents:\n        border = [sep] if held else []",
    new="for number, document in enumerate(documents):\n        border = [sep] if number else []",
    hint="If the first documents are empty, your first input begins with a border. A [SEP] is due "
    "only where the input already holds something, whichever document it is.",
)

QUESTION.mistake(
    "RoBERTa's ids only",
    old="room, inputs",
    new="cls, sep = 0, 2\n    room, inputs",
    hint="You write 0 and 2, whatever the arguments say. Another vocabulary has other ids: use "
    "`cls` and `sep`.",
)

QUESTION.mistake(
    "documents compared",
    old="for document in documents:\n        border = [sep] if held else []",
    new="for document in documents:\n"
    "        border = [sep] if held and documents.index(document) else []",
    hint="Where a document comes twice you miss the border between the two: index and == compare "
    "what documents contain. Each is one of its own; count them, or mark where one begins.",
)

QUESTION.mistake(
    "two [SEP] at a border",
    old="[sep] if held",
    new="[sep, sep] if held",
    hint="Your borders have two [SEP]. One more is asked for between the two documents; the other "
    "of which you may think stands at the end of the input.",
)

QUESTION.mistake(
    "padded",
    old="[[cls, *text, sep] for text in inputs]",
    new="[[cls, *text, sep] + [1] * (room - len(text)) for text in inputs]",
    hint="You pad the inputs to one length. They are lists, each as long as it is; padding comes "
    "when a batch is made.",
)

QUESTION.mistake(
    "one list for all",
    old="held, border = [], []\n            held, border = held + border + piece, []",
    new="held.clear()\n                border = []\n            held += border + piece\n"
    "            border = []",
    hint="All your inputs are one and the same list: clear() and += change the list that you have "
    "already put into the result. Begin a new one, with [].",
)


@QUESTION.mistake(
    "a sentence grows",
    hint="The inputs are right, but you have written into the sentences that you were given: the "
    "list that you fill is the first sentence itself. Copy it, or add lists with +.",
)
def grows(documents, length, cls=0, sep=2):
    room, inputs, held = length - 2, [], []
    for document in documents:
        border = [sep] if held else []
        for s in document:
            for piece in (
                [s[i : i + room] for i in range(0, len(s), room)] if len(s) > room else [s]
            ):
                if len(held + border + piece) > room:
                    inputs.append(held)
                    held, border = [], []
                if held:
                    held += border + piece
                else:
                    held = piece
                border = []
    inputs += [held] if held else []
    return [[cls, *text, sep] for text in inputs]
