"""Questions with variants: what a file may say, what check shows, and what the audit finds."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from coursekit._base.errors import CourseError
from coursekit.check import check, compiled, variant
from coursekit.check.handin import Report, _student
from coursekit.check.variants import number_of, reading, student_in, variants
from coursetools.course import Course
from coursetools.questions import catalogue, compiling
from coursetools.questions.even_variants import uneven
from coursetools.questions.known_answers import Known

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = {"margin": (1.0, 0.5, 2.0), "word": ("a", "b", "c")}


def hinge(margin: float):
    def hinge(real, fake):
        missing, beyond = (margin - real).relu(), (margin + fake).relu()
        return missing.mean() + beyond.mean(), -fake.mean()

    return hinge


def test_the_numbers_are_those_of_the_variant_that_is_read():
    with reading(2):
        mine = variants(**COLUMNS)
    assert (mine.margin, mine.word, mine.number, mine.count) == (2.0, "c", 2, 3)
    assert str(variants(**COLUMNS)) == "margin = 1.0, word = 'a'"
    with pytest.raises(AttributeError, match="no number 'size' here; there are margin, word"):
        mine.size  # noqa: B018


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({}, "variants has nothing; expected 3 to 8"),
        ({"a": (1, 2)}, "has 2 of a; expected 3 to 8"),
        ({"a": (1, 2, 3), "b": (1, 2, 3, 4)}, "has 3 of a, 4 of b; expected 3 to 8"),
        ({"a": range(9)}, "has 9 of a"),
        ({"a": (1, 2, [3])}, r"a of variants is \[3\]; expected numbers or words"),
    ],
)
def test_columns_that_are_no_variants_are_refused(columns, said):
    with pytest.raises(CourseError, match=said):
        variants(**columns)


def test_a_variant_follows_from_the_id_and_nobody_has_the_first():
    people = [f"student{n}" for n in range(700)]
    count = Counter(number_of("a16_sagan", one, 8) for one in people)
    assert sorted(count) == [1, 2, 3, 4, 5, 6, 7] and min(count.values()) > 70
    assert number_of("a16_sagan", " ADA ", 8) == number_of("a16_sagan", "ada", 8)
    assert number_of("a16_sagan", "", 8) == number_of("a16_sagan", "ada", 1) == 0
    assert [number_of("a16_sagan", one, 8) for one in people] != [
        number_of("a14_t5", one, 8) for one in people
    ]


def test_the_id_of_a_notebook_is_the_last_that_is_written():
    assert student_in(["import torch\n\nstudent = ''", "student = 'ada'  # me"]) == "ada"
    assert student_in(["student = 1234567"]) == "1234567"
    assert student_in(["student = (", "x.student = 'a'", "student = 'a' + 'b'", "%pip x"]) == ""


def test_check_looks_with_the_numbers_of_the_student():
    def checked(answer, student=""):
        notebook = {"check": check, "answer": answer, "student": student}
        return eval("check('hinge', answer)", notebook)

    right = checked(hinge(3.0), "ada")
    assert right.right and right.notes == ["checked with the numbers of 'ada': margin = 3.0"]
    assert not checked(hinge(1.0), "ada").right
    nobody = checked(hinge(1.0))
    assert nobody.right and "numbers to practise with" in nobody.notes[0]
    no_sign = checked(lambda real, fake: (hinge(3.0)(real, fake)[0], fake.mean()), "ada")
    assert no_sign.misconception == "the generator's sign"


def test_the_numbers_of_a_student_are_shown():
    assert repr(variant("hinge", "ada")) == "hinge, the numbers of 'ada': margin = 3.0"
    assert repr(variant("shares", "ada")) == "shares: its numbers are the same for everybody"
    assert repr(variant("soup", "ada")) == "no question is called 'soup'"


def test_submit_check_asks_for_the_id():
    def said(assignment: str, source: str) -> Report:
        report = Report("x.ipynb")
        _student(report, compiled.load(assignment), [{"cell_type": "code", "source": source}])
        return report

    (missing,) = said("a16_sagan", 'student = ""').mend
    assert missing.startswith("your id is missing: write it into student")
    assert said("a16_sagan", 'student = "ada"').good == ["your numbers are those of 'ada'"]
    assert said("a01_kernels", "").mend == []


def of_hinge(*margins: float, scale: str = "scores({})") -> list[Known]:
    """Return the known answers of each variant of the hinge, with other margins and one case."""
    course = Course(ROOT)
    files = dict(catalogue.texts(course, "a16_sagan"))
    text = files["hinge.py"].replace("(1.0, 0.5, 2.0, 1.5, 3.0)", str(margins))
    for mark in "rf":
        text = text.replace(f"scores({mark})", scale.format(mark))
    files["hinge.py"] = text
    notebook = course.source("a16_sagan") / "a16_sagan.ipynb"
    assignment = catalogue.of("a16_sagan", notebook.read_text(encoding="utf-8"), (*files.items(),))
    assert assignment.count == len(margins)
    found = []
    for number in range(assignment.count):
        own = assignment.of(number)
        assert own.questions[0] is assignment.questions[0]  # it has no variants
        question = own.questions[3]
        cases = (*question.cases[:2], question.hidden[1])
        found.append(Known(own, question, cases))
    return found


def test_variants_that_are_equally_hard_and_different_pass():
    assert uneven(of_hinge(1.0, 0.5, 2.0)) == []


def test_a_variant_that_is_none_is_found():
    said = uneven(of_hinge(1.0, 2.0, 2.0))
    assert (
        said
        == [
            "the right answer for margin = 2.0 earns everything with margin = 2.0: its numbers "
            "decide nothing"
        ]
        * 2
    )


def test_a_mistake_that_costs_more_in_one_variant_is_found():
    """With the same scores for all, a large margin hides who forgets the ReLU."""
    said = uneven(of_hinge(1.0, 0.5, 9.0, scale="torch.tensor([{}])"))
    assert any(re.match(r"the misconception 'no ReLU' earns \d+% with margin = ", one)
               for one in said), said  # fmt: skip


def test_what_others_need_has_no_variants_and_all_have_as_many():
    course = Course(ROOT)
    hinge_ = catalogue.load(course, "a16_sagan").questions[3]
    byte_ids = catalogue.load(course, "a14_t5").questions[4]
    shares, *_, predict = catalogue.load(course, "a01_kernels").questions[:3]
    assert (
        catalogue._variants("a", [hinge_, byte_ids, shares]) == 5
        and catalogue._variants("a", [shares]) == 1
    )
    three = replace(byte_ids, variant=variants(**COLUMNS))
    with pytest.raises(CourseError, match="5 of hinge, 3 of byte_ids; all should have as many"):
        catalogue._variants("a", [hinge_, three])
    calls = replace(predict, needs=("hinge",))
    with pytest.raises(CourseError, match=f"{predict.name} needs hinge, which has variants"):
        catalogue._variants("a", [hinge_, calls])


def test_the_compiled_file_has_every_variant_and_the_rest_as_before():
    course = Course(ROOT)
    question = compiled.load("a16_sagan").questions[3]
    assert question.count == 5 and str(question.of(4).variant) == "margin = 3.0"
    assert torch.equal(
        question.of(4).cases[0].expected.value[0],
        hinge(3.0)(torch.tensor([6.0, 1.5]), torch.tensor([-9.0, 0.75]))[0],
    )
    assert [one.name for one in compiled.load("a16_sagan").questions if one.variants] == ["hinge"]
    assignment = catalogue.load(course, "a16_sagan")
    index = compiling.Compiling(assignment, assignment.questions[0]).index(compiled.Numbers())
    assert not index.keys() & {"variant", "variants"}  # the bytes of the others are as they were
