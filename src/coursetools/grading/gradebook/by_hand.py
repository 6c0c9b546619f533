"""What a human has entered in formgrader: cell by cell, and the same for all of a group.

nbgrader knows no groups, so each member has a submission of their own there, and a human marks one
of them. What is new since the last command that looked is given to the others.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import and_, or_, select

from coursetools.grading.gradebook.own_tables import WRITTEN, update_rows
from coursetools.grading.gradebook.replaced_points import (
    ByHand,
    Of,
    ReplacedPoints,
    read_replaced_points,
    write_replaced_points,
)
from coursetools.grading.records.groups import Groups

MARK = ("manual_score", "extra_credit", "needs_manual_grade")


def agree(connection: Any, name: str, groups: Groups, before: dict[Any, Any]) -> bool:
    """Give what a human entered for one of a group to the others; return whether there was any.

    Of several the newest counts: what is not as `before`, by ("mark" or "comment", student,
    notebook, cell). Whose submission is another one is left alone, and so are overrides.
    """
    from nbgrader import api

    if not groups.names:
        return False
    held = read_replaced_points(connection, name)
    marks: list[tuple[Any, ByHand]] = []
    comments: list[tuple[Any, str | None]] = []
    for kind, table in (("mark", api.Grade), ("comment", api.Comment)):
        rows: dict[tuple[str, ...], dict[Of, Any]] = {}  # of one cell, of those with one file
        marked = {row.cell for row in cells(connection, name, table, only=True)}
        for row in cells(connection, name, table, named=marked) if marked else ():
            if group := groups.name(row.student):
                same = (group, row.notebook, row.cell, row.submission)
                rows.setdefault(same, {})[of_row(row)] = row
        for together in rows.values():
            now = {of: _entered(kind, row, held.get(of)) for of, row in sorted(together.items())}
            if len(set(now.values())) < 2:
                continue
            new = [of for of, one in now.items() if one != _before(before.get((kind, *of)))]
            source = next(iter([*new, *(of for of, one in now.items() if one)]))
            others = [row for of, row in together.items() if now[of] != now[source]]
            if kind == "mark":
                mark = _by_hand(together[source], held.get(source))
                marks += [(row, mark) for row in others]
            else:
                comments += [(row, now[source]) for row in others]
    write_by_hand(connection, name, held, marks, comments)
    return bool(marks or comments)


def write_by_hand(
    connection: Any,
    name: str,
    held: dict[Of, ReplacedPoints],
    marks: list[tuple[Any, ByHand]],
    comments: list[tuple[Any, str | None]],
) -> None:
    """Write what a human gives for rows of `cells`; below an override it waits for its end."""
    from nbgrader import api

    under: dict[Of, ReplacedPoints | None] = {}
    grades = []
    for row, mark in marks:
        if (of := of_row(row)) in held:
            under[of] = ReplacedPoints(held[of].points, mark)
        else:
            grades.append({"row": row.id, **dict(zip(MARK, vars(mark).values()))})
    texts = [{"row": row.id, "manual_comment": text} for row, text in comments]
    update_rows(connection, api.Grade.__table__, grades)
    update_rows(connection, api.Comment.__table__, texts)
    write_replaced_points(connection, name, under)


def of_row(row: Any) -> Of:
    """Return of which student, notebook and cell a row of `cells` is."""
    return row.student, row.notebook, row.cell


def _by_hand(row: Any, held: ReplacedPoints | None) -> ByHand:
    return held.by_hand(ByHand.of(row)) if held else ByHand.of(row)


def _entered(kind: str, row: Any, held: ReplacedPoints | None) -> Any:
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

    rows, base, notebook = table.__table__, api.BaseCell.__table__, api.Notebook.__table__
    handed, submitted = api.SubmittedNotebook.__table__, api.SubmittedAssignment.__table__
    assignment = api.Assignment.__table__
    columns = ("manual_comment",) if table is api.Comment else MARK
    query = (
        select(
            rows.c.id,
            submitted.c.student_id.label("student"),
            notebook.c.name.label("notebook"),
            base.c.name.label("cell"),
            WRITTEN.c.submission,
            *(rows.c[one] for one in columns),
        )
        .select_from(rows)
        .join(base, base.c.id == rows.c.cell_id)
        .join(notebook, notebook.c.id == base.c.notebook_id)
        .join(assignment, assignment.c.id == notebook.c.assignment_id)
        .join(handed, handed.c.id == rows.c.notebook_id)
        .join(submitted, submitted.c.id == handed.c.assignment_id)
        .outerjoin(
            WRITTEN,
            and_(
                WRITTEN.c.assignment == assignment.c.name,
                WRITTEN.c.student == submitted.c.student_id,
                WRITTEN.c.notebook == notebook.c.name,
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
