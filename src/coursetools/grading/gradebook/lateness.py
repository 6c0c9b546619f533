"""How late each student's hand-in was: deadline, extension and late days, put together.

An extension stands in the class's table, or was granted in nbgrader; the table goes first. Those of
the table are copied into the gradebook, where formgrader and nbgrader's commands find them. A table
of ours, `coursekit_extended`, remembers which they were, so that a line that is taken out of the
table is taken out of the gradebook, and what somebody granted in nbgrader is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from sqlalchemy import and_, create_engine, inspect, literal, select

from coursetools.course import Course
from coursetools.grading.gradebook.database import load_nbgrader
from coursetools.grading.gradebook.own_tables import EXTENDED, delete_rows, insert_rows, update_rows
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.groups import Groups
from coursetools.settings.assignment_settings import due_of
from coursetools.settings.class_settings import zone_of
from coursetools.settings.extensions import Extensions
from coursetools.settings.late_days import LateDays, Spent, days_spent
from coursetools.settings.late_rule import DAY, LateRule, rule_of

Book = dict[str, list[Any]]  # the gradebook's rows by assignment


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
    zone: tzinfo = UTC  # the class's, else that in which the deadline was written
    groups: Groups = field(default_factory=Groups)

    def excused(self, student: str) -> bool:
        """Return whether the assignment does not count for a student."""
        return any(self.table.excused(one, self.name) for one in self._ids(student))

    def extension(self, student: str) -> timedelta | None:
        """Return by how much a student's deadline is later, None without an extension.

        Of a group it is the longest that one of its members has.
        """
        listed, members = self.listed(student), self.groups.members(student)
        granted = [self.granted[one] for one in members if one in self.granted]
        return max(granted, default=None) if listed is None else listed

    def listed(self, student: str) -> timedelta | None:
        """Return what the table alone says of it."""
        if self.due is None:
            return None
        ids = {name for one in self.groups.members(student) for name in self._ids(one)}
        times = [self.table.after(one, self.name, self.due) for one in ids]
        return max((one for one in times if one is not None), default=None)

    def _ids(self, student: str) -> set[str]:
        """Return an anonymous id, and the student's own where that is known."""
        return {student, self.groups.person(student)}

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
        left = self.late_days.budget - self.spent_before.get(self.groups.person(student), 0)
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
            parts.append(f"extension {extension}")
        if self.excused(student):
            parts.append("excused")
        if self.late_days is not None:
            spent = self.spent_before.get(self.groups.person(student), 0)
            parts.append(f"late days {self.late_days} {spent}")
        return " ".join(parts)


def read_lateness(folders: Folders) -> Lateness:
    """Read it, from the gradebook too if there is one."""
    if not folders.has_gradebook:
        return lateness_of(folders.course, folders.name, None)
    engine = create_engine(folders.database)
    try:
        with engine.connect() as connection:
            return lateness_of(folders.course, folders.name, connection)
    finally:
        engine.dispose()


def lateness_of(course: Course, name: str, connection: Any | None) -> Lateness:
    """Put together what the files and the gradebook say; the deadline of the file goes first."""
    late_days = LateDays.of(course)
    book = _read(connection, name if late_days is None else None)
    made = _lateness(course, name, book, Extensions.read(course), late_days)
    if None not in (late_days, made.due, made.rule):  # else none can be spent here
        _spend_before(course, made, book)
    return made


def _lateness(
    course: Course, name: str, book: Book, table: Extensions, late_days: LateDays | None
) -> Lateness:
    due, rows = due_of(course.private(name)), book.get(name, [])
    if due is None:
        due = next((row.duedate for row in rows), None)
    zone = zone_of(course, name)
    rule = rule_of(course.private(name))
    groups = Groups.of(Folders(course, name))
    return Lateness(name, due, rule, table, _granted(rows), late_days, zone=zone, groups=groups)


def _spend_before(course: Course, made: Lateness, book: Book) -> None:
    """Note what each student has spent where the deadline was earlier, in that order."""
    names = book.keys() - {made.name}
    others = [_lateness(course, name, book, made.table, made.late_days) for name in names]
    dated = [(one.due, one.name, one) for one in others if one.due]
    for due, name, one in sorted(dated, key=lambda entry: entry[:2]):
        if made.due is None or (due, name) > (made.due, made.name):
            break
        then = replace(one, spent_before=made.spent_before)
        for row in book[name]:
            if row.timestamp is None or row.timestamp <= due:  # most are in time
                continue
            spent = then.spent(row.student, then.seconds(row.student, row.timestamp))
            if spent and spent.here:
                who = one.groups.person(row.student)
                made.spent_before[who] = made.spent_before.get(who, 0) + spent.here


def write_extensions(
    connection: Any, assignment: str, lateness: Lateness, students: Iterable[str] | None = None
) -> None:
    """Copy extensions into the rows of an assignment, by its id; of all students, or of some."""
    from nbgrader import api

    submitted = api.SubmittedAssignment.__table__
    EXTENDED.create(connection, checkfirst=True)
    query = select(submitted.c.id, submitted.c.student_id, submitted.c.extension)
    query = query.where(submitted.c.assignment_id == assignment)
    if students is not None:
        query = query.where(submitted.c.student_id.in_(list(students)))
    ours = select(EXTENDED).where(EXTENDED.c.assignment == lateness.name)
    known = {row.student: timedelta(seconds=row.seconds) for row in connection.execute(ours)}
    moved, old, new = [], [], []
    for row in connection.execute(query).all():
        who, before = row.student_id, known.get(row.student_id)
        listed = lateness.listed(who)
        wanted = row.extension if listed is None and row.extension != before else listed
        if wanted != row.extension:
            moved.append({"row": row.id, "extension": wanted})
        if listed != before:
            old.append({"assignment": lateness.name, "student": who})
            if listed is not None:
                new.append({**old[-1], "seconds": listed.total_seconds()})
    update_rows(connection, submitted, moved)
    delete_rows(connection, EXTENDED, old)
    insert_rows(connection, EXTENDED, new)


def granted(connection: Any, name: str) -> dict[str, timedelta]:
    """Return the extensions of an assignment that were granted in nbgrader."""
    return _granted(_read(connection, name).get(name, []))


def _read(connection: Any | None, only: str | None) -> Book:
    """Return every assignment, or `only` one: its submissions, and which extensions are ours.

    An assignment without submissions is one row without a student.
    """
    if connection is None:
        return {}
    load_nbgrader()
    from nbgrader import api

    assignment, submitted = api.Assignment.__table__, api.SubmittedAssignment.__table__
    if not inspect(connection).has_table(assignment.name):
        return {}
    columns = [
        assignment.c.name.label("assignment"), assignment.c.duedate,
        submitted.c.student_id.label("student"), submitted.c.timestamp, submitted.c.extension,
    ]  # fmt: skip
    tables = assignment.outerjoin(submitted, submitted.c.assignment_id == assignment.c.id)
    if inspect(connection).has_table(EXTENDED.name):
        same = and_(
            EXTENDED.c.assignment == assignment.c.name,
            EXTENDED.c.student == submitted.c.student_id,
        )
        tables = tables.outerjoin(EXTENDED, same)
        columns.append(EXTENDED.c.seconds)
    else:
        columns.append(literal(None).label("seconds"))
    query = select(*columns).select_from(tables)
    if only is not None:
        query = query.where(assignment.c.name == only)
    book: Book = {}
    for row in connection.execute(query):
        book.setdefault(row.assignment, []).append(row)
    return book


def _granted(rows: list[Any]) -> dict[str, timedelta]:
    return {
        row.student: row.extension
        for row in rows
        if row.extension is not None
        and (row.seconds is None or row.extension != timedelta(seconds=row.seconds))
    }
