"""Blanks as a task: a verse has lost a name, its neighbours hold it. Which span fills the blank?

The shape is that of SQuAD, question and passage with the answer inside, and nobody had to write a
question. A `BertSpan` reads both. Every answer can be checked: it occurs once in the passage, and
the verse as it was has the same name at the blank.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from coursekit._base.checks import check_int
from coursekit.data.cards import Card
from coursekit.data.verses import CARD as VERSES
from coursekit.data.verses import verses
from coursekit.objectives.special_tokens import SpecialTokens
from coursekit.tokenizers.base import Tokenizer

CARD = Card(
    name="Blanks",
    what="verses with a name left out, and neighbouring verses in which it stands once",
    licence=VERSES.licence,
    source="made from the English `verses` when asked for",
    sha256=VERSES.sha256,
    splits="that of the verse with the blank: 80, 10 and 10%. All passages are made of training "
    "verses, so no verse of valid or test is read before it is asked about",
    wrong="What counts as a name is decided by capitals, so Sabbath and Selah are names. Passages "
    "recur: of the verses around them some ask in training and some in the test. Now and then "
    "another name would fill the blank as well, as in lists of fathers and sons.",
)

BLANK = "___"
AROUND = 2  # training verses on each side of the blank, from the same chapter
OTHERS = 2  # at least this many other names of the passage might fill the blank too
COMMON = 0.05  # a name in more than this share of the verses is not asked for: it is guessed
WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


@dataclass(frozen=True)
class Blank:
    """A verse with a blank, a passage, and the name in the passage that fills the blank."""

    question: str
    context: str
    answer: str
    start: int  # the character of the passage where the answer begins
    key: str  # where the verse is


def blanks(split: str = "train", *, longest: int = 200) -> list[Blank]:
    """Return the blanks of one split, with at most `longest` words in question and passage.

    A name is asked for if it occurs once in its verse and once in the passage, and if two other
    names, at least, that the verse does not show are in the passage once as well: so neither
    counting nor crossing out leaves one alone. A verse may ask several times.
    """
    check_int(longest=longest)
    items, names = [], _names()
    for pair in verses(split, longest=None):
        context = _passage(pair.key)
        if len(pair.english.split()) + len(context.split()) > longest:
            continue
        around = Counter(WORD.findall(context))
        counts = Counter(WORD.findall(pair.english))
        if sum(around[name] == 1 for name in names & around.keys() - counts.keys()) < OTHERS:
            continue
        for match in WORD.finditer(pair.english):
            name = match.group()
            if name in names and counts[name] == around[name] == 1:
                question = pair.english[: match.start()] + BLANK + pair.english[match.end() :]
                start = next(m.start() for m in WORD.finditer(context) if m.group() == name)
                items.append(Blank(question, context, name, start, pair.key))
    return items


def _passage(key: str) -> str:
    """Return the training verses of the chapter that are nearest to a verse, without it."""
    chapter, _, verse = key.rpartition(":")
    numbers, lines = _chapters().get(chapter, ([], []))
    before, after = bisect_left(numbers, int(verse)), bisect_right(numbers, int(verse))
    return " ".join(lines[max(0, before - AROUND) : before] + lines[after : after + AROUND])


@cache
def _chapters() -> dict[str, tuple[list[int], list[str]]]:
    """Return for each chapter the numbers and the texts of its training verses, in order."""
    chapters: dict[str, tuple[list[int], list[str]]] = {}
    for pair in verses("train", longest=None):
        chapter, _, verse = pair.key.rpartition(":")
        numbers, lines = chapters.setdefault(chapter, ([], []))
        numbers.append(int(verse))
        lines.append(pair.english)
    return chapters


@cache
def _names() -> frozenset[str]:
    """Return the words that training verses never write in lower case, but the commonest."""
    lines = [pair.english for pair in verses("train", longest=None)]
    counts = Counter(word for line in lines for word in set(WORD.findall(line)))
    most = COMMON * len(lines)
    return frozenset(
        word
        for word, count in counts.items()
        if len(word) > 1 and word[0].isupper() and word.lower() not in counts and count <= most
    )


class SpanPieces(NamedTuple):
    """[CLS] question [SEP] passage [SEP] as ids, and the places of the answer, both included."""

    tokens: list[int]  # (T,)
    segments: list[int]  # (T,): the passage and its [SEP] are segment 1
    start: int
    end: int


def span_pieces(item: Blank, tokenizer: Tokenizer, special: SpecialTokens) -> SpanPieces:
    """Cut a blank into pieces; [MASK] stands for the gap in the question."""
    left, right = item.question.split(BLANK)
    question = [*tokenizer.encode(left), special.mask, *tokenizer.encode(right)]
    passage, places = tokenizer.encode_with_offsets(item.context)
    stop = item.start + len(item.answer)
    touched = [n for n, (first, last) in enumerate(places) if first < stop and last > item.start]
    before = len(question) + 2  # with [CLS] and the first [SEP]
    return SpanPieces(
        [special.cls, *question, special.sep, *passage, special.sep],
        [0] * before + [1] * (len(passage) + 1),
        before + touched[0],
        before + touched[-1],
    )
