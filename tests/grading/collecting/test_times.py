"""When something was submitted: only a platform or the instructor says so; else it is unknown."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta, timezone

import pytest
from helpers import daily_penalty, grade, penalties, zipped

from coursekit._base.errors import CourseError
from coursetools.cli import main
from coursetools.grading.collecting.collect import collect
from coursetools.grading.collecting.origins import from_exchange, from_folder, from_zip
from coursetools.grading.collecting.roster import Person
from coursetools.grading.collecting.times import read_times
from coursetools.grading.records.folders import Folders

EARLY = "2026-01-01 00:00:00 UTC"
HERE = timezone(timedelta(hours=2))


def stamp(folders: Folders, student: str) -> str | None:
    path = folders.submitted(student) / "timestamp.txt"
    return path.read_text() if path.exists() else None


@pytest.mark.parametrize(
    "members",
    [
        {"Eve Il_7_assignsubmission_file_/ps1.ipynb": "eve",
         "Eve Il_7_assignsubmission_file_/timestamp.txt": EARLY},
        {"Eve Il_7_assignsubmission_file_/ps1/ps1.ipynb": "eve",
         "Eve Il_7_assignsubmission_file_/ps1/timestamp.txt": EARLY},
        {"Eve-Il/ps1.ipynb": "eve", "Eve-Il/timestamp.txt": EARLY},
        {"submitted/Eve-Il/ps1/ps1.ipynb": "eve", "submitted/Eve-Il/ps1/timestamp.txt": EARLY},
        {"Eve-Il_7_9_ps1.ipynb": "eve", "Eve-Il_7_10_timestamp.txt": EARLY, "timestamp.txt": EARLY},
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["zip", "folder"])
def test_no_time_that_a_student_can_write(folders, tmp_path, members, form):
    if form == "zip":
        found = from_zip(zipped(tmp_path / "x.zip", members), "ps1")
    else:
        for name, text in members.items():
            (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "in" / name).write_text(text)
            os.utime(tmp_path / "in" / name, (1, 1))
        found = from_folder(tmp_path / "in", "ps1")
    result = collect(folders, found)
    assert list(folders.students()) == ["Eve-Il"] and stamp(folders, "Eve-Il") is None
    assert result.unknown == ["Eve-Il"]


def test_a_canvas_zip_makes_nobody_late(classroom, folders, tmp_path, quick_gradebook, capsys):
    """Its members carry the time of zipping; Canvas says who is late, and not by how much."""
    (folders.private / "assignment.toml").write_text(
        "due = 2026-10-01T12:00:00+02:00\n[late]\nrate = 0.1\n"
    )
    (folders.class_folder).mkdir()
    (folders.class_folder / "nbgrader_config.py").write_text(daily_penalty(classroom.course))
    good = json.dumps(classroom.answered())
    members = {"doejane_1_11_ps1.ipynb": good, "wangwei_LATE_2_12_ps1.ipynb": good}
    path = zipped(tmp_path / "c.zip", members)
    asked = ["collect", "ps1", "--root", str(classroom.root)]
    assert main([*asked, str(path)]) == 0
    said = capsys.readouterr().out
    assert (
        "time of submission unknown for 2 students, so no late penalty" in said
        and "collect ps1 FILE" in said
    )
    assert json.loads(folders.ledger.read_text())["students"] == {
        "doejane": {"late": False, "time": None}, "wangwei": {"late": True, "time": None},
    }  # fmt: skip
    grade(classroom.course)
    assert penalties(classroom.root) == {"doejane": None, "wangwei": None}
    times = tmp_path / "times.csv"
    lines = ["id,submitted_at", "doejane,2026-10-01 11:59", "wangwei,2026-10-02T12:30:00+02:00"]
    times.write_text("\n".join(lines))
    assert main([*asked, str(times)]) == 0
    said = capsys.readouterr()
    assert "unknown" not in said.out and "without a time zone were read as UTC+02:00" in said.err
    assert stamp(folders, "doejane") == "2026-10-01 09:59:00 UTC"  # in the deadline's zone
    grade(classroom.course)
    assert penalties(classroom.root) == {"doejane": None, "wangwei": 1.0}
    (folders.class_folder / "class.toml").write_text('time_zone = "Asia/Tokyo"\n')
    assert main([*asked, str(times)]) == 0
    assert stamp(folders, "doejane") == "2026-10-01 02:59:00 UTC"  # in the class's zone


def test_a_new_attempt_has_no_time_until_somebody_says_it(folders, tmp_path):
    times = tmp_path / "times.csv"
    times.write_text("id,time\nada,2026-10-01 10:00 UTC\n")
    first = zipped(tmp_path / "1.zip", {"ada.ipynb": "1"}, (2026, 10, 2, 0, 0, 0))
    collect(folders, from_zip(first, "ps1"), times=read_times(times))
    assert stamp(folders, "ada") == "2026-10-01 10:00:00 UTC"
    assert collect(folders, from_zip(first, "ps1")).new == []
    assert stamp(folders, "ada") == "2026-10-01 10:00:00 UTC"
    second = zipped(tmp_path / "2.zip", {"ada.ipynb": "2"}, (2026, 10, 3, 0, 0, 0))
    assert collect(folders, from_zip(second, "ps1")).unknown == ["ada"]
    assert stamp(folders, "ada") is None
    assert (folders.submitted("ada") / "ps1.ipynb").read_text() == "2"


def test_a_time_for_the_last_of_two_attempts_leaves_it_the_last(folders, tmp_path):
    """The other attempt has only the time of the zip, which is later than all of the table."""
    names = {"doejane_12_101_ps1.ipynb": "first", "doejane_12_102_ps1-1.ipynb": "second"}
    path = zipped(tmp_path / "1.zip", names)
    times = tmp_path / "times.csv"
    times.write_text("id,time\ndoejane,2026-10-01 10:00 UTC\n")
    for known in ((), read_times(times), ()):
        collect(folders, from_zip(path, "ps1"), times=known)
        assert (folders.submitted("doejane") / "ps1.ipynb").read_text() == "second"
    assert stamp(folders, "doejane") == "2026-10-01 10:00:00 UTC"


def test_the_same_files_in_a_new_zip_are_nothing_new(folders, tmp_path):
    for day in (1, 2):
        path = zipped(tmp_path / f"{day}.zip", {"ada.ipynb": "1"}, (2026, 10, day, 0, 0, 0))
        result = collect(folders, from_zip(path, "ps1"))
    assert result.new == [] and result.known == 1


WORKSHEET = (
    "\ufeffIdentifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\r\n"
    'Participant 501,Bob B,bob1@uni.edu,"Submitted for grading - ",,10.00,Yes,'
    '"Thursday, 1 October 2026, 2:14 PM",-,\r\n'
    'Participant 502,Bob B,bob2@uni.edu,"Submitted for grading - 3 mins late - ",,10.00,Yes,'
    '"Thursday, 1 October 2026, 11:59 PM",-,\r\n'
    "Participant 503,Cy Twombly,cy@uni.edu,No submission - ,,10.00,Yes,-,-,\r\n"
)


def test_moodles_worksheet_says_who_and_when(folders, tmp_path):
    path = tmp_path / "grades.csv"
    path.write_text(WORKSHEET, encoding="utf-8")
    times = read_times(path, HERE)
    assert [one.number for one in times] == ["501", "502", "503"]
    assert times[0].time == datetime(2026, 10, 1, 12, 14, tzinfo=UTC) and times[2].time is None
    people = [Person("b1", "Bob", "B", "bob1@uni.edu"), Person("b2", "Bob", "B", "bob2@uni.edu"),
              Person("c", "Cy", "Twombly", "cy@uni.edu")]  # fmt: skip
    members = {f"Bob B_{n}_assignsubmission_file_/ps1.ipynb": f"{n}" for n in (501, 502)}
    delivered = zipped(tmp_path / "m.zip", members)
    blind = collect(folders, from_zip(delivered, "ps1"), people)
    assert len(blind.aside) == 2 and "b1, b2 on the class list are all called" in blind.aside[0].why
    result = collect(folders, from_zip(delivered, "ps1"), people, times=times)
    assert result.aside == [] and result.missing == ["c"] and result.unknown == []
    assert (folders.submitted("b2") / "ps1.ipynb").read_text() == "502"
    assert stamp(folders, "b2") == "2026-10-01 21:59:00 UTC"


def test_moodles_worksheet_without_a_class_list(folders, tmp_path):
    path = tmp_path / "grades.csv"
    path.write_text(WORKSHEET, encoding="utf-8")
    members = {f"Bob B_{n}_assignsubmission_file_/ps1.ipynb": f"{n}" for n in (501, 502)}
    found = from_zip(zipped(tmp_path / "m.zip", members), "ps1")
    result = collect(folders, found, times=read_times(path))
    assert result.unknown == [] and stamp(folders, "Bob-B_502") == "2026-10-01 23:59:00 UTC"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty; its first line should be: id,time"),
        ("id,when\na,b", "line 1: there is no column called time"),
        ("who,time\na,2026-10-01 10:00", "line 1: there is no column called id"),
        ("id,time,submitted_at\na,,", "'time' and 'submitted_at' could both"),
        ("id,time\na,yesterday", "line 2: 'yesterday' is not a time; write it as 2026-10-01 23:59"),
        ("id,time\na,2026-10-01", "line 2: '2026-10-01' is not a time"),
        ("id,time\na,10:00", "line 2: '10:00' is not a time"),
        (
            "id,time\na,10/1/2026 10:00",
            "line 2: '10/1/2026 10:00' does not say which number is the day",
        ),
        (
            "id,time\na,14.12.2026 10:59\nb,04.12.2026 10:59",
            "line 3: .* the day and which the month",
        ),
        ("id,time\na,2026-10-01 10:00 CEST", "line 2: '2026-10-01 10:00 CEST' is not a time"),
        ("id,time\na,2026-13-01 10:00", "is not a time"),
        ("id,time\na,2026-10-01 10:00\na,2026-10-01 11:00", "line 3: the same person .* line 2"),
        ("id,time\n,2026-10-01 10:00", "line 2: this time has no student"),
    ],
)
def test_a_table_of_times_that_is_not_clear(tmp_path, text, said):
    path = tmp_path / "times.csv"
    path.write_text(text)
    with pytest.raises(CourseError, match=said):
        read_times(path)


def test_times_of_nobody_are_named(folders, tmp_path):
    path = tmp_path / "times.csv"
    path.write_text("id,time\n124,2026-10-01 10:00\nben,2026-10-01 10:00\ncy,-\n")
    people = [Person("00124"), Person("ben"), Person("cy")]
    found = from_zip(zipped(tmp_path / "x.zip", {"00124.ipynb": "1"}), "ps1")
    result = collect(folders, found, people, times=read_times(path))
    assert result.notes == [
        f"{path}, line 2: 124 is not on the class list; did you mean 00124?",
        f"{path}, line 3: ben has a time, but no submission",
    ]


def test_the_exchange_is_believed_where_the_file_system_agrees(folders, tmp_path):
    now = datetime.now(UTC).replace(microsecond=0)
    for who, when in (("ada", now), ("eve", now - timedelta(days=3))):
        folder = tmp_path / "in" / f"{who}+ps1+{when:%Y-%m-%d %H:%M:%S} UTC"
        folder.mkdir(parents=True)
        (folder / "ps1.ipynb").write_text(who)
        os.utime(folder, (when.timestamp(), when.timestamp()))  # a student can do that too
    result = collect(folders, from_exchange(tmp_path / "in", "ps1", check_owner=False))
    assert stamp(folders, "ada") == f"{now:%Y-%m-%d %H:%M:%S} UTC"
    assert stamp(folders, "eve") is None and result.unknown == ["eve"]


def test_a_folder_in_a_folder(folders, tmp_path):
    members = {"Course 12/Eve Il_7_assignsubmission_file_/ps1.ipynb": "eve"}
    with pytest.raises(CourseError, match=r"is in one folder, Course 12; collect that folder"):
        from_zip(zipped(tmp_path / "x.zip", members), "ps1")
