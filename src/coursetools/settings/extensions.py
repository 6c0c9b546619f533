"""Who has more time, or is excused: `autograder/extensions.csv`, a table that people read and edit.

Its columns are `id,assignment,extension,why`; further ones stay as they are. An extension is a
duration (`48h`, `2d`, `30min`), which moves with the deadline, or a time, or `excused`. The
assignment `all` stands for every one but exams, in which a day more would be absurd. Where two
lines are about the same hand-in, the longer extension counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Self

from coursekit._base.errors import CourseError
from coursekit.submission.deadline import read_time, span, spelled
from coursetools.course import Course, write_whole
from coursetools.settings import csv_tables
from coursetools.settings.assignment_settings import settings_of
from coursetools.settings.class_settings import time_zone_of
from coursetools.text import some

COLUMNS = ("id", "assignment", "extension", "why")
FILE = "autograder/extensions.csv"
ALL = "all"  # in place of an assignment's name
EXCUSED = "excused"
DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(h|hours?|d|days?|min|minutes?)", re.IGNORECASE)
LONGEST = timedelta(days=366)
Extension = timedelta | datetime | str  # of the deadline, until when, or EXCUSED


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    student: str
    assignment: str
    extension: Extension
    why: str = ""
    where: str = ""  # the file and the line's number
    further: dict[str, str] = field(default_factory=dict)  # cells of columns that are not ours

    @property
    def key(self) -> tuple[str, str]:
        """What there is one line of."""
        return self.student, self.assignment

    def after(self, due: datetime) -> timedelta:
        """Return by how much it moves a deadline (in UTC); never to an earlier time."""
        if isinstance(self.extension, datetime):
            until = self.extension.astimezone(UTC).replace(tzinfo=None)
            return max(timedelta(0), until - due)
        return self.extension if isinstance(self.extension, timedelta) else timedelta(0)

    def __str__(self) -> str:
        """Return it as a person reads it."""
        name = "every assignment" if self.assignment == ALL else self.assignment
        what = self.extension
        if isinstance(what, timedelta):
            what = f"{span(what)} more"
        elif isinstance(what, datetime):
            what = f"until {spelled(what)}"
        return f"{self.student}, {name}: {what}" + (f" ({self.why})" if self.why else "")


def read_extension(text: str, zone: tzinfo) -> Extension:
    """Return what `48h`, `2d`, a time or `excused` means; a time without a zone is in `zone`."""
    text = text.strip()
    if text.casefold() == EXCUSED:
        return EXCUSED
    if duration := DURATION.fullmatch(text):
        hours = float(duration[1]) * {"d": 24, "h": 1, "m": 1 / 60}[duration[2][0].lower()]
        if hours > LONGEST.days * 24:
            raise CourseError(f"the extension {text[:60]!r} is longer than a year")
        return timedelta(hours=hours)
    try:
        return read_time(text, zone)
    except ValueError:
        raise CourseError(
            f"{text[:60]!r} is not an extension; write 48h, 2d, excused, or a time such as "
            "2026-11-22T12:00"
        ) from None


@dataclass
class Extensions:
    """The table of a class."""

    path: Path
    lines: dict[tuple[str, str], Line] = field(default_factory=dict)  # by student, assignment
    header: list[str] = field(default_factory=lambda: list(COLUMNS))
    delimiter: str = ","
    marked: bool = False  # begins with the mark that Excel looks for
    exams: frozenset[str] = frozenset()  # in which a line for all gives nobody more time

    @classmethod
    def read(cls, course: Course) -> Self:
        """Read the table of a class, an empty one where there is no file."""
        path = course / FILE
        if not path.is_file() or not path.read_bytes().strip():
            return cls(path)
        table, zone = csv_tables.read(path, ",".join(COLUMNS)), time_zone_of(course)
        lines: dict[tuple[str, str], Line] = {}
        for where, cells in table.cells(COLUMNS[:3]):
            line = _line(cells, where, zone)
            before = lines.setdefault(line.key, line)
            if before is not line:
                other = before.where.rpartition(" ")[2]
                raise CourseError(
                    f"{where}: line {other} is also about {line.student} and {line.assignment}; "
                    "keep one of them"
                )
        exams: frozenset[str] = frozenset()
        if any(line.assignment == ALL for line in lines.values()):
            known = course.assignments
            exams = frozenset(one for one in known if "exam" in settings_of(course.private(one)))
        return cls(path, lines, table.header, table.delimiter, table.marked, exams)

    def of(self, student: str, assignment: str) -> list[Line]:
        """Return the lines about a student's hand-in, and those about all assignments."""
        own, of_all = (self.lines.get((student, name)) for name in (assignment, ALL))
        if of_all and assignment in self.exams and of_all.extension != EXCUSED:
            of_all = None
        return [one for one in (own, of_all) if one]

    def excused(self, student: str, assignment: str) -> bool:
        """Return whether the assignment does not count for a student."""
        return any(one.extension == EXCUSED for one in self.of(student, assignment))

    def after(self, student: str, assignment: str, due: datetime) -> timedelta | None:
        """Return by how much a student's deadline is later than `due`, None without a line."""
        return max((one.after(due) for one in self.of(student, assignment)), default=None)

    def astray(self, students: Iterable[str], assignments: Iterable[str]) -> list[str]:
        """Say of each line about nobody, or about nothing, that it is so."""
        people, names = set(students), {ALL, *assignments}
        return [
            f"{one.where}: there is no assignment {one.assignment}"
            if one.assignment not in names
            else f"{one.where}: {one.student} is not in the class, so this extension has no effect"
            for one in self.lines.values()
            if one.assignment not in names or one.student not in people
        ]

    def unreached(self, assignment: str, anonymous: dict[str, str]) -> str:
        """Say that lines may be about those of `anonymous` ids who are not named, "" if not so."""
        nameless = sorted(number for number, student in anonymous.items() if not student)
        if not nameless or not any(name in (assignment, ALL) for _, name in self.lines):
            return ""
        return (
            f"{self.path}: extensions do not apply to {some(nameless)} yet, because these "
            "submissions are anonymous; once Canvas shows the names, collect its zip: coursekit "
            f"collect {assignment} FILE"
        )

    def put(self, new: Iterable[Line]) -> None:
        """Enter lines, each in the place of an earlier one about the same."""
        self.lines |= {line.key: line for line in new}

    def write(self) -> None:
        """Write the table, its separator and further columns as they were."""
        words = [csv_tables.word(title) for title in self.header]
        header = self.header + [name for name in COLUMNS if name not in words]
        words += [name for name in COLUMNS if name not in words]
        cells = [line.further | _cells(line) for line in self.lines.values()]
        rows = [header, *([one.get(word, "") for word in words] for one in cells)]
        text = csv_tables.as_text(rows, delimiter=self.delimiter, lineterminator="\n")
        write_whole(self.path, ("\ufeff" if self.marked else "") + text)


def check_line(line: Line) -> Line:
    """Refuse a time for all assignments, whose deadlines are not the same."""
    if line.assignment == ALL and isinstance(line.extension, datetime):
        raise CourseError(
            "an extension for all assignments must be a span, such as 48h or 2d, and not a time"
        )
    return line


def _line(cells: dict[str, str], where: str, zone: tzinfo) -> Line:
    for name in COLUMNS[:3]:
        if not cells.get(name):
            raise CourseError(f"{where}: the cell {name} is empty")
    assignment = ALL if cells["assignment"] in (ALL, "*") else cells["assignment"]
    further = {name: cell for name, cell in cells.items() if name not in COLUMNS}
    try:
        extension = read_extension(cells["extension"], zone)
        why = cells.get("why", "")
        return check_line(Line(cells["id"], assignment, extension, why, where, further))
    except CourseError as error:
        raise CourseError(f"{where}: {error}") from error


def _cells(line: Line) -> dict[str, str]:
    what = line.extension
    if isinstance(what, timedelta):
        hours = what.total_seconds() / 3600
        what = f"{hours / 24:g}d" if hours and hours % 24 == 0 else f"{hours:.10g}h"
    elif isinstance(what, datetime):
        what = what.isoformat(timespec="minutes" if not what.second else "auto")
    return dict(zip(COLUMNS, (line.student, line.assignment, what, line.why)))
