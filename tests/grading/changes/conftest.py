"""A class of four in the week around a grade, and a terminal."""

from __future__ import annotations

import csv
import functools
import re
from pathlib import Path

import pytest
from helpers import FAKE, mark

from coursetools.cli import main
from coursetools.grading.running import grade_class

ROSTER = "id,first_name,last_name\nada,Ada,Lovelace\nben,,\ncy,,\nmia,Mia,Missing\n"


class Week:
    """A class of four whose test of `cube` has a mistake, and a terminal."""

    def __init__(self, classroom, capsys) -> None:
        self.classroom, self.capsys = classroom, capsys
        self.root: Path = classroom.root
        self.master("cube(2) == 8", "cube(2) == 9")
        (self.root / "class.csv").write_text(ROSTER)
        self.type("collect ps1", str(self.root / "class.csv"))
        classroom.hand_in("ada")
        classroom.hand_in("ben", classroom.answered(cube=None, why="In words."))
        classroom.hand_in("cy", classroom.answered(square="x"))

    def master(self, old: str, new: str) -> None:
        path = self.classroom.source / "ps1.ipynb"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def type(self, command: str, *more: str, code: int = 0) -> str:
        """Type a command; return what it says."""
        words = ["--root", str(self.root), *command.split(), *more]
        assert main(words) == code
        said = self.capsys.readouterr()
        return said.out + said.err

    def scores(self) -> dict[str, tuple[str, ...]]:
        """Return each student's points, maximum and parts, as the table has them."""
        path = Path(self.type("export ps1 --quiet --output", str(self.root / "t.csv")).strip())
        with path.open(encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
        names = ("score", "max_score", "test_square", "test_cube", "why")
        return {row["student_id"]: tuple(row[name] for name in names) for row in rows}

    def formgrader(self, student: str) -> dict[str, tuple[float, float, str]]:
        """Return what formgrader shows of a student: points, maximum and comment by cell."""
        from nbgrader.api import Gradebook

        with Gradebook(f"sqlite:///{self.root / 'autograder' / 'gradebook.db'}") as book:
            notebook = book.find_submission_notebook("ps1", "ps1", student)
            said = {one.name.removeprefix("test_"): one.comment or "" for one in notebook.comments}
            return {
                one.name: (one.score, one.max_score, said.get(one.name.removeprefix("test_"), ""))
                for one in notebook.grades
            }

    def mark(self, student: str, points: float | None, cell: str = "why") -> None:
        mark(f"sqlite:///{self.root / 'autograder' / 'gradebook.db'}", student, points, cell)

    def page(self, student: str) -> str:
        text = (self.root / f"autograder/feedback/{student}/ps1/ps1.html").read_text()
        return re.sub(r"<[^>]*>", "", text)


@pytest.fixture
def real_week(classroom, capsys) -> Week:
    return Week(classroom, capsys)


@pytest.fixture
def week(classroom, capsys, monkeypatch) -> Week:
    """The same, graded by an engine that only reads answers."""
    quick = functools.partial(grade_class.Options, workers=1, **FAKE)
    monkeypatch.setattr(grade_class, "Options", quick)
    return Week(classroom, capsys)
