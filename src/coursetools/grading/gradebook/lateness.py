"""How late each student's hand-in was: deadline, extension and late days, put together.

An extension stands in the class's table, or was granted in nbgrader; the table goes first. Those of
the table are copied into the gradebook, where formgrader and nbgrader's commands find them. A table
of ours, `coursekit_extended`, remembers which they were, so that a line that is taken out of the
table is taken out of the gradebook, and what somebody granted in nbgrader is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

from coursetools.assignments.settings import due_of, settings_of
from coursetools.course import Course
from coursetools.grading.deadlines.extensions import Extensions
from coursetools.grading.deadlines.late_days import LateDays, Spent, days_spent
from coursetools.grading.deadlines.late_rule import DAY, LateRule, rule_of
from coursetools.grading.folders import Folders
from coursetools.grading.gradebook.database import load_nbgrader


@dataclass(frozen=True)
class Lateness:
    """What the deadline of one assignment is for each student, and what lateness is forgiven."""

    name: str
    due: datetime | None  # in UTC, as nbgrader keeps it
    rule: LateRule | None
    table: Extensions
    granted: dict[str, timedelta] = field(default_factory=dict)  # in nbgrader, by student
    late_days: LateDays | None = None
    spent_before: dict[str, int] = field(default_factory=dict)  # on earlier deadlines
    zone: tzinfo = UTC  # in which the deadline was written

    def excused(self, student: str) -> bool:
        """Return whether the assignment does not count for a student."""
        return self.table.excused(student, self.name)

    def extension(self, student: str) -> timedelta | None:
        """Return by how much a student's deadline is later, None without an extension."""
        listed = None if self.due is None else self.table.after(student, self.name, self.due)
        return self.granted.get(student) if listed is None else listed

    def due_of(self, student: str) -> datetime | None:
        """Return a student's own deadline."""
        return None if self.due is None else self.due + (self.extension(student) or timedelta(0))

    def end_of(self, student: str) -> datetime | None:
        """Return after when a student's hand-in does not count, None where it always does."""
        due = self.due_of(student)
        if due is None or self.rule is None:
            return None
        try:
            return due + timedelta(seconds=self.rule.end)
        except OverflowError:
            return None

    def seconds(self, student: str, when: datetime | None) -> float:
        """Return how late a hand-in was, 0 where nobody says when it came."""
        due = self.due_of(student)
        if due is None or when is None:
            return 0.0
        return max(0.0, (when - due).total_seconds())

    def spent(self, student: str, seconds_late: float) -> Spent | None:
        """Return a student's late days at this assignment, None where they do not count."""
        if self.late_days is None or self.due is None or self.rule is None:
            return None
        left = self.late_days.budget - self.spent_before.get(student, 0)
        here = 0
        if not self.excused(student):
            here = days_spent(self.rule, seconds_late, min(left, self.late_days.most))
        return Spent(here, left - here, self.late_days.budget)

    def counted(self, student: str, seconds_late: float) -> float:
        """Return how late a hand-in counts as: less its late days."""
        spent = self.spent(student, seconds_late)
        return max(0.0, seconds_late - (spent.here * DAY if spent else 0))

    def facts(self, student: str) -> str:
        """Return what a penalty depends on beside the deadline and the rule, "" where nothing."""
        parts = []
        if (extension := self.extension(student)) is not None:
            parts.append(f"extension {extension.total_seconds():g}")
        if self.excused(student):
            parts.append("excused")
        if self.late_days is not None:
            parts.append(f"late days {self.late_days} {self.spent_before.get(student, 0)}")
        return " ".join(parts)


def read_lateness(folders: Folders) -> Lateness:
    """Read it, from the gradebook too if there is one."""
    from sqlalchemy import create_engine

    url = folders.database
    if url.startswith("sqlite:///") and not Path(url.removeprefix("sqlite:///")).is_file():
        return lateness_of(folders.course, folders.name, None)
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            return lateness_of(folders.course, folders.name, connection)
    finally:
        engine.dispose()


def lateness_of(course: Course, name: str, connection: Any | None) -> Lateness:
    """Put together what the files and the gradebook say; the deadline of the file goes first."""
    late_days = LateDays.of(course)
    rows = _rows(connection, name if late_days is None else None)
    due, rule = _deadline(course, name, rows)
    table = Extensions.read(course)
    zone = getattr(settings_of(course.private(name)).get("due"), "tzinfo", None) or UTC
    made = Lateness(name, due, rule, table, _granted(rows, name), late_days, zone=zone)
    if late_days is None or due is None or rule is None:
        return made
    earlier = []
    for other in {row.assignment for row in rows} - {name}:
        before, its_rule = _deadline(course, other, rows)
        if before is not None and its_rule is not None and (before, other) < (due, name):
            earlier.append((before, other, its_rule))
    for before, other, its_rule in sorted(earlier, key=lambda one: one[:2]):
        then = Lateness(
            other, before, its_rule, table, _granted(rows, other), late_days, made.spent_before
        )
        for row in rows:
            if row.assignment == other and row.student is not None:
                spent = then.spent(row.student, then.seconds(row.student, row.timestamp))
                if spent and spent.here:
                    so_far = made.spent_before.get(row.student, 0)
                    made.spent_before[row.student] = so_far + spent.here
    return made


def write_extensions(
    connection: Any, assignment: str, lateness: Lateness, students: Iterable[str] | None = None
) -> None:
    """Copy extensions into the rows of an assignment, by its id; of all students, or of some."""
    from nbgrader import api
    from sqlalchemy import delete, insert, select, update

    ours, submitted = extended(), api.SubmittedAssignment.__table__
    ours.create(connection, checkfirst=True)
    query = select(submitted.c.id, submitted.c.student_id, submitted.c.extension)
    query = query.where(submitted.c.assignment_id == assignment)
    if students is not None:
        query = query.where(submitted.c.student_id.in_(list(students)))
    of_name = ours.c.assignment == lateness.name
    known = {
        row.student: timedelta(seconds=row.seconds)
        for row in connection.execute(select(ours.c.student, ours.c.seconds).where(of_name))
    }
    for row in connection.execute(query).all():
        who, before = row.student_id, known.get(row.student_id)
        listed = None
        if lateness.due is not None:
            listed = lateness.table.after(who, lateness.name, lateness.due)
        wanted = row.extension if listed is None and row.extension != before else listed
        if wanted != row.extension:
            change = update(submitted).where(submitted.c.id == row.id)
            connection.execute(change.values(extension=wanted))
        if listed != before:
            connection.execute(delete(ours).where(of_name, ours.c.student == who))
            if listed is not None:
                facts = {"assignment": lateness.name, "student": who}
                connection.execute(insert(ours), [{**facts, "seconds": listed.total_seconds()}])


def extended() -> Any:
    """Return our table of which extensions of the gradebook are copies of the class's table."""
    from sqlalchemy import Column, Float, MetaData, String, Table

    keys = [Column(name, String(128), primary_key=True) for name in ("assignment", "student")]
    return Table("coursekit_extended", MetaData(), *keys, Column("seconds", Float))


def _deadline(
    course: Course, name: str, rows: list[Any]
) -> tuple[datetime | None, LateRule | None]:
    due = due_of(course.private(name))
    if due is None:
        due = next((row.duedate for row in rows if row.assignment == name), None)
    return due, rule_of(course.private(name))


def granted(connection: Any, name: str) -> dict[str, timedelta]:
    """Return the extensions of an assignment that were granted in nbgrader."""
    return _granted(_rows(connection, name), name)


def _rows(connection: Any | None, only: str | None) -> list[Any]:
    """Return every assignment, or `only` one, with its submissions and which extensions are ours.

    An assignment without submissions is one row without a student.
    """
    if connection is None:
        return []
    load_nbgrader()
    from nbgrader import api
    from sqlalchemy import and_, inspect, literal, select

    assignment, submitted = api.Assignment.__table__, api.SubmittedAssignment.__table__
    if not inspect(connection).has_table(assignment.name):
        return []
    columns = [
        assignment.c.name.label("assignment"), assignment.c.duedate,
        submitted.c.student_id.label("student"), submitted.c.timestamp, submitted.c.extension,
    ]  # fmt: skip
    tables = assignment.outerjoin(submitted, submitted.c.assignment_id == assignment.c.id)
    ours = extended()
    if inspect(connection).has_table(ours.name):
        same = and_(
            ours.c.assignment == assignment.c.name, ours.c.student == submitted.c.student_id
        )
        tables = tables.outerjoin(ours, same)
        columns.append(ours.c.seconds)
    else:
        columns.append(literal(None).label("seconds"))
    query = select(*columns).select_from(tables)
    if only is not None:
        query = query.where(assignment.c.name == only)
    return list(connection.execute(query))


def _granted(rows: list[Any], name: str) -> dict[str, timedelta]:
    return {
        row.student: row.extension
        for row in rows
        if row.assignment == name
        and row.extension is not None
        and (row.seconds is None or row.extension != timedelta(seconds=row.seconds))
    }
