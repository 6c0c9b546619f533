"""Points and comments by hand, written where formgrader writes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from coursetools.grading.folders import Folders
from coursetools.grading.gradebook.backup import Kept, identities, irreplaceable
from coursetools.grading.gradebook.by_hand import cells
from coursetools.grading.gradebook.database import Database, written
from coursetools.grading.gradebook.overridden import (
    ByHand,
    Of,
    Overridden,
    read_overridden,
    write_overridden,
)


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
        from sqlalchemy import select, update

        name, ours = folders.name, written()
        grade, comment = api.Grade.__table__, api.Comment.__table__
        with database.writing.begin() as connection:
            held = read_overridden(connection, name)
            under: dict[Of, Overridden | None] = {}
            for row in cells(connection, name, api.Grade):
                of = (row.student, row.notebook, row.cell)
                if of not in given:
                    continue
                points = given[of].points
                if of in held:  # an override stands there, and this comes back when it goes
                    before = ByHand(points, held[of].before.extra, points is None)
                    under[of] = Overridden(held[of].points, before)
                    continue
                facts = {"manual_score": points, "needs_manual_grade": points is None}
                connection.execute(update(grade).where(grade.c.id == row.id).values(facts))
            for row in cells(connection, name, api.Comment):
                one = given.get((row.student, row.notebook, row.cell))
                if one is not None:
                    change = update(comment).where(comment.c.id == row.id)
                    connection.execute(change.values(manual_comment=one.comment or None))
            write_overridden(connection, name, under)
            for student in {who for who, _, _ in given}:
                again = update(ours).where(ours.c.assignment == name, ours.c.student == student)
                connection.execute(again.values(mark=""))
            return connection.scalar(select(identities().c.id)), irreplaceable(connection, name)

    try:
        gradebook, items = database.patiently(work)
    finally:
        database.close()
    Kept.read(folders).keep(gradebook, items, {of: one.by for of, one in given.items()})
