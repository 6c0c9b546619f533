"""The table of scores: everybody in it, numbers as numbers, nothing that a spreadsheet runs."""

from __future__ import annotations

import csv
import io
import json

import pandas
import pytest
from helpers import unpacked, words
from hypothesis import given
from hypothesis import strategies as st

from coursekit._base.errors import CourseError
from coursetools.cli import main
from coursetools.grading.results.class_count import count_class
from coursetools.grading.results.export import export, read_table, remarks
from coursetools.grading.results.feedback import write_feedback
from coursetools.grading.results.report import report_page
from coursetools.grading.results.table import as_text, defuse, remark
from coursetools.grading.results.term import read_term
from coursetools.grading.results.term_count import count_term
from coursetools.settings.late_rule import LateRule, rule_of

NAMES = {
    "comma": ("Ann, the", "O'Neil"),
    "quote": ('Bob "Bobby"', "Tables"),
    "newline": ("Line\nbreak", "Cr\r\nLf"),
    "chinese": ("雷", "李"),
    "rtl": ("محمد", "‏الخوارزمي"),
    "accents": ("Zoë", "Müller-Łukasiewicz"),
    "emoji": ("👩‍🔬", "Curie"),
}


def read(path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_odd_names_come_back_as_they_were(classroom) -> None:
    for student, (first, last) in NAMES.items():
        classroom.hand_in(student, classroom.partial(), first=first, last=last, manual=2)
    path, _ = export(classroom.course, classroom.name)
    rows = {row["student_id"]: row for row in read(path)}
    frame = pandas.read_csv(path).set_index("student_id")
    for student, (first, last) in NAMES.items():
        assert (rows[student]["first_name"], rows[student]["last_name"]) == (first, last)
        assert (frame.first_name[student], frame.last_name[student]) == (first, last)
        assert float(rows[student]["score"]) == frame.score[student] == 5
    assert frame.score.dtype.kind in "if" and frame.max_score.unique() == [9]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", " =", "\n=", "＝", "\ufeff="])
def test_formula_is_text(classroom, start: str) -> None:
    name = f"{start}HYPERLINK(1)"
    classroom.hand_in("eve", classroom.partial(), last=name, first="-1.5")
    for form in ("csv", "canvas", "moodle"):
        path, _ = export(classroom.course, classroom.name, form)
        text = path.read_text(encoding="utf-8-sig")
        fields = [field for row in csv.reader(io.StringIO(text, newline="")) for field in row]
        assert not any(field.lstrip(" \n\ufeff").startswith(start.strip(" \n\ufeff") or start)
                       for field in fields if "HYPERLINK" in field)  # fmt: skip
    assert read(export(classroom.course, classroom.name)[0])[0]["first_name"] == "-1.5"


def test_negative_numbers_stay_numbers() -> None:
    assert defuse("-3.5") == "-3.5" and defuse("-") == "'-" and defuse("-2+3") == "'-2+3"
    assert as_text(iter([[-3.5, "-3.5", None, 2.0]])) == '-3.5,"-3.5","",2\r\n'


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), min_size=1))
def test_any_text_comes_back(cells: list[str]) -> None:
    cells = [cell.replace("\0", "") for cell in cells]
    back = next(csv.reader(io.StringIO(as_text(iter([cells])), newline="")))
    assert [cell.removeprefix("'") if cell != kept else cell for cell, kept in zip(back, cells)] \
        == cells  # fmt: skip
    assert not any(cell[:1] in tuple("=+@\t\r") for cell in back if cell)


def test_everybody_has_a_row_and_ungraded_ones_no_number(classroom) -> None:
    classroom.hand_in("ada", classroom.partial(), manual=3)
    classroom.hand_in("int", classroom.empty("INTERNAL", "ours"))
    classroom.hand_in("bad", classroom.empty("MALFORMED", "not JSON"))
    classroom.hand_in("lost", classroom.partial(), gradebook=False)  # graded, not written down
    classroom.student("never")
    path, table = export(classroom.course, classroom.name)
    rows = {row["student_id"]: (row["status"], row["score"]) for row in read(path)}
    assert rows == {
        "ada": ("PARTIAL", "6"), "int": ("INTERNAL", ""), "bad": ("MALFORMED", "0"),
        "lost": ("INTERNAL", ""), "never": ("MISSING", "0"),
    }  # fmt: skip
    said = " ".join(remarks(table))
    assert "5 students" in said and "1 student submitted nothing" in said
    assert "2 students could not be graded" in said


def test_ungraded_after_an_earlier_grade_has_no_number(classroom) -> None:
    classroom.hand_in("ada", classroom.partial(), manual=3)
    classroom.hand_in("ada", classroom.empty("INTERNAL", "ours"))
    assert read_table(classroom.course, classroom.name).rows[0].score is None


def test_written_points_count_when_somebody_gave_them(classroom) -> None:
    classroom.hand_in("ada", classroom.partial())
    row = read_table(classroom.course, classroom.name).rows[0]
    assert (row.score.total, row.score.waits, row.parts) == (3, 3, (2, 1, None))
    with classroom.gradebook() as book:
        grade = book.find_grade("words", "powers", "powers", "ada")
        grade.manual_score, grade.needs_manual_grade = 2.5, False
        book.db.commit()
    row = read_table(classroom.course, classroom.name).rows[0]
    assert (row.score.total, row.score.waits, row.parts) == (5.5, 0, (2, 1, 2.5))


def test_canvas_has_its_columns(classroom) -> None:
    classroom.hand_in("ada", classroom.partial(), first="Ada", last="Lovelace",
                      email="ada@example.org", manual=3)  # fmt: skip
    classroom.student("never")
    with classroom.gradebook() as book:
        book.update_or_create_student("ada", lms_user_id="4711")
    path, _ = export(classroom.course, classroom.name, "canvas", title="Powers (123)")
    rows = list(csv.reader(path.open(encoding="utf-8", newline="")))
    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Powers (123)"],
        ["    Points Possible", "", "", "", "", "9"],
        ["Lovelace, Ada", "4711", "ada", "ada@example.org", "", "6"],
        ["never", "", "never", "never", "", "0"],
    ]


def test_moodle_has_its_columns(classroom) -> None:
    classroom.hand_in("ada", classroom.partial(), first="Ada", email="a@example.org")
    classroom.hand_in("int", classroom.empty("INTERNAL", "ours"))
    path, _ = export(classroom.course, classroom.name, "moodle")
    rows = list(csv.DictReader(path.open(encoding="utf-8", newline="")))
    assert rows[0]["ID number"] == "ada" and rows[0]["Email address"] == "a@example.org"
    assert rows[0]["Assignment: powers (Real)"] == "3"
    assert "not marked yet" in rows[0]["Assignment: powers (Feedback)"]
    assert rows[1]["Assignment: powers (Real)"] == ""


def test_late_penalty_counts_the_written_points_too(classroom) -> None:
    classroom.late(rate=0.1, grace_hours=1, most=0.5)
    for who, hours in (("grace", 1), ("day", 1.5), ("two", 26), ("week", 200)):
        classroom.hand_in(who, classroom.partial(), manual=3, hours_late=hours)
    rows = {row["student_id"]: row for row in read(export(classroom.course, classroom.name)[0])}
    assert {who: float(row["score"]) for who, row in rows.items()} == {
        "grace": 6, "day": 5.4, "two": 4.8, "week": 3,
    }  # fmt: skip
    assert rows["two"]["hours_late"] == "26"


def test_nbgraders_penalty_counts_without_a_rule(classroom) -> None:
    classroom.hand_in("ada", classroom.partial(), manual=3, hours_late=2)
    with classroom.gradebook() as book:
        book.find_submission_notebook("powers", "powers", "ada").late_submission_penalty = 1.5
        book.db.commit()
    score = read_table(classroom.course, classroom.name).rows[0].score
    assert (score.penalty, score.total) == (1.5, 4.5)


@given(st.floats(0, 1e6), st.floats(0, 1e9), st.floats(0, 1), st.floats(0, 1), st.floats(0, 100))
def test_penalty_lies_between_nothing_and_all(score, late, rate, most, grace) -> None:
    rule = LateRule(rate=rate, most=most, grace_hours=grace)
    lost = rule.penalty(score, late)
    assert 0 <= lost <= score + 0.005
    assert rule.penalty(score, late + 86400) >= lost


def test_rule_is_checked_when_read(classroom) -> None:
    for wrong in ({"rate": -1}, {"rate": 2}, {"rat": 0.1}, {"rate": '"x"'}, {"rate": "nan"}):
        classroom.late(**wrong)
        with pytest.raises(CourseError, match=r"assignment\.toml.*\[late\]"):
            rule_of(classroom.folders.private)


def test_nbgraders_own_step_uses_the_plugin(classroom) -> None:
    """nbgrader's preprocessor with our plugin writes what the rule says."""
    from nbformat import v4
    from nbgrader.preprocessors.latesubmissions import AssignLatePenalties
    from traitlets.config import Config

    classroom.late(rate=0.5)
    classroom.hand_in("ada", classroom.partial(), manual=3, hours_late=2)
    config = Config()
    config.AssignLatePenalties.plugin_class = "coursetools.grading.late_plugin.DailyPenalty"
    config.DailyPenalty.solutions = str(classroom.folders.private.parent)
    about = {"notebook": "powers", "assignment": "powers", "student": "ada",
             "db_url": classroom.folders.database}  # fmt: skip
    AssignLatePenalties(config=config).preprocess(v4.new_notebook(), {"nbgrader": about})
    with classroom.gradebook() as book:
        assert book.find_submission("powers", "ada").late_submission_penalty == 3


def test_says_what_is_wrong(classroom) -> None:
    with pytest.raises(CourseError, match="no students to export"):
        export(classroom.course, classroom.name)
    with pytest.raises(CourseError, match="No assignment"):
        export(classroom.course, "cubes")
    classroom.student("ada")
    with pytest.raises(CourseError, match="csv, json, canvas, moodle, worksheet"):
        export(classroom.course, classroom.name, "xls")


def test_json_has_everything(classroom) -> None:
    classroom.late(rate=0.1)
    classroom.hand_in("ada", classroom.partial(), first='=Ada "', manual=3, hours_late=1)
    classroom.hand_in("int", classroom.empty("INTERNAL", "ours"))
    classroom.student("never")
    path, _ = export(classroom.course, classroom.name, "json")
    assert path.name == "powers.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    assert list(data) == ["assignment", "title", "max_score", "parts", "students"]
    assert (data["assignment"], data["title"], data["max_score"]) == (
        "powers", "Powers of numbers", 9,
    )  # fmt: skip
    ada, ungraded, never = data["students"]
    assert ada == {
        "student_id": "ada", "last_name": "", "first_name": '=Ada "', "email": "", "lms_id": "",
        "status": "PARTIAL", "submitted": "2026-11-20 13:00:00+00:00", "hours_late": 1.0,
        "late_days": None,
        "auto_points": 3.0, "written_points": 3.0, "late_penalty": 0.6, "score": 5.4,
        "waits_for_human": 0.0, "parts": {"test_square": 2.0, "test_cube": 1.0, "words": 3.0},
    }  # fmt: skip
    assert (ungraded["status"], ungraded["score"]) == ("INTERNAL", None)
    assert (never["status"], never["score"], never["submitted"]) == ("MISSING", 0, None)


def test_a_time_that_nobody_says_is_no_number(classroom) -> None:
    classroom.hand_in("ada", classroom.partial(), manual=3)
    with classroom.gradebook() as book:
        book.find_submission("powers", "ada").timestamp = None
        book.update_or_create_assignment("powers", duedate="2026-11-20T12:00:00")
        book.db.commit()
    path, table = export(classroom.course, classroom.name)
    assert (read(path)[0]["hours_late"], read(path)[0]["score"]) == ("", "6")
    assert "time of submission unknown for 1 student, so no late penalty" in " ".join(
        remarks(table)
    )


CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Squares (90),Powers (91),Final Score\r\n"
    ",,,,,,Manual Posting,(read only)\r\n"
    "    Points Possible,,,,,5,9,\r\n"
    '"Lovelace, Ada",4711,ada,al@uni.edu,Monday,4,,44\r\n'
    '"Hopper, Grace",0012,,grace,Monday,,2,\r\n'
    '"Stranger, A",77,S77,s77,Monday,,3,\r\n'
    '"Student, Test",9,,f00,Monday,,,\r\n'
)


def test_canvas_gets_its_own_table_back(classroom, tmp_path) -> None:
    """With the number of the assignment, all that Canvas knows people by, and nothing else."""
    classroom.hand_in("ada", classroom.partial(), manual=3)
    classroom.hand_in("grace", classroom.partial(right=("square", "cube")), manual=1)
    classroom.hand_in("ben", classroom.partial(), manual=3)
    given = tmp_path / "gradebook.csv"
    given.write_text(CANVAS, encoding="utf-8")
    path, table = export(classroom.course, classroom.name, "canvas", into=given, title="Powers")
    assert list(csv.reader(path.open(encoding="utf-8", newline=""))) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Powers (91)"],
        ["", "", "", "", "", "Manual Posting"],
        ["    Points Possible", "", "", "", "", "9"],
        ["Lovelace, Ada", "4711", "ada", "al@uni.edu", "Monday", "6"],
        ["Hopper, Grace", "0012", "", "grace", "Monday", "7"],
        ["Stranger, A", "77", "S77", "s77", "Monday", "3"],
        ["Student, Test", "9", "", "f00", "Monday", ""],
    ]
    said = " ".join(table.notes)
    assert (
        "line 6: S77 is not on the class list" in said and "no line in gradebook.csv: 1 (" in said
    )
    with pytest.raises(CourseError, match=r"no assignment called 'Cubes'.*'Squares \(90\)'"):
        export(classroom.course, classroom.name, "canvas", into=given, title="Cubes")
    given.write_text(CANVAS.replace("Squares (90)", "Powers (90)"), encoding="utf-8")
    with pytest.raises(CourseError, match="several assignments called 'Powers'"):
        export(classroom.course, classroom.name, "canvas", into=given, title="Powers")
    given.write_text(CANVAS.replace("S77", "xyz").replace(",ada,", ",pqr,"), encoding="utf-8")
    _, table = export(classroom.course, classroom.name, "canvas", into=given, title="Powers")
    strangers = f"{given}: not on the class list, so unchanged: 2 (pqr, xyz)"
    assert [one for one in table.notes if "class list" in one] == [strangers]
    given.write_text(CANVAS.replace("Squares (90)", "Powers (90)"), encoding="utf-8")
    path, _ = export(classroom.course, classroom.name, "canvas", into=given, title="Powers (91)")
    assert "Powers (91)" in path.read_text() and "Powers (90)" not in path.read_text()


def test_canvas_without_a_number_is_said(classroom) -> None:
    classroom.hand_in("ada", classroom.partial(), manual=3)
    _, table = export(classroom.course, classroom.name, "canvas", title="Powers")
    assert "coursekit export powers FILE" in table.notes[0]
    _, table = export(classroom.course, classroom.name, "canvas", title="Powers (91)")
    assert table.notes == (
        "Canvas sets the assignment's points to 9, as in the line Points Possible",
    )


WORKSHEET = (
    "\ufeffIdentifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\r\n"
    'Participant 501,Ada L,ada@uni.edu,"Submitted for grading - ",,9.00,Yes,'
    '"Thursday, 1 October 2026, 2:14 PM","Friday, 2 October 2026, 1:00 PM",\r\n'
    "Participant 502,Bob B,bob@uni.edu,Submitted for grading - ,1.00,8.00,Yes,-,-,\r\n"
    "Participant 503,Cy T,cy@uni.edu,No submission - ,3.00,9.00,No,-,-,kept\r\n"
    "Participant 504,Dee D,dee@uni.edu,No submission - ,,9.00,Yes,-,-,\r\n"
)


def test_moodles_worksheet_comes_back_with_grades(classroom, tmp_path) -> None:
    classroom.hand_in("a1", classroom.partial(), email="ada@uni.edu", manual=3)
    classroom.hand_in("b2", classroom.partial(), first="Bob", last="B")
    classroom.student("c3", "Cy", "T", "cy@uni.edu")
    folder = classroom.folders.attempts("b2") / "x"  # as `collect` has kept it
    folder.mkdir(parents=True)
    about = {"time": None, "seen": "2026-10-01T00:00:00+00:00", "lms": "502"}
    (folder / "attempt.json").write_text(json.dumps(about))
    classroom.folders.submitted("b2").mkdir(parents=True)
    given = tmp_path / "Grades.csv"
    given.write_text(WORKSHEET, encoding="utf-8")
    path, table = export(classroom.course, classroom.name, "worksheet", into=given)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf") and b"\r\n" in path.read_bytes()
    before = list(csv.DictReader(io.StringIO(WORKSHEET[1:], newline="")))
    after = read(path)
    assert [row["Grade"] for row in after] == ["6", "3", "3.00", ""]
    assert [row["Feedback comments"] for row in after[::2]] == ["6 of 9 points.", "kept"]
    for old, new in zip(before, after, strict=True):
        for column in set(old) - {"Grade", "Feedback comments"}:
            assert old[column] == new[column], column
    said = " ".join(table.notes)
    assert "line 4: this grade is locked in Moodle" in said and "line 5: dee@uni.edu is not" in said
    assert "the assignment is worth 8.00 points in Moodle and 9 here" in said


@pytest.mark.parametrize(
    ("form", "text", "said"),
    [
        ("canvas", WORKSHEET, "is not Canvas's gradebook"),
        ("worksheet", CANVAS, "is not Moodle's grading worksheet"),
        ("worksheet", None, "download it from Moodle"),
        ("csv", CANVAS, "only Canvas's gradebook and Moodle's"),
        ("canvas", "", "is empty; its first line should be: Student,ID"),
    ],
)
def test_a_table_that_is_not_the_platforms(classroom, tmp_path, form, text, said) -> None:
    classroom.hand_in("ada", classroom.partial())
    path = tmp_path / "table.csv"
    path.write_text(text or "", encoding="utf-8")
    with pytest.raises(CourseError, match=said):
        export(classroom.course, classroom.name, form, into=None if text is None else path)


def test_who_is_not_graded_yet_has_no_number(classroom, capsys, read_page) -> None:
    classroom.hand_in("ada", classroom.partial(), manual=3)
    classroom.hand_in("bob", classroom.empty("MISSING", "no file"))
    for who in ("cy", "never"):
        classroom.student(who)
    for who in ("ada", "bob", "cy"):  # another attempt, the first one, and that of somebody new
        unpacked(classroom.folders.submitted(who), {"powers.ipynb": "{}"})
    table = read_table(classroom.course, classroom.name)
    found = {row.student.id: (row.status, row.score and row.score.total) for row in table.rows}
    assert found == {
        "ada": ("PARTIAL", 6), "bob": ("not graded", None), "cy": ("not graded", None),
        "never": ("MISSING", 0),
    }  # fmt: skip
    said = remarks(table)
    what = "submitted but not graded yet, so without a score: 2 (bob, cy); run coursekit grade"
    assert f"{what} powers" in said and "1 student submitted nothing and got 0" in said
    again = "submitted again since the score in the table: 1 (ada); run coursekit grade powers"
    assert again in said and not any("could not be graded" in one for one in said)
    comments = {row.student.id: remark(row, table) for row in table.rows}
    assert comments["cy"] == "Not graded yet." and "newer submission is not" in comments["ada"]
    path, _ = export(classroom.course, classroom.name, "ags")
    assert json.loads(path.read_text().splitlines()[2])["gradingProgress"] == "Pending"

    term = read_term(classroom.course)
    assert {who: own.total for who, own in term.sums.items()} == {
        "ada": 66.67, "bob": None, "cy": None, "never": 0,
    }  # fmt: skip
    assert f"powers: {again}" in term.notes
    assert [count_term(classroom.course).ways[who][0].state for who in ("cy", "never")] == [
        "not graded", "missing",
    ]  # fmt: skip
    count = count_class(classroom.course, classroom.name)
    assert (count.students, count.handed_in, count.missing) == (4, 3, ["never"])
    waiting = {one.student: one.what for one in count.concerns["ungraded"]}
    assert waiting["ada"] == "submitted again since it was graded"
    assert waiting["bob"] == waiting["cy"] == "submitted, but not graded yet"
    assert main(["return", "powers", "--root", str(classroom.root)]) == 0
    assert "submitted but not graded yet: 3 (ada, bob, cy); run" in capsys.readouterr().out
    pages = {who: read_page(classroom.folders.feedback(who) / "powers.html") for who in found}
    assert "We have your notebook. It is not graded yet" in pages["cy"]
    assert "We have your notebook" in pages["bob"] and "We have no notebook" in pages["never"]
    assert "this page is about the one before it" in pages["ada"]


def test_another_assignments_notebook_is_no_missing_one(classroom, read_page) -> None:
    """What the engine says of it (test_engine.py) is what everybody reads."""
    reason = "This is the notebook “Roots”, not that of powers: submit that of powers."
    classroom.hand_in("ada", classroom.empty("MALFORMED", reason))
    (row,) = (table := read_table(classroom.course, classroom.name)).rows
    assert (row.status, row.score.total) == ("MALFORMED", 0)
    assert remark(row, table) == "0 of 9 points. The file could not be graded."
    assert not any("nothing" in one for one in remarks(table))
    assert reason in words(report_page(count_class(classroom.course, classroom.name)))
    write_feedback(classroom.course, classroom.name)
    assert reason in words(read_page(classroom.folders.feedback("ada") / "powers.html"))


def test_other_points_in_canvas_are_said(classroom, tmp_path) -> None:
    classroom.hand_in("ada", classroom.partial(), manual=3)
    given = tmp_path / "gradebook.csv"
    said = {}
    for theirs in ("9", "9,0", "10"):
        line = f'"    Points Possible",,,,,,"{theirs}",'
        head, _, *people = CANVAS.splitlines()[1:]
        given.write_text("\r\n".join([CANVAS.splitlines()[0], head, line, *people]))
        _, table = export(classroom.course, classroom.name, "canvas", into=given, title="Powers")
        said[theirs] = [one for one in table.notes if "is worth" in one]
    what = "the assignment is worth 10 points in Canvas and 9 here: change it in Canvas first"
    assert said == {"9": [], "9,0": [], "10": [what]}


def test_points_set_by_hand_without_a_hand_in_are_said(classroom) -> None:
    classroom.hand_in("ada", classroom.partial(), manual=3)
    for who in ("bob", "never"):
        classroom.student(who)
    (classroom.folders.class_folder / "overrides.csv").write_text(
        "assignment,question,student,points,why,by,time\npowers,test_cube,bob,3,told me,,\n"
    )
    table = read_table(classroom.course, classroom.name)
    comments = {row.student.id: remark(row, table) for row in table.rows}
    assert comments["bob"] == "Nothing was submitted. 3 points were set by hand."
    assert comments["never"] == "Nothing was submitted."
    said = remarks(table)
    assert "1 student submitted nothing and got 0" in said
    assert "submitted nothing, with points set by hand: 1 (bob)" in said


def test_canvas_and_a_whole_term(classroom, capsys) -> None:
    classroom.hand_in("ada", classroom.partial(), manual=3)
    classroom.hand_in("int", classroom.empty("INTERNAL", "ours"))
    assert main(["export", "--all", "--format", "canvas", "--root", str(classroom.root)]) == 0
    said = capsys.readouterr().err
    assert "makes new ones" in said and "export NAME FILE" in said
    assert "1 cell without a score is empty: an empty cell deletes the score in Canvas" in said
    assert "those in the line Points Possible" in said
