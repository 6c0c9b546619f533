"""A class with two assignments, `ps1` and `ps2`, that is walked through by the command line."""

from __future__ import annotations

import csv
import json
import shlex
import shutil
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from helpers import Notes, daily_penalty, grade

from coursetools.cli import main
from coursetools.course import Course
from coursetools.grading.records.folders import Folders

DUE = {"ps1": datetime(2026, 10, 1, 10), "ps2": datetime(2026, 10, 8, 10)}  # in UTC
HERE = timedelta(hours=2)  # the zone in which they are written


class Week:
    """The class: `ada` to `eve`, and what they hand in."""

    def __init__(self, classroom, folder: Path, empty_gradebook: Path) -> None:
        self.classroom, self.course, self.folder = classroom, Course(classroom.root), folder
        self.text = (classroom.source / "ps1.ipynb").read_text()
        self.course.source("ps2").mkdir()
        (self.course.source("ps2") / "ps2.ipynb").write_text(self.text)
        (self.course / "autograder").mkdir()
        shutil.copy(empty_gradebook, self.course / "autograder" / "gradebook.db")
        (self.course / "autograder" / "nbgrader_config.py").write_text(daily_penalty(self.course))
        self.roster = folder / "class.csv"
        self.roster.write_text("id,name\nada,Ada A\nbob,Bob B\ncy,Cy C\ndee,Dee D\neve,Eve E\n")
        self.say("collect", "ps1", str(self.roster))

    def say(self, *words: str) -> int:
        return main([*words, "--root", str(self.course)])

    def type(self, lines: list[str]) -> None:
        """Type the commands of a page of the book."""
        for line in lines:
            program, *words = shlex.split(line)
            assert program == "coursekit", line
            if words[0] == "grade":
                self.grade(words[1])
            else:
                assert self.say(*words) == 0, line

    def settings(self, name: str, text: str) -> None:
        path = self.course.private(name) / "assignment.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def class_settings(self, text: str) -> None:
        (self.course / "autograder" / "class.toml").write_text(text)

    def hand_in(self, name: str, hours: dict[str, float], **answers: str) -> None:
        """Collect a notebook from each student, so many hours after the deadline."""
        inbox = self.folder / f"inbox-{len(list(self.folder.iterdir()))}"
        inbox.mkdir()
        content = json.dumps(self.classroom.answered(**answers))
        for student in hours:
            (inbox / f"{student}.ipynb").write_text(content)
        assert self.say("collect", name, str(inbox)) == 0
        times = inbox.with_suffix(".csv")
        when = {who: DUE[name] + HERE + timedelta(hours=late) for who, late in hours.items()}
        lines = [f"{who},{time.isoformat()}+02:00" for who, time in when.items()]
        times.write_text("\n".join(["id,time", *lines]))
        assert self.say("collect", name, str(times)) == 0

    def grade(self, name: str) -> list[str]:
        """Grade with the fake engine; return what was said."""
        notes = Notes()
        grade(self.course, name, notes)
        return notes.notes

    def exported(self, *words: str) -> list[dict[str, str]]:
        assert self.say("export", *words, "--output", str(self.folder / "out.csv")) == 0
        with (self.folder / "out.csv").open(encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file))

    def column(self, name: str, column: str) -> dict[str, str]:
        return {row["student_id"]: row[column] for row in self.exported(name)}

    def page(self, name: str, student: str) -> str:
        from bs4 import BeautifulSoup

        assert self.say("return", name, "--quiet") == 0
        path = Folders(self.course, name).feedback(student) / f"{name}.html"
        return " ".join(BeautifulSoup(path.read_text(), "html.parser").get_text(" ").split())

    def gradebook(self):
        from nbgrader.api import Gradebook

        return Gradebook(Folders(self.course, "ps1").database)


@pytest.fixture
def week(classroom, tmp_path, empty_gradebook, quick_gradebook) -> Week:
    folder = tmp_path / "desk"
    folder.mkdir()
    return Week(classroom, folder, empty_gradebook)
