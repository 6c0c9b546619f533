"""Points that an instructor has set in the place of the grader's: `autograder/overrides.csv`.

A row says of one question (by the name that the export's columns have) of one student, or of
everybody, what it is worth: `full`, so many points, `drop`, which takes it out of the maximum, or
`keep`, which changes nothing and answers who has asked. A student's own row goes before
everybody's, and any row before points by hand. The file can be edited; `coursekit grade` brings the
gradebook in step without running anybody again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import astuple, dataclass, field, fields
from functools import cached_property
from typing import Self

from coursekit._base.errors import CourseError
from coursetools.course import Course, write_whole
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.ledger import Ledger
from coursetools.settings import csv_tables

FILE = "autograder/overrides.csv"
EVERYBODY = "*"  # no student can be called that
WORDS = ("full", "drop", "keep")


@dataclass(frozen=True)
class Override:
    """One row."""

    assignment: str
    question: str  # the name of its graded cell; NOTEBOOK.CELL where there are several notebooks
    student: str
    points: str  # full, drop, keep, or a number
    why: str
    by: str = ""
    time: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What there can be one row of."""
        return self.assignment, self.question, self.student

    @property
    def drops(self) -> bool:
        """Whether the question counts no more."""
        return self.points == "drop"

    @property
    def of_all(self) -> bool:
        """Whether it is of everybody."""
        return self.student == EVERYBODY

    def given(self, most: float) -> float | None:
        """Return the points that a question of `most` points is worth; None: as it was graded."""
        if self.points in WORDS:
            return {"full": most, "drop": 0.0}.get(self.points)
        return float(self.points)

    @property
    def sentence(self) -> str:
        """What it says to whoever it is of."""
        who = "for everyone" if self.of_all else "for you"
        return {
            "full": f"All points were given {who}.",
            "drop": f"This question does not count {who}.",
            "keep": "The instructor has looked at this question again, and the points stay.",
        }.get(self.points, f"The points were set {who}.") + f" Why: {self.why}"


COLUMNS = [one.name for one in fields(Override)]
Of = dict[str, Override]  # by question


@dataclass(frozen=True)
class Overrides:
    """The rows of one assignment; a person's hold for what came under an anonymous id, too."""

    rows: tuple[Override, ...] = ()
    anonymous: dict[str, str] = field(default_factory=dict)  # Canvas's id -> the student, or ""
    _students: dict[str, Of] = field(default_factory=dict, compare=False)

    @classmethod
    def read(cls, course: Course, assignment: str) -> Self:
        """Read the file; no rows where there is none."""
        rows = tuple(row for row in read_all(course) if row.assignment == assignment)
        made = cls(rows, Ledger.read(Folders(course, assignment)).anonymous)
        for row in rows:
            made._students.setdefault(row.student, {})[row.question] = row
        return made

    def of(self, student: str, handed_in: bool = True) -> Of:
        """Return what holds for a student, by question.

        Of those for everybody only `drop` holds for who has handed nothing in.
        """
        everybody = self._students.get(EVERYBODY, {})
        if not handed_in:
            everybody = {name: row for name, row in everybody.items() if row.drops}
        hidden = student in self._numbers  # what they submitted is under the other id
        own = {} if hidden else self.own(student)
        return {**everybody, **own} if everybody and own else own or everybody

    def own(self, student: str) -> Of:
        """Return a person's own rows, by question, whichever of their ids these have."""
        person = self.anonymous.get(student) or student
        number = self._numbers.get(person, person)
        return {**self._students.get(person, {}), **self._students.get(number, {})}

    @cached_property
    def _numbers(self) -> dict[str, str]:
        """The anonymous id of each person who has one."""
        return {person: number for number, person in self.anonymous.items() if person}

    def dropped(self) -> set[str]:
        """Return the questions that count for nobody."""
        return {row.question for row in self.rows if row.drops and row.of_all}

    def astray(self, students: Iterable[str], questions: Iterable[str]) -> list[str]:
        """Say of each row about nobody, or about no question, that it is so."""
        people, names = {EVERYBODY, *students, *self._numbers}, set(questions)
        return [
            f"overrides.csv: {row.question} is not a question of {row.assignment}"
            if row.question not in names
            else f"overrides.csv: {row.student} is not in the class, so this override has no effect"
            for row in self.rows
            if row.question not in names or row.student not in people
        ]

    def stamp(self, student: str) -> str:
        """Return what tells whether a student's row of the gradebook is in step."""
        held = sorted(self.of(student).values(), key=lambda row: row.question)
        return " ".join(f"{row.question}={row.points} {row.why}" for row in held)


def named(held: Of, notebook: str, cell: str) -> Override | None:
    """Return the row of a graded cell."""
    return (held.get(cell) or held.get(f"{notebook}.{cell}")) if held else None


def read_all(course: Course) -> list[Override]:
    """Read the rows of all assignments; what is not clear is refused with its line."""
    path = course / FILE
    if not path.exists():
        return []
    rows: dict[tuple[str, str, str], Override] = {}
    for where, cells in csv_tables.read(path, ",".join(COLUMNS)).cells(COLUMNS[:5]):
        row = Override(**{name: cells.get(name, "") for name in COLUMNS})
        if not (row.assignment and row.question and row.student):
            raise CourseError(f"{where}: assignment, question or student is missing")
        check_points(row.points, where)
        if row.key in rows:
            raise CourseError(
                f"{where}: there is already a row for {row.question} of {row.student}; keep one"
            )
        rows[row.key] = row
    return list(rows.values())


def check_points(text: str, where: str, most: float = math.inf) -> None:
    """Refuse what is neither a word that is known nor a number of points."""
    try:
        good = text in WORDS or 0 <= float(text) <= most
    except ValueError:
        good = False
    if not good:
        bound = "from 0" if most == math.inf else f"from 0 to {most:g}"
        raise CourseError(f"{where}: {text!r} should be full, drop, keep or a number {bound}")


def write_all(course: Course, rows: list[Override]) -> None:
    """Write the file."""
    write_whole(course / FILE, csv_tables.as_text([COLUMNS, *map(astuple, rows)]))
