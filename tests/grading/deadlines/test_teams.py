"""Teams belong to one assignment: they form, are reported, share overrides, and end with it."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from helpers import FAKE, Notes

from coursekit._base.errors import CourseError
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.groups import Groups
from coursetools.grading.results.class_count import count_class
from coursetools.grading.running.grade_class import Options, grade_class

TEAMS = "id,name,team\nada,Ada A,red\nbob,Bob B,red\ncy,Cy C,blue\ndee,Dee D,blue\neve,Eve E,\n"
ALONE = "id,name\nada,Ada A\nbob,Bob B\ncy,Cy C\ndee,Dee D\neve,Eve E\n"


@pytest.fixture
def said(week, capsys):
    """Return the function that types a command and returns what it says."""

    def type_(*words: str) -> str:
        capsys.readouterr()
        assert week.say(*words) == 0
        return "".join(capsys.readouterr())

    return type_


@pytest.fixture
def roster(week, said):
    """Return the function that gives an assignment a class list and returns what is said."""

    def give(name: str, text: str, *more: str) -> str:
        week.roster.write_text(text)
        return said("collect", name, str(week.roster), *more)

    return give


def test_an_individual_assignment_after_a_team_assignment_is_individual(week, roster):
    roster("ps1", TEAMS)
    week.hand_in("ps1", {"ada": -5})
    week.grade("ps1")
    assert week.column("ps1", "score") == {
        "ada": "5", "bob": "5", "cy": "0", "dee": "0", "eve": "0",
    }  # fmt: skip
    for text in (ALONE, None):  # whether the next class list says nothing about teams, or is none
        if text:
            roster("ps2", text)
        week.hand_in("ps2", {"ada": -5})
        week.hand_in("ps2", {"bob": -4}, cube="0")
        week.grade("ps2")
        scores = week.column("ps2", "score")
        assert (scores["ada"], scores["bob"]) == ("5", "2")
    assert Groups.of(Folders(week.course, "ps1")).members("ada") == ("ada", "bob")


def test_collect_and_grade_say_that_teams_are_in_use(week, roster, said):
    assert "2 teams of 4 students" in roster("ps1", TEAMS)
    assert "team" not in roster("ps2", ALONE)
    week.hand_in("ps1", {"ada": -5})
    assert any("2 teams of 4 students" in note for note in week.grade("ps1"))
    week.hand_in("ps2", {"ada": -5})
    assert not any("team" in note for note in week.grade("ps2"))


def test_different_files_in_a_team_are_named_with_the_one_that_counts(week, roster, said):
    roster("ps1", TEAMS)
    week.hand_in("ps1", {"ada": -5})
    week.hand_in("ps1", {"bob": -4}, cube="0")
    week.hand_in("ps1", {"cy": -3, "dee": -3})  # the same file
    lines = [note for note in week.grade("ps1") if "different files" in note]
    again = said("collect", "ps1", str(week.roster))
    for text in (*lines, *(line for line in again.splitlines() if "different files" in line)):
        assert "Ada A (ada)" in text and "Bob B (bob)" in text and "blue" not in text
        assert "bob.ipynb" in text and "2026-10-01 06:00 UTC" in text
    assert len(lines) == 1


def test_a_new_class_list_changes_the_teams_of_its_own_assignment_only(week, roster):
    roster("ps1", TEAMS)
    roster("ps2", TEAMS)
    week.hand_in("ps1", {"ada": -5})
    changed = TEAMS.replace("bob,Bob B,red", "bob,Bob B,")
    kept = roster("ps1", changed)
    assert "teams unchanged" in kept and "1 (bob)" in kept and "--force" in kept
    assert Groups.of(Folders(week.course, "ps1")).members("ada") == ("ada", "bob")
    assert "--force: teams changed for 1 (bob)" in roster("ps1", changed, "--force")
    members = {
        name: Groups.of(Folders(week.course, name)).members("ada") for name in ("ps1", "ps2")
    }
    assert members == {"ps1": ("ada",), "ps2": ("ada", "bob")}
    assert not (Folders(week.course, "ps1").submitted("bob") / "ps1.ipynb").exists()
    roster("ps2", TEAMS.replace("red", "").replace("blue", ""))  # an empty column: no teams
    assert Groups.of(Folders(week.course, "ps2")).names == {}


def test_a_class_wide_table_of_groups_is_refused(week, said):
    (week.course / "autograder" / "groups.csv").write_text("id,group\nada,red\nbob,red\n")
    for words in (["collect", "ps1", str(week.roster)], ["export", "ps1"]):
        assert week.say(*words) != 0
    with pytest.raises(CourseError, match=r"groups\.csv"):
        week.grade("ps1")


def test_an_override_for_one_member_holds_for_the_team_and_says_so(week, roster, said):
    roster("ps1", TEAMS)
    week.hand_in("ps1", {"ada": -5}, cube="0")
    week.hand_in("ps1", {"cy": -3}, cube="0")
    week.grade("ps1")
    text = said("override", "ps1", "cube", "full", "--student", "bob", "--why", "The test.")
    assert week.column("ps1", "score") == {
        "ada": "5", "bob": "5", "cy": "2", "dee": "2", "eve": "0",
    }  # fmt: skip
    lines = text.splitlines()
    for who in ("Ada A (ada)", "Bob B (bob)"):
        (line,) = [line for line in lines if line.startswith(who)]
        assert "2 of 10" in line and "5 of 10" in line
    assert "red" in text and "2 students" in text
    said("override", "ps1", "cube", "none", "--student", "ada")
    assert set(week.column("ps1", "score").values()) == {"2", "0"}


def test_an_override_without_a_submission_is_that_students_alone(week, roster, said):
    roster("ps1", TEAMS)
    week.hand_in("ps1", {"ada": -5})
    week.grade("ps1")
    said("override", "ps1", "cube", "full", "--student", "cy", "--why", "Shown in class.")
    scores = week.column("ps1", "score")
    assert (scores["cy"], scores["dee"]) == ("3", "0")


class Counter(Notes):
    def __init__(self, total: int) -> None:
        super().__init__()
        self.total = total


def test_progress_never_exceeds_its_total(week, roster):
    roster("ps1", TEAMS)
    week.hand_in("ps1", {"ada": -5})
    week.hand_in("ps1", {"cy": -3, "eve": -3}, cube="0")
    made: list[Counter] = []

    @contextmanager
    def tracker(total: int):
        made.append(Counter(total))
        yield made[-1]

    course = week.course
    for engine in (FAKE, FAKE):
        grade_class(course, "ps1", Options(workers=1, force=len(made) > 0, **engine), None, tracker)
    # a new member gets the verdict of the others, and a link is not judged
    roster("ps1", TEAMS.replace("eve,Eve E,", "eve,Eve E,red"), "--force")
    grade_class(course, "ps1", Options(workers=1, **FAKE), None, tracker)
    assert [len(one.done) for one in made] == [one.total for one in made]
    assert made[0].total == 3


def test_statistics_count_a_team_once(week, roster, said):
    roster("ps1", TEAMS)
    week.hand_in("ps1", {"ada": -5})
    week.hand_in("ps1", {"eve": -3}, cube="0", why="")
    week.grade("ps1")
    count = count_class(week.course, "ps1")
    assert (count.students, count.handed_in, count.submissions) == (5, 3, 2)
    assert sorted(count.autos) == [2.0, 5.0] and count.graded == 2
    assert {status: n for status, n in count.statuses.items() if n} == {
        "OK": 1, "PARTIAL": 1, "MISSING": 2,
    }  # fmt: skip
    assert len(count.seconds) == 2 and {len(p.shares) for p in count.parts.values()} <= {0, 2}
    said("review", "ps1")
    report = Folders(week.course, "ps1").report.read_text()
    assert "submissions of 3 students" in report


def test_a_late_student_is_under_one_heading_with_a_name(week, roster, said):
    week.settings("ps1", "due = 2026-10-01T12:00:00+02:00\n[late]\nrate = 0.2\nend_hours = 48\n")
    roster("ps1", TEAMS)
    week.hand_in("ps1", {"eve": 100})  # the only one
    week.hand_in("ps1", {"ada": -5, "cy": -5})
    week.hand_in("ps1", {"bob": 100, "cy": 100}, cube="0")  # an earlier one in time counts
    notes = week.grade("ps1")
    count = count_class(week.course, "ps1")
    where = {
        who: [name for name, ones in count.concerns.items() for one in ones if one.student == who]
        for who in ("bob", "cy", "eve")
    }
    assert where == {"bob": ["too_late"], "cy": ["too_late"], "eve": ["outside"]}
    late = " ".join(note for note in notes if "after the end" in note)
    assert "no earlier" in late and "0 points (eve)" in late
    assert "(bob, cy)" in late
    said("review", "ps1")
    report = Folders(week.course, "ps1").report.read_text()
    assert "Eve E" in report and "Dee D" in report


def test_an_extension_for_one_member_says_that_it_holds_for_the_team(week, roster, said):
    week.settings("ps1", "due = 2026-10-01T12:00:00+02:00\n")
    week.settings("ps2", "due = 2026-10-08T12:00:00+02:00\n")
    roster("ps1", TEAMS)
    assert "team red: ada, bob" in said("settings", "ps1", "--extend", "2d", "--student", "bob")
    assert "team" not in said("settings", "ps1", "--extend", "2d", "--student", "eve")
    assert "team" not in said("settings", "ps1", "--extend", "excused", "--student", "cy")
    assert "team" not in said("settings", "ps2", "--extend", "2d", "--student", "bob")
