"""Who hands in together: `autograder/groups.csv`, a table `id,group` that people read and edit.

`coursekit collect NAME --roster CSV` writes it from the column `group` of a class list. With its
first hand-in an assignment keeps the groups of that day, in its ledger; later changes are for later
assignments. Whoever is in no group hands in alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

from coursekit._base.errors import CourseError
from coursetools.course import Course, write_whole
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.ledger import Ledger
from coursetools.settings import csv_tables

FILE = "autograder/groups.csv"
COLUMNS = ("id", "group")


@dataclass(frozen=True)
class Groups:
    """The groups of one assignment; whom Canvas named by an anonymous id hands in under that id."""

    names: dict[str, str] = field(default_factory=dict)  # student -> the group's name
    anonymous: dict[str, str] = field(default_factory=dict)  # Canvas's id -> the student, or ""

    @classmethod
    def of(cls, folders: Folders) -> Self:
        """Return the groups with which an assignment was first collected."""
        ledger = Ledger.read(folders)
        return cls(ledger.groups, ledger.anonymous)

    def person(self, student: str) -> str:
        """Return who stands behind an anonymous id, as far as that is known."""
        return self.anonymous.get(student) or student

    def name(self, student: str) -> str:
        """Return what a student's group is called, "" for who is alone."""
        return self.names.get(self.person(student), "")

    def members(self, student: str) -> tuple[str, ...]:
        """Return the ids under which a student's group hands in, by name; of who is alone, one."""
        return self.all.get(self.name(student), (student,))

    @cached_property
    def all(self) -> dict[str, tuple[str, ...]]:
        """The members of each group."""
        hidden = {person: number for number, person in self.anonymous.items() if person}
        by_name: dict[str, list[str]] = {}
        for student, name in sorted(self.names.items()):
            by_name.setdefault(name, []).append(hidden.get(student, student))
        return {name: tuple(members) for name, members in by_name.items()}


def read_groups(course: Course) -> dict[str, str]:
    """Return the table as it is now, student -> group; what is not clear is refused."""
    path, groups = course / FILE, {}
    if not path.is_file():
        return {}
    for where, cells in csv_tables.read(path, ",".join(COLUMNS)).cells(COLUMNS):
        who = cells.get("id", "")
        if not who or who in groups:
            why = f"{who} appears twice; keep one line" if who else "the cell id is empty"
            raise CourseError(f"{where}: {why}")
        groups[who] = cells.get("group", "")
    return {who: name for who, name in groups.items() if name}


def save_groups(course: Course, listed: Iterable[tuple[str, str | None]]) -> None:
    """Take in the column of a class list; None is said of each where it has no such column."""
    new = {who: name for who, name in listed if name is not None}
    if not new:
        return
    rows = [(who, name) for who, name in {**read_groups(course), **new}.items() if name]
    write_whole(course / FILE, csv_tables.as_text([COLUMNS, *rows], lineterminator="\n"))


def kept(folders: Folders) -> str:
    """Say that an assignment keeps other groups than the class has now, "" where it does not."""
    ledger = Ledger.read(folders)
    if not ledger.students or ledger.groups == read_groups(folders.course):
        return ""
    return (
        f"{folders.name} keeps the groups with which it was first collected; to take those of the "
        f"class list for it: coursekit collect {folders.name} --regroup"
    )
