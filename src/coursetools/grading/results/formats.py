"""The formats of a table of scores: each a function, and a line in `FORMATS`.

A format is written from a `Table`, or filled into a file that a platform gave, which is recognised
by its content. The README of `grading` shows how one is added.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursetools.grading.collecting import worksheet
from coursetools.grading.results.fill_template import (
    TITLED,
    Filling,
    fill_canvas,
    fill_worksheet,
)
from coursetools.grading.results.pages import counted, number
from coursetools.grading.results.table import (
    OPEN,
    UNGRADED,
    Cell,
    Row,
    Table,
    as_text,
    for_canvas,
    hours_late,
    late_days,
    ready,
    remark,
)
from coursetools.settings import csv_tables


@dataclass(frozen=True, kw_only=True)
class Format:
    """How a table becomes a file: `write` makes one, `fill` uses one that was downloaded."""

    write: Callable[[Table, str], str] | None = None  # (table, title or "") -> the file's text
    fill: Callable[[Filling, Table, str], str] | None = None
    begins: str = ""  # the first columns of a file to be filled in
    ending: str = "csv"  # of the file's name
    notes: Callable[[Table, str], list[str]] = lambda table, title: []  # on what was written


def as_csv(table: Table, title: str) -> Iterator[list[Cell]]:
    """Yield a table with everything, one row a student."""
    names = [
        *("assignment", "student_id", "last_name", "first_name", "email", "status", "submitted"),
        *("hours_late", "late_days", "auto_points", "written_points", "late_penalty", "score"),
        *("max_score", "waits_for_human"),
    ]
    yield [*names, *table.columns]
    for row in table.rows:
        known = {"assignment": title, "max_score": table.points, **_known(row)}
        yield [*(known[name] for name in names), *row.parts]


def _known(row: Row) -> dict[str, Any]:
    """Return what is known of a student's score, by the names that tables and JSON have for it."""
    student, score = row.student, row.score
    return {
        "student_id": student.id,
        "last_name": student.last,
        "first_name": student.first,
        "email": student.email,
        "status": row.status,
        "submitted": student.submitted and _in(student.zone, student.submitted, " ", "seconds"),
        "hours_late": hours_late(row),
        "late_days": late_days(row),
        "auto_points": score and score.auto,
        "written_points": score and score.written,
        "late_penalty": score and score.penalty,
        "score": score and score.total,
        "waits_for_human": score and score.waits,
    }


def as_json(table: Table, title: str) -> str:
    """Return everything as JSON, as `scores.schema.json` describes it.

    null is what is not known, or not graded yet.
    """
    students = []
    for row in table.rows:
        known = _known(row)
        parts = dict(zip(table.columns, row.parts))
        students.append({**known, "lms_id": row.student.lms, "parts": parts})
    whole = {
        "assignment": table.name,
        "title": title or table.title,
        "max_score": table.points,
        "parts": list(table.columns),
        "students": students,
    }
    text = json.dumps(whole, indent=1, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode() + "\n"  # half a character is in no file


def as_canvas(table: Table, title: str) -> Iterator[list[Cell]]:
    """Yield Canvas's gradebook: it finds students by ID, else SIS User ID, else SIS Login ID.

    Whoever has no number is left out: an empty cell would delete the one that Canvas has.
    """
    yield ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", title]
    yield ["    Points Possible", "", "", "", "", table.points]
    for row in table.rows:
        if for_canvas(row) is None:
            continue
        student = row.student
        name = ", ".join(part for part in (student.last, student.first) if part) or student.id
        number = student.lms if student.lms.isascii() and student.lms.isdigit() else ""
        login = student.email or student.id
        yield [name, number, student.id, login, "", for_canvas(row)]


def notes_for_canvas(table: Table, title: str) -> list[str]:
    """Say what Canvas does with a table that it did not give."""
    notes = []
    if not TITLED.fullmatch(title):
        notes.append(
            "Canvas finds an assignment by the number in its title, and makes a new one without "
            f"it: give the gradebook that Canvas exports (coursekit export {table.name} FILE), or "
            "add --title 'NAME (123)'"
        )
    left_out = sum(for_canvas(row) is None for row in table.rows)
    if left_out:
        notes.append(
            f"{counted(left_out, 'student')} without a score "
            f"{'is' if left_out == 1 else 'are'} not in the file: an empty cell would delete the "
            "score in Canvas"
        )
    notes.append(
        f"Canvas sets the assignment's points to {number(table.points)}, as in the line Points "
        "Possible"
    )
    return notes


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
            remark(row, table),
        ]


def as_ags(table: Table, title: str) -> str:
    """Return scores as LTI's Assignment and Grade Services take them, a line of JSON for each.

    Only a tool that the platform knows may post them; these lines are what it posts.
    """
    now = datetime.now(UTC)
    lines = (json.dumps(_ags(row, table, now), ensure_ascii=False) for row in table.rows)
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace").decode()


def _in(zone: tzinfo, when: datetime, between: str, precision: str) -> str:
    """Return a time, in UTC if it has no zone, as `zone` has it, with the offset."""
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return when.astimezone(zone).isoformat(between, precision)


def _ags(row: Row, table: Table, now: datetime) -> dict[str, Any]:
    student, score = row.student, row.score
    made: dict[str, Any] = {
        "userId": student.lms or student.id,
        "timestamp": _in(student.zone, now, "T", "milliseconds"),
        "activityProgress": "Submitted" if student.has_submission else "Initialized",
        "gradingProgress": "FullyGraded",
        "comment": remark(row, table),
    }
    if student.excused or row.status == OPEN:
        made["gradingProgress"] = "NotReady"  # LTI has no word for it; the score is left alone
    elif row.status == UNGRADED:
        made["gradingProgress"] = "Pending"
    elif score is None:
        made["gradingProgress"] = "Failed"  # and so the platform leaves the score alone
    else:
        made |= {"scoreGiven": score.total, "scoreMaximum": table.points}
        if score.waits:
            made["gradingProgress"] = "PendingManual"
    if student.submitted is not None:
        submitted = _in(student.zone, student.submitted, "T", "milliseconds")
        made["submission"] = {"submittedAt": submitted}
    return made


Rows = Callable[[Table, str], Iterator[list[Cell]]]


def _csv(rows: Rows, before: str = "") -> Callable[[Table, str], str]:
    return lambda table, title: before + as_text(rows(table, title or table.name))


FORMATS = {
    # Excel reads a table as UTF-8 only where it begins with this mark; the others do not want it.
    "csv": Format(write=_csv(as_csv, "\ufeff")),
    "json": Format(write=as_json, ending="json"),
    "canvas": Format(
        write=_csv(as_canvas),
        notes=notes_for_canvas,
        fill=lambda filling, table, title: fill_canvas(filling, table.points, title, ready),
        begins="Student,ID,SIS User ID,SIS Login ID,Section",
    ),
    "moodle": Format(write=_csv(as_moodle)),
    "worksheet": Format(
        fill=lambda filling, table, title: fill_worksheet(
            filling, table.points, lambda row: remark(row, table), ready
        ),
        begins="Identifier,Full name,Grade",
    ),
    "ags": Format(write=as_ags, ending="jsonl"),
}

FILES = {  # a format that is filled in -> what the platform's file is called
    "canvas": "Canvas's gradebook",
    "worksheet": "Moodle's grading worksheet",
}


def form_of(path: Path) -> str:
    """Return the format of a platform's file: only Canvas's begins with Student and ID."""
    source = csv_tables.read(path, FORMATS["canvas"].begins)
    if source.words()[:2] == ["student", "id"]:
        return "canvas"
    if worksheet.find(source) is not None:
        return "worksheet"
    raise CourseError(
        worksheet.unclear(source)
        or f"{path} is neither {' nor '.join(FILES.values())}; its columns are "
        f"{', '.join(source.header[:10])}"
    )
