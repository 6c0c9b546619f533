"""The class list: read from a CSV file as universities export them, kept in the gradebook."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursetools.grading.collecting.layouts import plain_name
from coursetools.grading.folders import Folders
from coursetools.settings import tables

COLUMNS = {  # what a header may be called -> what it means
    "id": "id student_id studentid student sis_user_id sis_login_id login login_id username user "
    "id_number",
    "name": "name student_name full_name fullname display_name",
    "first": "first_name firstname first given_name given vorname",
    "last": "last_name lastname last surname family_name nachname",
    "email": "email email_address e_mail mail",
    "lms": "lms_user_id lms_id canvas_id moodle_id",
    "anonymous": "anonymous_id anon_id",
    "group": "group group_name team team_name",
}
MEANING = {word: meaning for meaning, words in COLUMNS.items() for word in words.split()}
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
    group: str | None = None  # whom they hand in with, "" for alone; None where no column says it

    @property
    def names(self) -> set[str]:
        """The forms in which a learning management system may write this person's name."""
        whole = f"{self.first} {self.last}".strip()
        return {plain_name(whole), plain_name(f"{self.last} {self.first}")} - {""}


def bad_id(name: str) -> str:
    """Say why something cannot be a student's id, and so a folder; "" if it can."""
    if not name or name != name.strip() or name.startswith((".", "~", "-")):
        return "is empty, or begins or ends with a character that no id may begin or end with"
    if len(name.encode()) > 120:
        return "is too long"
    odd = [c for c in name if unicodedata.category(c)[0] in "CZ" or c in "/\\$`*?[]{}<>|;:\"'!&,"]
    return f"holds {odd[0]!r}" if odd else ""


def read_csv(path: Path) -> list[Person]:
    """Read a class list, Canvas's gradebook too; what is not clear is refused with its line."""
    table = tables.read(path, "id,name,email")
    words = table.words()
    canvas = {"student", "id", "sis_login_id"} <= set(words)
    meanings = [(CANVAS if canvas else MEANING).get(word) for word in words]
    if "id" not in meanings and not canvas:
        raise CourseError(f"{path}, line 1: there is no column called id (student_id, login)")
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
        raise CourseError(f"{path} has a header and no students below it")
    return list(people.values())


def _no_student(values: dict[str, str]) -> bool:
    """Return whether a line of Canvas's gradebook is about points, or its invented test student."""
    name = values.get("name", "")
    return not values.get("lms") or name in ("Points Possible", "Student, Test", "Test Student")


def save(database: Any, people: Iterable[Person]) -> int:
    """Put people into the gradebook, new or changed; return how many are on the list then."""
    from nbgrader import api
    from sqlalchemy import select

    from coursetools.grading.gradebook.own_tables import LISTED, insert_rows, update_rows

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
            LISTED.create(connection, checkfirst=True)
            there = set(connection.scalars(select(LISTED.c.student)))
            further = [{"student": who} for who in rows if who not in there]
            insert_rows(connection, LISTED, further)

    database.patiently(write)
    return len(database.students())


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
    """Return the class list as the gradebook has it, with the anonymous ids of `people`.

    Grading enters whoever has handed in as well, so those do not make a list: it is closed where a
    list was imported, here or by nbgrader, which gives people names or addresses.
    """
    from coursetools.grading.gradebook.backup import recall
    from coursetools.grading.gradebook.database import Database

    if not folders.has_gradebook and not folders.kept.is_file():
        return ClassList([], True)
    database = Database(folders, note)
    try:
        recall(folders, database, note)
        rows, chosen = database.students(), _read_listed(database)
    finally:
        database.close()
    numbers = {person.id: person.anonymous for person in people}
    known = [
        Person(
            one, row["first_name"], row["last_name"], row["email"], row["lms_user_id"],
            numbers.get(one, ""),
        )
        for one, row in rows.items()
    ]  # fmt: skip
    on = [p for p in known if p.id in chosen or p.first or p.last or p.email or p.lms]
    return ClassList(on or known, not on)


def _read_listed(database: Any) -> set[str]:
    from sqlalchemy import inspect, select

    from coursetools.grading.gradebook.own_tables import LISTED

    if not inspect(database.engine).has_table(LISTED.name):
        return set()
    with database.engine.connect() as connection:
        return set(connection.scalars(select(LISTED.c.student)))


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
