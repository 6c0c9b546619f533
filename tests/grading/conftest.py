"""What the grader's tests share: the reference assignment `ps1` and a class folder to grade it in.

`ps1` asks for `square` (2 points), `cube` (3 points) and one answer in words (5 points, by hand).
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from pathlib import Path

import pytest


def cell(kind: str, name: str, source: str, **nbgrader: object) -> dict:
    """Return one cell; keyword arguments are nbgrader's metadata."""
    made = {"cell_type": kind, "id": name, "metadata": {}, "source": source}
    if nbgrader:
        about = {"grade": False, "solution": False, "locked": False, "task": False}
        about |= {"grade_id": name, "schema_version": 3, "cell_type": kind} | nbgrader
        made["metadata"]["nbgrader"] = about
    if kind == "code":
        made |= {"outputs": [], "execution_count": None}
    return made


def solution(name: str, body: str) -> dict:
    lines = f"def {name}(x):\n    ### BEGIN SOLUTION\n    {body}\n    ### END SOLUTION"
    return cell("code", name, lines, solution=True)


def tests(name: str, points: float, source: str) -> dict:
    return cell("code", f"test_{name}", source, grade=True, locked=True, points=points)


HIDDEN = "### BEGIN HIDDEN TESTS\nassert square(7) == 49, 'hidden-secret-49'\n### END HIDDEN TESTS"

PS1 = {
    "cells": [
        cell("markdown", "title", "# Powers"),
        cell("code", "imports", "import math"),
        cell("markdown", "about-square", "Write `square`."),
        solution("square", "return x * x"),
        tests("square", 2, f"assert square(3) == 9\n{HIDDEN}"),
        solution("cube", "return x**3"),
        tests("cube", 3, "assert cube(2) == 8"),
        cell("markdown", "why", "Because.", grade=True, solution=True, points=5),
    ],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "P", "language": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@dataclass(frozen=True)
class Ps1:
    """The master as the grader sees it: only the fields that these tests need."""

    name: str = "ps1"
    notebook: str = json.dumps(PS1)
    hidden: str = ""
    key: str = "master-key"


class Classroom:
    """A course in a temporary folder with the assignment `ps1` and whoever hands in."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "notebooks").mkdir(parents=True)
        (root / "_config.yml").write_text("title: A small course\n")
        (root / "solutions" / "ps1").mkdir(parents=True)
        (root / "solutions" / "ps1" / "ps1.ipynb").write_text(json.dumps(PS1))

    @staticmethod
    def release() -> dict:
        """Return what students get, a copy to write into."""
        from coursekit.assignments.rebuild import release_of

        return copy.deepcopy(release_of(Ps1()))

    @classmethod
    def answered(
        cls, square: str | None = "x * x", cube: str | None = "x ** 3", why: str | None = None
    ) -> dict:
        """Return a notebook with answers; None leaves the stub."""
        notebook = cls.release()
        for name, body in (("square", square), ("cube", cube)):
            if body is not None:
                source = f"def {name}(x):\n    return {body}"
                cls.find(notebook, name)["source"] = source
        if why is not None:
            cls.find(notebook, "why")["source"] = why
        return notebook

    @staticmethod
    def find(notebook: dict, name: str) -> dict:
        """Return the cell with this id."""
        return next(c for c in notebook["cells"] if c["id"] == name)

    def hand_in(self, student: str, notebook: dict | bytes | None = None, stamp: str = "") -> Path:
        """Put a file into `submitted/`; by default everything is right."""
        notebook = self.answered() if notebook is None else notebook
        data = notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode()
        folder = self.root / "autograder" / "submitted" / student / "ps1"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "ps1.ipynb").write_bytes(data)
        if stamp:
            (folder / "timestamp.txt").write_text(stamp)
        return folder / "ps1.ipynb"


@pytest.fixture
def ps1() -> Ps1:
    return Ps1()


@pytest.fixture
def classroom(tmp_path: Path) -> Classroom:
    return Classroom(tmp_path / "course")


@pytest.fixture
def make_cell():
    """Return the function that makes a cell, for tests that write their own notebooks."""
    return cell


@pytest.fixture(scope="session")
def empty_gradebook(tmp_path_factory) -> Path:
    """Return the file of a gradebook as nbgrader makes it; to make one takes a second."""
    from coursekit.grading.database import _venv_on_path

    path = tmp_path_factory.mktemp("gradebook") / "gradebook.db"
    with _venv_on_path():
        from nbgrader.api import Gradebook

        Gradebook(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def quick_gradebook(empty_gradebook, monkeypatch) -> None:
    """Let the writer copy that file, where it would make one."""
    import shutil

    from coursekit.grading.database import Database

    original = Database._create_tables

    def create(self: Database) -> None:
        path = self.folders.class_folder / "gradebook.db"
        if self.url.startswith("sqlite") and not path.exists():
            copied = path.with_name(f"copy-{path.name}")
            shutil.copy(empty_gradebook, copied)
            copied.rename(path)
        original(self)

    monkeypatch.setattr(Database, "_create_tables", create)
