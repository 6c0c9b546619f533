"""The scores of an assignment as a table, and how its cells are written as CSV.

Text that a spreadsheet would take for a formula gets a `'` in front; numbers stay numbers.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from coursekit.submission.deadline import spelled
from coursetools.grading.gradebook.standing import Standing
from coursetools.grading.records.verdict import status_of
from coursetools.grading.results.outline import Outline, columns
from coursetools.grading.results.pages import counted, number
from coursetools.grading.results.scores import Handed, Score, Student, add_up, points_of
from coursetools.settings import csv_tables
from coursetools.settings.late_rule import LateRule

Cell = str | float | None
UNGRADED, OPEN = "not graded", "open"  # in the place of a verdict

_FORMULA = re.compile(r"[=+\-@\t\r|＝＋－＠]")
_NUMBER = re.compile(r"-?\d+([.,]\d+)?")


@dataclass(frozen=True)
class Row:
    """One student's line of the table."""

    student: Student
    status: str  # the verdict's, "" where nbgrader alone has graded, or "open", "excused", …
    score: Score | None  # None: open, excused, or not graded yet, through no fault of the student
    parts: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class Table:
    """The scores of an assignment."""

    name: str
    title: str
    columns: tuple[str, ...]  # names of the parts
    points: float
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()  # about the table of a platform
    has_deadline: bool = False
    nameless: tuple[str, ...] = ()  # who submitted anonymously, and nobody knows who they are
    absent: Callable[[str], Standing] = lambda who: Standing("missing")  # of who has no row


def row_of(
    asked: dict[str, Outline], student: Student, handed: Handed | None, rule: LateRule | None
) -> Row:
    """Return the scores of a student; what is still open, excused or not graded has none."""
    if student.open:
        return Row(student, OPEN, None, (None,) * len(columns(asked)))
    return judged_row(asked, student, handed, rule)


def judged_row(
    asked: dict[str, Outline], student: Student, handed: Handed | None, rule: LateRule | None
) -> Row:
    """Return what a submission is worth, also before it counts."""
    parts = columns(asked).values()
    statuses = {place.status for place in handed.places.values()} if handed else set()
    if student.ungraded and not student.excused:
        return Row(student, UNGRADED, None, (None,) * len(parts))
    failed = "INTERNAL" in statuses or (student.marks is None and statuses - {"MISSING"})
    if student.excused or failed:
        status = "excused" if student.excused else "INTERNAL"
        return Row(student, status, None, (None,) * len(parts))
    status = status_of(statuses) if statuses else ""
    return Row(
        student,
        "MISSING" if not student.has_submission else status,
        add_up(asked, student, {}, rule),
        tuple(points_of(student, notebook, part) for notebook, part in parts),
    )


def defuse(value: str) -> str:
    """Return text that no spreadsheet runs as a formula; ordinary text and numbers are kept."""
    start = value.lstrip(" \n\v\f\u00a0\u200b\ufeff")
    if _FORMULA.match(start) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def ready(value: Cell) -> Cell:
    """Return a cell as a spreadsheet may have it."""
    if isinstance(value, str):
        text = "".join(c for c in value if c != "\0" and not "\ud800" <= c <= "\udfff")
        return defuse(text)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def as_text(rows: Iterator[list[Cell]]) -> str:
    """Write rows as CSV: text quoted and defused, numbers bare."""
    return csv_tables.as_text((map(ready, row) for row in rows), quoting=csv.QUOTE_NONNUMERIC)


def hours_late(row: Row) -> float | None:
    """Return how late it came, None where nobody says when it came."""
    if row.student.submitted is None:
        return None
    return round(row.student.seconds_late / 3600, 2)


def for_canvas(row: Row) -> Cell:
    """Return the score as Canvas takes it: `EX` for whoever is excused."""
    if row.student.excused:
        return "EX"
    return row.score.total if row.score else None


def late_days(row: Row) -> int | None:
    """Return how many late days were spent, None where there are none to spend."""
    return row.student.late_days.here if row.student.late_days else None


def still_open(row: Row) -> str:
    """Say until when an assignment is open for a student."""
    until = row.student.standing.until
    return f"Open until {spelled(until)}" if until else "No deadline, nothing submitted"


def points_in_words(value: float) -> str:
    """Write "1 point was", "2.5 points were"."""
    return f"{number(value)} {'point was' if value == 1 else 'points were'}"


def remark(row: Row, table: Table) -> str:
    """Say in a sentence or two how a score came about."""
    if row.student.excused:
        return "Excused."
    if row.status == OPEN:
        return f"{still_open(row)}, so it does not count yet."
    if row.score is None:
        return "Not graded yet."
    if row.status == "MISSING":
        by_hand = f" {points_in_words(row.score.total)} set by hand." if row.score.total else ""
        return f"Nothing was submitted.{by_hand}"
    sentence = f"{number(row.score.total)} of {number(table.points)} points."
    if days := late_days(row):
        sentence += f" {counted(days, 'late day')} spent."
    if row.score.penalty:
        sentence += f" {number(row.score.penalty)} lost for lateness."
    if row.status == "MALFORMED":
        sentence += " The file could not be graded."
    if row.score.waits:
        sentence += " The written answer is not marked yet."
    if row.student.newer:
        sentence += " A newer submission is not graded yet."
    return sentence
