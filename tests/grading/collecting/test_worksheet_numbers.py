"""A worksheet of another assignment, or one that contradicts, is recognised by each command."""

from __future__ import annotations

import csv
import functools
import json
import shutil
import zipfile

import pytest
from helpers import FAKE

from coursetools.cli import main
from coursetools.grading.collecting import worksheet_numbers
from coursetools.grading.running import grade_class

pytestmark = pytest.mark.usefixtures("quick_gradebook")
PEOPLE = [("ada", "Ada Aa"), ("ben", "Ben Be"), ("cy", "Cy Ce")]
HEADER = ["Identifier", "Full name", "Status", "Grade", "Maximum Grade", "Grade can be changed",
          "Last modified (submission)", "Last modified (grade)", "Feedback comments"]  # fmt: skip
GIVEN = {
    "times": "collect ps1 {}",
    "return": "return ps1 --to moodle {}",
    "export": "export ps1 {} --output filled.csv",
}


def sheet(rows, path, names=True):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER if names else [one for one in HEADER if one != "Full name"])
        for number, name in rows:
            came = "Friday, 20 November 2026, 11:59 AM"
            person = [f"Participant {number}", name] if names else [f"Participant {number}"]
            writer.writerow([*person, "Submitted", "", "10.00", "Yes", came, "-", ""])
    return path


def delivered(path, first, notebook, name="ps1", nameless=False):
    with zipfile.ZipFile(path, "w") as archive:
        for number, (_, who) in enumerate(PEOPLE, first):
            who = f"Participant {number}" if nameless else who
            archive.writestr(f"{who}_{number}_assignsubmission_file_/{name}.ipynb", notebook)


@pytest.fixture
def desk(classroom, monkeypatch, capsys):
    """Return a function that types a command; ps1 is collected with 501 to 503, and graded."""
    monkeypatch.setattr(grade_class, "Options", functools.partial(grade_class.Options, **FAKE))
    monkeypatch.chdir(classroom.root)
    (classroom.root / "class.csv").write_text(
        "id,name\n" + "".join(f"{who},{name}\n" for who, name in PEOPLE)
    )
    for name in ("ps1_more", "ps2"):  # other assignments of the course
        shutil.copytree(classroom.source, classroom.course.source(name))
        (classroom.course.source(name) / "ps1.ipynb").rename(
            classroom.course.source(name) / f"{name}.ipynb"
        )
    notebook = json.dumps(classroom.answered())
    delivered(classroom.root / "ps1.zip", 501, notebook)
    delivered(classroom.root / "ps2.zip", 901, notebook, "ps2")

    def typed(command, code=0):
        assert main(command.split()) == code, capsys.readouterr()
        said = capsys.readouterr()
        return said.out + said.err

    typed("collect ps1 class.csv ps1.zip")
    typed("collect ps2 ps2.zip")
    typed("grade ps1")
    return typed


def rows(first):
    return [(number, name) for number, (_, name) in enumerate(PEOPLE, first)]


@pytest.mark.parametrize("given", GIVEN)
def test_the_right_one_is_taken(desk, classroom, given):
    path = sheet(rows(501), classroom.root / "Grades.csv")
    said = desk(GIVEN[given].format(path))
    assert "left out" not in said and "contradict" not in said


@pytest.mark.parametrize("given", GIVEN)
def test_one_of_another_assignment_is_refused_by_its_numbers(desk, classroom, given):
    path = sheet(rows(901), classroom.root / "Grades.csv")
    said = desk(GIVEN[given].format(path), 1)
    assert "have different participant numbers" in said and "Ada Aa (ada)" in said
    assert "901 here, but 501" in said and not (classroom.root / "filled.csv").exists()


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("file", ["Grades-Course-ps2-77.csv", "Grades-ps1_more.csv"])
def test_one_of_another_assignment_is_refused_by_its_file_s_name(desk, classroom, given, file):
    said = desk(GIVEN[given].format(sheet(rows(501), classroom.root / file)), 1)
    assert "but the worksheet of ps1 is expected" in said
    desk(GIVEN[given].format(sheet(rows(501), classroom.root / f"ps1-{file}")))


@pytest.mark.parametrize(
    ("stem", "named"),
    [
        ("Grades-ML-Assignment 5-77", ["a05_positions"]),
        ("Bewertungen-Aufgabe 05 Lagen", ["a05_positions"]),
        ("Grades-a5-77", ["a05_positions"]),
        ("Grades-A05_positions", ["a05_positions"]),
        ("Grades-ML-Attention-50", []),
        ("Grades-a15", ["a15_alignment"]),
    ],
)
def test_names_of_files(stem, named):
    every = ["a01_kernels", "a05_positions", "a15_alignment"]
    assert worksheet_numbers.named_in(stem, every) == named


def test_numbers_of_another_assignment_where_this_one_has_none(desk, classroom):
    path = sheet(rows(901), classroom.root / "Grades.csv")
    said = desk(f"collect ps1_more {path}", 1)
    assert "has the participant numbers of ps2, but ps1_more is expected" in said


def test_a_blind_one_of_another_assignment(desk, classroom):
    notebook = json.dumps(classroom.answered())
    delivered(classroom.root / "blind.zip", 701, notebook, "ps1_more", nameless=True)
    path = sheet(rows(801), classroom.root / "Grades.csv", names=False)
    said = desk(f"collect ps1_more blind.zip {path}", 1)
    assert "shares none of its 3 numbers with the 3 submissions" in said


@pytest.mark.parametrize("given", GIVEN)
def test_a_line_that_contradicts_is_named_and_left_out(desk, classroom, given):
    swapped = [(501, "Ada Aa"), (502, "Ben Be"), (777, "Cy Ce")]
    said = desk(GIVEN[given].format(sheet(swapped, classroom.root / "Grades.csv")))
    assert "Cy Ce (cy) has the participant number 777 here, but 503 in the submissions" in said
    if given == "export":
        lines = (classroom.root / "filled.csv").read_text().splitlines()
        assert ["5" in line.split(",")[3] for line in lines[1:]] == [True, True, False]


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([(501, "Ada Aa"), (777, "Ada Aa")], "Ada Aa (ada) has two participant numbers, 501"),
        ([(501, "Ada Aa"), (501, "Ben Be")],
         "Ada Aa (ada) (line 2) and Ben Be (ben) (line 3) have the same participant number 501"),
    ],
)  # fmt: skip
def test_one_that_contradicts_itself_is_refused(desk, classroom, given, lines, expected):
    said = desk(GIVEN[given].format(sheet(lines, classroom.root / "Grades.csv")), 1)
    assert expected in said
