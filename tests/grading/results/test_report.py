"""The instructor's page: its numbers are the class's, its lists name whoever needs a human."""

from __future__ import annotations

import dataclasses
from array import array
from datetime import datetime

import pytest
from helpers import words

from coursekit._base.errors import CourseError
from coursetools.grading.records.ledger import Ledger
from coursetools.grading.records.verdict_files import Entry
from coursetools.grading.results.class_count import count_class, histogram
from coursetools.grading.results.report import write_report

DUE = datetime(2026, 11, 20, 12, 0)


def test_numbers_are_those_of_the_class(classroom, read_page) -> None:
    for position in range(6):
        classroom.hand_in(f"weak{position}", classroom.partial(), manual=1)
    for position in range(4):
        strong = classroom.partial(right=("square", "cube"))
        classroom.hand_in(f"strong{position}", strong, manual=3)
    classroom.hand_in("bad", classroom.empty("MALFORMED", "not JSON (line 1)"))
    classroom.hand_in("int", classroom.empty("INTERNAL", "the worker died"))
    classroom.student("never")
    count = count_class(classroom.course, classroom.name)
    assert (count.students, count.handed_in, count.graded) == (13, 12, 11)
    assert sorted(count.totals) == [0] + [4] * 6 + [9] * 4
    assert count.statuses == {
        "PARTIAL": 6, "OK": 4, "MALFORMED": 1, "INTERNAL": 1, "MISSING": 1,
    }  # fmt: skip
    square = count.parts["powers", "test_square"]
    assert square.mean == pytest.approx((6 * 2 / 3 + 4) / 10)
    assert square.discrimination == pytest.approx(1)
    assert square.hardest == ("three", False, 0.6)
    assert count.parts["powers", "words"].mean == pytest.approx((6 / 3 + 4) / 10)
    assert list(count.misconceptions.items()) == [
        (("Squares", "doubled", "You doubled where you should square."), 6)
    ]
    page = words(read_page(write_report(classroom.course, classroom.name)))
    for said in ("12 of 13 students submitted", "6 55 % Squares doubled You doubled where",
                 "bad not JSON (line 1)", "int the worker died", "three, 60 %",
                 "landlock 10 of 11", "Every submission was judged elsewhere"):  # fmt: skip
        assert said in page, said


def test_names_flags_and_answers_that_wait(classroom, read_page) -> None:
    flag = "calls <script>alert(1)</script>"
    classroom.hand_in("ada", classroom.partial(flags=[flag]))
    (own,) = classroom.store.folder.glob("ada/*.json")
    forged = own.read_text().replace('"student":"ada"', '"student":"x/../../y"')
    (own.parent / "forged.json").write_text(forged)
    page = read_page(write_report(classroom.course, classroom.name))
    assert "<script" not in page
    assert 'href="../feedback/ada/powers/powers.html"' in page
    said = words(page)
    assert "ada Cubes calls" in said and "In words: 1 answer" in said


def test_wrong_values_that_several_share_and_no_hint_knows_are_shown_once(
    classroom, read_page
) -> None:
    """With the answer of one of them, so that the next hint is one that somebody needs."""

    def unknown(name):
        verdict = classroom.partial()
        square = dataclasses.replace(verdict.questions[0], misconception="", unknown=name)
        return dataclasses.replace(verdict, questions=[square, *verdict.questions[1:]])

    for student in ("ada", "bob", "cy"):
        classroom.hand_in(student, unknown("the same"))
    classroom.hand_in("dee", unknown("another"))
    page = read_page(write_report(classroom.course, classroom.name))
    said = words(page)
    assert "3 students, Squares" in said and said.count("students, Squares") == 1
    assert "def square(x): return 2 * x" in said
    assert "Mistakes that no hint knows" in said


def test_weaker_guarantee_is_said(classroom, read_page) -> None:
    weak = dataclasses.replace(classroom.partial(), guarantee="in the student's process", layers=[])
    classroom.hand_in("ada", weak)
    said = words(read_page(write_report(classroom.course, classroom.name)))
    assert "judged in the student's own process" in said and "weaker" in said
    assert "No layer of the sandbox held" in said


def test_what_was_not_taken_and_what_nobody_says(classroom, read_page) -> None:
    classroom.hand_in("ada", classroom.partial())
    classroom.student("never")
    with classroom.gradebook() as book:
        book.find_submission("powers", "ada").timestamp = None
        book.update_or_create_assignment("powers", duedate=DUE)
        book.db.commit()
    ledger = Ledger.read(classroom.folders)
    ledger.refused("124<b>.ipynb", "is set aside: 124 is not on the class list")
    ledger.taken("Ada_1/00017_1_1_x.ipynb", "ada", "00017 (1)")
    ledger.about("ada", None, True)
    ledger.write()
    page = read_page(write_report(classroom.course, classroom.name))
    said = words(page)
    assert "<b>.ipynb" not in page and "124&lt;b&gt;.ipynb" in page
    for part in ("Files that were not taken (1)", "124 is not on the class list",
                 "Files that name another student (1)", "Nothing submitted (1) never",
                 "Unknown times of submission (1) These students have",
                 "coursekit collect powers FILE",
                 "which does not say by how much: ada"):  # fmt: skip
        assert part in said, part


def test_numbers_are_of_students_and_not_of_notebooks(classroom, read_page) -> None:
    """Somebody with two notebooks is one student: one verdict, one time, both points."""
    source = classroom.folders.source
    (source / "powers.ipynb").rename(source / "one.ipynb")
    (source / "two.ipynb").write_text((source / "one.ipynb").read_text())
    right = classroom.partial(right=("square", "cube"), seconds=0.5)
    absent = dataclasses.replace(classroom.empty("MISSING", "not submitted"), points=0.0)
    for student, verdicts in {"ada": [right, right], "ben": [right, absent]}.items():
        for notebook, verdict in zip(("one", "two"), verdicts):
            classroom.store.append(Entry(student, notebook, "k", "s", verdict))
        classroom.student(student)
    count = count_class(classroom.course, classroom.name)
    assert count.students == 2 and +count.statuses == {"OK": 1, "PARTIAL": 1}
    assert sorted(count.totals) == [6, 12] and sorted(count.seconds) == [0.5, 1.0]
    assert sum(count.guarantees.values()) == 2 and count.layers["landlock"] == 2
    page = words(read_page(write_report(classroom.course, classroom.name)))
    assert "9 mean of 18 points" in page and "750 ms a student" in page


def test_page_of_one_and_second_run(classroom, read_page) -> None:
    classroom.hand_in("ada", classroom.empty("MALFORMED", "empty file"))
    path = write_report(classroom.course, classroom.name)
    before = path.stat().st_mtime_ns
    assert write_report(classroom.course, classroom.name) == path
    assert path.stat().st_mtime_ns == before


def test_nothing_graded_is_a_sentence(classroom) -> None:
    with pytest.raises(CourseError, match=r"no submissions yet.* coursekit collect powers FILE"):
        write_report(classroom.course, classroom.name)
    classroom.folders.submitted("ada").mkdir(parents=True)
    with pytest.raises(CourseError, match="run coursekit grade powers"):
        write_report(classroom.course, classroom.name)


@pytest.mark.parametrize("most", [0.5, 1, 6, 7.5, 9, 10, 33, 100])
def test_histogram_holds_everybody_once(most: float) -> None:
    values = array("d", [most * position / 97 for position in range(98)])
    bars = histogram(values, most)
    assert sum(n for _, _, n in bars) == 98
    assert bars[0][0] == 0 and bars[-1][1] == most and 4 <= len(bars) <= 21
    for start, end, n in bars[:-1]:
        assert n == sum(start <= value + 1e-9 < end for value in values)
