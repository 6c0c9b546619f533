"""nbgrader's own command with our tables, in any course of nbgrader's:

nbgrader export --exporter=coursetools.grading.results.nbgrader_exporters.Canvas --to=grades.csv

`Canvas` and `Moodle`, `Worksheet`, `Csv`, `Json` and `Ags` are the formats of `coursekit export`.
`--Canvas.into=gradebook.csv` fills a platform's own table in, `--Canvas.title` is the
assignment's name there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbgrader.plugins import ExportPlugin
from traitlets import Unicode

from coursekit._base.errors import CourseError
from coursetools.course import Course, write_changed
from coursetools.grading.gradebook.lateness import lateness_of
from coursetools.grading.records.folders import Folders
from coursetools.grading.results.export import as_file, output_name, read_table, remarks
from coursetools.grading.results.scores import Score, Student, read_book
from coursetools.grading.results.table import Row, Table


class Csv(ExportPlugin):
    """A table with everything, one row a student."""

    form = "csv"
    into = Unicode("", help="the platform's own table, to be filled in").tag(config=True)
    title = Unicode("", help="the assignment's name on the platform").tag(config=True)

    def export(self, gradebook: Any) -> None:
        """Write a table for each assignment that is asked for; without any, for all."""
        names = [str(name) for name in self.assignment]
        names = names or [assignment.name for assignment in gradebook.assignments]
        if len(names) > 1 and (self.into or self.title):
            raise CourseError(
                f"into and title are of one assignment, and there are {len(names)}; say which with "
                "--assignment \"['NAME']\""
            )
        for name in names:
            folders, table = self._table(gradebook, name)
            into = Path(self.into) if self.into else None
            content, notes = as_file(folders, table, self.form, self.title, into)
            path = Path(output_name(name, self.form))
            if self.to:
                path = Path(self.to)
                path = path if len(names) == 1 else path.with_stem(f"{path.stem}-{name}")
            write_changed(path, content)
            self.log.info("%s: %s", path, "; ".join([*remarks(table), *notes]))

    def _table(self, gradebook: Any, name: str) -> tuple[Folders, Table]:
        """Return the scores of an assignment; in a course like ours with what the verdicts say."""
        root = Path(self.parent.coursedir.root)
        if root.name == "autograder":
            folders = Folders(Course(root.parent), name)
            if any(folders.source.glob("*.ipynb")):
                return folders, self._chosen(read_table(folders.course, name))
        folders = Folders(Course(root), name)
        return folders, self._chosen(table_of(folders.course, gradebook, name))

    def _chosen(self, table: Table) -> Table:
        """Return the rows of the students that `--student` names."""
        from dataclasses import replace

        wanted = {str(student) for student in self.student}
        rows = (row for row in table.rows if not wanted or row.student.id in wanted)
        return replace(table, rows=tuple(rows))


class Json(Csv):
    """Everything, for programs."""

    form = "json"


class Canvas(Csv):
    """Canvas's gradebook."""

    form = "canvas"


class Moodle(Csv):
    """What Moodle's import of grades reads."""

    form = "moodle"


class Worksheet(Csv):
    """Moodle's worksheet for grading offline, filled in."""

    form = "worksheet"


class Ags(Csv):
    """Scores as LTI writes them."""

    form = "ags"


def table_of(course: Course, gradebook: Any, name: str) -> Table:
    """Return the scores of an assignment as nbgrader's gradebook alone has them."""
    from nbgrader import api

    try:
        assignment = gradebook.find_assignment(name)
    except api.MissingEntry:
        raise CourseError(f"the gradebook has no assignment {name}") from None
    cells = {
        (notebook.name, cell.name): cell
        for notebook in assignment.notebooks
        for cell in (*notebook.grade_cells, *notebook.task_cells)
    }
    several = len(assignment.notebooks) > 1
    lateness = lateness_of(course, name, gradebook.db.connection())
    book = read_book(gradebook.db, name, api, lateness)
    book.begun = any(book.student(who).has_submission for who in sorted(book.students))
    points = float(sum(cell.max_score for cell in cells.values()))
    rows = [_row(book.student(who), cells, points) for who in sorted(book.students)]
    columns = tuple(f"{book}.{cell}" if several else cell for book, cell in cells)
    deadline = assignment.duedate is not None
    return Table(
        name, name, columns, points, tuple(rows), has_deadline=deadline, absent=book.absent
    )


def _row(student: Student, cells: dict[tuple[str, str], Any], points: float) -> Row:
    if not student.standing.counts:
        return Row(student, student.standing.state, None, (None,) * len(cells))
    all_marks = {at: (student.marks or {}).get(at[0], {}).get(at[1]) for at in cells}
    by_hand = {at for at, cell in cells.items() if cell.cell_type != "code"}
    marks = {at: mark for at, mark in all_marks.items() if mark is not None}
    auto = sum(mark.score for at, mark in marks.items() if at not in by_hand)
    written = sum(mark.score for at, mark in marks.items() if at in by_hand)
    waits = sum(cells[at].max_score for at, mark in marks.items() if mark.waits)
    score = Score(auto, written, min(student.penalty, auto + written), points, waits)
    parts = tuple(None if mark is None else round(mark.score, 2) for mark in all_marks.values())
    return Row(student, "" if student.has_submission else "MISSING", score, parts)
