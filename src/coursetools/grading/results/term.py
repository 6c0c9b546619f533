"""`coursekit export --all`: one table over a term, from all assignments that were graded.

A student's total is the weighted mean of their shares of the points: by the points themselves, or
by `[term.weights]` in `autograder/class.toml`. It is over what is closed for that student: what is
still open, or excused, has no share and cannot be dropped; what is missing has 0. The `drop` lowest
shares are left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Self

from coursekit._base.errors import CourseError
from coursetools.course import Course, write_changed
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.ledger import Ledger, unlinked
from coursetools.grading.results.export import read_table, still_open
from coursetools.grading.results.falling_behind import State
from coursetools.grading.results.pages import counted
from coursetools.grading.results.scores import Student
from coursetools.grading.results.table import (
    OPEN,
    Cell,
    Row,
    Table,
    as_text,
    for_canvas,
    late_days,
)
from coursetools.settings.class_settings import FILE, checked, positive, table_of, whole
from coursetools.settings.late_days import LateDays
from coursetools.text import some

FORMATS = ("csv", "canvas")


@dataclass(frozen=True)
class TermRules:
    """How a term adds up: `[term]` in the class's settings."""

    drop: int = 0  # of each student's assignments, the lowest
    weights: dict[str, float] = field(default_factory=dict)  # {} where the points are the weights

    @classmethod
    def of(cls, course: Course) -> Self:
        """Return what the class's settings say."""
        table = table_of(course, "term", ("drop", "weights")) or {}
        path, weights = course / FILE, table.get("weights", {})
        checked(path, "term.weights", weights, tuple(course.assignments))
        return cls(
            whole(path, "[term] drop", table.get("drop", 0)),
            {n: positive(path, f"[term.weights] {n}", value) for n, value in weights.items()},
        )


@dataclass(frozen=True)
class Sum:
    """One student's term."""

    total: float | None  # percent; None where a grade is not known yet, or nothing counts
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True)
class Term:
    """The scores of all assignments, and what they add up to."""

    tables: tuple[Table, ...]
    students: tuple[Student, ...]
    rows: dict[tuple[str, str], Row]  # by assignment and student
    sums: dict[str, Sum]
    late_days: LateDays | None
    notes: tuple[str, ...]


def total_of(shares: Sequence[tuple[str, float, float]], drop: int) -> Sum:
    """Add up (assignment, share of its points, weight), less the lowest; one at least stays."""
    lowest = sorted(shares, key=lambda one: (one[1], -one[2], one[0]))
    left_out = lowest[: min(drop, len(shares) - 1)] if shares else []
    kept = [one for one in shares if one not in left_out]
    weight = sum(one[2] for one in kept)
    if not weight:
        return Sum(None)
    total = 100 * sum(share * of for _, share, of in kept) / weight
    return Sum(round(total, 2), tuple(one[0] for one in left_out))


def sum_of(parts: Sequence[tuple[str, State, float, float]], drop: int) -> Sum:
    """Add up (assignment, state, share, weight): only what is closed counts, or can be dropped."""
    if any(state == "not graded" for _, state, _, _ in parts):
        return Sum(None)
    closed = ("submitted", "missing")
    return total_of([(n, share, of) for n, state, share, of in parts if state in closed], drop)


def state_of(row: Row | None, table: Table, student: Student) -> State:
    """Return how an assignment enters a student's term; `row` is theirs, None without one."""
    if row is None and student.left:
        return "excused"
    standing = table.absent(student.id) if row is None else row.student.standing
    if standing.state in ("open", "excused", "missing"):
        return standing.state
    return "submitted" if row is not None and row.score is not None else "not graded"


def weight_of(table: Table, rules: TermRules) -> float:
    """Return the weight of an assignment: what class.toml says, else its points."""
    return rules.weights.get(table.name, table.points)


def assignments_of(course: Course, rules: TermRules) -> tuple[list[str], list[str]]:
    """Return the assignments that add up to a term, and what is to be said of the others."""
    notes = []
    graded = [
        name for name in course.assignments if any(Folders(course, name).verdicts.glob("*/*"))
    ]
    nameless = {name: Ledger.read(Folders(course, name)).nameless() for name in graded}
    notes += [
        f"{unlinked(name, len(ids))}, and the assignment is left out until they are"
        for name, ids in nameless.items()
        if ids
    ]
    named = [name for name in graded if not nameless[name]]
    names = [name for name in named if not rules.weights or name in rules.weights]
    if not names and notes:
        raise CourseError(notes[0])
    if not names:
        raise CourseError(
            "no graded assignments to add up yet; grade one first: coursekit grade NAME"
        )
    if waiting := [name for name in rules.weights if name not in graded]:
        notes.append(f"not graded yet, so left out: {some(waiting)}")
    if light := [name for name in named if name not in names]:
        notes.append(f"graded, but without a weight in class.toml, so left out: {some(light)}")
    return names, notes


def read_term(course: Course, now: datetime | None = None) -> Term:
    """Read the scores of every assignment that counts, and add up what is closed."""
    rules = TermRules.of(course)
    names, notes = assignments_of(course, rules)
    tables = tuple(read_table(course, name, now) for name in names)
    rows = {(table.name, row.student.id): row for table in tables for row in table.rows}
    students = {row.student.id: row.student for table in tables for row in table.rows}
    sums = {}
    for who, student in students.items():
        its = [(table, rows.get((table.name, who))) for table in tables]
        sums[who] = sum_of(
            [
                (t.name, state_of(row, t, student), share_of(row, t), weight_of(t, rules))
                for t, row in its
            ],
            rules.drop,
        )
    notes += [sentence for table in tables for sentence in left_open(table)]
    return Term(
        tables, tuple(students[who] for who in sorted(students)), rows, sums, LateDays.of(course),
        tuple(notes),
    )  # fmt: skip


def as_csv(term: Term) -> Iterator[list[Cell]]:
    """Yield a row a student: points of each assignment, what is dropped, late days, the total."""
    names = [f"{table.name} ({table.points:g})" for table in term.tables]
    yield [
        *("student_id", "last_name", "first_name", "email", *names),
        *("dropped", "late_days_spent", "late_days_left", "total_percent"),
    ]
    for student in term.students:
        rows = [term.rows.get((table.name, student.id)) for table in term.tables]
        spent = sum(late_days(row) or 0 for row in rows if row)
        cells = [_points(row, table, student) for row, table in zip(rows, term.tables)]
        left = (spent, term.late_days.budget - spent) if term.late_days else (None, None)
        own = term.sums[student.id]
        yield [
            *(student.id, student.last, student.first, student.email, *cells),
            *("; ".join(own.dropped), *left, own.total),
        ]


def as_canvas(term: Term) -> Iterator[list[Cell]]:
    """Yield a gradebook with a column for each assignment; Canvas makes the total itself."""
    titles = [table.title for table in term.tables]
    yield ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles]
    yield ["    Points Possible", "", "", "", "", *(table.points for table in term.tables)]
    for student in term.students:
        name = ", ".join(part for part in (student.last, student.first) if part) or student.id
        number = student.lms if student.lms.isascii() and student.lms.isdigit() else ""
        rows = [term.rows.get((table.name, student.id)) for table in term.tables]
        cells = [_points(row, table, student) for row, table in zip(rows, term.tables)]
        yield [
            *(name, number, student.id, student.email or student.id, ""),
            *(None if cell == OPEN else cell for cell in cells),
        ]


def notes_for_canvas(term: Term) -> list[str]:
    """Say what Canvas does with the table."""
    notes = [
        "Canvas finds an assignment by the number in its title, which is not in this table, so it "
        "makes new ones; to fill in existing ones, export each separately: coursekit export NAME "
        "FILE, with the gradebook that Canvas exports",
        "Canvas sets the points of each assignment to those in the line Points Possible",
    ]
    cells = (
        _points(term.rows.get((table.name, one.id)), table, one)
        for table in term.tables
        for one in term.students
    )
    if empty := sum(cell in (None, OPEN) for cell in cells):
        notes.append(
            f"{counted(empty, 'cell')} without a score {'is' if empty == 1 else 'are'} empty: "
            "an empty cell deletes the score in Canvas"
        )
    return notes


def export_term(course: Course, form: str = "csv", output: Path | None = None) -> tuple[Path, Term]:
    """Write the table; return where it is and what is in it."""
    if form not in FORMATS:
        raise CourseError(f"a term can be exported as {' or '.join(FORMATS)}, not as {form}")
    term = read_term(course)
    ending = "" if form == "csv" else f"-{form}"
    path = output or course / "autograder" / "export" / f"term{ending}.csv"
    if form == "csv":
        write_changed(path, "\ufeff" + as_text(as_csv(term)))  # Excel looks for the mark
    else:
        write_changed(path, as_text(as_canvas(term)))
        term = replace(term, notes=(*term.notes, *notes_for_canvas(term)))
    return path, term


def print_term(
    course: Course, form: str = "csv", output: Path | None = None, *, quiet: bool = False
) -> None:
    """Write the table, and print where it is and what its reader should know."""
    path, term = export_term(course, form, output)
    print(path)
    if not quiet:
        there = counted(len(term.tables), "assignment")
        for sentence in (f"{counted(len(term.students), 'student')}, {there}", *term.notes):
            print(sentence, file=sys.stderr)


def share_of(row: Row | None, table: Table) -> float:
    """Return the share of an assignment's points, 0 where there is nothing."""
    if row is None or row.score is None or not table.points:
        return 0.0
    return row.score.total / table.points


def _points(row: Row | None, table: Table, student: Student) -> Cell:
    state = state_of(row, table, student)
    if row is not None:
        return OPEN if state == "open" else for_canvas(row)
    without: dict[str, Cell] = {"open": OPEN, "missing": 0.0}
    return without.get(state)


def left_open(table: Table) -> list[str]:
    """Say where a total is missing, or not yet what it will be."""
    notes = [f"{table.name}: {sentence}" for sentence in still_open(table)]
    rows = [row for row in table.rows if row.student.standing.counts]
    ungraded = [row.student.id for row in rows if row.score is None]
    newer = [row.student.id for row in rows if row.student.newer and row.score]
    if ungraded:
        notes.append(
            f"{table.name}: not graded, so without a total: {some(ungraded)}; run "
            f"coursekit grade {table.name}"
        )
    if newer:
        notes.append(
            f"{table.name}: submitted again since the score in the table: {some(newer)}; run "
            f"coursekit grade {table.name}"
        )
    if waiting := sum(bool(row.score and row.score.waits) for row in rows):
        notes.append(
            f"{table.name}: {counted(waiting, 'student')} with written answers that are not marked "
            "yet; the table lacks these points"
        )
    return notes
