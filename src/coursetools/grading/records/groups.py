"""Who submits together: the teams of one assignment, in its ledger, `collected/NAME.json`.

A class list with a column `group` that is given to `coursekit collect NAME` forms the teams of that
assignment, and of no other. A student in no team submits alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

from coursekit._base.errors import CourseError
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.ledger import Ledger

CLASS_WIDE = "autograder/groups.csv"  # teams do not outlive an assignment, so this is not read


@dataclass(frozen=True)
class Groups:
    """The teams of one assignment; a student whom Canvas kept anonymous is in it under that id."""

    names: dict[str, str] = field(default_factory=dict)  # student -> the team's name
    anonymous: dict[str, str] = field(default_factory=dict)  # Canvas's id -> the student, or ""

    @classmethod
    def of(cls, folders: Folders) -> Self:
        """Return the teams of an assignment; a table of teams for the whole class is refused."""
        if (folders.course / CLASS_WIDE).exists():
            raise CourseError(
                f"{CLASS_WIDE} is not used: teams belong to one assignment. Delete that file, and "
                f"to form the teams of {folders.name}, collect a class list with a column group: "
                f"coursekit collect {folders.name} FILE"
            )
        ledger = Ledger.read(folders)
        return cls(ledger.groups, ledger.anonymous)

    def person(self, student: str) -> str:
        """Return who is behind an anonymous id, as far as that is known."""
        return self.anonymous.get(student) or student

    def key(self, student: str) -> str:
        """Return the id under which a student's work is stored: the anonymous one, if any."""
        return self._hidden.get(student, student)

    def name(self, student: str) -> str:
        """Return the name of a student's team, "" for a student who submits alone."""
        return self.names.get(self.person(student), "")

    def members(self, student: str) -> tuple[str, ...]:
        """Return the ids under which a student's team submits, in order; alone, just the one."""
        return self.all.get(self.name(student), (student,))

    @cached_property
    def _hidden(self) -> dict[str, str]:
        return {person: number for number, person in self.anonymous.items() if person}

    @cached_property
    def all(self) -> dict[str, tuple[str, ...]]:
        """The members of each team."""
        by_name: dict[str, list[str]] = {}
        for student, name in sorted(self.names.items()):
            by_name.setdefault(name, []).append(self.key(student))
        return {name: tuple(members) for name, members in by_name.items()}

    @cached_property
    def teams(self) -> dict[str, tuple[str, ...]]:
        """Those with several members."""
        return {name: members for name, members in self.all.items() if len(members) > 1}

    @property
    def sentence(self) -> str:
        """Say how many teams and students there are, "" for an individual assignment."""
        if not self.teams:
            return ""
        count, students = len(self.teams), sum(map(len, self.teams.values()))
        teams = f"{count} team{'s' * (count != 1)}"
        return f"in teams: {teams} of {students} students, one file for each team"

    def once(self, files: Mapping[str, object]) -> dict[str, list[str]]:
        """Return the students of each submission, by the first; `files` has what each submitted.

        Members of a team who have the same file have one submission.
        """
        together: dict[tuple[str, str, object], list[str]] = {}
        for who in sorted(files):
            name = self.name(who)
            together.setdefault((name, "" if name else who, files[who]), []).append(who)
        return {students[0]: students for students in together.values()}


def formed(before: dict[str, str], listed: Iterable[tuple[str, str | None]]) -> dict[str, str]:
    """Return the teams after a class list; None is given for each where it has no such column."""
    given = {who: name for who, name in listed if name is not None}
    return {who: name for who, name in {**before, **given}.items() if name}
