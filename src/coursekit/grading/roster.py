"""The class list: read from a CSV file as universities export them, kept in the gradebook."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit.errors import CourseError
from coursekit.grading.folders import Folders

COLUMNS = {  # what a header may be called -> what it means
    "id": "id student_id studentid student sis_user_id sis_login_id login login_id username user",
    "name": "name student_name full_name fullname display_name",
    "first": "first_name firstname first given_name given vorname",
    "last": "last_name lastname last surname family_name nachname",
    "email": "email email_address e_mail mail",
    "lms": "lms_user_id lms_id canvas_id moodle_id",
}
MEANING = {word: meaning for meaning, words in COLUMNS.items() for word in words.split()}


@dataclass(frozen=True)
class Person:
    """One row of the class list."""

    id: str
    first: str = ""
    last: str = ""
    email: str = ""
    lms: str = ""

    @property
    def names(self) -> set[str]:
        """The forms in which a learning management system may write this person's name."""
        whole = f"{self.first} {self.last}".strip()
        return {plain(whole), plain(f"{self.last} {self.first}")} - {""}


def plain(name: str) -> str:
    """Return the letters and digits of a name, without case and accents: `"o'neill, Zoë"`."""
    split = unicodedata.normalize("NFKD", name.casefold())
    return "".join(character for character in split if character.isalnum())


def bad_id(name: str) -> str:
    """Say why something cannot be a student's id, and so a folder; "" if it can."""
    if not name or name != name.strip() or name.startswith((".", "~", "-")):
        return "is empty, or begins or ends with what no id begins or ends with"
    if len(name.encode()) > 120:
        return "is too long"
    odd = [c for c in name if unicodedata.category(c)[0] in "CZ" or c in "/\\$`*?[]{}<>|;:\"'!&,"]
    return f"holds {odd[0]!r}" if odd else ""


def read_csv(path: Path) -> list[Person]:
    """Read a class list; anything that is not clear is refused with its line."""
    try:
        text = _decode(Path(path).read_bytes())
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from error
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise CourseError(f"{path} is empty; its first line should be: id,name,email")
    delimiter = max(",;\t", key=lines[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = next(row for row in reader if any(row))
        meanings = [MEANING.get(re.sub(r"\W+", "_", word.strip().lower())) for word in header]
        if "id" not in meanings:
            raise CourseError(f"{path}, line 1: there is no column called id (student_id, login)")
        people: dict[str, Person] = {}
        for row in reader:
            if not any(value.strip() for value in row):
                continue
            where = f"{path}, line {reader.line_num}"
            person = _person(dict(zip(meanings, row)), where)
            if person.id in people:
                raise CourseError(f"{where}: {person.id} is there twice; remove one of the lines")
            people[person.id] = person
    except csv.Error as error:
        raise CourseError(f"{path}, line {reader.line_num}: {error}") from error
    if not people:
        raise CourseError(f"{path} has a header and nobody below it")
    return list(people.values())


def save(database: Any, people: Iterable[Person]) -> int:
    """Put people into the gradebook, new or changed; return how many are on the list then."""
    from nbgrader import api
    from sqlalchemy import bindparam, insert, update

    table = api.Student.__table__
    rows = [
        {
            "one": person.id,
            "first_name": person.first or None,
            "last_name": person.last or None,
            "email": person.email or None,
            "lms_user_id": person.lms or None,
        }
        for person in people
    ]
    names = ("first_name", "last_name", "email", "lms_user_id")
    values = {name: bindparam(f"new_{name}") for name in names}

    def write() -> None:
        known = set(database.students())
        old = [{"one": r["one"], **{f"new_{n}": r[n] for n in names}} for r in rows]
        new = [{"id": r["one"], **{n: r[n] for n in names}} for r in rows if r["one"] not in known]
        with database.writing.begin() as connection:
            if new:
                connection.execute(insert(table), new)
            change = update(table).where(table.c.id == bindparam("one")).values(values)
            connection.execute(change, old)

    if rows:
        database.patiently(write)
    return len(database.students())


def people(folders: Folders) -> list[Person]:
    """Return the class list as the gradebook has it; empty where there is no gradebook yet."""
    from coursekit.grading.database import Database

    file = folders.database.removeprefix("sqlite:///")
    if folders.database.startswith("sqlite:///") and not Path(file).is_file():
        return []
    database = Database(folders)
    try:
        rows = database.students()
    finally:
        database.close()
    return [
        Person(one, row["first_name"], row["last_name"], row["email"], row["lms_user_id"])
        for one, row in rows.items()
    ]


def _decode(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _person(row: dict[str | None, str], where: str) -> Person:
    values = {meaning: value.strip() for meaning, value in row.items() if meaning}
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
    return Person(values["id"], first, last, values.get("email", ""), values.get("lms", ""))
