"""How overrides stand in nbgrader's tables, so that formgrader shows the points that count.

An override is written as points by hand, which is what formgrader puts before the grader's. What a
human had entered there stands in a table of ours meanwhile, and comes back with the override's end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import inspect, select

from coursetools.grading.gradebook.own_tables import REPLACED_POINTS, delete_rows, insert_rows

Of = tuple[str, str, str]  # student, notebook, cell


@dataclass(frozen=True)
class ByHand:
    """What a human has entered for one graded cell."""

    manual: float | None
    extra: float | None
    waits: bool

    @classmethod
    def of(cls, row: Any) -> ByHand:
        """Read it from a row of nbgrader's grades."""
        return cls(row.manual_score, row.extra_credit, bool(row.needs_manual_grade))


@dataclass(frozen=True)
class ReplacedPoints:
    """A cell that holds an override's points, and what was there before."""

    points: float
    before: ByHand

    def by_hand(self, now: ByHand) -> ByHand:
        """Return what a human has entered: before, or over the override's points since."""
        return self.before if now.manual == self.points and not now.extra else now


def read_replaced_points(
    connection: Any, assignment: str, students: Sequence[str] | None = None
) -> dict[Of, ReplacedPoints]:
    """Return the cells that hold an override's points, of an assignment or of some students."""
    if not inspect(connection).has_table(REPLACED_POINTS.name):
        return {}
    query = select(REPLACED_POINTS).where(REPLACED_POINTS.c.assignment == assignment)
    if students is not None:
        query = query.where(REPLACED_POINTS.c.student.in_(students))
    return {
        (row.student, row.notebook, row.cell): ReplacedPoints(
            row.points, ByHand(row.manual, row.extra, row.waits)
        )
        for row in connection.execute(query)
    }


def write_replaced_points(
    connection: Any, assignment: str, changed: dict[Of, ReplacedPoints | None]
) -> None:
    """Write the rows of some cells; None is one that holds an override's points no more."""
    names = ("assignment", "student", "notebook", "cell")
    keys = {of: dict(zip(names, (assignment, *of))) for of in changed}
    delete_rows(connection, REPLACED_POINTS, list(keys.values()))
    held = {of: one for of, one in changed.items() if one is not None}
    rows = [{**keys[of], "points": one.points, **vars(one.before)} for of, one in held.items()]
    insert_rows(connection, REPLACED_POINTS, rows)
