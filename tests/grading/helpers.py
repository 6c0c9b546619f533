"""What several folders of the grader's tests use."""

from __future__ import annotations

import html
import re
import sqlite3
import zipfile
from pathlib import Path

from coursekit._base.progress import Progress
from coursetools.course import Course
from coursetools.grading.records.folders import Folders
from coursetools.grading.running.grade_class import Options, Summary, grade_class

_ENGINE = Path(__file__).parent / "fake_engine.py"
FAKE = {"engine": f"{_ENGINE}:Fake", "master": f"{_ENGINE}:Master"}  # it only reads answers


class Notes(Progress):
    """What a run had to say, and what it has finished."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.done: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def advance(self, text: str) -> None:
        self.done.append(text)


def grade(course: Course, name: str = "ps1", notes: Progress | None = None) -> Summary:
    """Grade a class by the engine that only reads answers."""
    return grade_class(course, name, Options(workers=1, **FAKE), notes)


def daily_penalty(course: Course) -> str:
    """Return the settings of nbgrader by which our own late rule counts."""
    return (
        "c = get_config()\n"
        "c.AssignLatePenalties.plugin_class = 'coursetools.grading.late_plugin.DailyPenalty'\n"
        f"c.DailyPenalty.solutions = {str(course / 'solutions')!r}\n"
    )


def marks(root: Path, columns: str, table: str = "grade") -> list[tuple]:
    """Return (student, cell, *columns) of each grade or comment `x` that the gradebook has."""
    return _select(
        root,
        f"select a.student_id, c.name, {columns} from {table} x"
        " join submitted_notebook n on n.id = x.notebook_id"
        " join submitted_assignment a on a.id = n.assignment_id"
        " join base_cell c on c.id = x.cell_id order by 1, 2",
    )


def penalties(root: Path) -> dict[str, float | None]:
    """Return what each student loses for being late."""
    return dict(
        _select(
            root,
            "select a.student_id, n.late_submission_penalty from submitted_notebook n"
            " join submitted_assignment a on a.id = n.assignment_id",
        )
    )


def _select(root: Path, query: str) -> list[tuple]:
    with sqlite3.connect(root / "autograder" / "gradebook.db") as base:
        return base.execute(query).fetchall()


def zipped(path: Path, members: dict[str, str], when=(2026, 12, 24, 12, 0, 0)) -> Path:
    """Write a zip of these texts."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, text in members.items():
            info = zipfile.ZipInfo("x", when)
            info.filename = name  # as it is, also what zipfile would mend
            info.compress_type = zipfile.ZIP_DEFLATED
            made.writestr(info, text)
    return path


def unpacked(folder: Path, members: dict[str, str]) -> Path:
    """Write these texts as files of a folder."""
    for name, text in members.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def submitted(folders: Folders) -> dict[str, str]:
    """Return the file that counts of each student."""
    return {
        student: (folders.submitted(student) / f"{folders.name}.ipynb").read_text()
        for student in folders.students()
    }


def mark(database: str, student: str, points: float | None, cell: str = "why") -> None:
    """Give points by hand, as formgrader does."""
    from nbgrader.api import Gradebook

    with Gradebook(database) as book:
        grade = book.find_grade(cell, "ps1", "ps1", student)
        grade.manual_score, grade.needs_manual_grade = points, False
        book.db.commit()


def words(page: str) -> str:
    """Return what a page shows to its reader."""
    page = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def page_of_book(name: str) -> str:
    return (Path(__file__).parents[2] / "book" / f"{name}.md").read_text(encoding="utf-8")


def blocks(page: str, kind: str) -> list[str]:
    """Return what a page of the book has between ```KIND and ```."""
    return re.findall(rf"^```{kind}\n(.+?)^```", page, flags=re.DOTALL | re.MULTILINE)
