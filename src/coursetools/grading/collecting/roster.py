"""The class list: read from a CSV file as universities export them, kept in the gradebook."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursetools.grading.collecting.columns import MEANING
from coursetools.grading.collecting.layouts import plain_name
from coursetools.grading.records.folders import Folders
from coursetools.settings import csv_tables
from coursetools.text import some

CANVAS = {"student": "name", "id": "lms", "sis_user_id": "id", "sis_login_id": "login"}


@dataclass(frozen=True)
class Person:
    """One row of the class list."""

    id: str
    first: str = ""
    last: str = ""
    email: str = ""
    lms: str = ""
    anonymous: str = ""  # Canvas's number in one assignment; the gradebook does not have it
    group: str | None = None  # their team, "" for alone; None where there is no such column

    @property
    def names(self) -> set[str]:
        """The forms in which a learning management system may write this person's name."""
        whole = f"{self.first} {self.last}".strip()
        return {plain_name(whole), plain_name(f"{self.last} {self.first}")} - {""}


def bad_id(name: str) -> str:
    """Say why something cannot be a student's id, and so a folder; "" if it can."""
    if not name or name != name.strip() or name.startswith((".", "~", "-")):
        return "is empty, or starts or ends with a character that is not allowed there"
    if len(name.encode()) > 120:
        return "is too long"
    odd = [c for c in name if unicodedata.category(c)[0] in "CZ" or c in "/\\$`*?[]{}<>|;:\"'!&,"]
    return f"contains {odd[0]!r}" if odd else ""


def read_csv(path: Path, note: Callable[[str], None] = lambda text: None) -> list[Person]:
    """Read a class list, Canvas's gradebook too; what is not clear is refused with its line."""
    table = csv_tables.read(path, "id,name,email")
    words = table.words()
    canvas = is_canvas(table)
    meanings = [(CANVAS if canvas else MEANING).get(word) for word in words]
    unread = [title for title, meaning in zip(table.header, meanings) if title and not meaning]
    if "id" not in meanings and not canvas:
        raise CourseError(
            f"{path}, line 1: there is no column called id (or student_id, login, Matrikelnummer); "
            f"other columns: {some(unread) if unread else 'none'}"
        )
    if unread and not canvas:
        note(f"{path}: unused columns: {some(unread)}")
    people: dict[str, Person] = {}
    line_of: dict[tuple[str, str], str] = {}
    for number, row in table.rows:
        where = f"{path}, line {number}"
        values = {meaning: cell.strip() for meaning, cell in zip(meanings, row) if meaning}
        if canvas and _no_student(values):
            continue
        person = _person(values, where)
        for what, value in (
            ("id", unicodedata.normalize("NFC", person.id).casefold()),
            ("number", person.lms),
            ("anonymous id", person.anonymous),
            ("e-mail address", person.email.casefold()),
        ):
            before = line_of.setdefault((what, value), person.id) if value else person.id
            if person.id in people and what == "id":
                raise CourseError(f"{where}: {person.id} appears twice; remove one of the lines")
            if before != person.id:
                raise CourseError(f"{where}: {before} and {person.id} have the same {what}")
        people[person.id] = person
    if not people:
        raise CourseError(f"{path} has a header, but no students below it")
    return list(people.values())


def is_canvas(table: csv_tables.Table) -> bool:
    """Return whether a table is the gradebook that Canvas exports."""
    return {"student", "id", "sis_login_id"} <= set(table.words())


def students_in(table: csv_tables.Table) -> int:
    """Return how many rows of a class list are of students."""
    if not is_canvas(table):
        return len(table.rows)
    meanings = [CANVAS.get(word) for word in table.words()]
    rows = ({m: cell.strip() for m, cell in zip(meanings, row) if m} for _, row in table.rows)
    return sum(not _no_student(values) for values in rows)


def _no_student(values: dict[str, str]) -> bool:
    """Return whether a line of Canvas's gradebook is about points, or its invented test student."""
    name = values.get("name", "")
    return not values.get("lms") or name in ("Points Possible", "Student, Test", "Test Student")


def absent(people: list[Person], listed: ClassList, path: Path) -> list[str]:
    """Return who is on the class list and not among new `people`.

    An id that is new, and is somebody's who would stay on the list beside it, is refused.
    """
    if listed.open:
        return []
    ids, known = ({one.id for one in those} for those in (people, listed.people))
    others = [one for one in listed.people if one.id not in ids]
    before = {mark: one.id for one in others for mark in _marks(one)}
    twice = {
        one.id: before[mark]
        for one in people
        for mark in _marks(one)
        if one.id not in known and mark in before
    }
    if twice:
        pairs = [f"{new} (listed as {old})" for new, old in twice.items()]
        raise CourseError(
            f"{path} would add people to the class list a second time, under another id: "
            f"{some(pairs)}; nothing was stored. Did a spreadsheet drop leading zeros? Use the "
            "table as your university exports it, or format the column as text before you save it"
        )
    return sorted(one.id for one in others)


def _marks(person: Person) -> list[tuple[str, str]]:
    """Return what no two people share."""
    marks = ("email", person.email.casefold()), ("lms", person.lms), ("id", person.id.lstrip("0"))
    return [(what, value) for what, value in marks if value]


def save(database: Any, people: Iterable[Person], leave: Iterable[str] = ()) -> None:
    """Put people into the gradebook, new or changed; take those who `leave` off the class list."""
    from nbgrader import api

    from coursetools.grading.gradebook.own_tables import (
        LEFT,
        LISTED,
        OURS,
        delete_rows,
        insert_rows,
        students_in,
        update_rows,
    )

    table = api.Student.__table__
    rows = {
        person.id: {
            "first_name": person.first or None,
            "last_name": person.last or None,
            "email": person.email or None,
            "lms_user_id": person.lms or None,
        }
        for person in people
    }

    def write() -> None:
        known = set(database.students())
        with database.writing.begin() as connection:
            new = [{"id": who} for who in rows if who not in known]
            insert_rows(connection, table, new)
            update_rows(connection, table, [{"row": who, **row} for who, row in rows.items()])
            OURS.create_all(connection)
            for here, gone, who in ((LISTED, LEFT, list(rows)), (LEFT, LISTED, list(leave))):
                there = students_in(connection, here)
                insert_rows(connection, here, [{"student": w} for w in who if w not in there])
                delete_rows(connection, gone, [{"student": w} for w in who])

    database.patiently(write)


def enter(
    folders: Folders,
    people: Iterable[Person],
    leave: Iterable[str] = (),
    note: Callable[[str], None] = lambda text: None,
) -> None:
    """Open the gradebook and save the class list in it."""
    from coursetools.grading.gradebook.database import Database

    database = Database(folders, note)
    try:
        save(database, people, leave)
    finally:
        database.close()


@dataclass(frozen=True)
class ClassList:
    """Who may hand in; an `open` one knows some people, and whoever else hands in is new."""

    people: list[Person]
    open: bool


def class_list(
    folders: Folders,
    note: Callable[[str], None] = lambda text: None,
    people: Iterable[Person] = (),
) -> ClassList:
    """Return the class list as the gradebook has it, with anonymous ids and teams from `people`.

    Grading enters whoever has submitted as well, so those do not make a list: it is closed where a
    list was imported, here or by nbgrader, which gives people names or addresses.
    """
    from coursetools.grading.gradebook.database import Database
    from coursetools.grading.gradebook.irreplaceable import recall

    if not folders.has_gradebook and not folders.kept.is_file():
        return ClassList([], True)
    database = Database(folders, note)
    try:
        recall(folders, database, note)
        rows, (chosen, left) = database.students(), database.listed()
    finally:
        database.close()
    given = {person.id: (person.anonymous, person.group) for person in people}
    known = [
        Person(
            one, row["first_name"], row["last_name"], row["email"], row["lms_user_id"],
            *given.get(one, ("", None)),
        )
        for one, row in rows.items() if one not in left
    ]  # fmt: skip
    on = [p for p in known if p.id in chosen or p.first or p.last or p.email or p.lms]
    return ClassList(on or known, not on)


def _person(values: dict[str, str], where: str) -> Person:
    values = values | {"id": values.get("id") or values.get("login", "")}
    problem = bad_id(values.get("id", ""))
    if problem:
        raise CourseError(f"{where}: the id {values.get('id', '')!r} {problem}")
    first, last = values.get("first", ""), values.get("last", "")
    name = values.get("name", "")
    if name and not (first or last):
        if "," in name:
            last, _, first = (part.strip() for part in name.partition(","))
        else:
            first, _, last = (part.strip() for part in name.rpartition(" "))
    email, lms, anonymous = (values.get(column, "") for column in ("email", "lms", "anonymous"))
    return Person(values["id"], first, last, email, lms, anonymous, values.get("group"))
