"""`coursekit next`: what it finds, asks and runs, from the class list to the tables."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable

import pytest
from helpers import grade

from coursekit._base.errors import CourseError
from coursetools import cli
from coursetools.course import Course
from coursetools.grading import next_step
from coursetools.grading.next_step import walk
from coursetools.grading.records.folders import Folders

pytestmark = pytest.mark.usefixtures("quick_gradebook")


@pytest.fixture
def folders(classroom, tmp_path) -> Folders:
    """A class of three of whom two have submitted, in a folder named as the platform gave it."""
    handed_in = tmp_path / "from the platform"
    handed_in.mkdir()
    for student in ("ada", "ben"):
        (handed_in / f"{student}.ipynb").write_text(json.dumps(classroom.answered()))
    (tmp_path / "class.csv").write_text("id,name\nada,Ada L.\nben,Ben K.\ncy,Cy Q.\n")
    return Folders(classroom.course, "ps1")


def walked(folders: Folders, answers: Iterable[str]) -> tuple[int, list[list[str]]]:
    """Walk with these answers; return the code, and the commands that were run."""
    given, ran = iter(answers), []

    def ask(question: str) -> str:
        try:
            return next(given)
        except StopIteration:
            raise EOFError from None

    def run(words: list[str]) -> int:
        ran.append(words)
        if words[0] == "grade":
            return grade(folders.course, words[1]).exit_code
        return cli.main([*words, "--root", str(folders.course.root), "--quiet"])

    return walk(folders, ask, run), ran


def test_from_the_class_list_to_a_table(folders, tmp_path, capsys):
    listed, handed_in = str(tmp_path / "class.csv"), str(tmp_path / "from the platform")
    code, ran = walked(folders, [listed, "2026-11-20T12:00", handed_in, "", "", "", ""])
    assert code == 0
    assert ran == [
        ["collect", "ps1", listed],
        ["settings", "ps1", "--due", "2026-11-20T12:00"],
        ["collect", "ps1", handed_in],
        ["grade", "ps1"],
        ["review", "ps1"],
        ["return", "ps1"],
    ]
    said = capsys.readouterr().out
    for sentence in (
        "Class list: none yet.",
        f"$ coursekit collect ps1 '{handed_in}'",
        "To be graded: 2 notebooks.",
        "Feedback: 0 of 2 students have a page; not returned.",
        "Done. You can run coursekit next ps1 again",
    ):
        assert sentence in said
    assert folders.report.is_file() and not folders.export.exists()  # pages to look at
    assert (folders.feedback("ada") / "ps1.html").is_file()


def test_it_can_be_left_and_taken_up(folders, tmp_path, capsys):
    assert walked(folders, [str(tmp_path / "class.csv"), "", "q"])[0] == 0
    assert "Stopped. coursekit next ps1 continues" in capsys.readouterr().out
    code, ran = walked(folders, ["", str(tmp_path / "from the platform")])
    assert (code, len(ran)) == (0, 1)
    said = capsys.readouterr().out
    assert "Class list: 3 students." in said and "Stopped. " in said
    # what is done alone counts as done
    assert cli.main(["review", "ps1", "--root", str(folders.course.root)]) in (0, 1)
    code, ran = walked(folders, ["", "", "n", "n", "n"])
    assert (code, ran) == (0, [])
    said = capsys.readouterr().out
    assert "Submitted: 2 students; nothing from 1 (cy)." in said


def test_a_zip_of_moodle_comes_with_its_worksheet(folders, tmp_path):
    (tmp_path / "a 1.zip").touch()
    (tmp_path / "Grades.csv").touch()
    step = next_step._hand_ins("ps1", next_step.Stand(folders))
    both = f"'{tmp_path / 'a 1.zip'}' {tmp_path / 'Grades.csv'}"
    assert step.command(both) == [
        "collect", "ps1", str(tmp_path / "a 1.zip"),
        str(tmp_path / "Grades.csv"),
    ]  # fmt: skip


def test_it_waits_for_answers_that_are_not_marked(folders, classroom, tmp_path, capsys):
    class_list, files = str(tmp_path / "class.csv"), str(tmp_path / "from the platform")
    for path in (tmp_path / "from the platform").iterdir():
        path.write_text(json.dumps(classroom.answered(why="In words.")))
    code, ran = walked(folders, [class_list, "", files, "y"])
    said = capsys.readouterr().out
    assert (code, ran[-1]) == (0, ["grade", "ps1"])
    assert "Written answers: not marked yet for 2 (ada, ben)" in said
    assert said.endswith("Stopped. coursekit next ps1 continues from here.\n")
    assert next_step._words(next_step.Stand(folders)).due == "mark ps1"


def test_an_answer_that_cannot_be_is_asked_for_again(folders, tmp_path, capsys):
    answers = ["nowhere.csv", str(tmp_path / "class.csv"), "", "neither", "q"]
    code, ran = walked(folders, answers)
    said = capsys.readouterr().out
    assert (code, len(ran)) == (0, 1)
    assert "there is no file nowhere.csv" in said and "there is no file neither" in said


def test_a_command_that_fails_ends_the_walk(folders, tmp_path, capsys):
    (tmp_path / "class.csv").write_text("who\nada\n")
    code, ran = walked(folders, [str(tmp_path / "class.csv"), "", ""])
    assert code == 1 and len(ran) == 1
    assert "Stopped. " in capsys.readouterr().out


def test_work_is_returned_to_the_platform_that_is_named(tmp_path):
    for name in ("Grades.csv", "grade book.csv"):
        (tmp_path / name).touch()
    moodle, canvas = (str(tmp_path / name) for name in ("Grades.csv", "grade book.csv"))
    step = next_step._return("ps1", next_step.Stand(Folders(Course(tmp_path), "ps1")))
    for answer, words in (
        ("y", []),
        (f"moodle {moodle}", [moodle, "--to", "moodle"]),
        (f"canvas '{canvas}'", [canvas, "--to", "canvas"]),
        ("canvas", ["--to", "canvas"]),
        ("plain", ["--to", "plain"]),
        ("exchange", ["--to", "exchange"]),
    ):
        assert step.command(answer) == ["return", "ps1", *words]
    for answer in ("moodle", "moodle nosuch.csv", f"plain {moodle}", "moodel", "n"):
        with pytest.raises(CourseError):
            step.command(answer)


def test_work_is_returned_without_marks_where_that_was_decided(folders, classroom, tmp_path):
    for path in (tmp_path / "from the platform").iterdir():
        path.write_text(json.dumps(classroom.answered(why="In words.")))
    class_list, files = str(tmp_path / "class.csv"), str(tmp_path / "from the platform")
    code, ran = walked(folders, [class_list, "", files, "y", "y", "n", "plain"])
    assert (code, ran[-1]) == (0, ["return", "ps1", "--to", "plain", "--force"])
    assert next_step.Stand(folders).returned == 3


def test_where_nobody_can_answer_it_says_how_things_stand(folders, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    root = ["--root", str(folders.course.root)]
    assert cli.main(["next", "ps1", *root]) == 0
    assert capsys.readouterr().out.endswith("next: coursekit collect ps1 FILE\n")
    handed_in = str(tmp_path / "from the platform")
    assert cli.main(["collect", "ps1", handed_in, *root]) == 0
    capsys.readouterr()
    assert cli.main(["next", "ps1", *root]) == 0
    assert capsys.readouterr().out.endswith("next: coursekit grade ps1\n")
    assert cli.main(["next", "nothing", *root]) == 1
    assert "No assignment nothing" in capsys.readouterr().err
