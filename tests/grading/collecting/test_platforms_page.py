"""Every command of the page "Moodle, Canvas and other platforms" is run here, as typed."""

from __future__ import annotations

import csv
import json
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from helpers import blocks, grade, page_of_book, zipped

from coursetools.cli import main
from coursetools.course import Course
from coursetools.grading.results.export import read_table

PAGE = page_of_book("grading_platforms")
PEOPLE = [("ada", "Ada", "Lovelace", "501"), ("bob", "Bob", "Bo", "502"), ("cy", "Cy", "T", "503")]
COUNTED = "Freitag, 20. November 2026, 11:59"


def typed(section: str) -> list[str]:
    """Return the commands of a section, in their order, for the assignment of these tests."""
    text = PAGE.split(f"({section})=")[1].split("\n(sec-")[0]
    lines = [line for block in blocks(text, "bash") for line in block.splitlines()]
    assert lines
    return [line.replace("a02_scaling", "ps1") for line in lines]


@pytest.fixture
def course(classroom, tmp_path, monkeypatch, quick_gradebook) -> Path:
    """A course beside which lies whatever the page names, for a class of which two submitted."""
    monkeypatch.chdir(tmp_path)
    notebook = json.dumps(classroom.answered())
    for name, members in {
        "abgaben.zip": [f"{first} {last}_{number}_assignsubmission_file_/ps1.ipynb"
                        for _, first, last, number in PEOPLE[:2]],
        "submissions.zip": ["lovelaceada_501_9001_homework.ipynb", "bobo_LATE_502_9002_ps1.ipynb"],
        "anonymous.zip": ["anon_aaa11_9001_homework.ipynb", "LATE_anon_bbb22_9002_ps1.ipynb"],
        "named.zip": ["bobo_502_9001_homework.ipynb", "lovelaceada_LATE_501_9002_ps1.ipynb"],
    }.items():  # fmt: skip
        zipped(Path(name), dict.fromkeys(members, notebook))
    tables = {
        "class.csv": [["id", "name"], *([one, f"{f} {n}"] for one, f, n, _ in PEOPLE)],
        "Bewertungen.csv": [
            ["ID", "Vollständiger Name", "Status", "Bewertung", "Bestwertung",
             "Bewertung kann geändert werden", "Zuletzt geändert (Abgabe)",
             "Zuletzt geändert (Bewertung)", "Feedback als Kommentar"],
            *([f"Teilnehmer/in{number}", f"{f} {n}", "Abgegeben", "", "10,00", "Ja",
               "-" if one == "cy" else COUNTED, "-", ""] for one, f, n, number in PEOPLE)],
        "gradebook.csv": [
            ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Scaling (77)"],
            ["    Points Possible", "", "", "", "", "10"],
            *([f"{n}, {f}", number, one, one, "Monday", ""] for one, f, n, number in PEOPLE)],
    }  # fmt: skip
    for name, rows in tables.items():
        with Path(name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
    return classroom.root


def run(course: Path, line: str) -> None:
    """Run one line of the page; the class is graded by the engine of these tests."""
    program, *arguments = shlex.split(line)
    if program == "nbgrader":
        command = [sys.executable, "-m", "nbgrader", *arguments]
        subprocess.run(command, cwd=course / "autograder", check=True, capture_output=True)
    elif arguments[0] == "grade":
        grade(Course(course))
    else:
        assert program == "coursekit"
        assert main([*arguments, "--root", str(course), "--quiet"]) == 0, line


def read(path: Path) -> list[list[str]]:
    return list(csv.reader(path.open(encoding="utf-8-sig", newline="")))


def names(course: Path, platform: str) -> list[str]:
    with zipfile.ZipFile(course / "autograder" / "feedback" / f"ps1-{platform}.zip") as archive:
        return archive.namelist()


def test_moodle(course) -> None:
    for line in typed("sec-grading-moodle"):
        run(course, line)
    assert names(course, "moodle") == [
        f"{first} {last}_{number}_assignfeedback_file/ps1.html" for _, first, last, number in PEOPLE
    ]
    rows = read(course / "autograder" / "export" / "ps1-worksheet.csv")
    assert [row[3] for row in rows] == ["Bewertung", "5", "5", "0"]
    stamp = course / "autograder" / "submitted" / "ada" / "ps1" / "timestamp.txt"
    assert stamp.read_text() == "2026-11-20 11:59:00 UTC"


def test_canvas(course) -> None:
    for line in typed("sec-grading-canvas"):
        run(course, line)
    assert names(course, "canvas") == [
        "lovelaceada_501_9001_homework.ipynb", "bobo_LATE_502_9002_ps1.ipynb",
    ]  # fmt: skip
    rows = read(course / "autograder" / "export" / "ps1-canvas.csv")
    assert [(row[2], row[-1]) for row in rows[2:]] == [("ada", "5"), ("bob", "5"), ("cy", "0")]


def test_anonymous(course) -> None:
    *lines, collect, back = typed("sec-grading-anonymous")
    for line in lines:
        run(course, line)
    assert names(course, "canvas") == [
        "anon_aaa11_9001_homework.ipynb", "LATE_anon_bbb22_9002_ps1.ipynb",
    ]  # fmt: skip
    assert not (course / "autograder" / "export").exists()  # Canvas takes no scores yet
    run(course, collect)
    run(course, back)
    assert names(course, "canvas") == [
        "bobo_502_9001_homework.ipynb", "lovelaceada_LATE_501_9002_ps1.ipynb",
    ]  # fmt: skip
    rows = read(course / "autograder" / "export" / "ps1-canvas.csv")
    assert [(row[2], row[-1]) for row in rows[2:]] == [("ada", "5"), ("bob", "5"), ("cy", "0")]


def test_groups(course, capsys) -> None:
    listed = blocks(PAGE.split("(sec-grading-groups)=")[1], "text")[0]
    Path("teams.csv").write_text(listed)
    Path("new-teams.csv").write_text(listed.replace("bob,Bob Bo,502,red", "bob,Bob Bo,502,"))
    with zipfile.ZipFile("submissions.zip") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile("submissions.zip", "w") as archive:  # one file for the group
        archive.writestr("lovelaceada_501_9001_homework.ipynb", files.popitem()[1])
    *lines, again, graded = typed("sec-grading-groups")
    for line in lines:
        run(course, line)
    assert names(course, "canvas") == ["lovelaceada_501_9001_homework.ipynb"]
    rows = read(course / "autograder" / "export" / "ps1-canvas.csv")
    assert [(row[2], row[-1]) for row in rows[2:]] == [("ada", "5"), ("bob", "5"), ("cy", "0")]
    assert main(["return", "ps1", "--to", "canvas", "--root", str(course)]) == 0
    assert (
        "not in the zip: 1 (bob); Canvas gives a team's file to all its members"
        in capsys.readouterr().out
    )
    run(course, again)
    run(course, graded)
    table = {row.student.id: row.status for row in read_table(Course(course), "ps1").rows}
    assert table == {"ada": "OK", "bob": "MISSING", "cy": "MISSING"}


def test_programs(course) -> None:
    lines = typed("sec-grading-programs")
    for line in [*typed("sec-grading-canvas")[:2], *lines]:
        run(course, line)
    assert names(course, "plain") == ["ada.html", "bob.html", "cy.html"]
    export = {path.name for path in (course / "autograder" / "export").iterdir()}
    assert export == {"ps1.csv", "ps1.json", "ps1-ags.jsonl", "ps1-moodle.csv"}
    rows = read(course / "autograder" / "grades.csv")
    assert [(row[2], row[-1]) for row in rows[2:]] == [("ada", "5"), ("bob", "5"), ("cy", "0")]
