"""`coursekit return`: what goes back to students, what it waits for, and what it refuses."""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("quick_gradebook")

HEADER = ["Identifier", "Full name", "ID number", "Status", "Grade", "Maximum Grade",
          "Grade can be changed", "Last modified (submission)", "Last modified (grade)",
          "Feedback comments"]  # fmt: skip
PEOPLE = ["ada", "ben", "cy", "mia"]


@pytest.fixture
def desk(week, monkeypatch):
    """A class that is graded; ben's written answer is not marked. Typed where the tables are."""
    (week.root / "typed").mkdir()
    monkeypatch.chdir(week.root / "typed")
    with Path("Grades.csv").open("w", newline="") as file:
        rows = [[f"Participant {501 + at}", who, who, "", "", "10.00", "Yes", "-", "-", ""]
                for at, who in enumerate(PEOPLE)]  # fmt: skip
        csv.writer(file).writerows([HEADER, *rows])
    with Path("gradebook.csv").open("w", newline="") as file:
        rows = [[who, str(501 + at), who, who, "S", "7"] for at, who in enumerate(PEOPLE)]
        head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Powers (9)"]
        csv.writer(file).writerows([head, ["Points Possible", "", "", "", "", "10"], *rows])
    week.type("grade ps1")
    return week


def made(week) -> set[str]:
    """Return the files that the command has made."""
    folders = (week.root / "autograder" / name for name in ("feedback", "export"))
    return {path.name for folder in folders for path in folder.rglob("*") if path.is_file()}


def out(week) -> list[list[str]]:
    """Return to whom something has gone out, each time."""
    lines = (week.root / "autograder/history/ps1.jsonl").read_text().splitlines()
    return [line["out"] for line in map(json.loads, lines) if "out" in line]


def cells(path: str) -> list[list[str]]:
    return list(csv.reader(Path(path).open(encoding="utf-8-sig", newline="")))


def test_moodle_gets_a_zip_and_its_worksheet_in_one_step(desk):
    desk.mark("ben", 1.0)
    said = desk.type("return ps1 Grades.csv --to moodle --output back")
    assert "4 students in back/ps1-moodle.zip\nback/ps1-worksheet.csv\n" in said
    with zipfile.ZipFile("back/ps1-moodle.zip") as archive:
        assert [name.split("_")[1] for name in archive.namelist()] == ["501", "502", "503", "504"]
    assert [row[4] for row in cells("back/ps1-worksheet.csv")[1:]] == ["5", "3", "3", "0"]
    assert out(desk) == [PEOPLE]
    assert desk.type("why ps1").splitlines()[-1].endswith("return  ps1, to moodle, file Grades.csv")


def test_without_a_platform_nothing_counts_as_returned(desk):
    said = desk.type("return ps1")  # it does not wait for marks
    assert "No feedback or scores of ps1 have been returned before; all 4 pages are new." in said
    assert f"in {desk.root}/autograder/feedback; nothing has been returned" in said
    assert made(desk) == {"ps1.html"} and out(desk) == []
    assert "have been returned yet" in desk.type("why ps1") and "  return  " not in desk.type("why")
    assert desk.type("return ps1 --quiet").strip() == f"{desk.root}/autograder/feedback"


def test_work_waits_until_its_written_answers_are_marked(desk):
    waits = "the written answers of 1 student are not marked yet (ben)"
    for words in ("Grades.csv --to moodle", "--to canvas", "--to plain", "--to exchange"):
        said = desk.type(f"return ps1 {words}", code=1)
        assert waits in said and "coursekit mark ps1" in said and "--force" in said
    assert made(desk) == set() and out(desk) == []
    desk.type("return ps1 --to plain --student ada cy")  # these do not wait
    assert waits in desk.type("return ps1 --to plain --student ben", code=1)
    said = desk.type("return ps1 --to plain --force")
    assert f"--force: {waits}; returned without these points" in said
    assert out(desk) == [["ada", "cy"], PEOPLE]


def test_answers_of_a_submission_that_is_open_are_not_waited_for(desk):
    desk.type("settings ps1 --due 2026-01-01T12:00")
    desk.type("settings ps1 --extend 2999-01-01T12:00 --student ben")
    desk.type("return ps1 --to plain")


def test_some_students_alone(desk):
    desk.mark("ben", 1.0)
    desk.type("return ps1 --to plain --student cy --student ben --output a")
    with zipfile.ZipFile("a/ps1-plain.zip") as archive:
        assert archive.namelist() == ["ben.html", "cy.html"]
    assert [row[1] for row in cells("a/ps1.csv")[1:]] == ["ben", "cy"]
    said = desk.type("return ps1 gradebook.csv --title Powers --to canvas --student ben", code=1)
    assert "no zip written" in said  # nothing came through Canvas
    desk.type("settings ps1 --extend excused --student ada")
    desk.type("return ps1 Grades.csv --to moodle --student ben --output a")
    assert [row[4] for row in cells("a/ps1-worksheet.csv")[1:]] == ["", "3", "", ""]
    desk.type("settings ps1 --extend none --student ada")
    said = desk.type("return ps1 --to plain")
    assert said.startswith("No student's points differ from what was returned last; new: 2 (ada, m")
    assert out(desk) == [["ben", "cy"], ["ben"], PEOPLE]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("nosuch.csv --to moodle", "there is no file nosuch.csv"),
        (
            "gradebook.csv --to moodle",
            "gradebook.csv is Canvas's gradebook, but --to moodle needs",
        ),
        (
            "Grades.csv --to canvas",
            "Grades.csv is Moodle's grading worksheet, but --to canvas needs",
        ),
        (
            "../class.csv --to canvas",
            "is neither Canvas's gradebook nor Moodle's grading",
        ),
        ("gradebook.csv --to canvas --title Q", "no assignment called 'Q'"),
        ("--to moodle", "--to moodle needs Moodle's grading worksheet"),
        ("Grades.csv --to plain", "--to plain writes a new table and takes no FILE"),
        ("Grades.csv --to exchange", "--to exchange writes a new table and takes no FILE"),
        ("--to plain --title Q", "--title names a column of Canvas's gradebook"),
        ("Grades.csv", "FILE needs --to moodle, canvas, exchange or plain"),
        ("--title Q --output x", "--title and --output need --to moodle, canvas"),
        ("--to plain --output Grades.csv", "Grades.csv is a file; --output names a folder"),
        ("--student bem", "No student bem. Did you mean ben?"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(desk, words, said):
    desk.mark("ben", 1.0)
    assert said in desk.type(f"return ps1 {words}", code=1)
    assert made(desk) == set() and out(desk) == []


def test_a_table_counts_as_returned_if_a_file_was_filled_in(desk):
    desk.type("export ps1")
    assert out(desk) == []
    said = desk.type("export ps1 gradebook.csv --title Powers --output filled.csv")
    assert said.startswith("filled.csv\n") and out(desk) == [PEOPLE]
    assert [row[-1] for row in cells("filled.csv")[2:]] == ["5", "2", "3", "0"]
    said = desk.type("export ps1 Grades.csv --format csv", code=1)
    assert "the format of Grades.csv is recognised from its content; leave --format out" in said


def test_a_page_that_cannot_be_written_is_not_returned(desk):
    blocked = desk.root / "autograder" / "feedback" / "cy" / "ps1"
    blocked.parent.mkdir(parents=True)
    blocked.write_text("a file where the folder should be")
    said = desk.type("return ps1 --to plain --force", code=1)
    assert "1 page could not be written, first that of cy" in said
    with zipfile.ZipFile(desk.root / "autograder/feedback/ps1-plain.zip") as archive:
        assert archive.namelist() == ["ada.html", "ben.html", "mia.html"]
    assert out(desk) == [["ada", "ben", "mia"]]
