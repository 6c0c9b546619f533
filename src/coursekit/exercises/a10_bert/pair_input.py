"""Two texts as one input: [CLS] A [SEP] B [SEP], with segments and padding."""

from __future__ import annotations

import torch

from coursekit.exercises.probe import after
from coursekit.exercises.question import Question


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


QUESTION = Question(
    name="pair_input",
    title="Two texts in one row",
    points=3,
    difficulty=1,
    minutes=20,
    page="bert.html#sec-bert-input",
    hint="Three steps, with plain lists until the last. First cut: how many tokens of text have "
    "room beside [CLS] and two [SEP]? As long as there are more, the longer text loses its last "
    "one. Then put the row and its segments together. Then pad all three to the same length and "
    "make tensors of them.",
    reference=pair_input,
    forbidden=("coursekit",),
)


def _text(start: int, length: int) -> list[int]:
    return list(range(start, start + length))


@QUESTION.visible(says="a short pair, padded")
def a_short_pair(student):
    return student.pair_input(_text(11, 3), _text(21, 2), 12)


@QUESTION.visible(says="a pair that just fits")
def just_fits(student):
    return student.pair_input(_text(11, 2), _text(21, 4), 9)


@QUESTION.visible(says="a first text that is too long")
def first_too_long(student):
    return student.pair_input(_text(11, 7), _text(31, 3), 11)


@QUESTION.visible(says="a second text that is too long")
def second_too_long(student):
    return student.pair_input(_text(11, 2), _text(31, 9), 13)


@QUESTION.visible(says="two texts of one length, and an odd room for both")
def both_too_long(student):
    return student.pair_input(_text(11, 6), _text(31, 6), 10)


@QUESTION.visible(says="other ids")
def other_ids(student):
    return student.pair_input(_text(11, 2), _text(21, 3), 10, cls=5, sep=6, pad=1)


@QUESTION.visible(says="the two lists stay as they were")
def lists_stay(student):
    return after(student.pair_input, _text(11, 6), _text(31, 8), 12)


QUESTION.mistake(
    "the first [SEP] in segment 1",
    old="(len(first) + 2) + [1] * (len(second) + 1)",
    new="(len(first) + 1) + [1] * (len(second) + 2)",
    hint="Your segment 1 begins one place too early: the first [SEP] closes A and belongs to it.",
)

QUESTION.mistake(
    "[CLS] in segment 1",
    old="[0] * (len(first) + 2)",
    new="[1] + [0] * (len(first) + 1)",
    hint="Your [CLS] is in segment 1. It stands before A and is in segment 0 with it.",
)

QUESTION.mistake(
    "the last [SEP] in segment 0",
    old="[1] * (len(second) + 1)",
    new="[1] * len(second) + [0]",
    hint="The last [SEP] closes B and belongs to segment 1, like B.",
)

QUESTION.mistake(
    "segments counted from 1",
    old="[0] * (len(first) + 2) + [1] * (len(second) + 1)",
    new="[1] * (len(first) + 2) + [2] * (len(second) + 1)",
    hint="You number the segments 1 and 2. They are 0 and 1: BERT's table has two rows.",
)

QUESTION.mistake(
    "padding in segment 1",
    old="segments + [0] * fill",
    new="segments + [1] * fill",
    hint="Your padding is in segment 1. It is in segment 0, although it stands behind B.",
)

QUESTION.mistake(
    "only B cut",
    old="(first if len(first) > len(second) else second)",
    new="second",
    hint="You cut only B. Each token that is too much is taken from the text that is the longer "
    "one at that moment.",
)

QUESTION.mistake(
    "only A cut",
    old="(first if len(first) > len(second) else second)",
    new="first",
    hint="You cut only A. Each token that is too much is taken from the text that is the longer "
    "one at that moment.",
)

QUESTION.mistake(
    "the shorter one cut",
    old="len(first) > len(second) else",
    new="len(first) < len(second) else",
    hint="You cut the shorter text, until nothing is left of it. It has least to spare: cut the "
    "longer one.",
)

QUESTION.mistake(
    "A cut when equal",
    old="len(first) > len(second) else",
    new="len(first) >= len(second) else",
    hint="Almost: where both texts are equally long, B loses a token and not A.",
)

QUESTION.mistake(
    "half for each",
    old="while len(first) + len(second) > length - 3:\n"
    "        (first if len(first) > len(second) else second).pop()",
    new="if len(first) + len(second) > length - 3:\n"
    "        first, second = first[: (length - 2) // 2], second[: (length - 3) // 2]",
    hint="You give each text half of the room. Where one needs less than half, the other may have "
    "the rest: yours throws words away and pads.",
)

QUESTION.mistake(
    "cut at the front",
    old=".pop()",
    new=".pop(0)",
    hint="You cut a text at its beginning. It loses its last tokens, and the beginning stays.",
)

QUESTION.mistake(
    "the last [SEP] cut off",
    old="while len(first) + len(second) > length - 3:\n"
    "        (first if len(first) > len(second) else second).pop()\n"
    "    tokens = [cls, *first, sep, *second, sep]\n"
    "    segments = [0] * (len(first) + 2) + [1] * (len(second) + 1)",
    new="tokens = [cls, *first, sep, *second, sep][:length]\n"
    "    segments = ([0] * (len(first) + 2) + [1] * (len(second) + 1))[:length]",
    hint="You cut the whole row at its end, and the last [SEP] goes first. Cut the texts before "
    "the row is put together, so that all three marks have room.",
)

QUESTION.mistake(
    "no room for the last [SEP]",
    old="length - 3",
    new="length - 2",
    hint="Where something has to be cut your row is one too long: three places are taken, by "
    "[CLS] and by two [SEP].",
)

QUESTION.mistake(
    "one [SEP] only",
    old="while len(first) + len(second) > length - 3:\n"
    "        (first if len(first) > len(second) else second).pop()\n"
    "    tokens = [cls, *first, sep, *second, sep]\n"
    "    segments = [0] * (len(first) + 2) + [1] * (len(second) + 1)",
    new="while len(first) + len(second) > length - 2:\n"
    "        (first if len(first) > len(second) else second).pop()\n"
    "    tokens = [cls, *first, sep, *second]\n"
    "    segments = [0] * (len(first) + 2) + [1] * len(second)",
    hint="The [SEP] after B is missing. Each of the two texts is closed by one.",
)

QUESTION.mistake(
    "keep the wrong way round",
    old="torch.arange(length) < length - fill",
    new="torch.arange(length) >= length - fill",
    hint="Your `keep` is True at padding. As everywhere in the course, True means may be looked "
    "at: the tokens that are there.",
)

QUESTION.mistake(
    "numbers for keep",
    old="return torch.tensor(tokens), torch.tensor(segments), keep",
    new="return torch.tensor(tokens), torch.tensor(segments), keep.long()",
    hint="Your `keep` has ones and zeros, as in other libraries. Here it is boolean.",
)

QUESTION.mistake(
    "padding in front",
    old="tokens, segments = tokens + [pad] * fill, segments + [0] * fill\n"
    "    keep = torch.arange(length) < length - fill",
    new="tokens, segments = [pad] * fill + tokens, [0] * fill + segments\n"
    "    keep = torch.arange(length) >= fill",
    hint="You pad in front. [CLS] stands at place 0 in every row; the padding comes after the "
    "last [SEP].",
)

QUESTION.mistake(
    "the lists cut",
    old="first, second = list(first), list(second)\n    ",
    new="",
    hint="The row is right, but the lists that you were given have been cut: pop and del take "
    "tokens out of the caller's own text. Cut copies, or slices.",
)

QUESTION.mistake(
    "half for each, rounded down",
    old="while len(first) + len(second) > length - 3:\n"
    "        (first if len(first) > len(second) else second).pop()",
    new="if len(first) + len(second) > length - 3:\n"
    "        first, second = first[: (length - 3) // 2], second[: (length - 3) // 2]",
    hint="Each text gets half of the room in yours. Where one needs less, the other may have the "
    "rest, and an odd room is filled to the last place.",
)

QUESTION.mistake(
    "half for each, more for B",
    old="while len(first) + len(second) > length - 3:\n"
    "        (first if len(first) > len(second) else second).pop()",
    new="if len(first) + len(second) > length - 3:\n"
    "        first, second = first[: (length - 3) // 2], second[: (length - 2) // 2]",
    hint="You give half of the room to each text, however short. Where one needs less than half, "
    "the other may have the rest; and of an odd room A has the larger half.",
)

QUESTION.mistake(
    "one pays for both",
    old="while len(first) + len(second) > length - 3:\n"
    "        (first if len(first) > len(second) else second).pop()",
    new="over = max(len(first) + len(second) - length + 3, 0)\n"
    "    if len(first) > len(second):\n"
    "        first = first[: len(first) - over]\n"
    "    else:\n"
    "        second = second[: len(second) - over]",
    hint="The text that is the longer one at first pays for everything in yours, and may end up "
    "the shorter one. Look again after each token: which one is longer now?",
)

QUESTION.mistake(
    "one token too many cut",
    old="length - 3",
    new="length - 4",
    hint="You cut one token too many, or cut where everything fits. Three places are taken, by "
    "[CLS] and two [SEP]; all others may hold text.",
)

QUESTION.mistake(
    "BERT's ids only",
    old="tokens = [cls, *first, sep, *second, sep]",
    new="cls, sep, pad = 101, 102, 0\n    tokens = [cls, *first, sep, *second, sep]",
    hint="You write 101, 102 and 0, whatever the arguments say. Another vocabulary has other ids: "
    "use `cls`, `sep` and `pad`.",
)

QUESTION.mistake(
    "zero taken for padding",
    old="torch.arange(length) < length - fill",
    new="torch.tensor(tokens) != 0",
    hint="You look for 0 to find the padding. Which id is padding is told by `pad`; in another "
    "vocabulary 0 is a word.",
)
