"""Groups that hand in together: from the class list to every table, also when they change."""

from __future__ import annotations

import json

import pytest

from coursekit._base.errors import CourseError
from coursetools.course import Course
from coursetools.grading.changes.journal import Journal
from coursetools.grading.collecting.collect import collect
from coursetools.grading.collecting.groups import Groups, read_groups, save_groups
from coursetools.grading.collecting.ledger import Ledger
from coursetools.grading.collecting.origins import from_folder
from coursetools.grading.deadlines.extensions import EXCUSED, Extensions, Line
from coursetools.grading.folders import Folders
from coursetools.grading.gradebook.lateness import Lateness
from coursetools.grading.results.similarity import find_similar

LIST = "id,name,group\nada,Ada A,red\nbob,Bob B,red\ncy,Cy C,blue\ndee,Dee D,\neve,Eve E,blue\n"
NEXT = LIST.replace("cy,Cy C,blue", "cy,Cy C,red").replace("bob,Bob B,red", "bob,Bob B,")


@pytest.fixture
def said(week, capsys):
    """Return the function that types a command and returns what it says."""

    def type_(*words: str) -> str:
        capsys.readouterr()
        assert week.say(*words) == 0
        return "".join(capsys.readouterr())

    return type_


def formgrader(week, student: str, points: float | None = None, comment: str = "") -> tuple:
    """Mark the answer in words, as formgrader does; return what it shows of it."""
    with week.gradebook() as book:
        grade = book.find_grade("why", "ps1", "ps1", student)
        remark = book.find_comment("why", "ps1", "ps1", student)
        if points is not None:
            grade.manual_score, grade.needs_manual_grade = points, False
            remark.manual_comment = comment
            book.db.commit()
        return grade.manual_score, grade.needs_manual_grade, remark.manual_comment


def test_the_walk(week, said):
    week.settings("ps1", "due = 2026-10-01T12:00:00+02:00\n[late]\nrate = 0.2\nend_hours = 96\n")
    week.settings("ps2", "due = 2026-10-08T12:00:00+02:00\n[late]\nrate = 0.2\n")
    week.class_settings("[late_days]\nbudget = 2\nmost = 1\n")
    week.roster.write_text(LIST)
    said("collect", "ps1", "--roster", str(week.roster))
    week.hand_in("ps1", {"ada": -5}, cube="0", why="Words.")
    week.hand_in("ps1", {"bob": 20, "cy": -1, "dee": -1}, why="Words.")
    week.hand_in("ps1", {"cy": 100}, cube="0")  # after the end
    assert "2 days more" in said("extend", "ps1", "ada", "2d")
    said("extend", "ps1", "eve", "excused")
    notes = week.grade("ps1")
    assert [note for note in notes if "end of the assignment" in note and "(cy)" in note]
    # bob's came 20 hours late, and ada's extension holds for both; eve is excused alone
    assert week.column("ps1", "score") == dict(ada="5", bob="5", cy="5", dee="5", eve="")
    assert week.column("ps1", "late_days") == dict(ada="0", bob="0", cy="0", dee="0", eve="0")
    for one in ("ada", "bob"):
        page = week.page("ps1", one)
        assert "one notebook counts for all of you" in page and "Your deadline was Saturday 3 October" in page
    assert "for all of you" not in week.page("ps1", "dee")
    history = said("history", "ps1", "ada")
    assert "bob.ipynb, by bob, for the group red" in history and "by ada, for" in history
    said("report", "ps1")
    report = Folders(week.course, "ps1").report.read_text()
    assert "handed in a file of their own; for the group red bob&#39;s counts" in report
    assert "came at 2026-10-05 14:00 UTC" in report and "2 groups that hand in together" in report
    assert find_similar(week.course, "ps1").pairs == []
    with week.gradebook() as book:  # what nbgrader itself reckons with
        assert book.find_submission("ps1", "bob").total_seconds_late == 0

    # one of the group is marked by hand, by whichever name; the newest mark counts for all
    formgrader(week, "bob", 3.0, "Good.")
    assert week.column("ps1", "score") == dict(ada="8", bob="8", cy="5", dee="5", eve="")
    assert formgrader(week, "ada") == (3.0, False, "Good.")
    formgrader(week, "ada", 2.0, "Less.")
    said("override", "ps1", "why", "5", "--student", "bob", "--why", "Hers alone.")
    assert week.column("ps1", "score") == dict(ada="7", bob="10", cy="5", dee="5", eve="")
    said("override", "ps1", "why", "--student", "bob", "--remove")
    assert formgrader(week, "bob") == (2.0, False, "Less.")
    assert "marked  ps1, question why, student bob" in said("log", "ps1")

    # the groups change: for the next assignment, and for this one only if that is asked
    week.roster.write_text(NEXT)
    assert "ps1 keeps the groups" in said("collect", "ps1", "--roster", str(week.roster))
    week.hand_in("ps2", {"cy": 20}, cube="0")
    week.grade("ps1"), week.grade("ps2")
    assert week.column("ps2", "score") == dict(ada="2", bob="0", cy="2", dee="0", eve="0")
    assert week.column("ps2", "late_days") == dict(ada="1", bob="0", cy="1", dee="0", eve="0")
    assert week.column("ps1", "score") == dict(ada="7", bob="7", cy="5", dee="5", eve="")
    rows = {row["student_id"]: row for row in week.exported("--all")}
    assert [rows["ada"][f"{n} (10)"] for n in ("ps1", "ps2")] == ["7", "2"]
    told = said("collect", "ps1", "--regroup")
    assert "eve has handed in nothing, and has no group that has" in told
    week.grade("ps1")
    assert week.column("ps1", "score") == dict(ada="5", bob="5", cy="5", dee="5", eve="")
