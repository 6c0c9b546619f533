"""The totals of an invented term in its middle, recomputed from raw points and the written rules.

Five assignments: two are over, one is over and done in teams, one was due twelve hours ago, and one
is due in four days and already graded.
"""

from __future__ import annotations

import csv
import json
import math
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from helpers import grade, words

from coursetools.cli import main
from coursetools.course import Course
from coursetools.grading.next_step import Stand, steps
from coursetools.grading.records.folders import Folders
from coursetools.grading.results.class_count import count_class
from coursetools.grading.results.term_count import count_term

NOW = datetime.now(UTC).replace(microsecond=0)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
DUE = {
    "w1": NOW - 30 * DAY, "w2": NOW - 20 * DAY, "w3": NOW - 10 * DAY, "w4": NOW + 4 * DAY,
    "w5": NOW - 12 * HOUR,
}  # fmt: skip
WHO = ("ada", "ben", "cy", "dee", "eve", "fay", "gus", "hal")
MOST, BUDGET, DROP = 10, 2, 1
GRACE, RATE, END = 1, 0.2, 96  # hours, a share a day, hours
EXTENSIONS = {("w2", "dee"): 48, ("w5", "eve"): 48}
EXCUSED = {("w2", "fay"), ("w4", "gus")}
TEAM = ("ben", "cy")  # in w3
# what came: (hours after the deadline of the class, points of 5)
CAME = {
    "w1": {"ada": (-3, 5), "ben": (20, 5), "cy": (-1, 2), "dee": (-1, 3), "eve": (-2, 5),
           "fay": (100, 5), "hal": (50, 5)},
    "w2": {"ada": (-1, 2), "ben": (-5, 3), "cy": (30, 5), "dee": (47, 5), "eve": (0.5, 2),
           "gus": (-1, 5)},
    "w3": {"ada": (-1, 5), "ben": (26, 5), "dee": (-1, 5), "eve": (-9, 3), "fay": (-1, 2)},
    "w4": {"ada": (-100, 2), "ben": (-99, 5), "gus": (-98, 5)},
    "w5": {"ada": (-1, 3), "ben": (5, 5), "eve": (-20, 2), "fay": (2, 3)},
}  # fmt: skip
ANSWERS = {5: {}, 3: {"square": None}, 2: {"cube": None}}


class Term:
    """The class, taken in and graded by the commands."""

    def __init__(self, classroom, folder: Path) -> None:
        self.course, self.folder = Course(classroom.root), folder
        text = (classroom.source / "ps1.ipynb").read_text()
        self.write("autograder/class.toml", "time_zone = 'Europe/Berlin'\n"
                   f"[late_days]\nbudget = {BUDGET}\n[term]\ndrop = {DROP}\n")  # fmt: skip
        self.roster("class.csv", "id", "")
        for name in DUE:
            self.write(f"solutions/notebooks/{name}/{name}.ipynb", text)
            rule = f"[late]\nrate = {RATE}\ngrace_hours = {GRACE}\nend_hours = {END}\n"
            self.write(f"solutions/{name}/assignment.toml", rule)
            self.type("settings", name, "--due", DUE[name].isoformat())
        shutil.rmtree(classroom.source)
        self.type("collect", "w1", str(folder / "class.csv"))
        for (name, who), hours in EXTENSIONS.items():
            self.type("settings", name, "--extend", f"{hours}h", "--student", who)
        for name, who in EXCUSED:
            self.type("settings", name, "--extend", "excused", "--student", who)
        for name in ("w1", "w2", "w4", "w5", "w3"):  # the teams come last
            if name == "w3":
                self.roster("teams.csv", "id,group", *(f"{who},red" for who in TEAM))
                self.type("collect", name, str(folder / "teams.csv"))
            inbox = folder / name
            inbox.mkdir()
            for who, (_, points) in CAME[name].items():
                notebook = json.dumps(classroom.answered(**ANSWERS[points]))
                (inbox / f"{who}.ipynb").write_text(notebook)
            lines = [f"{who},{(DUE[name] + hours * HOUR).isoformat()}"
                     for who, (hours, _) in CAME[name].items()]  # fmt: skip
            self.write_at(folder / f"{name}.csv", "\n".join(["id,time", *lines]))
            self.type("collect", name, str(inbox), f"{folder}/{name}.csv")

    def roster(self, name: str, head: str, *lines: str) -> None:
        listed = {line.partition(",")[0] for line in lines}
        rest = [f"{who}," if "," in head else who for who in WHO if who not in listed]
        self.write_at(self.folder / name, "\n".join([head, *lines, *rest]))

    def write(self, name: str, text: str) -> None:
        self.write_at(self.course / name, text)

    @staticmethod
    def write_at(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")

    def type(self, *line: str) -> None:
        assert main([*line, "--root", str(self.course)]) == 0, line

    def grade(self) -> None:
        for name in DUE:
            grade(self.course, name)

    def table(self, *line: str) -> list[dict[str, str]]:
        out = self.folder / "out.csv"
        self.type("export", *line, "--output", str(out))
        with out.open(encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file))


@pytest.fixture
def term(classroom, tmp_path, quick_gradebook) -> Term:
    folder = tmp_path / "desk"
    folder.mkdir()
    made = Term(classroom, folder)
    made.grade()
    return made


def by_hand(name: str, who: str, days_left: int) -> tuple[float | None, int]:
    """Return a student's points as the guide defines them, None where open; and late days spent."""
    if (name, who) in EXCUSED:
        return None, 0
    team = TEAM if name == "w3" and who in TEAM else (who,)
    more = max(EXTENSIONS.get((name, one), 0) for one in team)
    came = [CAME[name][one] for one in team if one in CAME[name]]
    ago = (NOW - DUE[name]) / HOUR - more  # hours since the student's own deadline
    if ago <= 0 or (not came and ago <= GRACE + 24 * days_left):
        return None, 0
    if not came:
        return 0.0, 0
    hours, points = max(came)
    late = hours - more
    if late <= GRACE:
        return float(points), 0
    if late > END:
        return 0.0, 0
    needed = min(math.ceil((late - GRACE) / 24), days_left)
    left_over = late - 24 * needed
    lost = RATE * max(0, math.ceil((left_over - GRACE) / 24))
    return round(points - round(points * lost, 2), 2), needed


def recomputed(who: str) -> tuple[dict[str, float | None], float | None, str]:
    """Return a student's points by assignment, total and what is dropped."""
    days, points = BUDGET, {}
    for name in sorted(DUE, key=DUE.__getitem__):
        points[name], spent = by_hand(name, who, days)
        days -= spent
    closed = {name: value for name, value in points.items() if value is not None}
    dropped = sorted(closed, key=lambda name: (closed[name], name))[: min(DROP, len(closed) - 1)]
    kept = [value for name, value in closed.items() if name not in dropped]
    total = round(100 * sum(kept) / (MOST * len(kept)), 2) if kept else None
    return points, total, "; ".join(dropped)


def test_the_totals_are_those_of_what_is_closed(term):
    rows = {row["student_id"]: row for row in term.table("--all")}
    assert sorted(rows) == sorted(WHO)
    for who in WHO:
        points, total, dropped = recomputed(who)
        row = rows[who]
        assert row["dropped"] == dropped and float(row["total_percent"]) == total, who
        for name, value in points.items():
            expected = "EX" if (name, who) in EXCUSED else "open" if value is None else f"{value:g}"
            assert row[f"{name} (10)"] == expected, (who, name)
    # the cases that the term is made of are in it
    assert rows["ada"]["w4 (10)"] == "open"  # graded, and due in four days
    assert rows["dee"]["w5 (10)"] == "open"  # nothing came, and two late days are left
    assert rows["cy"]["w5 (10)"] == "0"  # the late days are spent
    assert rows["eve"]["w5 (10)"] == "open"  # by the extension
    assert rows["ben"]["w3 (10)"] == "4" and rows["cy"]["w3 (10)"] != "0"  # the team's file


def test_the_page_of_the_term_has_the_same_totals(term):
    count = count_term(term.course)
    for who in WHO:
        points, total, dropped = recomputed(who)
        own = count.sums[who]
        assert (own.total, "; ".join(own.dropped)) == (total, dropped)
        names = [one.name for one in count.glances]
        states = dict(zip(names, (step.state for step in count.ways[who])))
        still = {name for name, value in points.items() if value is None}
        assert {name for name, state in states.items() if state in ("open", "excused")} == still
    of_w4 = next(one for one in count.glances if one.name == "w4")
    assert (of_w4.students, of_w4.shares, of_w4.mean) == (0, (), None)


def test_what_is_open_has_no_number_in_any_table(term, capsys):
    export, folder = ["export", "w4", "--quiet"], term.folder
    for row in term.table("w4"):
        expected = "excused" if row["student_id"] == "gus" else "open"
        assert (row["status"], row["score"], row["test_square"]) == (expected, "", "")
    capsys.readouterr()
    term.type("export", "w4")
    said = capsys.readouterr().err
    assert "got 0" not in said and "open for 7 students" in said

    def text(*form: str) -> str:
        term.type(*export, "--output", str(folder / "out"), *form)
        return (folder / "out").read_text(encoding="utf-8-sig")

    scores = {
        one["student_id"]: one["score"] for one in json.loads(text("--format", "json"))["students"]
    }
    assert scores == dict.fromkeys(WHO)
    ags = [json.loads(line) for line in text("--format", "ags").splitlines()]
    assert len(ags) == 8 and not any("scoreGiven" in one for one in ags)
    assert {one["gradingProgress"] for one in ags} == {"NotReady"}
    assert {row[4] for row in csv.reader(text("--format", "moodle").splitlines()[1:])} == {""}
    of_canvas = [row for row in csv.reader(text("--format", "canvas").splitlines()[2:])]
    assert [row[2:] for row in of_canvas] == [["gus", "gus", "", "EX"]]
    lines = [f'"{who}",{n},{who},{who},S,7' for n, who in enumerate(WHO, 1)]
    head = "Student,ID,SIS User ID,SIS Login ID,Section,P (9)\nPoints Possible,,,,,10\n"
    (folder / "gradebook.csv").write_text(head + "\n".join(lines) + "\n")
    given = text(str(folder / "gradebook.csv"), "--title", "P")
    back = {row[2]: row[5] for row in csv.reader(given.splitlines()[2:])}
    assert back == {who: "EX" if who == "gus" else "7" for who in WHO}  # left as they were
    head = "Identifier,Full name,Grade,Maximum Grade,Grade can be changed,"
    head += "Last modified (submission),Last modified (grade),Feedback comments\n"
    (folder / "sheet.csv").write_text(
        head + "\n".join(f"Participant {n},{who},,10.00,Yes,-,-," for n, who in enumerate(WHO, 1))
    )
    given = text(str(folder / "sheet.csv"))
    assert {row["Grade"] for row in csv.DictReader(given.splitlines())} == {""}
    term.type("export", "--all", "--format", "canvas", "--output", str(folder / "all.csv"))
    rows = list(csv.reader((folder / "all.csv").open(newline="")))
    at = rows[0].index("Powers (w4)") if "Powers (w4)" in rows[0] else 5 + list(DUE).index("w4")
    assert {row[at] for row in rows[2:]} == {"", "EX"}


def test_report_grade_and_next_count_nobody_as_missing_who_has_time(term):
    count = count_class(term.course, "w4")
    assert count.open == sorted({*WHO} - {"gus"}) and count.excused == ["gus"]
    assert (count.students, count.missing, len(count.totals)) == (0, [], 0)
    later = count_class(term.course, "w4", now=NOW + 5 * DAY)
    # a student who has late days left has until then
    assert (later.open, len(later.totals)) == (["dee", "eve", "fay"], 2)
    assert "fay" not in count_class(term.course, "w4", now=NOW + 7 * DAY).open
    term.type("review", "w4")
    page = words((term.course / "autograder/report/w4.html").read_text())
    assert "7 still have time" in page and "Nothing submitted (" not in page
    summary = grade(term.course, "w4")
    assert summary.missing == [] and "MISSING" not in summary.counts
    assert summary.open == ["cy", "dee", "eve", "fay", "hal"]
    folders = Folders(term.course, "w4")
    said = " ".join(step.state for step in steps("w4", lambda: Stand(folders)))
    assert "nothing from" not in said and "still open for 5" in said


def test_after_the_deadline_the_same_submission_counts(term):
    """Nothing is run again, and no command has to be typed for it."""
    count = count_term(term.course, now=NOW + 9 * DAY)
    ada = count.ways["ada"][[one.name for one in count.glances].index("w4")]
    assert (ada.state, ada.share) == ("submitted", 0.2)
    assert not any(step.state == "open" for way in count.ways.values() for step in way)


def test_students_read_that_a_page_before_the_deadline_does_not_count_yet(term):
    term.type("return", "w4")
    folders = Folders(term.course, "w4")
    assert "These points do not count yet." in words(
        (folders.feedback("ada") / "w4.html").read_text()
    )
    assert not folders.feedback("hal").exists()  # nobody is told that nothing came
    assert main(["return", "w4", "--student", "hal", "--root", str(term.course)]) == 1


def test_without_a_deadline_it_is_open_until_something_comes(classroom, tmp_path, quick_gradebook):
    (tmp_path / "class.csv").write_text("id\nada\nben\n")
    root = ["--root", str(classroom.root)]
    assert main(["collect", "ps1", str(tmp_path / "class.csv"), *root]) == 0
    out = tmp_path / "out.csv"

    def scores() -> list[str]:
        assert main(["export", "ps1", "--output", str(out), *root]) == 0
        return [row["score"] for row in csv.DictReader(out.open(encoding="utf-8-sig"))]

    assert scores() == ["", ""]
    classroom.hand_in("ada")
    grade(classroom.course)
    assert scores() == ["5", "0"]


def test_an_export_without_a_number_is_not_what_points_are_compared_with(term, capsys):
    lines = [f"Participant {n},{who},,10.00,Yes,-,-," for n, who in enumerate(WHO, 1)]
    head = "Identifier,Full name,Grade,Maximum Grade,Grade can be changed,"
    head += "Last modified (submission),Last modified (grade),Feedback comments"
    (term.folder / "sheet.csv").write_text("\n".join([head, *lines]))
    term.type("export", "w4", str(term.folder / "sheet.csv"))
    term.type("export", "w3", str(term.folder / "sheet.csv"))
    for name, out in (("w4", False), ("w3", True)):
        capsys.readouterr()
        term.type("why", name, "ada")
        assert ("returned: " in capsys.readouterr().out) is out
