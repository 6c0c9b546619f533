"""The formats of a table of scores: each a function, and a line in `FORMATS`.

A format is written from a `Table`, or filled into a file that a platform gave. The README
of `grading` shows how one is added.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from coursetools.grading.results.fill_template import Filling, fill_canvas, fill_worksheet
from coursetools.grading.results.table import (
    Cell,
    Table,
    as_text,
    for_canvas,
    hours_late,
    late_days,
    ready,
    remark,
)


@dataclass(frozen=True, kw_only=True)
class Format:
    """How a table becomes a file: `write` makes one, `fill` uses one that was downloaded."""

    write: Callable[[Table, str], str] | None = None  # (table, title or "") -> the file's text
    fill: Callable[[Filling, Table, str], str] | None = None
    begins: str = ""  # the first columns of a file to be filled in
    ending: str = "csv"  # of the file's name


def as_csv(table: Table, title: str) -> Iterator[list[Cell]]:
    """Yield a table with everything, one row a student."""
    yield [
        *("assignment", "student_id", "last_name", "first_name", "email", "status", "submitted"),
        *("hours_late", "late_days", "auto_points", "written_points", "late_penalty", "score"),
        "max_score",
        *("waits_for_human", *table.columns),
    ]
    for row in table.rows:
        student, score = row.student, row.score
        when = student.submitted.isoformat(" ", "seconds") if student.submitted else ""
        yield [
            *(title, student.id, student.last, student.first, student.email, row.status, when),
            *(hours_late(row), late_days(row)),
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
                "hours_late": hours_late(row),
                "late_days": late_days(row),
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
        "title": title or table.title,
        "max_score": table.points,
        "parts": list(table.columns),
        "students": students,
    }
    text = json.dumps(whole, indent=1, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode() + "\n"  # half a character is in no file


def as_canvas(table: Table, title: str) -> Iterator[list[Cell]]:
    """Yield Canvas's gradebook: it finds students by ID, else SIS User ID, else SIS Login ID."""
    yield ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", title]
    yield ["    Points Possible", "", "", "", "", table.points]
    for row in table.rows:
        student = row.student
        name = ", ".join(part for part in (student.last, student.first) if part) or student.id
        number = student.lms if student.lms.isascii() and student.lms.isdigit() else ""
        login = student.email or student.id
        yield [name, number, student.id, login, "", for_canvas(row)]


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


Rows = Callable[[Table, str], Iterator[list[Cell]]]


def _csv(rows: Rows, before: str = "") -> Callable[[Table, str], str]:
    return lambda table, title: before + as_text(rows(table, title or table.name))


FORMATS = {
    # Excel reads a table as UTF-8 only where it begins with this mark; the others do not want it.
    "csv": Format(write=_csv(as_csv, "\ufeff")),
    "json": Format(write=as_json, ending="json"),
    "canvas": Format(
        write=_csv(as_canvas),
        fill=lambda filling, table, title: fill_canvas(filling, title, ready),
        begins="Student,ID,SIS User ID,SIS Login ID,Section",
    ),
    "moodle": Format(write=_csv(as_moodle)),
    "worksheet": Format(
        fill=lambda filling, table, title: fill_worksheet(
            filling, table.points, lambda row: remark(row, table), ready
        ),
        begins="Identifier,Full name,Grade",
    ),
}
