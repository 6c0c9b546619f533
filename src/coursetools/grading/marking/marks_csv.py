"""Tables of marks, as the pages for marking save them: code, question, marker, items, points, …

A row is one marker's mark of one answer. Nothing is taken of tables in which a row is not clear.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from coursekit._base.errors import CourseError
from coursetools.grading.marking.answers import InWords
from coursetools.grading.results.pages import number
from coursetools.settings import csv_tables
from coursetools.text import clean, has_unseen, one_line

COLUMNS = ("code", "question", "marker", "items", "points", "comment")
LONGEST = 5000  # characters of a comment


@dataclass(frozen=True)
class Mark:
    """What one marker gives for one answer."""

    marker: str
    items: tuple[str, ...]
    points: float
    comment: str


Marks = dict[tuple[str, str], list[Mark]]  # by question and code; one of each marker


def read_marks(paths: Iterable[Path], asked: list[InWords]) -> tuple[Marks, list[str]]:
    """Return the marks of all tables, and a sentence about each row that is not clear."""
    questions = {one.name: one for one in asked}
    marks: Marks = defaultdict(list)
    wrong = []
    for path in paths:
        for where, row in csv_tables.read(path, ",".join(COLUMNS)).cells(COLUMNS[:5]):
            try:
                of, mark = _read(row, questions)
                if not _again(marks[of], mark):
                    marks[of].append(mark)
            except CourseError as error:
                wrong.append(f"{where}: {error}")
    return marks, wrong


def _read(row: dict[str, str], questions: dict[str, InWords]) -> tuple[tuple[str, str], Mark]:
    name, code, marker = (row.get(one, "") for one in ("question", "code", "marker"))
    if name not in questions:
        raise CourseError(
            f"{name!r} is not a written question of this assignment; it has "
            f"{', '.join(questions) or 'none'}"
        )
    asked = questions[name]
    if all(answer.code != code for answer in asked.answers):
        raise CourseError(
            f"no answer to {name} has the code {code!r}; if the student has submitted again, run "
            "coursekit mark, mark the new answers and save the table again"
        )
    if not marker or has_unseen(marker):
        raise CourseError("the column marker is empty; it should say who marked")
    known = [item.name for item in asked.rubric.items]
    items = row.get("items", "").split()
    for item in items:
        if item not in known:
            has = ", ".join(known) or "none"
            raise CourseError(f"{item!r} is not in the rubric of {name}, which has {has}")
    points = _points(row.get("points", ""), asked, items)
    comment = clean(row.get("comment", "")).strip()[:LONGEST]
    given = tuple(item for item in known if item in items)
    return (name, code), Mark(one_line(marker, 60), given, points, comment)


def _points(text: str, asked: InWords, items: list[str]) -> float:
    most = asked.part.points
    if not text and items:
        return asked.rubric.points(items, most)
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        points = -1.0
    if not 0 <= points <= most:
        raise CourseError(f"points must be a number from 0 to {number(most)}, got {text!r}")
    return round(points, 2)


def _again(there: list[Mark], mark: Mark) -> bool:
    """Return whether the same marker's same mark is there; two different ones are refused."""
    before = next((one for one in there if one.marker == mark.marker), None)
    if before not in (None, mark):
        raise CourseError(
            f"{mark.marker} gives {number(mark.points)} points here, but {number(before.points)} "
            "above; keep one of the two rows"
        )
    return before is not None
