"""When work was submitted, as a platform or the instructor says: a table with ids and times.

Moodle's offline grading worksheet is such a table, and says of each of its numbers who that is.
It comes in the language of whoever downloads it (`worksheet`, `date_formats`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursetools.grading.collecting import date_formats, worksheet
from coursetools.grading.collecting.columns import MEANING
from coursetools.settings import csv_tables

TIME = re.compile(
    "time|timestamp|submitted(_at|_on)?|submission_(time|date)|hand(ed)?_in(_time)?|"
    "last_modified_submission"
)


@dataclass(frozen=True)
class HandIn:
    """One line of a table of times."""

    where: str
    id: str = ""
    number: str = ""  # that the platform gives the person
    lasting: bool = True  # in every assignment
    email: str = ""
    name: str = ""
    time: datetime | None = None  # None where nothing was submitted
    zoned: bool = True  # the table says in which zone the time is


def read_times(path: Path, zone: tzinfo = UTC) -> list[HandIn]:
    """Read a table of times; those without a zone are in `zone`."""
    table = csv_tables.read(path, "id,time")
    columns = _columns(table)
    rows = [
        (f"{path}, line {line}", {
            meaning: row[at].strip() if at < len(row) else "" for meaning, at in columns.items()
        })
        for line, row in table.rows
    ]  # fmt: skip
    when = date_formats.times_in([(where, cells["time"]) for where, cells in rows])
    times: list[HandIn] = []
    line_of: dict[Any, str] = {}
    for (where, cells), time in zip(rows, when):
        zoned = time is None or time.tzinfo is not None
        if time is not None:
            time = (time if zoned else time.replace(tzinfo=zone)).astimezone(UTC)
        one = HandIn(
            where=where,
            id=cells.get("id", ""),
            number=number_in(cells.get("participant", "")) or cells.get("lms", ""),
            lasting="participant" not in cells,
            email=cells.get("email", ""),
            name=cells.get("name", ""),
            time=time,
            zoned=zoned,
        )
        name = "" if one.lasting else one.name  # `worksheet_numbers` says that two have one number
        key: Any = (one.id, one.number, one.email.casefold(), name)
        key = key if one.id or one.number else one.email or one.name
        if not key:
            raise CourseError(f"{where}: this time has no student")
        line = where.rpartition(" ")[2]
        if line_of.setdefault(key, line) != line:
            raise CourseError(
                f"{where}: the same person is in line {line_of[key]}; keep one of the lines"
            )
        times.append(one)
    return times


def _columns(table: csv_tables.Table) -> dict[str, int]:
    """Return where a table has what, by its words, or as Moodle's worksheet in any language."""
    words = table.words()
    sheet = None if "identifier" in words else worksheet.by_shape(table)
    if sheet is not None and sheet.submitted is not None:
        return {**sheet.people(), "time": sheet.submitted}
    columns: dict[str, int] = {}
    for at, word in enumerate(words):
        meaning = "time" if TIME.fullmatch(word) else MEANING.get(word)
        meaning = "participant" if word == "identifier" else meaning
        if meaning == "time" and "time" in columns:
            raise CourseError(
                f"{table.path}, line 1: {table.header[columns['time']]!r} and "
                f"{table.header[at]!r} could both be the time of submission; remove one"
            )
        if meaning:
            columns.setdefault(meaning, at)
    if "time" not in columns:
        why = worksheet.unclear(table)
        raise CourseError(
            why
            or f"{table.path}, line 1: there is no column called time (or submitted_at, or "
            "Moodle's Last modified (submission))"
        )
    if not {"id", "email", "lms", "participant", "name"} & set(columns):
        raise CourseError(f"{table.path}, line 1: there is no column called id (or email, lms_id)")
    return columns


def zone_of(due: Any) -> tzinfo:
    """Return the zone in which times without one are read: the deadline's, else UTC."""
    return getattr(due, "tzinfo", None) or UTC


def number_in(text: str) -> str:
    """Return the number in Moodle's `Participant 874`, whatever the language."""
    match = re.search(r"(\d+)\s*$", text)
    return match[1] if match else ""
