"""Teams that submit together: from the class list to every table, also when they change."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from coursetools.grading.changes.class_backup import backup
from coursetools.grading.collecting.choose import choose
from coursetools.grading.collecting.collect import collect
from coursetools.grading.collecting.origins import from_folder, secret_in
from coursetools.grading.collecting.roster import Person
from coursetools.grading.collecting.times import HandIn
from coursetools.grading.gradebook.lateness import Lateness
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.groups import Groups, formed
from coursetools.grading.results import similarity
from coursetools.grading.running import grade_class
from coursetools.settings.extensions import EXCUSED, Extensions, Line
from coursetools.settings.late_days import LateDays
from coursetools.settings.late_rule import LateRule

LIST = "id,name,group\nada,Ada A,red\nbob,Bob B,red\ncy,Cy C,blue\ndee,Dee D,\neve,Eve E,blue\n"
NEXT = (
    LIST.replace("cy,Cy C,blue", "cy,Cy C,red")
    .replace("bob,Bob B,red", "bob,Bob B,")
    .replace("D,\n", "D,blue\n")
)


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


def table(week, name: str) -> dict[str, tuple[str, str]]:
    """Return each student's score and late days, as the table has them."""
    rows = week.exported(name)
    return {row["student_id"]: (row["score"], row["late_days"]) for row in rows}


def test_the_walk(week, said, monkeypatch):
    graded, judged = [], grade_class.judged
    monkeypatch.setattr(
        grade_class,
        "judged",
        lambda start, tasks, *a: graded.extend(tasks) or judged(start, tasks, *a),
    )
    week.settings("ps1", "due = 2026-10-01T12:00:00+02:00\n[late]\nrate = 0.2\nend_hours = 96\n")
    week.settings("ps2", "due = 2026-10-08T12:00:00+02:00\n[late]\nrate = 0.2\n")
    week.class_settings("[late_days]\nbudget = 2\nmost = 1\n")
    week.roster.write_text(LIST)
    said("collect", "ps1", str(week.roster))
    week.hand_in("ps1", {"ada": -5}, cube="0", why="Words.")
    week.hand_in("ps1", {"bob": 20, "cy": -1}, why="Words.")
    week.hand_in("ps1", {"cy": 100, "dee": -1}, cube="0")  # the one after the end
    assert "2 days more" in said("settings", "ps1", "--extend", "2d", "--student", "ada")
    said("settings", "ps1", "--extend", "excused", "--student", "eve")
    notes = week.grade("ps1")
    assert [note for note in notes if "an earlier one counts (cy)" in note]
    assert [task.student for task in graded] == ["ada", "cy", "dee"]  # once a group
    # bob's came 20 hours late, and ada's extension holds for both; eve alone is excused
    full = ("5", "0")
    everybody = {"ada": full, "bob": full, "cy": full, "dee": ("2", "0"), "eve": ("", "0")}
    assert table(week, "ps1") == everybody
    page = week.page("ps1", "bob")
    assert "Team red , with Ada A : one notebook counts for all of you" in page
    assert "Your deadline was Saturday 3 October" in page
    history = said("why", "ps1", "ada")
    assert "bob.ipynb, by bob, for the team red" in history and "by ada, for" in history
    said("review", "ps1")
    report = Folders(week.course, "ps1").report.read_text()
    assert "another file; for the team red Bob B (bob)&#39;s counts" in report
    assert "came at 2026-10-05 16:00 UTC+02:00" in report and "2 teams" in report
    compared: list[set[str]] = []
    monkeypatch.setattr(
        similarity, "similar_pairs", lambda prints, *a, **k: compared.append(set(prints)) or []
    )
    similarity.find_similar(week.course, "ps1")
    assert compared == [{"ada", "cy", "dee"}]  # nobody with their own group
    with week.gradebook() as book:  # what nbgrader itself reckons with
        assert book.find_submission("ps1", "bob").total_seconds_late == 0

    # one of the group is marked by hand, under whichever name; the newest mark counts for all
    formgrader(week, "ada", 3.0, "Good.")
    assert table(week, "ps1") == everybody | {"ada": ("8", "0"), "bob": ("8", "0")}
    assert formgrader(week, "bob") == (3.0, False, "Good.")
    formgrader(week, "bob", 2.0, "Less.")
    said("override", "ps1", "why", "5", "--student", "bob", "--why", "The team's.")
    assert table(week, "ps1") == everybody | {"ada": ("10", "0"), "bob": ("10", "0")}
    said("override", "ps1", "why", "none", "--student", "bob")
    assert formgrader(week, "ada") == formgrader(week, "bob") == (2.0, False, "Less.")

    # the teams of the next assignment are others, and then those of this one change
    week.roster.write_text(NEXT)
    said("collect", "ps2", str(week.roster))
    assert table(week, "ps1") == everybody | {"ada": ("7", "0"), "bob": ("7", "0")}
    week.hand_in("ps2", {"cy": 20}, cube="0")
    week.grade("ps2")
    spent, none = ("2", "1"), ("0", "0")
    assert table(week, "ps2") == {
        "ada": spent, "bob": none, "cy": spent, "dee": none, "eve": none,
    }  # fmt: skip
    said("collect", "ps1", str(week.roster), "--force")
    graded.clear()
    week.grade("ps1")
    assert [task.student for task in graded] == ["ada"]  # and cy; eve has dee's verdict
    # bob's is his again, and cy's last, 100 hours late, is in time for ada's end: 48 + 96
    now = table(week, "ps1")
    assert now["bob"] == ("7", "1") and now["ada"] == now["cy"] == ("2.4", "1")


@pytest.fixture
def folders(classroom) -> Folders:
    (classroom.root / "autograder").mkdir()
    return Folders(classroom.course, "ps1")


def take(folders, where, notebooks: dict[str, dict], stamps=(), *, force=False, **teams: str):
    """Collect a notebook from each student; `stamps` are (student, hour) of a table of times."""
    where.mkdir()
    for student, notebook in notebooks.items():
        (where / f"{student}.ipynb").write_text(json.dumps(notebook))
    times = [
        HandIn("", who, "", True, "", "", datetime(2026, 10, 1, hour, tzinfo=UTC))
        for who, hour in stamps
    ]
    found = from_folder(where, "ps1") if notebooks else []
    return collect(folders, found, people(**teams), times=times, force=force)


def people(**teams: str) -> list[Person]:
    """Return the class; without any team the class list says nothing about teams."""
    return [
        Person(one, group=teams.get(one, "") if teams else None) for one in ("ada", "bob", "cy")
    ]


def counts(folders, classroom) -> dict[str, str]:
    """Return by student which answer lies in `submitted/`."""
    found = {}
    for student in folders.students():
        path = folders.submitted(student) / "ps1.ipynb"
        source = classroom.find(json.loads(path.read_text()), "cube")["source"]
        found[student] = source.rpartition(" ")[2]
    return found


def test_the_newest_of_a_group_counts_and_a_time_may_stand_at_another_name(
    folders, classroom, tmp_path
):
    books = {n: classroom.answered(cube=n) for n in "123"}
    teams = {"ada": "red", "bob": "red"}
    assert take(folders, tmp_path / "a", {"ada": books["1"]}, **teams).missing == ["cy"]
    assert counts(folders, classroom) == {"ada": "1", "bob": "1"}
    take(folders, tmp_path / "b", {}, [("bob", 9)])  # the platform says it of the other
    assert (folders.submitted("ada") / "timestamp.txt").read_text() == "2026-10-01 09:00:00 UTC"
    take(folders, tmp_path / "w", {}, [("bob", 11)])  # known already
    assert (folders.submitted("bob") / "timestamp.txt").read_text() == "2026-10-01 09:00:00 UTC"
    take(folders, tmp_path / "c", {"bob": books["2"]}, [("bob", 8)])  # before the other, in truth
    assert counts(folders, classroom) == {"ada": "1", "bob": "1"}
    take(folders, tmp_path / "d", {"bob": books["3"]}, [("bob", 10)])
    assert counts(folders, classroom) == {"ada": "3", "bob": "3"}


def test_the_secret_of_an_exchange_stays_with_who_has_it(folders, classroom, tmp_path):
    take(folders, tmp_path / "a", {"ada": classroom.answered()}, ada="red", bob="red")
    (path,) = folders.attempts("ada").glob("*/attempt.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"secret": "a" * 32}))
    for student in ("ada", "bob"):
        choose(folders, student, members=("ada", "bob"))
    assert secret_in(folders.submitted("ada")) and not secret_in(folders.submitted("bob"))


def test_the_teams_of_an_assignment_change_with_its_class_list(folders, classroom, tmp_path):
    take(folders, tmp_path / "a", {"ada": classroom.answered()})
    assert Groups.of(folders).members("ada") == ("ada",)
    (folders.submitted("cy")).mkdir(parents=True)
    (folders.submitted("cy") / "ps1.ipynb").write_text("an instructor's")
    kept = take(folders, tmp_path / "b", {}, ada="red", bob="red")
    assert (kept.moved, kept.reformed) == (["ada", "bob"], False)
    assert Groups.of(folders).names == {}
    changed = take(folders, tmp_path / "b2", {}, force=True, ada="red", bob="red")
    assert (changed.moved, changed.reformed) == (["ada", "bob"], True)
    assert Groups.of(folders).members("bob") == ("ada", "bob")
    assert (folders.submitted("bob") / "ps1.ipynb").is_file()
    assert take(folders, tmp_path / "again", {"ada": classroom.answered()}).notes == []
    assert Groups.of(folders).members("bob") == ("ada", "bob")
    notes = take(folders, tmp_path / "c", {}, force=True, ada="red", bob="blue", cy="blue").notes
    assert notes[0] == "neither bob nor their team has submitted anything"
    assert not (folders.submitted("bob") / "ps1.ipynb").exists()
    assert (folders.submitted("cy") / "ps1.ipynb").read_text() == "an instructor's"
    assert Groups.of(folders).names == {"ada": "red", "bob": "blue", "cy": "blue"}
    assert Groups.of(Folders(folders.course, "ps2")).names == {}
    copy = tmp_path / "class.zip"
    backup(folders.course, copy)
    assert "collected/ps1.json" in zipfile.ZipFile(copy).namelist()


def test_a_class_list_of_some_students_leaves_the_teams_of_the_others():
    before = {"ada": "red", "bob": "red"}
    assert formed(before, [("cy", None)]) == before
    assert formed(before, [("bob", ""), ("cy", "blue")]) == {"ada": "red", "cy": "blue"}


def test_the_latest_deadline_of_a_group_holds_and_an_excuse_is_ones_own():
    lines = [Line("ada", "ps1", timedelta(days=1)), Line("bob", "ps1", EXCUSED)]
    groups = Groups({"ada": "red", "bob": "red", "cy": "red", "dee": "blue"})
    due = datetime(2026, 10, 1)
    granted = {"dee": timedelta(hours=1)}
    table = Extensions(None, {line.key: line for line in lines})
    one = Lateness("ps1", due, LateRule(), table, granted, groups=groups)
    assert [one.extension(who) for who in ("ada", "bob", "cy")] == [timedelta(days=1)] * 3
    assert [one.excused(who) for who in ("ada", "bob", "cy")] == [False, True, False]
    assert one.extension("dee") == timedelta(hours=1) and one.extension("eve") is None


def test_an_extension_reaches_who_handed_in_anonymously():
    lines = [Line("ada", "ps1", timedelta(days=1)), Line("bob", "all", EXCUSED)]
    table = Extensions(Path("extensions.csv"), {line.key: line for line in lines})
    groups = Groups({"ada": "red", "cy": "red"}, {"x1": "ada", "x2": "bob", "x3": ""})
    due, spent = datetime(2026, 10, 1), {"ada": 2}
    one = Lateness("ps1", due, LateRule(), table, {}, LateDays(5, 5), spent, groups=groups)
    assert one.extension("x1") == timedelta(days=1) == one.extension("cy")
    assert one.excused("x2") and not one.excused("x1")
    assert one.spent("x1", 0.0).left == 3 and one.spent("x3", 0.0).left == 5
    assert groups.members("ada") == ("x1", "cy")
    said = table.unreached("ps1", groups.anonymous)
    assert "extensions do not apply to 1 (x3) yet" in said
    assert table.unreached("ps1", {"x1": "ada"}) == "" == Extensions(None).unreached("a", {"x": ""})
