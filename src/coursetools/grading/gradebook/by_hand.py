"""What a human has entered in formgrader: cell by cell, and the same for all of a group.

nbgrader knows no groups, so each member has a submission of their own there, and a human marks one
of them. What is new since the last command that looked is given to the others.
"""

from __future__ import annotations

from typing import Any

from coursetools.grading.collecting.groups import Groups
from coursetools.grading.gradebook.database import written
from coursetools.grading.gradebook.overridden import (
    ByHand,
    Of,
    Overridden,
    read_overridden,
    write_overridden,
)

MARK = ("manual_score", "extra_credit", "needs_manual_grade")


def agree(connection: Any, name: str, groups: Groups, before: dict[Any, Any]) -> bool:
    """Give what a human entered for one of a group to the others; return whether there was any.

    Of several the newest counts: what is not as `before`, by ("mark" or "comment", student,
    notebook, cell). Whose submission is another one is left alone, and so are overrides.
    """
    from nbgrader import api
    from sqlalchemy import update

    if not groups.names:
        return False
    held, given = read_overridden(connection, name), False
    under: dict[Of, Overridden | None] = {}
    for kind, table in (("mark", api.Grade), ("comment", api.Comment)):
        rows: dict[tuple[str, ...], dict[Of, Any]] = {}  # of one cell, of those with one file
        marked = {row.cell for row in cells(connection, name, table, only=True)}
        for row in cells(connection, name, table, named=marked) if marked else ():
            if group := groups.name(row.student):
                same = (group, row.notebook, row.cell, row.submission)
                of = row.student, row.notebook, row.cell
                rows.setdefault(same, {})[of] = row
        for together in rows.values():
            now = {of: _entered(kind, row, held.get(of)) for of, row in sorted(together.items())}
            if len(set(now.values())) < 2:
                continue
            new = [of for of, one in now.items() if one != _before(before.get((kind, *of)))]
            source = next(iter([*new, *(of for of, one in now.items() if one)]))
            for of, one in now.items():
                if one == now[source]:
                    continue
                given = True
                if kind == "mark":
                    mark = _by_hand(together[source], held.get(source))
                    if of in held:
                        under[of] = Overridden(held[of].points, mark)
                        continue
                    values = dict(zip(MARK, (mark.manual, mark.extra, mark.waits)))
                else:
                    values = {"manual_comment": now[source]}
                change = update(table.__table__).where(table.__table__.c.id == together[of].id)
                connection.execute(change.values(values))
    write_overridden(connection, name, under)
    return given


def _by_hand(row: Any, held: Overridden | None) -> ByHand:
    return held.by_hand(ByHand.of(row)) if held else ByHand.of(row)


def _entered(kind: str, row: Any, held: Overridden | None) -> Any:
    """Return what a human has entered, None for nothing."""
    if kind == "comment":
        return row.manual_comment or None
    one = _by_hand(row, held)
    return (
        (one.manual, one.extra or None, one.waits) if one.manual is not None or one.extra else None
    )


def _before(kept: Any) -> Any:
    """Return the same of what was kept."""
    if not isinstance(kept, dict):
        return kept
    return kept["manual_score"], kept["extra_credit"] or None, bool(kept["needs_manual_grade"])


def cells(
    connection: Any, name: str, table: Any, only: bool = False, named: set[str] | None = None
) -> Any:
    """Return the rows of `table` (grades or comments), `only` those with something by hand.

    Of all cells, or of those that are `named`.
    """
    from nbgrader import api
    from sqlalchemy import and_, or_, select

    rows, base, notebook = table.__table__, api.BaseCell.__table__, api.Notebook.__table__
    handed, submitted = api.SubmittedNotebook.__table__, api.SubmittedAssignment.__table__
    assignment = api.Assignment.__table__
    ours = written()
    columns = ("manual_comment",) if table is api.Comment else MARK
    query = (
        select(
            rows.c.id,
            submitted.c.student_id.label("student"),
            notebook.c.name.label("notebook"),
            base.c.name.label("cell"),
            ours.c.submission,
            *(rows.c[one] for one in columns),
        )
        .select_from(rows)
        .join(base, base.c.id == rows.c.cell_id)
        .join(notebook, notebook.c.id == base.c.notebook_id)
        .join(assignment, assignment.c.id == notebook.c.assignment_id)
        .join(handed, handed.c.id == rows.c.notebook_id)
        .join(submitted, submitted.c.id == handed.c.assignment_id)
        .outerjoin(
            ours,
            and_(
                ours.c.assignment == assignment.c.name,
                ours.c.student == submitted.c.student_id,
                ours.c.notebook == notebook.c.name,
            ),
        )
        .where(assignment.c.name == name)
    )
    if named is not None:
        query = query.where(base.c.name.in_(named))
    if only and table is api.Comment:
        query = query.where(rows.c.manual_comment.is_not(None), rows.c.manual_comment != "")
    elif only:
        query = query.where(or_(rows.c.manual_score.is_not(None), rows.c.extra_credit != 0))
    return connection.execute(query)
