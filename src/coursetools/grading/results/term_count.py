"""What the assignments of a term have to say side by side, counted one assignment at a time.

Of each student a few numbers an assignment are kept, of each question its name and two numbers;
the verdicts and marks of an assignment are forgotten before the next is read.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from coursekit._base.progress import Progress
from coursetools.course import Course
from coursetools.grading.results.class_count import ClassCount, count_class
from coursetools.grading.results.export import read_table
from coursetools.grading.results.falling_behind import Step, behind, never
from coursetools.grading.results.scores import Student
from coursetools.grading.results.table import Row, Table, late_days
from coursetools.grading.results.term import (
    Sum,
    TermRules,
    assignments_of,
    left_open,
    share_of,
    state_of,
    sum_of,
    weight_of,
)
from coursetools.settings.assignment_settings import due_of
from coursetools.settings.late_days import LateDays

HARD = 0.5  # of a question's points, below which the class's mean makes it hard
BLURRED = 0.1  # a correlation with the rest of the score, below which a question tells nothing
CLEAR = 0.3


@dataclass(frozen=True)
class Question:
    """One question of a term: how much of it the class got, and what it tells about a student."""

    assignment: str
    title: str
    points: float
    mean: float
    discrimination: float | None

    @property
    def stands_out(self) -> bool:
        """Whether somebody should look at it."""
        tells = self.discrimination
        return self.mean < HARD or (tells is not None and tells < BLURRED)

    @property
    def in_words(self) -> str:
        """Say what the two numbers mean."""
        hard, tells = self.mean < HARD, self.discrimination
        difficulty = "hard" if hard else "not hard"
        if tells is None:
            return f"{difficulty}; too few students, or all alike, to say more"
        if tells < BLURRED:
            return f"{difficulty}, and no easier for strong students: look at the question itself"
        if tells < CLEAR:
            return f"{difficulty}, and only a little easier for strong students"
        return (
            f"{difficulty}, and strong students solve it more often: more help may be all it needs"
        )


@dataclass(frozen=True)
class Mistake:
    """A misconception that came back in a later assignment."""

    name: str
    places: tuple[tuple[str, str, int], ...]  # assignment, question, students
    students: int  # who had it at all
    again: int  # who had it in several assignments


@dataclass(frozen=True)
class Glance:
    """One assignment in a term."""

    name: str
    title: str
    students: int
    handed_in: int
    late: int
    late_days: int
    waiting: int
    shares: tuple[float, ...]  # quartiles with the ends: least, 25, 50, 75 percent, most
    mean: float | None


@dataclass
class TermCount:
    """A term, counted; `ways` has a step for each of `glances`."""

    glances: list[Glance]
    by_deadline: bool  # whether they stand in the order of their deadlines
    students: dict[str, Student]
    ways: dict[str, list[Step]]
    sums: dict[str, Sum]
    questions: list[Question]
    mistakes: list[Mistake]
    late_days: LateDays | None
    notes: list[str] = field(default_factory=list)

    @property
    def behind(self) -> dict[str, str]:
        """Who falls behind, and why."""
        means = [one.mean or 0.0 for one in self.glances]
        why = {who: behind(self.ways[who], means) for who in sorted(self.ways)}
        return {who: reason for who, reason in why.items() if reason}

    @property
    def never(self) -> list[str]:
        """Who has submitted nothing at all."""
        return [who for who in sorted(self.ways) if never(self.ways[who])]

    def spent(self, student: str) -> int:
        """Return how many late days a student has spent."""
        return sum(step.late_days for step in self.ways[student])


def count_term(
    course: Course, progress: Progress | None = None, now: datetime | None = None
) -> TermCount:
    """Read every assignment that counts, one after the other."""
    rules, now = TermRules.of(course), now or datetime.now(UTC)  # one for all assignments
    names, notes = assignments_of(course, rules)
    dues = {name: due_of(course.private(name)) for name in names}
    by_deadline = all(dues.values())
    if by_deadline:
        names.sort(key=lambda name: (dues[name], name))
    glances, questions, weights = [], [], []
    students: dict[str, Student] = {}
    tables: list[Table] = []
    rows: list[dict[str, Row]] = []
    held: dict[str, list[tuple[str, str, int]]] = {}
    holders: dict[str, dict[str, int]] = {}  # of a misconception: in how many assignments each
    for name in names:
        table, count = read_table(course, name, now), count_class(course, name, progress, now)
        tables.append(table)
        rows.append({row.student.id: row for row in table.rows})
        for row in table.rows:
            row.student.marks = None
            students.setdefault(row.student.id, row.student)
        weights.append(weight_of(table, rules))
        glances.append(_glance(count, [_step(row, table, row.student) for row in table.rows]))
        questions += _questions(count)
        for (title, what, _), n in count.misconceptions.items():
            held.setdefault(what, []).append((name, title, n))
        for what, who in count.holders.items():
            own = holders.setdefault(what, {})
            for one in who:
                own[one] = own.get(one, 0) + 1
        notes += left_open(table)
    ways = {
        who: [_step(of.get(who), table, student) for of, table in zip(rows, tables)]
        for who, student in sorted(students.items())
    }
    return TermCount(
        glances, by_deadline, students, ways,
        {who: _sum(way, names, weights, rules.drop) for who, way in ways.items()},
        sorted((one for one in questions if one.stands_out), key=lambda one: one.mean),
        _returning(held, holders), LateDays.of(course), notes,
    )  # fmt: skip


def _step(row: Row | None, table: Table, of: Student) -> Step:
    state = state_of(row, table, of)
    more: Literal["", "given", "used"] = ""
    if row is None or state == "excused":
        return Step(state, 0.0 if state == "missing" else None)
    student = row.student
    if student.extension and student.due is not None:
        more = "given"
        if (came := student.submitted) is not None:
            came = came.replace(tzinfo=UTC) if came.tzinfo is None else came
            more = "used" if came > student.due - student.extension else "given"
    if state not in ("submitted", "missing"):
        return Step(state, more_time=more)
    return Step(state, share_of(row, table), late_days(row) or 0, more)


def _sum(way: Sequence[Step], names: list[str], weights: list[float], drop: int) -> Sum:
    its = zip(names, way, weights)
    return sum_of([(name, one.state, one.share or 0.0, of) for name, one, of in its], drop)


def _glance(count: ClassCount, steps: list[Step]) -> Glance:
    shares = sorted(
        one.share for one in steps if one.state == "submitted" and one.share is not None
    )
    spread: tuple[float, ...] = ()
    if shares:
        middle = statistics.quantiles(shares, n=4, method="inclusive") if shares[1:] else shares * 3
        spread = (shares[0], *middle, shares[-1])
    return Glance(
        count.name, count.title, count.students, count.handed_in, count.late, count.late_days,
        count.waiting, spread, statistics.fmean(shares) if shares else None,
    )  # fmt: skip


def _questions(count: ClassCount) -> list[Question]:
    return [
        Question(count.name, one.part.title, one.part.points, one.mean, one.discrimination)
        for one in count.parts.values()
        if one.mean is not None and not one.waiting
    ]


def _returning(
    held: dict[str, list[tuple[str, str, int]]], holders: dict[str, dict[str, int]]
) -> list[Mistake]:
    """Return what was met in several assignments, what came back for most students first."""
    mistakes = [
        Mistake(what, tuple(places), len(holders[what]), sum(n > 1 for n in holders[what].values()))
        for what, places in held.items()
        if len({assignment for assignment, _, _ in places}) > 1
    ]
    return sorted(mistakes, key=lambda one: (-one.again, -one.students, one.name))
