"""A term as "Teach a term" has it, from the first Monday to the last table."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from pathlib import Path

import pytest
from helpers import blocks, page_of_book

from coursetools import cli

PAGE = page_of_book("teaching")
HERE = PAGE.replace("a02_scaling", "ps1")
WEEK = """
coursekit settings ps1 --due 2026-11-20T12:00
coursekit assignment release ps1
coursekit settings ps1 --extend 48h --student ada --why "ill, with a note"
coursekit collect ps1 class.csv submissions.zip Grades.csv
coursekit grade ps1
coursekit review ps1
coursekit return ps1 Grades.csv --to moodle
coursekit backup ../a02-friday.zip
coursekit why ps1
coursekit why ps1 ada
"""
CAME = "Friday, 20 November 2026, {}:59 AM"


@pytest.fixture
def desk(week, monkeypatch):
    """What the page names lies in the folder in which it is typed."""
    typed = week.folder / "typed"
    typed.mkdir()
    monkeypatch.chdir(typed)
    people = [("ada", "Ada Aa", 501), ("ben", "Ben Be", 502), ("cy", "Cy Ce", 503)]
    notebook = json.dumps(week.classroom.answered())
    with zipfile.ZipFile("submissions.zip", "w") as archive:
        for _, name, number in people[:2]:
            archive.writestr(f"{name}_{number}_assignsubmission_file_/ps1.ipynb", notebook)
    Path("class.csv").write_text("id,name\n" + "".join(f"{i},{name}\n" for i, name, _ in people))
    with Path("Grades.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["Identifier", "Full name", "Status", "Grade", "Maximum Grade",
             "Grade can be changed", "Last modified (submission)", "Last modified (grade)",
             "Feedback comments"]
        )  # fmt: skip
        for hour, (_, name, number) in enumerate(people, 9):
            came = "-" if name == "Cy Ce" else CAME.format(hour)
            writer.writerow([f"Participant {number}", name, "", "", "10.00", "Yes", came, "-", ""])
    return week


def test_a_term_is_taught_as_the_page_says(desk, capsys):
    """The rules and the week are those that the page names, the end is typed as it is there."""
    desk.class_settings('time_zone = "Europe/Berlin"\n[late_days]\nbudget = 5\n[term]\ndrop = 1\n')
    desk.settings("ps1", "[late]\nrate = 0.1\ngrace_hours = 1\nend_hours = 96\n")
    desk.type(WEEK.strip().splitlines())
    desk.type(blocks(HERE, "bash")[-1].splitlines())
    said = capsys.readouterr().out
    assert "ada" in said and "ill, with a note" in said
    inside = zipfile.ZipFile(desk.course / "autograder" / "feedback" / "ps1-moodle.zip").namelist()
    assert len(inside) == 3 and inside[0] == "Ada Aa_501_assignfeedback_file/ps1.html"
    for name in ("a02-friday.zip", "term.zip"):
        assert zipfile.is_zipfile(desk.folder / name)
    for name in ("export/ps1-worksheet.csv", "export/term.csv", "report/term.html"):
        assert (desk.course / "autograder" / name).is_file()
    (also,) = re.findall(r"`(coursekit review [^`]+)`", HERE)
    desk.type([also])


def test_every_command_in_the_text_exists():
    """Those with placeholders, too."""
    text = re.sub(r"\{\w+\}`[^`]*`", "", PAGE)  # without links
    names = set(re.findall(r"`(?:coursekit )?([a-z]{3,})(?= [^`]*`|`)", text))
    known = set(re.findall(r"^  ([a-z-]+) ", cli.parser().format_help(), re.MULTILINE))
    others = {"keep", "drop", "umask"}  # no commands of ours
    assert {"assignment", "override", "term", "grade"} <= names
    assert names - known <= others
