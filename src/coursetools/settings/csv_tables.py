"""Tables in CSV as universities and platforms write them: any separator, any usual encoding."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError

SEPARATOR = re.compile(r'"?sep=([,;\t])"?')  # the first line of some of Excel's tables


@dataclass(frozen=True)
class Table:
    """A table with its header; each row has the number of its last line in the file."""

    path: Path
    header: list[str]
    rows: list[tuple[int, list[str]]]
    delimiter: str
    marked: bool  # begins with the mark that Excel looks for

    def words(self) -> list[str]:
        """Return the header's cells as plain words."""
        return [word(cell) for cell in self.header]

    def cells(self, needed: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield where each row is, and its cells by their columns; those `needed` must be there."""
        words = self.words()
        if missing := [name for name in needed if name not in words]:
            raise CourseError(f"{self.path}, line 1: there is no column called {missing[0]}")
        for number, row in self.rows:
            cells = {word: cell.strip() for word, cell in zip(words, row)}
            yield f"{self.path}, line {number}", cells


def word(title: str) -> str:
    """Return a column's title as a plain word: `Last modified (grade)` last_modified_grade."""
    title = unicodedata.normalize("NFC", title).strip().lower()
    return re.sub(r"\W+", "_", title).strip("_")


def read(path: Path, example: str, *, joins: bool = False) -> Table:
    """Read a table; `example` is what its first line should look like.

    A row with more cells than there are columns is refused. Where the last column `joins`, it is
    text that people type, and the further cells are what stood in it behind a comma.
    """
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError as error:
        raise CourseError(f"there is no file {path}") from error
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from error
    text = _decode(data)
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise CourseError(f"{path} is empty; its first line should be: {example}")
    told = SEPARATOR.fullmatch(lines[0].strip())
    delimiter = told[1] if told else max(",;\t", key=lines[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        full = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise CourseError(f"{path}, line {reader.line_num}: {error}") from error
    full = full[1:] if told else full
    if not full:
        raise CourseError(f"{path} is empty; its first line should be: {example}")
    (_, header), *rows = full
    for at, (number, row) in enumerate(rows):
        if joins:
            last = max(at for at, title in enumerate(header) if title.strip())
            rows[at] = number, [*row[:last], delimiter.join(row[last:]).rstrip(delimiter)]
        elif any(cell.strip() for cell in row[len(header) :]):
            raise CourseError(
                f"{path}, line {number} has {len(row)} cells, but the table has {len(header)} "
                f"columns; put quotes around a cell that contains {delimiter!r}"
            )
    return Table(Path(path), header, rows, delimiter, data.startswith(b"\xef\xbb\xbf"))


def as_text(rows: Iterable[Iterable[Any]], **style: Any) -> str:
    """Return rows as CSV; `style` is that of `csv.writer`."""
    out = io.StringIO(newline="")
    csv.writer(out, **style).writerows(rows)
    return out.getvalue()


def _decode(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
