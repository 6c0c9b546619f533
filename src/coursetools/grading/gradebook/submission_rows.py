"""The rows of a batch of submissions: what is there is read, what differs is written.

The rules are nbgrader's: a test cell gets the grader's points; an answer in words waits for a human
unless it is blank, and then is worth nothing. A human is asked once: points that were given by hand
ask for another look only when the submission has changed. Where there is an override, its points
stand before both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import select

from coursekit.submission import regions
from coursetools.grading.gradebook.lateness import Lateness, write_extensions
from coursetools.grading.gradebook.own_tables import WRITTEN, delete_rows, insert_rows, update_rows
from coursetools.grading.gradebook.replaced_points import (
    ByHand,
    ReplacedPoints,
    read_replaced_points,
    write_replaced_points,
)
from coursetools.grading.gradebook.structure import GradedCell, NotebookRows, Structure
from coursetools.grading.hints import hint_of
from coursetools.grading.records.overrides import Of, Overrides, named
from coursetools.grading.records.verdict import QuestionVerdict, Verdict
from coursetools.text import harmless_markdown

Penalty = Callable[[str, float, float], float | None]


@dataclass(frozen=True)
class Row:
    """One submission to be written."""

    student: str
    notebook: str
    submission: str  # hash of the file
    mark: str  # of the verdict, the time of handing in, the deadline, the rule, an extension
    timestamp: datetime | None
    verdict: Verdict


class BatchOfRows:
    """One transaction's worth of writing."""

    def __init__(
        self,
        connection: Any,
        structure: Structure,
        lateness: Lateness,
        penalty: Penalty,
        overrides: Overrides,
    ) -> None:
        from nbgrader import api

        self.connection, self.structure = connection, structure
        self.lateness, self.penalty, self.overrides = lateness, penalty, overrides
        self.student = api.Student.__table__
        self.assignment = api.SubmittedAssignment.__table__
        self.notebook = api.SubmittedNotebook.__table__
        self.grade, self.comment = api.Grade.__table__, api.Comment.__table__

    def write(self, rows: Sequence[Row]) -> None:
        """Write every row; the last of a student and notebook counts."""
        latest = {(row.student, row.notebook): row for row in rows}
        students = list(dict.fromkeys(row.student for row in latest.values()))
        self._students(students)
        submissions = self._submissions(students, latest)
        write_extensions(self.connection, self.structure.assignment, self.lateness, students)
        notebooks = self._notebooks(submissions)
        self._cells(notebooks)
        before = self._submissions_before(students)
        values = self._values(notebooks, latest, before)
        self._penalties(notebooks, latest, values)
        self._remember(latest)

    def _students(self, students: list[str]) -> None:
        query = select(self.student.c.id).where(self.student.c.id.in_(students))
        known = set(self.connection.scalars(query))
        insert_rows(
            self.connection, self.student, [{"id": one} for one in students if one not in known]
        )

    def _submissions(self, students: list[str], latest: dict[Any, Row]) -> dict[str, str]:
        """Return student -> id; make those that are missing."""
        table = self.assignment
        query = select(table.c.id, table.c.student_id, table.c.timestamp).where(
            table.c.assignment_id == self.structure.assignment, table.c.student_id.in_(students)
        )
        rows = {row.student_id: row for row in self.connection.execute(query)}
        times = {row.student: row.timestamp for row in latest.values()}
        new = [
            {
                "id": _new_id(),
                "assignment_id": self.structure.assignment,
                "student_id": student,
                "timestamp": times[student],
            }
            for student in students
            if student not in rows
        ]
        insert_rows(self.connection, table, new)
        moved = [
            {"row": rows[student].id, "timestamp": times[student]}
            for student in students
            if student in rows and rows[student].timestamp != times[student]
        ]
        update_rows(self.connection, table, moved)
        known = {student: row.id for student, row in rows.items()}
        return known | {row["student_id"]: row["id"] for row in new}

    def _notebooks(self, submissions: dict[str, str]) -> dict[tuple[str, str], str]:
        """Return (student, notebook) -> id, for all notebooks of the assignment."""
        table = self.notebook
        owners = {row: student for student, row in submissions.items()}
        query = select(table.c.id, table.c.assignment_id, table.c.notebook_id).where(
            table.c.assignment_id.in_(list(owners))
        )
        names = {rows.id: name for name, rows in self.structure.notebooks.items()}
        found = {
            (owners[row.assignment_id], names[row.notebook_id]): row.id
            for row in self.connection.execute(query)
            if row.notebook_id in names
        }
        new = {
            (student, name): {
                "id": _new_id(),
                "assignment_id": submissions[student],
                "notebook_id": rows.id,
                "flagged": False,
            }
            for student in submissions
            for name, rows in self.structure.notebooks.items()
            if (student, name) not in found
        }
        insert_rows(self.connection, table, list(new.values()))
        return found | {key: row["id"] for key, row in new.items()}

    def _cells(self, notebooks: dict[tuple[str, str], str]) -> None:
        """Make an empty grade and comment for each cell that has none yet."""
        for table in (self.grade, self.comment):
            query = select(table.c.notebook_id, table.c.cell_id).where(
                table.c.cell_id.in_(self._all_cells(table)),
                table.c.notebook_id.in_(list(notebooks.values())),
            )
            known = {tuple(row) for row in self.connection.execute(query)}
            further = {"needs_manual_grade": True} if table is self.grade else {}
            insert_rows(
                self.connection,
                table,
                [
                    {"id": _new_id(), "notebook_id": row, "cell_id": cell, **further}
                    for (_, name), row in notebooks.items()
                    for cell in self._cells_of(self.structure.notebooks[name], table)
                    if (row, cell) not in known
                ],
            )

    def _cells_of(self, rows: NotebookRows, table: Any) -> Iterable[str]:
        if table is self.grade:
            return [cell.id for cell in rows.graded]
        return rows.comments.values()

    def _all_cells(self, table: Any) -> list[str]:
        """Return all cells of the assignment: nbgrader's index on its rows begins with them."""
        return [
            cell
            for rows in self.structure.notebooks.values()
            for cell in self._cells_of(rows, table)
        ]

    def _submissions_before(self, students: list[str]) -> dict[tuple[str, str], str]:
        """Return which file each row was made of when it was last written."""
        query = select(WRITTEN).where(
            WRITTEN.c.assignment == self.structure.name, WRITTEN.c.student.in_(students)
        )
        return {
            (row.student, row.notebook): row.submission for row in self.connection.execute(query)
        }

    def _values(
        self,
        notebooks: dict[tuple[str, str], str],
        latest: dict[tuple[str, str], Row],
        before: dict[tuple[str, str], str],
    ) -> dict[str, float]:
        """Write points and comments; return the score of each submitted notebook."""
        wanted = {notebooks[key]: key for key in latest}
        grade, comment = self.grade, self.comment
        names = ("id", "notebook_id", "cell_id", "auto_score", "manual_score", "extra_credit")
        query = select(*(grade.c[name] for name in names), grade.c.needs_manual_grade).where(
            grade.c.cell_id.in_(self._all_cells(grade)), grade.c.notebook_id.in_(list(wanted))
        )
        there = {(row.notebook_id, row.cell_id): row for row in self.connection.execute(query)}
        said = select(comment.c.id, comment.c.notebook_id, comment.c.cell_id).where(
            comment.c.cell_id.in_(self._all_cells(comment)), comment.c.notebook_id.in_(list(wanted))
        )
        comments = {(row.notebook_id, row.cell_id): row.id for row in self.connection.execute(said)}
        name = self.structure.name
        held = read_replaced_points(self.connection, name, sorted({who for who, _ in latest}))
        grades, by_hand, remarks, flags, scores = [], [], [], [], {}
        moved: dict[tuple[str, str, str], ReplacedPoints | None] = {}
        for submitted, key in wanted.items():
            row, rows = latest[key], self.structure.notebooks[key[1]]
            same = before.get(key) == row.submission
            overrides = self.overrides.of(row.student, row.verdict.status != "MISSING")
            scores[submitted] = 0.0
            for cell in rows.graded:
                old, of = there[submitted, cell.id], (*key, cell.name)
                now, points = ByHand.of(old), decide(cell, row.verdict)[0]
                human = held[of].by_hand(now) if of in held else now
                if not (same and old.auto_score == points):
                    waits = human.manual is not None or decide(cell, row.verdict)[1]
                    human = replace(human, waits=waits)
                override = named(overrides, key[1], cell.name)
                given = override.given(cell.points) if override else None
                shown = human if given is None else ByHand(given, None, False)
                grades.append({"row": old.id, "auto_score": points,
                               "needs_manual_grade": shown.waits})  # fmt: skip
                if shown != replace(now, waits=shown.waits):
                    by_hand.append({"row": old.id, "manual_score": shown.manual,
                                    "extra_credit": shown.extra})  # fmt: skip
                kept = None if given is None else ReplacedPoints(given, human)
                if held.get(of) != kept:
                    moved[of] = kept
                counted = shown.manual if shown.manual is not None else points or 0.0
                scores[submitted] += counted + (shown.extra or 0.0)
            for name_of, text in remarks_of(rows, row.verdict, overrides, key[1]).items():
                place = comments[submitted, rows.comments[name_of]]
                remarks.append({"row": place, "auto_comment": text})
            if not same:
                flags.append({"row": submitted, "flagged": bool(row.verdict.flags)})
        update_rows(self.connection, grade, grades)
        update_rows(self.connection, grade, by_hand)
        write_replaced_points(self.connection, name, moved)
        update_rows(self.connection, comment, remarks)
        update_rows(self.connection, self.notebook, flags)
        return scores

    def _penalties(
        self,
        notebooks: dict[tuple[str, str], str],
        latest: dict[tuple[str, str], Row],
        scores: dict[str, float],
    ) -> None:
        values = []
        for key, row in latest.items():
            lost, seconds = None, self.lateness.seconds(row.student, row.timestamp)
            seconds = self.lateness.counted(row.student, seconds)
            if seconds and not self.lateness.excused(row.student):
                lost = self.penalty(row.student, scores[notebooks[key]], seconds)
            values.append({"row": notebooks[key], "late_submission_penalty": lost})
        update_rows(self.connection, self.notebook, values)

    def _remember(self, latest: dict[tuple[str, str], Row]) -> None:
        rows = [
            {
                "assignment": self.structure.name,
                "student": row.student,
                "notebook": row.notebook,
                "submission": row.submission,
                "mark": row.mark,
            }
            for row in latest.values()
        ]
        delete_rows(self.connection, WRITTEN, rows)
        insert_rows(self.connection, WRITTEN, rows)


def decide(cell: GradedCell, verdict: Verdict) -> tuple[float | None, bool]:
    """Return the grader's points for a cell, None if it has none, and whether a human is asked."""
    if verdict.status == "MISSING":
        return 0.0, False
    if verdict.status == "MALFORMED":
        return 0.0, True
    if cell.by_hand:
        blank = bool(cell.stub) and regions.is_blank(
            cell.stub, verdict.answers.get(cell.name, ""), cell.kind
        )
        return (0.0, False) if blank and verdict.status != "INTERNAL" else (None, True)
    question = _question(cell, verdict)
    if question is None or question.status == "INTERNAL":
        return None, True
    return float(question.points), bool(question.flags or verdict.flags)


def remarks_of(
    rows: NotebookRows, verdict: Verdict, overrides: Of | None = None, notebook: str = ""
) -> dict[str, str | None]:
    """Return the grader's comment on each cell that can have one, and why there is an override."""
    remarks: dict[str, str | None] = dict.fromkeys(rows.comments)
    nothing = verdict.status in ("MALFORMED", "MISSING", "INTERNAL")
    if nothing:
        remarks = dict.fromkeys(rows.comments, _plain(verdict.reason))

    def add(place: str, text: str) -> None:
        remarks[place] = f"{remarks[place]}\n{text}" if remarks[place] else text

    for cell in rows.graded:
        question = None if cell.by_hand or nothing else _question(cell, verdict)
        if cell.by_hand and not nothing and decide(cell, verdict) == (0.0, False):
            remarks[cell.name] = "No response."
        place = question.name if question and question.name in remarks else cell.answer
        if place not in remarks:
            continue
        if question is not None and question.status != "OK":
            parts = question.reason, hint_of(question)
            add(place, _plain(" ".join(part for part in parts if part)))
        if override := named(overrides or {}, notebook, cell.name):
            add(place, _plain(f"Override: {override.sentence}"))
    return remarks


def _question(cell: GradedCell, verdict: Verdict) -> QuestionVerdict | None:
    return next((question for question in verdict.questions if question.cell == cell.name), None)


def _plain(text: str) -> str:
    """Return a text that every database holds and nbgrader's pages only show."""
    return harmless_markdown(text.replace("\x00", "").encode("utf-8", "replace").decode())


def _new_id() -> str:
    return uuid4().hex  # as nbgrader names its rows
