"""The one writer of nbgrader's gradebook: verdicts in, rows out, in batches.

The tables are nbgrader's own, so formgrader and nbgrader's commands read what is written here. One
table of ours, `coursekit_written`, remembers in the same transaction which verdict each
row was made of; a run that was killed knows from it what is still to be written. What a human has
entered (points, comments, extra credit) is never lost; an override stands before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import select

from coursetools.grading.gradebook import irreplaceable
from coursetools.grading.gradebook.database import WAIT, Database
from coursetools.grading.gradebook.irreplaceable import Kept
from coursetools.grading.gradebook.lateness import Lateness, lateness_of, write_extensions
from coursetools.grading.gradebook.own_tables import WRITTEN
from coursetools.grading.gradebook.structure import Structure, synchronise
from coursetools.grading.gradebook.submission_rows import BatchOfRows, Row
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.overrides import Overrides


class Writer(Database):
    """Writes to one gradebook, for one assignment."""

    def __init__(
        self,
        folders: Folders,
        masters: dict[str, Any],
        note: Callable[[str], None] = lambda text: None,
        wait: float = WAIT,
    ) -> None:
        super().__init__(folders, note, wait)
        self.overrides = Overrides.read(folders.course, folders.name)
        self._kept = irreplaceable.recall(folders, self, note)
        self.structure: Structure = synchronise(folders, masters, self, self.overrides.dropped())
        if self._kept is not None:
            self.structure = self.patiently(partial(self._times, self._kept))
        self.lateness: Lateness = self.patiently(self._lateness)
        self._late_plugin: Any = None

    def marks(self) -> dict[tuple[str, str], str]:
        """Return (student, notebook) -> the mark of what the gradebook holds."""
        from nbgrader import api

        submitted = api.SubmittedAssignment.__table__
        query = (
            select(WRITTEN.c.student, WRITTEN.c.notebook, WRITTEN.c.mark)
            .join(submitted, submitted.c.student_id == WRITTEN.c.student)
            .where(
                WRITTEN.c.assignment == self.folders.name,
                submitted.c.assignment_id == self.structure.assignment,
            )
        )
        with self.engine.connect() as connection:
            return {
                (student, notebook): mark for student, notebook, mark in connection.execute(query)
            }

    def waiting(self) -> set[str]:
        """Return the students whose submission a human has still to look at."""
        from nbgrader import api

        grade, notebook = api.Grade.__table__, api.SubmittedNotebook.__table__
        submitted = api.SubmittedAssignment.__table__
        cells = [cell.id for rows in self.structure.notebooks.values() for cell in rows.graded]
        # By cell, for that is what nbgrader's tables have an index for.
        waits = select(grade.c.notebook_id).where(
            grade.c.cell_id.in_(cells), grade.c.needs_manual_grade
        )
        query = select(submitted.c.student_id).distinct()
        query = query.join(notebook, notebook.c.assignment_id == submitted.c.id)
        query = query.where(notebook.c.id.in_(waits))
        with self.engine.connect() as connection:
            return set(connection.scalars(query))

    def write(self, rows: Sequence[Row]) -> None:
        """Write all rows or none; waits for a lock, and writes again what is there already."""
        if rows:
            self.patiently(lambda: self._write(rows))

    def _write(self, rows: Sequence[Row]) -> None:
        with self.writing.begin() as connection:
            batch = BatchOfRows(
                connection,
                self.structure,
                self.lateness,
                self.penalty,
                self.overrides,
            )
            batch.write(rows)

    def penalty(self, student: str, score: float, seconds: float) -> float | None:
        """Return what nbgrader's plugin, or ours in its place, takes off for being late."""
        if self._late_plugin is None:
            from nbgrader.preprocessors import AssignLatePenalties

            parent = AssignLatePenalties(config=self.folders.config)
            parent.assignment_id = self.folders.name
            parent.init_plugin()
            self._late_plugin = parent.plugin_inst
        lost = self._late_plugin.late_submission_penalty(student, score, seconds)
        return None if lost is None else max(0.0, min(float(lost), score))

    def put_back(self) -> bool:
        """Put back, after the rows, what was entered by hand, and say whether there was a need."""
        if self._kept is not None:
            irreplaceable.put_back(self.folders, self, self._kept, self.note)
        return self._kept is not None

    def _lateness(self) -> Lateness:
        """Read who has more time, and bring it into the gradebook."""
        with self.writing.begin() as connection:
            lateness = lateness_of(self.folders.course, self.folders.name, connection)
            write_extensions(connection, self.structure.assignment, lateness)
        return lateness

    def _times(self, kept: Kept) -> Structure:
        with self.writing.begin() as connection:
            due = irreplaceable.put_back_times(connection, kept, self.structure)
        return replace(self.structure, due=due)
