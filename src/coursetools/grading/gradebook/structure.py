"""What an assignment consists of, in nbgrader's tables: its notebooks and their cells.

nbgrader writes this when it generates the release; where that has not happened, or the instructor's
notebook has changed since, it is brought in step here, with the same content.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import select

from coursekit._base.errors import CourseError
from coursekit.submission import parsing, regions
from coursekit.submission.regions import Cell
from coursetools.grading.gradebook.database import Database
from coursetools.grading.gradebook.own_tables import WRITTEN, delete_rows, insert_rows
from coursetools.grading.records.folders import Folders
from coursetools.settings.assignment_settings import due_of
from coursetools.settings.class_settings import zone_of
from coursetools.settings.late_rule import replaced


@dataclass(frozen=True)
class GradedCell:
    """A cell that gives points."""

    id: str  # in the database
    name: str  # its grade_id
    points: float
    by_hand: bool  # a human gives them
    answer: str = ""  # grade_id of the cell that it grades, "" where there is none
    stub: str = ""  # of a written answer
    kind: str = "code"


@dataclass(frozen=True)
class NotebookRows:
    """One notebook of the assignment."""

    id: str
    graded: tuple[GradedCell, ...]
    comments: dict[str, str]  # grade_id of a cell that can be commented -> id in the database


@dataclass(frozen=True)
class Structure:
    """The assignment with the database's names for everything."""

    name: str
    assignment: str
    due: datetime | None
    notebooks: dict[str, NotebookRows] = field(default_factory=dict)

    @property
    def questions(self) -> set[str]:
        """What an override may call a graded cell: by its name, or with its notebook's before."""
        cells = [(name, cell.name) for name, rows in self.notebooks.items() for cell in rows.graded]
        return {cell for _, cell in cells} | {f"{name}.{cell}" for name, cell in cells}


def synchronise(
    folders: Folders, masters: dict[str, Any], database: Database, dropped: Set[str] = frozenset()
) -> Structure:
    """Bring nbgrader's tables in step with the instructor's notebooks and return their names.

    `dropped` names the cells that count for nobody, by an override; they give 0 points.
    """
    cells = {name: _cells(master.notebook) for name, master in masters.items()}
    for notebook, inside in cells.items():
        for at, cell in enumerate(inside):
            if {(name := regions.grade_id(cell)), f"{notebook}.{name}"} & dropped:
                about = {**cell["metadata"], "nbgrader": {**regions.meta(cell), "points": 0}}
                inside[at] = {**cell, "metadata": about}
    due = due_of(folders.private)
    text = json.dumps([[cells[name] for name in sorted(cells)], str(due), 1], sort_keys=True)
    state = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    row = {"assignment": folders.name, "student": "", "notebook": ""}
    ours = (WRITTEN.c[name] == value for name, value in row.items())
    with database.engine.connect() as connection:
        same = connection.scalar(select(WRITTEN.c.mark).where(*ours)) == state
    known = _known(database, folders.name)
    moved = known is not None and due is not None and known.duedate != due
    if moved and due is not None and known.duedate is not None:
        zone = zone_of(folders.course, folders.name)
        database.note(replaced(folders.name, due, zone))
    if not same or known is None or moved:
        database.patiently(lambda: _save(folders, cells, due))
        with database.writing.begin() as connection:
            delete_rows(connection, WRITTEN, [row])
            insert_rows(connection, WRITTEN, [{**row, "submission": "", "mark": state}])
    return _load(database, folders.name, cells)


def _cells(text: str) -> list[Cell]:
    """Return the cells of the instructor's notebook that nbgrader knows, as it saves them."""
    cells = []
    for cell in parsing.master(text)["cells"]:
        known = regions.is_grade(cell) or regions.is_solution(cell) or regions.is_task(cell)
        if regions.grade_id(cell) and (known or regions.is_locked(cell)):
            source = regions.saved_source(cell)
            cells.append({**cell, "source": source, "outputs": []})
    return cells


def _known(database: Database, name: str) -> Any:
    """Return the assignment's row in the database, or None."""
    from nbgrader import api

    table = api.Assignment.__table__
    query = select(table.c.id, table.c.duedate).where(table.c.name == name)
    with database.engine.connect() as connection:
        return connection.execute(query).first()


def _save(folders: Folders, cells: dict[str, list[Cell]], due: datetime | None) -> None:
    from nbgrader.api import Gradebook

    name = folders.name
    with Gradebook(folders.database, folders.course_id) as book:
        further = {} if due is None else {"duedate": due}
        book.update_or_create_assignment(name, course_id=folders.course_id, **further)
        for notebook, inside in cells.items():
            row = book.update_or_create_notebook(notebook, name)
            _drop_gone(book, row, {regions.grade_id(cell) for cell in inside})
            for cell in inside:
                _save_cell(book, cell, notebook, name)


def _save_cell(book: Any, cell: Cell, notebook: str, assignment: str) -> None:
    where = regions.grade_id(cell), notebook, assignment
    kind = cell["cell_type"]
    if regions.is_grade(cell) or regions.is_task(cell):
        points = regions.meta(cell).get("points")
        if not isinstance(points, int | float) or isinstance(points, bool):
            raise CourseError(f"cell {where[0]} of {notebook} is graded, but has no points")
        save = book.update_or_create_grade_cell
        save = book.update_or_create_task_cell if regions.is_task(cell) else save
        save(*where, max_score=float(points), cell_type=kind)
    if regions.is_solution(cell):
        book.update_or_create_solution_cell(*where)
    book.update_or_create_source_cell(
        *where,
        cell_type=kind,
        locked=regions.is_locked(cell),
        source=cell["source"],
        checksum=regions.checksum(cell),
    )


def _drop_gone(book: Any, notebook: Any, names: set[str]) -> None:
    """Delete cells that the instructor's notebook has no more, if no human graded them."""
    from nbgrader import api

    for cell in list(notebook._base_cells):
        if cell.name in names:
            continue
        grades = book.db.query(api.Grade).filter(api.Grade.cell_id == cell.id)
        if grades.filter(api.Grade.manual_score.is_not(None)).first() is not None:
            raise CourseError(
                f"cell {cell.name} is no longer in the notebook, but has points by hand in the "
                "gradebook; put it back, or remove those points in formgrader first"
            )
        grades.delete()
        book.db.query(api.Comment).filter(api.Comment.cell_id == cell.id).delete()
        book.db.delete(cell)
    for cell in list(notebook.source_cells):
        if cell.name not in names:
            book.db.delete(cell)
    book.db.commit()


def _load(database: Database, name: str, cells: dict[str, list[Cell]]) -> Structure:
    from nbgrader import api

    row, notebook = _known(database, name), api.Notebook.__table__
    base = api.BaseCell.__table__
    with database.engine.connect() as connection:
        of = select(notebook.c.id, notebook.c.name).where(notebook.c.assignment_id == row.id)
        ids = {one.name: one.id for one in connection.execute(of)}
        inside = select(base.c.id, base.c.name, base.c.type, base.c.notebook_id)
        inside = inside.where(base.c.notebook_id.in_(list(ids.values())))
        known = {(c.notebook_id, c.name, c.type): c.id for c in connection.execute(inside)}
    notebooks = {notebook: _rows(ids[notebook], rows, known) for notebook, rows in cells.items()}
    return Structure(name, row.id, row.duedate, notebooks)


def _rows(notebook: str, cells: list[Cell], known: dict[tuple[str, str, str], str]) -> NotebookRows:
    graded, comments, answer = [], {}, ""
    for cell in cells:
        name = regions.grade_id(cell)
        by_hand = regions.is_by_hand(cell)
        if regions.is_solution(cell):
            comments[name] = known[notebook, name, "SolutionCell"]
        if regions.is_task(cell):
            comments[name] = known[notebook, name, "TaskCell"]
        if regions.is_grade(cell) or regions.is_task(cell):
            kind = "TaskCell" if regions.is_task(cell) else "GradeCell"
            graded.append(
                GradedCell(
                    id=known[notebook, name, kind],
                    name=name,
                    points=float(regions.meta(cell)["points"]),
                    by_hand=by_hand,
                    answer=name if by_hand else answer,
                    stub=regions.release_source(cell) if regions.is_solution(cell) else "",
                    kind=cell["cell_type"],
                )
            )
        if regions.is_solution(cell) and not regions.is_grade(cell):
            answer = name
    return NotebookRows(notebook, tuple(graded), comments)
