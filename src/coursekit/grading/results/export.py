"""`coursekit export NAME`: the scores as a table, for people, for Canvas, for Moodle.

Everybody in the class list has a row. Who handed in nothing gets 0; who could not be graded through
our own fault gets no number at all. Text that a spreadsheet would take for a formula gets a `'` in
front; numbers stay numbers.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from coursekit.errors import CourseError
from coursekit.grading.folders import Folders
from coursekit.grading.results.fill import TITLED, Filling, fill_canvas, fill_worksheet
from coursekit.grading.results.outline import Outline, outlines
from coursekit.grading.results.pages import counted, number, write
from coursekit.grading.results.scores import (
    Score,
    Student,
    add_up,
    handed_in,
    late_rule,
    read_gradebook,
)
from coursekit.grading.running.journal import Journal
from coursekit.grading.verdict import status_of

Cell = str | float | None

_FORMULA = re.compile(r"[=+\-@\t\r|＝＋－＠]")
_NUMBER = re.compile(r"-?\d+([.,]\d+)?")


@dataclass(frozen=True)
class Row:
    """One student's line of the table."""

    student: Student
    status: str  # the verdict's, "" where nbgrader alone has graded
    score: Score | None  # None: not graded yet, through no fault of the student
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


def defuse(value: str) -> str:
    """Return text that no spreadsheet runs as a formula; ordinary text and numbers are kept."""
    start = value.lstrip(" \n\v\f\u00a0\u200b\ufeff")
    if _FORMULA.match(start) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def read_table(root: Path, name: str) -> Table:
    """Collect everybody's scores from the gradebook, and from the journal how they came about."""
    folders = Folders(root, name)
    asked = outlines(folders)
    book = read_gradebook(folders.database, name)
    handed = {one.student: one for one in handed_in(Journal(folders.journal))}
    if not book.students and not handed:
        raise CourseError(
            f"there is nobody to export: grade first (coursekit grade {name}), or import the class "
            "list (coursekit collect --roster)"
        )
    rule = late_rule(folders)
    rows = []
    for who in sorted(set(book.students) | set(handed)):
        student = book.student(who)
        places = handed[who].places if who in handed else {}
        statuses = {place.status for place in places.values()}
        if "INTERNAL" in statuses or (student.marks is None and statuses - {"MISSING"}):
            rows.append(Row(student, "INTERNAL", None, tuple(None for _ in _cells(asked))))
            continue
        status = "MISSING" if student.marks is None else ""
        if statuses and not status:
            status = status_of(statuses)
        parts = tuple(_mark(student, notebook, cell) for notebook, cell in _cells(asked))
        score = add_up(asked, student, {}, rule)
        if status in ("MALFORMED", "MISSING"):  # nbgrader asks a human, but there is no answer
            score = replace(score, waits=0.0)
        rows.append(Row(student, status, score, parts))
    several = len(asked) > 1
    columns = tuple(f"{book}.{cell}" if several else cell for book, cell in _cells(asked))
    title = next(iter(asked.values())).title if not several else name
    points = sum(outline.points for outline in asked.values())
    deadline = book.due is not None or "due" in folders.settings
    return Table(name, title, columns, points, tuple(rows), has_deadline=deadline)


def as_csv(table: Table, title: str) -> Iterator[list[Cell]]:
    """Yield a table with everything, one row a student."""
    yield [
        *("assignment", "student_id", "last_name", "first_name", "email", "status", "submitted"),
        *("hours_late", "auto_points", "written_points", "late_penalty", "score", "max_score"),
        *("waits_for_human", *table.columns),
    ]
    for row in table.rows:
        student, score = row.student, row.score
        when = student.submitted.isoformat(" ", "seconds") if student.submitted else ""
        yield [
            *(title, student.id, student.last, student.first, student.email, row.status, when),
            _hours_late(row),
            *((score.auto, score.written, score.penalty) if score else (None, None, None)),
            score.total if score else None,
            table.points,
            score.waits if score else None,
            *row.parts,
        ]


def as_json(table: Table, title: str) -> str:
    """Return everything as JSON; null is what is not known, or not graded yet."""
    students = []
    for row in table.rows:
        student, score = row.student, row.score
        when = student.submitted.isoformat(" ", "seconds") if student.submitted else None
        students.append(
            {
                "student_id": student.id,
                "last_name": student.last,
                "first_name": student.first,
                "email": student.email,
                "lms_id": student.lms,
                "status": row.status,
                "submitted": when and f"{when} UTC",
                "hours_late": _hours_late(row),
                "auto_points": score.auto if score else None,
                "written_points": score.written if score else None,
                "late_penalty": score.penalty if score else None,
                "score": score.total if score else None,
                "waits_for_human": score.waits if score else None,
                "parts": dict(zip(table.columns, row.parts)),
            }
        )
    whole = {
        "assignment": table.name,
        "title": title,
        "max_score": table.points,
        "parts": list(table.columns),
        "students": students,
    }
    text = json.dumps(whole, indent=1, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode() + "\n"  # half a character is in no file


def _hours_late(row: Row) -> float | None:
    """Return how late it came, None where nobody says when it came."""
    if row.student.submitted is None:
        return None
    return round(row.student.seconds_late / 3600, 2)


def as_canvas(table: Table, title: str) -> Iterator[list[Cell]]:
    """Yield Canvas's gradebook: it finds students by ID, else SIS User ID, else SIS Login ID."""
    yield ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", title]
    yield ["    Points Possible", "", "", "", "", table.points]
    for row in table.rows:
        student = row.student
        shown = ", ".join(part for part in (student.last, student.first) if part) or student.id
        known = student.lms if student.lms.isascii() and student.lms.isdigit() else ""
        login = student.email or student.id
        yield [shown, known, student.id, login, "", row.score.total if row.score else None]


def as_moodle(table: Table, title: str) -> Iterator[list[Cell]]:
    """Yield what Moodle's import of a CSV file into the gradebook maps column by column."""
    yield [
        *("First name", "Last name", "ID number", "Email address"),
        *(f"Assignment: {title} (Real)", f"Assignment: {title} (Feedback)"),
    ]
    for row in table.rows:
        student = row.student
        yield [
            *(student.first, student.last, student.id, student.email),
            row.score.total if row.score else None,
            _remark(row, table),
        ]


FORMATS: dict[str, Callable[[Table, str], Iterator[list[Cell]]]] = {
    "csv": as_csv,
    "canvas": as_canvas,
    "moodle": as_moodle,
}


def as_text(rows: Iterator[list[Cell]]) -> str:
    """Write rows as CSV: text quoted and defused, numbers bare."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC)
    for row in rows:
        writer.writerow([_ready(value) for value in row])
    return out.getvalue()


def export(
    root: Path,
    name: str,
    form: str = "csv",
    *,
    output: Path | None = None,
    title: str = "",
    into: Path | None = None,
) -> tuple[Path, Table]:
    """Write the table; return where it is and what is in it."""
    if form not in (*FORMATS, "json", "worksheet"):
        known = ", ".join((*FORMATS, "json", "worksheet"))
        raise CourseError(f"{form!r} is no format of a table; there are {known}")
    if form == "worksheet" and into is None:
        raise CourseError(
            "a worksheet is filled in, and not made: download it in Moodle (Download grading "
            "worksheet) and say --into FILE"
        )
    if into is not None and form not in ("canvas", "worksheet"):
        raise CourseError("--into goes with --format canvas or --format worksheet")
    table, folders = read_table(root, name), Folders(root, name)
    notes: list[str] = []
    if into is not None:
        filling = Filling(folders, {row.student.id: row for row in table.rows}, into, EXAMPLE[form])
        if form == "canvas":
            content = fill_canvas(filling, title or table.title, _ready)
        else:
            content = fill_worksheet(filling, table.points, lambda r: _remark(r, table), _ready)
        notes = filling.notes
    elif form == "json":
        content = as_json(table, title or table.title)
    else:
        content = as_text(FORMATS[form](table, title or name))
        if form == "canvas" and not TITLED.fullmatch(title):
            notes.append(
                "Canvas knows an assignment by the number in its title, and makes a new one "
                "without it: say --into FILE, the gradebook that Canvas exports, or --title "
                "'NAME (123)'"
            )
    if output is None:
        suffix = "" if form in ("csv", "json") else f"-{form}"
        output = folders.export / f"{name}{suffix}.{'json' if form == 'json' else 'csv'}"
    # Excel reads a table as UTF-8 only where it begins with this mark; the others do not want it.
    write(output, ("\ufeff" if form == "csv" else "") + content)
    return output, replace(table, notes=tuple(notes))


EXAMPLE = {
    "canvas": "Student,ID,SIS User ID,SIS Login ID,Section",
    "worksheet": "Identifier,Full name,Grade",
}


def run(arguments: argparse.Namespace) -> int:
    """The command: `name`, `format`, `output`, `title`, `root`, `quiet`."""
    title = getattr(arguments, "title", None) or ""
    path, table = export(
        Path(arguments.root),
        arguments.name,
        arguments.format or "csv",
        output=arguments.output,
        title=title,
        into=getattr(arguments, "into", None),
    )
    print(path)
    if not arguments.quiet:
        for sentence in remarks(table):
            print(sentence, file=sys.stderr)
    return 0


def remarks(table: Table) -> list[str]:
    """Say what a reader of the table should know before it goes anywhere."""
    missing = sum(1 for row in table.rows if row.status == "MISSING")
    ungraded = [row.student.id for row in table.rows if row.score is None]
    waiting = sum(1 for row in table.rows if row.score and row.score.waits)
    said = [counted(len(table.rows), "student")]
    if missing:
        said.append(f"{counted(missing, 'student')} handed in nothing and got 0")
    if ungraded:
        some = ", ".join(ungraded[:5]) + (", …" if len(ungraded) > 5 else "")
        said.append(
            f"{counted(len(ungraded), 'student')} could not be graded and got no number ({some}): "
            f"run coursekit grade {table.name}"
        )
    if waiting:
        said.append(
            f"{counted(waiting, 'student')} wrote answers that nobody has marked yet; these points "
            "are not in the table"
        )
    unknown = sum(row.student.submitted is None and row.score is not None
                  and row.status != "MISSING" for row in table.rows)  # fmt: skip
    if unknown and table.has_deadline:
        said.append(
            f"when {counted(unknown, 'student')} handed in is unknown, and nothing was taken off: "
            f"coursekit collect {table.name} --times CSV, then grade again"
        )
    return [*said, *table.notes]


def _cells(asked: dict[str, Outline]) -> list[tuple[str, str]]:
    return [(book, part.cell) for book, outline in asked.items() for part in outline.parts]


def _mark(student: Student, notebook: str, cell: str) -> float | None:
    mark = (student.marks or {}).get(notebook, {}).get(cell)
    if mark is None or (mark.waits and mark.manual is None and mark.auto is None):
        return None
    return round(mark.score, 2)


def _remark(row: Row, table: Table) -> str:
    if row.score is None:
        return "Not graded yet."
    if row.status == "MISSING":
        return "Nothing was handed in."
    said = f"{number(row.score.total)} of {number(table.points)} points."
    if row.score.penalty:
        said += f" {number(row.score.penalty)} were lost because it came late."
    if row.score.waits:
        said += " The answer in words is still to be read."
    return said


def _ready(value: Cell) -> Cell:
    if isinstance(value, str):
        kept = "".join(c for c in value if c != "\0" and not "\ud800" <= c <= "\udfff")
        return defuse(kept)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
