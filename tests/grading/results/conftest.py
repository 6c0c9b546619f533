"""A class whose verdicts and marks are known: what is made of them is what these tests look at.

The assignment `powers` asks for `square` (3 points), `cube` (3 points) and an answer in words (3).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from coursetools.course import Course
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.verdict import CaseVerdict, QuestionVerdict, Verdict
from coursetools.grading.records.verdict_files import Entry, Verdicts

SECRET = "hidden-secret-49"
DUE = datetime(2026, 11, 20, 12, 0)


def cell(name: str, source: str, kind: str = "code", **about: object) -> dict:
    nbgrader = {"grade": False, "solution": False, "locked": False, "task": False, "points": 0}
    nbgrader |= {"schema_version": 3, "cell_type": kind, "grade_id": name, **about}
    made = {"cell_type": kind, "id": f"id-{name}".replace("_", "-"), "source": source}
    made["metadata"] = {"nbgrader": nbgrader}
    return made | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def text(name: str, source: str) -> dict:
    """Return a cell that nobody fills in."""
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source}


def heading(name: str, title: str) -> dict:
    return text(f"about-{name}", f"## {title}\n\n*3 points · easy · 5 minutes*")


POWERS = {
    "cells": [
        text("title", "# Assignment 9: Powers of numbers"),
        heading("square", "Squares"),
        cell("square", "def square(x):\n    ### BEGIN SOLUTION\n    return x * x\n"
             "    ### END SOLUTION", solution=True),
        cell("test_square", "check(square)", grade=True, locked=True, points=3),
        heading("cube", "Cubes"),
        cell("cube", "def cube(x):\n    ### BEGIN SOLUTION\n    return x**3\n"
             "    ### END SOLUTION", solution=True),
        cell("test_cube", "check(cube)", grade=True, locked=True, points=3),
        text("about-words", "## In words\n\n*3 points · in words · 5 minutes*"),
        cell("words", "Say why.", "markdown", grade=True, solution=True, points=3),
    ],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "P", "language": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}  # fmt: skip


ANSWER = """
from coursetools.questions import hidden, visible

def {name}(x):
    return x ** {power}

@visible("two")
def two(student):
    return student.{name}(2)

@hidden("three")
def three(student):
    assert student.{name}(3) == 3 ** {power}, "{secret}"
"""
FILES = {  # in `solutions/powers/`
    "square.py": ANSWER.format(name="square", power=2, secret=SECRET),
    "square.md": "page: powers.html#up\n\nMultiply the number with itself.\n",
    "cube.py": ANSWER.format(name="cube", power=3, secret=SECRET),
    "cube.md": "page: powers.html#up\n\nThree factors.\n",
    "words.md": "page: powers\n",
}


class Classroom:
    def __init__(self, root: Path, template: Path) -> None:
        self.root, self.name = root, "powers"
        self.course = Course(root)
        self.folders = Folders(self.course, self.name)
        for folder in (self.folders.source, self.folders.private):
            folder.mkdir(parents=True)
        (root / "notebooks").mkdir()
        (root / "_config.yml").write_text("repository:\n  url: https://github.com/a/course\n")
        (self.folders.source / "powers.ipynb").write_text(json.dumps(POWERS))
        for name, content in FILES.items():
            (self.folders.private / name).write_text(content)
        self.folders.class_folder.mkdir()
        shutil.copy(template, self.folders.class_folder / "gradebook.db")
        self.store = Verdicts(self.folders.verdicts)

    @staticmethod
    def partial(
        *,
        only_hidden_fails: bool = False,
        status: str = "PARTIAL",
        answers: dict | None = None,
        outputs: dict | None = None,
        reason: str = "",
        flags: list[str] | None = None,
        seconds: float = 0.02,
        right: tuple[str, ...] = (),
    ) -> Verdict:
        """2 of 3 for the square, 1 of 3 for the cube; `right` names what gets full marks."""
        visible = "FAIL" if not only_hidden_fails else "OK"
        square = [
            CaseVerdict(says="three", hidden=False, status=visible, share=1 / 3,
                        detail="" if visible == "OK" else "expected 9\n  actual 6"),
            CaseVerdict(says="nought", hidden=False, status="OK", share=1 / 3),
            CaseVerdict(says="seven and its neighbours", hidden=True, share=1 / 3,
                        status="FAIL" if only_hidden_fails else "OK", detail=SECRET),
        ]  # fmt: skip
        cube = [
            CaseVerdict(says="two", hidden=False, status="OK", share=1 / 3),
            CaseVerdict(says="minus two", hidden=True, status="FAIL", share=1 / 3, detail=SECRET),
            CaseVerdict(says="a half", hidden=True, status="FAIL", share=1 / 3, detail=SECRET),
        ]
        questions = [
            QuestionVerdict(name="square", cell="test_square", points=2, max_points=3,
                            status=status, reason=reason, misconception="doubled",
                            hint="You doubled where you should square.", cases=square),
            QuestionVerdict(name="cube", cell="test_cube", points=1, max_points=3,
                            status="PARTIAL", reason="", hint="Three factors.", cases=cube,
                            flags=list(flags or [])),
        ]  # fmt: skip
        for position, one in enumerate(questions):
            if one.name in right:
                cases = [CaseVerdict(says=c.says, hidden=c.hidden, status="OK", share=c.share)
                         for c in one.cases]  # fmt: skip
                questions[position] = QuestionVerdict(
                    name=one.name, cell=one.cell, points=3, max_points=3, status="OK", reason="",
                    cases=cases,
                )  # fmt: skip
        given = {"square": "def square(x): return 2 * x", "cube": "def cube(x): return abs(x)**3",
                 "words": "Because **it** grows."}  # fmt: skip
        points = sum(one.points for one in questions)
        whole = "OK" if points == 6 else "PARTIAL"
        return Verdict(
            assignment="powers", status=whole, reason="", points=points, max_points=6,
            questions=questions, answers=given | (answers or {}), outputs=outputs or {},
            layers=["rlimits", "landlock"], seconds=seconds,
        )  # fmt: skip

    @staticmethod
    def empty(status: str, reason: str) -> Verdict:
        return Verdict(assignment="powers", status=status, reason=reason, points=0, max_points=6)

    def student(self, student: str, first: str = "", last: str = "", email: str = "") -> None:
        with self.gradebook() as book:
            book.update_or_create_student(student, first_name=first, last_name=last, email=email)

    def gradebook(self):
        from nbgrader.api import Gradebook

        return Gradebook(self.folders.database)

    def also(self, name: str, due: str = "") -> None:
        """Add an assignment that asks the same, under another name."""
        source, private = self.course.source(name), self.course.private(name)
        source.mkdir(parents=True)
        private.mkdir(parents=True, exist_ok=True)
        text = (self.folders.source / "powers.ipynb").read_text()
        (source / f"{name}.ipynb").write_text(text)
        for file, content in FILES.items():
            (private / file).write_text(content)
        if due:
            (private / "assignment.toml").write_text(f"due = {due}\n")
        with self.gradebook() as book:
            add_powers(book, name)

    def late(self, **rule: float) -> None:
        lines = [f"{name} = {value}" for name, value in rule.items()]
        (self.folders.private / "assignment.toml").write_text("[late]\n" + "\n".join(lines))

    def hand_in(
        self,
        student: str,
        verdict: Verdict,
        *,
        first: str = "",
        last: str = "",
        email: str = "",
        manual: float | None = None,
        comment: str = "",
        hours_late: float = 0,
        gradebook: bool = True,
        name: str = "powers",
    ) -> None:
        """Write a verdict into the store, and into the gradebook as the driver does."""
        entry = Entry(student=student, notebook=name, key="k", submission="s", verdict=verdict)
        Verdicts(Folders(self.course, name).verdicts).append(entry)
        if not gradebook:
            return
        self.student(student, first, last, email)
        if verdict.status in ("INTERNAL", "MISSING"):
            return
        with self.gradebook() as book:
            made = book.update_or_create_submission(
                name, student, timestamp=DUE + timedelta(hours=hours_late)
            )
            notebook = made.notebooks[0]
            scores = {one.cell: one.points for one in verdict.questions}
            for grade in notebook.grades:
                written = grade.name == "words"
                grade.auto_score = None if written else scores.get(grade.name, 0.0)
                answer = verdict.answers.get("words", "").strip()
                grade.needs_manual_grade = written and manual is None and bool(answer)
                if written:
                    grade.manual_score = manual if answer else 0.0
            for one in notebook.comments:
                if one.name == "words" and comment:
                    one.manual_comment = comment.encode("utf-8", "replace").decode()
            book.db.commit()


@pytest.fixture(scope="session")
def powers_gradebook(once, empty_gradebook: Path) -> Path:
    """A gradebook that knows the assignment and nobody; made once, copied for each test."""

    def make(root: Path) -> None:
        make_gradebook(root, empty_gradebook)

    return once("gradebook-of-powers", make) / "autograder" / "gradebook.db"


def make_gradebook(root: Path, empty: Path) -> None:
    from nbgrader.api import Gradebook

    from coursetools.grading.gradebook.database import Database

    (root / "autograder").mkdir()
    shutil.copy(empty, root / "autograder")
    Database(Folders(Course(root), "powers")).close()
    with Gradebook(f"sqlite:///{root / 'autograder' / 'gradebook.db'}") as book:
        add_powers(book, "powers", duedate=DUE)


def add_powers(book, name: str, **about: object) -> None:
    book.add_assignment(name, **about)
    book.add_notebook(name, name)
    for one in POWERS["cells"]:
        nbgrader = one["metadata"].get("nbgrader")
        if nbgrader is None:
            continue
        cell_name = nbgrader["grade_id"]
        if nbgrader["solution"]:
            book.add_solution_cell(cell_name, name, name)
        if nbgrader["grade"]:
            kind = one["cell_type"]
            book.add_grade_cell(cell_name, name, name, max_score=3, cell_type=kind)


@pytest.fixture
def classroom(tmp_path: Path, powers_gradebook: Path) -> Classroom:
    return Classroom(tmp_path / "course", powers_gradebook)


@pytest.fixture
def read_page() -> Callable[[Path], str]:
    return lambda path: path.read_text(encoding="utf-8")
