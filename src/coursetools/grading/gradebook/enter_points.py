"""Points and comments by hand, written where formgrader writes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import update

from coursetools.grading.gradebook.by_hand import cells, of_row, write_by_hand
from coursetools.grading.gradebook.database import Database
from coursetools.grading.gradebook.irreplaceable import Kept, identity, irreplaceable
from coursetools.grading.gradebook.own_tables import WRITTEN
from coursetools.grading.gradebook.replaced_points import ByHand, Of, read_replaced_points
from coursetools.grading.records.folders import Folders


@dataclass(frozen=True)
class Given:
    """What somebody gives for a graded cell of a student; no points: it waits again."""

    points: float | None
    comment: str
    by: str


def enter_by_hand(folders: Folders, given: dict[Of, Given], note: Callable[[str], None]) -> None:
    """Write all of them; the log says who gave them.

    The rows of these students are then to be entered again, for late penalties hang on them.
    """
    database = Database(folders, note)

    def work() -> tuple[str, dict[Any, Any]]:
        from nbgrader import api

        name = folders.name
        with database.writing.begin() as connection:
            held = read_replaced_points(connection, name)
            marks: list[tuple[Any, ByHand]] = []
            for row in cells(connection, name, api.Grade):
                if (of := of_row(row)) in given:
                    points = given[of].points
                    before = held[of].before if of in held else ByHand.of(row)
                    marks.append((row, ByHand(points, before.extra, points is None)))
            rows = (row for row in cells(connection, name, api.Comment) if of_row(row) in given)
            comments = [(row, given[of_row(row)].comment or None) for row in rows]
            write_by_hand(connection, name, held, marks, comments)
            for student in {who for who, _, _ in given}:
                same = (WRITTEN.c.assignment == name, WRITTEN.c.student == student)
                again = update(WRITTEN).where(*same)
                connection.execute(again.values(mark=""))
            return identity(connection), irreplaceable(connection, folders)

    try:
        gradebook, items = database.patiently(work)
    finally:
        database.close()
    Kept.read(folders).keep(gradebook, items, {of: one.by for of, one in given.items()})
