"""Scores into the table that was downloaded from Canvas or Moodle, for that to be uploaded again.

A platform finds people and assignments by numbers that only it knows: Canvas has the assignment's
in its title and four columns for a person, Moodle's grading worksheet a number for each participant
and the time of the last change. So its own table comes back, with the grades in it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursetools.grading.collecting import worksheet
from coursetools.grading.collecting.identify import Names
from coursetools.grading.collecting.roster import ClassList, Person, class_list
from coursetools.grading.collecting.times import HandIn, number_in
from coursetools.grading.collecting.worksheet_numbers import own_rows
from coursetools.grading.records.attempts import numbers_of
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.groups import Groups
from coursetools.grading.records.ledger import Ledger
from coursetools.grading.results.table import for_canvas
from coursetools.settings import csv_tables
from coursetools.text import some

Ready = Callable[[Any], Any]  # makes a cell harmless for spreadsheets
STRANGE = " is not on the class list"  # how `Names` says it where nobody comes near
TITLED = re.compile(r"(?P<title>.*?)\s*\((?P<id>\d+)\)\s*", re.DOTALL)


class Filling:
    """One table on its way back; `notes` is what its reader should know."""

    def __init__(self, folders: Folders, rows: dict[str, Any], path: Path, example: str) -> None:
        self.rows = rows  # by student
        self.source = csv_tables.read(path, example)
        self.words = self.source.words()
        people = [
            Person(row.student.id, row.student.first, row.student.last, row.student.email,
                   row.student.lms)
            for row in rows.values()
        ]  # fmt: skip
        groups = Groups.of(folders)
        self.nameless = set(Ledger.read(folders).nameless())  # of whom a line may be
        listed = class_list(folders) if self.nameless else ClassList([], False)
        self.anybody = listed.open  # there is no class list, so everyone may be in the class
        known = {person.id for person in people}
        people += [person for person in listed.people if person.id not in known]
        self.folders, self.listed = folders, ClassList(people, False)
        self.names = Names(folders, self.listed)
        self.numbers = {n: groups.person(who) for n, who in numbers_of(folders).items()}
        self.unlinked = 0  # lines that may be of somebody whose submission has no name yet
        self.notes: list[str] = []
        self.filled: dict[str, int] = {}
        self.strangers: list[tuple[str, str]] = []  # who is on no class list, and in which line

    def column(self, *words: str) -> int | None:
        """Return where a column is, by any of its names."""
        return next((self.words.index(word) for word in words if word in self.words), None)

    def row_of(self, person: HandIn) -> Any | None:
        """Return the scores of a person; note who is not known, or appears twice."""
        student = self.numbers.get(person.number, "")
        student, why = (student, "") if student in self.rows else self.names.row(person)
        if self.nameless and (student not in self.rows if student else self.anybody):
            self.unlinked += 1
            return None
        if not student and why.endswith(STRANGE):
            self.strangers.append((why.removesuffix(STRANGE), person.where))
            return None
        if not student:
            self.notes.append(f"{person.where}: {why}; line unchanged")
            return None
        if student in self.filled:
            self.notes.append(
                f"{person.where}: {student} is also in line {self.filled[student]}; line unchanged"
            )
            return None
        self.filled[student] = int(person.where.rpartition(" ")[2])
        return self.rows[student]

    def text(self, header: list[str], rows: list[list[Any]], ready: Ready) -> str:
        """Return the table as it goes back, and note who has no line in it."""
        if self.unlinked:
            lines, whose = (
                ("1 line", "this student's anonymous submission is")
                if self.unlinked == 1
                else (f"{self.unlinked} lines", "these students' anonymous submissions are")
            )
            self.notes.append(f"{lines} unchanged: {whose} not linked to a name yet")
        if len(self.strangers) == 1:
            (name, where), *_ = self.strangers
            self.notes.append(f"{where}: {name}{STRANGE}; line unchanged")
        elif self.strangers:
            names = some([name for name, _ in self.strangers])
            self.notes.append(f"{self.source.path}: not on the class list, so unchanged: {names}")
        missing = sorted(set(self.rows) - set(self.filled) - self.nameless)
        if missing:
            self.notes.append(f"no line in {self.source.path.name}: {some(missing)}")
        # Moodle's "-" is no formula, and Moodle reads it again
        cells = ([cell if cell == "-" else ready(cell) for cell in row] for row in [header, *rows])
        style = {"delimiter": self.source.delimiter, "quoting": csv.QUOTE_NONNUMERIC}
        return ("\ufeff" if self.source.marked else "") + csv_tables.as_text(cells, **style)


def fill_canvas(filling: Filling, points: float, title: str, ready: Ready) -> str:
    """Put the scores into one column of Canvas's gradebook, and leave the other assignments out."""
    source = filling.source
    name, number, section = (filling.column(word) for word in ("student", "id", "section"))
    if name is None or number is None or section is None:
        raise CourseError(
            f"{source.path} is not Canvas's gradebook: a column Student, ID or Section is missing"
        )
    at = _titled(filling, section + 1, title)
    sis, login = filling.column("sis_user_id"), filling.column("sis_login_id")
    rows, hidden = [], False
    for line, cells in source.rows:
        row = cells + [""] * (len(source.header) - len(cells))
        columns: list[Any] = [*row[: section + 1], row[at]]
        hidden = hidden or row[at].strip() == "N/A"
        if not row[number].strip():  # Points Possible, in Canvas's language
            theirs = _number(row[at])
            if theirs is not None and theirs != points:
                filling.notes.append(
                    f"the assignment is worth {theirs:g} points in Canvas and {points:g} here: "
                    "change it in Canvas first"
                )
        invented = row[name].strip() in ("Student, Test", "Test Student")
        if row[number].strip() and not invented:
            ids = [row[column].strip() for column in (sis, login) if column is not None]
            person = HandIn(
                where=f"{source.path}, line {line}",
                id=next(filter(None, ids), ""),
                number=row[number].strip(),
                email=ids[-1] if ids else "",
                name=row[name],
            )
            student = filling.row_of(person)
            if student is not None and (value := for_canvas(student)) is not None:
                columns[-1] = value
        rows.append(columns)
    if hidden:
        filling.notes.append(
            f"{source.path} was exported while Canvas hid the names (N/A), and Canvas takes no "
            "scores until it shows them: show the names, then export the gradebook again"
        )
    return filling.text([*source.header[: section + 1], source.header[at]], rows, ready)


def fill_worksheet(
    filling: Filling, points: float, remark: Callable[[Any], str], ready: Ready
) -> str:
    """Put grades and comments into Moodle's worksheet for grading offline."""
    source = filling.source
    sheet = worksheet.find(source)
    if sheet is None:
        raise CourseError(
            worksheet.unclear(source)
            or f"{source.path} is not Moodle's grading worksheet: expected the columns "
            "Identifier, Grade and Last modified (grade), in your language"
        )
    width = len(source.header)
    lines = [(line, cells + [""] * (width - len(cells))) for line, cells in source.rows]
    people = []
    for line, row in lines:
        have = {meaning: row[at].strip() for meaning, at in sheet.people().items()}
        people.append(
            HandIn(
                where=f"{source.path}, line {line}",
                number=number_in(have["participant"]),
                lasting=False,
                id=have.get("id", ""),
                email=have.get("email", ""),
                name=have.get("name", ""),
            )
        )
    note = filling.notes.append
    ours = own_rows(filling.folders, source.path, people, filling.listed, note=note)
    rows, small = [], set()
    for (_, row), person in zip(lines, people, strict=True):
        student = filling.row_of(person) if person in ours else None
        locked = sheet.locked is not None and worksheet.is_locked(row[sheet.locked])
        if student is not None and locked:
            filling.notes.append(f"{person.where}: this grade is locked in Moodle; line unchanged")
        elif student is not None and student.score is not None:
            row[sheet.grade] = student.score.total
            if sheet.comment is not None:
                row[sheet.comment] = remark(student)
            most = None if sheet.most is None else _number(row[sheet.most])
            if sheet.most is not None and most is not None and most < points:
                small.add(row[sheet.most].strip())
        rows.append(row)
    for value in sorted(small):
        filling.notes.append(
            f"the assignment is worth {value} points in Moodle and {points:g} here, and Moodle "
            "drops higher grades: change it in Moodle first"
        )
    if sheet.unclear:
        filling.notes.append(
            f"it is not clear whether {' or '.join(sheet.unclear)} takes the comments; only grades "
            "were written"
        )
    return filling.text(source.header, rows, ready)


def _titled(filling: Filling, start: int, title: str) -> int:
    """Return the column of an assignment: `Powers (123)` by that, or by `Powers` if it is one."""
    header = filling.source.header
    titled = {at: TITLED.fullmatch(header[at]) for at in range(start, len(header))}
    columns = [at for at in titled if header[at].strip() == title.strip()]
    columns = columns or [
        at for at, match in titled.items() if match and match["title"].strip() == title.strip()
    ]
    if len(columns) == 1:
        return columns[0]
    titles = ", ".join(repr(header[at].strip()) for at, match in titled.items() if match)
    what = "several assignments" if columns else "no assignment"
    raise CourseError(
        f"{filling.source.path} has {what} called {title!r}; name one with --title: "
        f"{titles or 'the file has none'}"
    )


def _number(text: str) -> float | None:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None
