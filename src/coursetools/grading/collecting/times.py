"""When work was handed in, as a platform or the instructor says: a table with ids and times.

Moodle's offline grading worksheet is such a table, and says of each of its numbers who that is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursetools.grading.collecting import tables
from coursetools.grading.collecting.roster import MEANING

TIME = re.compile(
    "time|timestamp|submitted(_at|_on)?|submission_(time|date)|hand(ed)?_in(_time)?|"
    "last_modified_submission"
)
NONE = {"", "-", "–", "none", "never", "n/a"}


@dataclass(frozen=True)
class HandIn:
    """One line of a table of times."""

    where: str
    id: str
    number: str  # that the platform gives the person
    lasting: bool  # in every assignment
    email: str
    name: str
    time: datetime | None  # None where nothing was handed in
    zoned: bool = True  # the table says in which zone the time is


def read_times(path: Path, zone: tzinfo = UTC) -> list[HandIn]:
    """Read a table of times; those without a zone are in `zone`."""
    table = tables.read(path, "id,time")
    words = table.words()
    columns: dict[str, int] = {}
    for at, word in enumerate(words):
        meaning = "time" if TIME.fullmatch(word) else MEANING.get(word)
        meaning = "participant" if word == "identifier" else meaning
        if meaning == "time" and "time" in columns:
            raise CourseError(
                f"{path}, line 1: {table.header[columns['time']]!r} and {table.header[at]!r} could "
                "both be the time of handing in; leave one out"
            )
        if meaning:
            columns.setdefault(meaning, at)
    if "time" not in columns:
        raise CourseError(
            f"{path}, line 1: there is no column called time (submitted_at, or Moodle's Last "
            "modified (submission))"
        )
    if not {"id", "email", "lms", "participant", "name"} & set(columns):
        raise CourseError(f"{path}, line 1: there is no column called id (email, lms_id)")
    times, line_of = [], {}
    for number, row in table.rows:
        where = f"{path}, line {number}"
        cells = {
            meaning: row[at].strip() if at < len(row) else "" for meaning, at in columns.items()
        }
        one = HandIn(
            where=where,
            id=cells.get("id", ""),
            number=number_in(cells.get("participant", "")) or cells.get("lms", ""),
            lasting="participant" not in cells,
            email=cells.get("email", ""),
            name=cells.get("name", ""),
            time=None,
        )
        time = _time(cells["time"], where)
        if time is not None:
            zoned = time.tzinfo is not None
            time = (time if zoned else time.replace(tzinfo=zone)).astimezone(UTC)
            one = replace(one, time=time, zoned=zoned)
        key: Any = (one.id, one.number, one.email.casefold()) if one.id or one.number else one.email
        key = key or one.name
        if not key or key == ("", "", ""):
            raise CourseError(f"{where} does not say whose time it is")
        if key in line_of:
            raise CourseError(f"{where}: the same person stands in line {line_of[key]}; keep one")
        line_of[key] = number
        times.append(one)
    return times


def zone_of(due: Any) -> tzinfo:
    """Return the zone in which times without one are read: the deadline's, else UTC."""
    return getattr(due, "tzinfo", None) or UTC


def number_in(text: str) -> str:
    """Return the number in Moodle's `Participant 874`, whatever the language."""
    match = re.search(r"(\d+)\s*$", text)
    return match[1] if match else ""


def _time(text: str, where: str) -> datetime | None:
    from dateutil import parser

    if text.casefold() in NONE:
        return None
    try:
        # A day alone is not taken for a time, nor 1/10 for October or for January.
        day = re.match(r"(\d\d?)[./-](\d\d?)[./-]\d{4}", text)
        unclear = day and day[1] != day[2] and int(day[1]) < 13 and int(day[2]) < 13
        if unclear or not re.search(r"\d{4}", text) or not re.search(r"\d:\d\d", text):
            raise ValueError
        return parser.parse(text, tzinfos=_offset)
    except (ValueError, OverflowError):
        raise CourseError(
            f"{where}: {text[:60]!r} is no time; write it as 2026-10-01 23:59 or "
            "2026-10-01T23:59:00+02:00"
        ) from None


def _offset(name: str | None, seconds: int | None) -> int | None:
    """Return a zone's offset; of the zones' names only UTC means the same everywhere."""
    if seconds is None and name is not None:
        if name.upper() not in ("UTC", "GMT", "Z"):
            raise ValueError(name)
        return 0
    return seconds
