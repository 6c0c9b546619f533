"""The table of scores: everybody in it, numbers as numbers, nothing that a spreadsheet runs."""

from __future__ import annotations

import csv
import io

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursekit.errors import CourseError
from coursekit.grading.export import as_text, defuse, export, read_table, remarks
from coursekit.grading.late import LateRule, rule_of

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
    path, _ = export(classroom.root, classroom.name)
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
        path, _ = export(classroom.root, classroom.name, form)
        text = path.read_text(encoding="utf-8-sig")
        fields = [field for row in csv.reader(io.StringIO(text, newline="")) for field in row]
        assert not any(field.lstrip(" \n\ufeff").startswith(start.strip(" \n\ufeff") or start)
                       for field in fields if "HYPERLINK" in field)  # fmt: skip
    assert read(export(classroom.root, classroom.name)[0])[0]["first_name"] == "-1.5"


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
    path, table = export(classroom.root, classroom.name)
    rows = {row["student_id"]: (row["status"], row["score"]) for row in read(path)}
    assert rows == {
        "ada": ("PARTIAL", "6"), "int": ("INTERNAL", ""), "bad": ("MALFORMED", "0"),
        "lost": ("INTERNAL", ""), "never": ("MISSING", "0"),
    }  # fmt: skip
    said = " ".join(remarks(table))
    assert "5 students" in said and "1 student handed in nothing" in said
    assert "2 students could not be graded" in said


def test_ungraded_after_an_earlier_grade_has_no_number(classroom) -> None:
    classroom.hand_in("ada", classroom.partial(), manual=3)
    classroom.hand_in("ada", classroom.empty("INTERNAL", "ours"))
    assert read_table(classroom.root, classroom.name).rows[0].score is None


def test_written_points_count_when_somebody_gave_them(classroom) -> None:
    classroom.hand_in("ada", classroom.partial())
    row = read_table(classroom.root, classroom.name).rows[0]
    assert (row.score.total, row.score.waits, row.parts) == (3, 3, (2, 1, None))
    with classroom.gradebook() as book:
        grade = book.find_grade("words", "powers", "powers", "ada")
        grade.manual_score, grade.needs_manual_grade = 2.5, False
        book.db.commit()
    row = read_table(classroom.root, classroom.name).rows[0]
    assert (row.score.total, row.score.waits, row.parts) == (5.5, 0, (2, 1, 2.5))


def test_canvas_has_its_columns(classroom) -> None:
    classroom.hand_in("ada", classroom.partial(), first="Ada", last="Lovelace",
                      email="ada@example.org", manual=3)  # fmt: skip
    classroom.student("never")
    with classroom.gradebook() as book:
        book.update_or_create_student("ada", lms_user_id="4711")
    path, _ = export(classroom.root, classroom.name, "canvas", title="Powers (123)")
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
    path, _ = export(classroom.root, classroom.name, "moodle")
    rows = list(csv.DictReader(path.open(encoding="utf-8", newline="")))
    assert rows[0]["ID number"] == "ada" and rows[0]["Email address"] == "a@example.org"
    assert rows[0]["Assignment: powers (Real)"] == "3"
    assert "still to be read" in rows[0]["Assignment: powers (Feedback)"]
    assert rows[1]["Assignment: powers (Real)"] == ""


def test_late_penalty_counts_the_written_points_too(classroom) -> None:
    classroom.late(rate=0.1, grace_hours=1, most=0.5)
    for who, hours in (("grace", 1), ("day", 1.5), ("two", 26), ("week", 200)):
        classroom.hand_in(who, classroom.partial(), manual=3, hours_late=hours)
    rows = {row["student_id"]: row for row in read(export(classroom.root, classroom.name)[0])}
    assert {who: float(row["score"]) for who, row in rows.items()} == {
        "grace": 6, "day": 5.4, "two": 4.8, "week": 3,
    }  # fmt: skip
    assert rows["two"]["hours_late"] == "26"


def test_nbgraders_penalty_counts_without_a_rule(classroom) -> None:
    classroom.hand_in("ada", classroom.partial(), manual=3, hours_late=2)
    with classroom.gradebook() as book:
        book.find_submission_notebook("powers", "powers", "ada").late_submission_penalty = 1.5
        book.db.commit()
    score = read_table(classroom.root, classroom.name).rows[0].score
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
            rule_of(classroom.folders.source)


def test_nbgraders_own_step_uses_the_plugin(classroom) -> None:
    """nbgrader's preprocessor with our plugin writes what the rule says."""
    from nbformat import v4
    from nbgrader.preprocessors.latesubmissions import AssignLatePenalties
    from traitlets.config import Config

    classroom.late(rate=0.5)
    classroom.hand_in("ada", classroom.partial(), manual=3, hours_late=2)
    config = Config()
    config.AssignLatePenalties.plugin_class = "coursekit.grading.late_plugin.DailyPenalty"
    config.DailyPenalty.solutions = str(classroom.folders.source.parent)
    about = {"notebook": "powers", "assignment": "powers", "student": "ada",
             "db_url": classroom.folders.database}  # fmt: skip
    AssignLatePenalties(config=config).preprocess(v4.new_notebook(), {"nbgrader": about})
    with classroom.gradebook() as book:
        assert book.find_submission("powers", "ada").late_submission_penalty == 3


def test_says_what_is_wrong(classroom) -> None:
    with pytest.raises(CourseError, match="nobody to export"):
        export(classroom.root, classroom.name)
    with pytest.raises(CourseError, match="no assignment"):
        export(classroom.root, "cubes")
    classroom.student("ada")
    with pytest.raises(CourseError, match="csv, canvas, moodle"):
        export(classroom.root, classroom.name, "xls")
