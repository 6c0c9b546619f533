"""The week around a grade, walked by the commands that a teaching assistant types."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from coursetools.course import Course
from coursetools.grading.records.regrade_requests import read_requests

pytestmark = pytest.mark.usefixtures("quick_gradebook")


def test_a_week(real_week):
    week = real_week
    said = week.type("grade ps1")
    assert "3 graded, 0 unchanged" in said and "have gone out" not in said
    first = "No feedback or scores of ps1 have been returned before; all 4 pages are new.\n"
    assert week.type("return ps1").startswith(first)  # the pages to look at, which are not sent
    week.mark("ben", 0.0)
    assert week.type("return ps1 --to plain").startswith(first)
    same = "No student's points differ from what was returned last.\n"
    assert week.type("return ps1 --to plain").startswith(same)

    week.master("cube(2) == 9", "cube(2) == 8")
    said = week.type("grade ps1")
    assert "2 students differ from what was returned last, by +3 points: ada, cy; " in said
    table = [line.split("  ") for line in week.type("why ps1").partition("\n\n")[0].splitlines()]
    rows = [[cell.strip() for cell in row if cell.strip()] for row in table]
    assert ["ada", "test_cube", "0", "3", "test changed"] in rows
    assert ["ada", "total", "2 of 10", "5 of 10"] in rows

    said = week.type("override ps1 square 1.5 --student cy --why", "The text was unclear.")
    assert "test_square, 1 (cy): 1.5 of 2 points; this changes the points of 1 student" in said
    assert "by +3 to +4.5 points" in said
    assert "override, 1.5: The text was unclear." in week.type("why ps1")
    said = week.type("return ps1 --to plain")
    assert said.startswith("2 students differ from what was returned last, by +3 to +4.5 points")
    assert "The points were set for you. Why: The text was unclear." in week.page("cy")
    assert "No student's points differ from what was returned last" in week.type("why ps1")

    told = week.type("why ps1 cy")
    assert [line.split("  ")[1] for line in told.splitlines() if " UTC  " in line] == [
        "grade", "return", "return", "grade", "override", "override", "return",
    ]  # fmt: skip
    assert "0 of 10: test_square 0, test_cube 0, why 0" in told
    assert "test_cube 0 → 3 (test changed)" in told
    assert "test_square 0 → 1.5 (override, 1.5: The text was unclear.)" in told
    assert "returned: 4.5 of 10" in told

    log = week.type("why ps1").partition("what was done:\n")[2].splitlines()
    assert [line.split("  ")[2] for line in log] == [
        "collect", "grade", "marked", "return", "return", "grade", "override", "return",
    ]  # fmt: skip


def test_an_override_stands_everywhere_and_goes_away_again(week):
    week.type("grade ps1")
    week.mark("ben", 2.0)
    before, shown = week.scores(), week.formgrader("ben")
    assert before["ben"] == ("4", "10", "2", "0", "2") and before["mia"][0] == "0"

    week.type("override ps1 why full --why", "Nobody could know.")
    week.type("override ps1 why 4 --student ben --why", "It was nearly right.")
    assert week.scores() == {
        "ada": ("10", "10", "2", "3", "5"),
        "ben": ("6", "10", "2", "0", "4"),
        "cy": ("8", "10", "0", "3", "5"),
        "mia": ("0", "10", "", "", ""),  # who submitted nothing gets nothing
    }
    assert week.formgrader("ada")["why"][:2] == (5, 5)
    points, most, said = week.formgrader("ben")["why"]
    assert (points, most) == (4, 5) and "Why: It was nearly right." in said
    assert "marked" in week.type("why") and "ben" in week.type("why")

    week.classroom.hand_in("mia")  # later: everybody's holds for her too
    assert "1 graded" in week.type("grade ps1")
    assert week.scores()["mia"] == ("10", "10", "2", "3", "5")

    week.mark("ben", 1.0)  # over the override: known when that goes
    week.type("override ps1 why none --student ben")
    week.type("override ps1 why none")
    del before["mia"]
    after = week.scores()
    assert after.pop("mia") == ("5", "10", "2", "3", "0")
    assert after == before | {"ben": ("3", "10", "2", "0", "1")}
    assert week.formgrader("ben") == shown | {"why": (1, 5, "")}
    assert "0 graded, 4 unchanged" in week.type("grade ps1")


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_set_and_taken_back_leaves_the_points_as_they_were(week, seed):
    dice = random.Random(seed)
    most = {"test_square": 2, "test_cube": 3, "why": 5}
    week.type("grade ps1")
    week.mark("ben", 2.0)
    week.mark("cy", 0.5, "test_cube")
    before = week.scores()
    shown = {who: week.formgrader(who) for who in ("ada", "ben", "cy")}
    rows = {}
    for _ in range(6):
        cell, who = dice.choice([*most]), dice.choice(["", "", "ada", "ben", "cy"])
        points = dice.choice(["full", "keep", "0", "1.5"])
        student = ["--student", who] if who else []
        week.type(f"override ps1 {cell} {points} --why x", *student)
        rows[cell, who] = points
        now = week.scores()
        for one, (score, _, *parts) in now.items():
            expected = list(before[one][2:])
            for at, name in enumerate(most):
                held = rows.get((name, one), rows.get((name, ""), "keep"))
                if held != "keep" and one != "mia":
                    expected[at] = str(most[name]) if held == "full" else held
            assert parts == expected
            assert float(score) == sum(float(part or 0) for part in parts)
            if one != "mia":
                points_shown = {name: mark[0] for name, mark in week.formgrader(one).items()}
                assert sum(points_shown.values()) == float(score)
    for cell, who in dice.sample(sorted(rows), len(rows)):
        week.type(f"override ps1 {cell} none", *(["--student", who] if who else []))
    assert week.scores() == before
    assert {who: week.formgrader(who) for who in shown} == shown


def test_a_dropped_question_leaves_the_maximum(week):
    week.type("grade ps1")
    before = week.scores()
    week.type("override ps1 cube drop --why", "It has no answer.")
    assert week.scores()["ada"] == ("2", "7", "2", "", "0")
    assert week.formgrader("ada")["test_cube"][:2] == (0, 0)
    week.type("return ps1")
    assert "2 of 7 points" in week.page("ada") and "does not count" in week.page("ada")
    week.type("override ps1 cube none")
    assert week.scores() == before and week.formgrader("ada")["test_cube"][:2] == (3, 3)
    week.type("override ps1 cube drop --student ada --why", "She was ill.")
    assert week.scores()["ada"] == ("2.86", "10", "2", "", "0")  # 2 of 7
    assert "1 (ada) a question was dropped" in week.type("export ps1")
    assert week.scores()["ben"] == before["ben"]


def test_the_table_can_be_edited_and_what_is_wrong_is_named(week):
    week.type("grade ps1")
    week.type("override ps1 cube full --why", "It was wrong.")
    path = week.root / "autograder" / "overrides.csv"
    path.write_text(path.read_text().replace("full", "1").replace(",", ";"))
    said = week.type("grade ps1")
    assert "0 graded, 3 recomputed without a rerun" in said
    assert week.scores()["ada"][3] == "1" and week.formgrader("ada")["test_cube"][0] == 1
    with path.open("a") as file:
        file.write("ps1;test_cubes;*;full;why;;\nps1;test_cube;eve;full;why;;\n")
    said = week.type("grade ps1")
    assert "overrides.csv: test_cubes is not a question of ps1\n" in said
    assert "overrides.csv: eve is not in the class" in said and "test_cube is no" not in said
    path.write_text(path.read_text().replace(";1;", ";much;"))
    said = week.type("grade ps1", code=1)
    assert "line 2: 'much' should be full, drop, keep or a number from 0" in said


def test_an_override_is_for_all_students_behind_the_option(week):
    week.type("grade ps1")
    before = week.scores()
    week.type("override ps1 why full --student ada ben --why", "Both were right.")
    now = week.scores()
    assert [now[who][4] for who in ("ada", "ben", "cy")] == ["5", "5", before["cy"][4]]
    week.type("override ps1 why none --student ada ben")
    assert week.scores() == before


def test_what_cannot_be_is_said_in_a_sentence(week):
    week.type("grade ps1")
    for command, said in (
        (
            "override ps1 cubes full --why x",
            "No question cubes. Did you mean cube?",
        ),
        ("override ps1 cube 4 --why x", "should be full, drop, keep or a number from 0 to 3"),
        ("override ps1 cube nan --why x", "should be full, drop"),
        ("override ps1 cube remove --why x", "or none to remove an override"),
        ("override ps1 cube full", "an override needs a reason"),
        (
            "override ps1 cube full --student bem --why x",
            "No student bem. Did you mean ben?",
        ),
        ("override ps1 cube none", "there is no override of test_cube for everyone in ps1"),
        ("why ps1 bem", "No student bem. Did you mean ben?"),
    ):
        assert said in week.type(command, code=1)
    assert "POINTS" in week.type("override ps1 cube", code=2)
    assert "No feedback or scores of ps1 have been returned yet." in week.type("why ps1")
    assert not (week.root / "autograder" / "overrides.csv").exists()


def test_a_request_is_listed_until_it_is_answered(week, tmp_path):
    week.type("grade ps1")
    week.type("return ps1 --to plain --force")
    line = "ada,test_square,"
    assert line in week.page("ada")
    table = tmp_path / "asked.csv"
    table.write_text(
        f'id,question,text\n{line}"Is it <b>not</b> right, really?"\nben,cube,Mine too\n'
        "eve,cube,x\nben,cubes,x\n"
    )
    said = week.type(f"collect ps1 {table}")
    assert "requests: 2 new" in said and "line 4: 'eve' is not in the class" in said
    assert "line 5: No question cubes. Did you mean cube?" in said
    assert "requests: 0 new" in week.type(f"collect ps1 {table}")
    report = Path(week.type("review ps1 --quiet").splitlines()[0])
    text = report.read_text()
    assert "Regrade requests (2)" in text
    assert "Is it &lt;b&gt;not&lt;/b&gt; right, really?" in text
    week.type("override ps1 square keep --student ada --why", "Nine is what it should be.")
    week.type("override ps1 cube full --student ben --why", "You are right.")
    week.type("review ps1")
    assert "Regrade requests" not in report.read_text()
    said = week.type("return ps1 --to plain --force")
    assert said.startswith("1 student differs from what was returned last, by +3 points: ben")
    page = week.page("ada")
    assert "the points stay. Why: Nine is what it should be." in page
    assert week.scores()["ada"][2] == "2"
    assert "asked         test_square: Is it" in week.type("why ps1 ada")
    table.write_text("id,question\nada,square\n")
    said = week.type(f"collect ps1 {table}", code=1)
    assert "its columns are id, question; expected" in said


def test_a_request_goes_on_behind_its_commas(week, tmp_path):
    """Students write on in the line that their page has given them, and know of no quotes."""
    text = "Ich denke, der Test ist falsch, weil 3 · 3 = 9"
    for comma, end in ((",", ""), (",", ",,"), (";", ";")):
        lines = [f"id,question,text{end}", f"ada,test_square,{text}{end}"]
        (tmp_path / "asked.csv").write_text("\n".join(lines).replace(",", comma))
        week.type(f"collect ps1 {tmp_path / 'asked.csv'}")
    requests = read_requests(Course(week.root), "ps1")
    assert [one.text for one in requests] == [text, text.replace(",", ";")]


def test_a_lost_gradebook_loses_no_override_and_nothing_below_it(week):
    week.type("grade ps1")
    week.mark("ben", 2.0)
    week.type("override ps1 why full --why", "Nobody could know.")
    before, shown = week.scores(), week.formgrader("ben")
    for file in (week.root / "autograder").glob("gradebook.db*"):
        file.unlink()
    assert "the gradebook is new or missing" in week.type("grade ps1")
    assert week.scores() == before and week.formgrader("ben") == shown
    week.type("override ps1 why none")
    assert week.scores()["ben"] == ("4", "10", "2", "0", "2")


def test_the_log_is_lines_of_json_that_survive_a_cut(week):
    week.type("grade ps1")
    path = week.root / "autograder" / "log.jsonl"
    with path.open("a") as file:
        file.write('{"time": "2026')  # a power cut
    week.type("export ps1")
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
    assert [one["action"] for one in lines] == ["collect", "grade", "export"]
    assert all(one["by"] and one["time"].endswith("Z") for one in lines)
    assert len(week.type("why").splitlines()) == 3
