"""A class that has answered `why` of `ps1` in words, graded once; each test gets a copy of it."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest
from helpers import blocks, mark, page_of_book

from coursetools.cli import main
from coursetools.course import Course
from coursetools.grading.marking.answers import code_of
from coursetools.grading.records.folders import Folders

PAGE = page_of_book("grading_marking")
SIGNS = "Two factors of one sign have a product that is not negative, a third brings the sign back."
ANSWERS = {
    "ada": SIGNS,
    "ben": "A square is never negative and a cube has the sign of its number. I do not know why.",
    "cy": SIGNS,  # the same, word for word
    "dee": SIGNS.replace("a third", "the third"),
    "eve": 'Because</script><script>window.PWNED = 1</script> "><img src=x onerror="PWNED = 1">',
    "fay": None,
}


class Desk:
    """The folder of a class, and a terminal."""

    def __init__(self, root: Path) -> None:
        self.root, self.course = root, Course(root)
        self.folders = Folders(self.course, "ps1")
        self.codes = {who: code_of("ps1", "why", text) for who, text in ANSWERS.items() if text}

    def type(self, *words: str, code: int = 0) -> int:
        assert main(["--root", str(self.root), *words]) == code
        return code

    def table(self, marker: str, **marks: tuple[str, float | str]) -> str:
        """Write the marks of students' answers, (items, points) each; return the file's name."""
        path = self.root / f"ps1-why-{marker}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["code", "question", "marker", "items", "points", "comment"])
            for who, (items, points) in marks.items():
                comment = "=1+1 is no reason." if who == "eve" else ""
                writer.writerow([self.codes[who], "why", marker, items, points, comment])
        return str(path)

    def formgrader(self, student: str) -> tuple[float, bool, str]:
        """Return what formgrader shows of the answer: points, whether it waits, and the comment."""
        from nbgrader.api import Gradebook

        with Gradebook(self.folders.database) as book:
            grade = book.find_grade("why", "ps1", "ps1", student)
            said = book.find_comment("why", "ps1", "ps1", student).comment or ""
            return grade.score, grade.needs_manual_grade, said

    def enter(self, student: str, points: float) -> None:
        mark(self.folders.database, student, points)


@pytest.fixture(scope="module")
def graded(tmp_path_factory, make_classroom, empty_gradebook) -> Path:
    from coursetools.grading.records.verdict import Verdict
    from coursetools.grading.records.verdict_files import Entry, Verdicts
    from coursetools.grading.running.grade_class import enter_again

    root = tmp_path_factory.mktemp("marking") / "course"
    classroom = make_classroom(root)
    rubric = blocks(PAGE, "toml")[0]
    (classroom.private / "why.toml").write_text(rubric)
    for student, answer in ANSWERS.items():
        classroom.hand_in(student, classroom.answered(why=answer))
        answers = {"why": classroom.find(classroom.answered(why=answer), "why")["source"]}
        verdict = Verdict(
            assignment="ps1", status="PARTIAL", reason="", points=0, max_points=5, answers=answers
        )
        Verdicts(Folders(Course(root), "ps1").verdicts).append(
            Entry(student=student, notebook="ps1", key="k", submission="", verdict=verdict)
        )
    shutil.copy(empty_gradebook, root / "autograder")
    enter_again(Course(root), "ps1")
    return root


@pytest.fixture
def desk(graded, tmp_path, monkeypatch) -> Desk:
    root = tmp_path / "course"
    shutil.copytree(graded, root)
    monkeypatch.chdir(root)
    return Desk(root)
