"""The question about one's own code, in two assignments; and the page of the book on variants."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from helpers import blocks, page_of_book

from coursekit.check import variant
from coursekit.check.compare import same
from coursekit.check.outcome import observe
from coursetools.course import Course
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.verdict import QuestionVerdict, Verdict
from coursetools.grading.records.verdict_files import Entry, Verdicts
from coursetools.grading.results.own_code import OwnCode, inputs, write_questions
from coursetools.questions import catalogue
from coursetools.questions.wrong import source_of, with_numbers

ROOT = Path(__file__).resolve().parents[3]
PAGE = page_of_book("grading_variants")
START = "import math\nimport torch\nfrom torch import Tensor, nn\n"
PILOTS = [("a01_kernels", "shares", 0), ("a16_sagan", "hinge", 0), ("a16_sagan", "hinge", 4)]


def asked(name: str, question: str, number: int = 0):
    assignment = catalogue.load(Course(ROOT), name)
    questions = {one.name: one for one in assignment.of(number).questions}
    return OwnCode(assignment), questions[question]


@pytest.mark.parametrize(("name", "wanted", "number"), PILOTS)
def test_the_key_is_what_both_give_when_they_are_run(name, wanted, number):
    """The student's answer is a notebook's cell, and so is the other version."""
    own, question = asked(name, wanted, number)
    mine: dict = {}
    exec(START + with_numbers(source_of(question.reference), question.reference), mine)
    versions = own.versions(question, number)
    assert len({version.mistake.name for version in versions}) == 3
    for version in versions:
        other: dict = {}
        exec(START + version.source, other)
        agree = []
        for case in question.cases:
            outcomes = [observe(case.run, SimpleNamespace(**{wanted: one[wanted]}))
                        for one in (mine, other)]  # fmt: skip
            assert outcomes[0].error is None
            wrong = outcomes[1].error or same(*(one.value for one in outcomes), 1e-4)
            agree.append(wrong is None)
        assert version.same == tuple(agree)
        assert 0 < len(version.letters) < len(question.cases)


def test_the_choices_show_no_answer_and_the_numbers_of_the_student():
    _, question = asked("a16_sagan", "hinge", 4)
    choices, rest = inputs(question)
    assert [letter for letter, _, _ in choices] == list("ABCDE")
    shown = "return student.hinge(scores(2.0, 0.5), scores(-3.0, 0.25))"
    assert choices[0][1:] == (question.cases[0].says, shown)
    assert "3.0 * torch.tensor(of_the_margin" in rest and "def judged" in rest
    assert "mine" not in rest and "relu" not in rest and "import" not in rest


def graded(course: Course, student: str, status: str, numbers: str) -> None:
    """Write a verdict of which the hinge is the only question."""
    one = QuestionVerdict(
        name="hinge", cell="test_hinge", points=3, max_points=3, status=status, reason="",
        numbers=numbers,
    )  # fmt: skip
    answers = {"hinge": f"def hinge(real, fake):\n    return '<b>{student}</b>'"}
    verdict = Verdict(assignment="a16_sagan", status=status, reason="", points=3, max_points=3,
                      questions=[one], answers=answers)  # fmt: skip
    store = Verdicts(Folders(course, "a16_sagan").verdicts)
    store.append(Entry(student, "a16_sagan", "key", "submission", verdict))


def test_the_page_of_the_book_shows_what_the_commands_do(tmp_path, copied, monkeypatch, capsys):
    copied("a16_sagan", tmp_path)
    shutil.copy(ROOT / "_config.yml", tmp_path)
    (tmp_path / "notebooks").mkdir(exist_ok=True)
    course = Course(tmp_path)
    monkeypatch.chdir(tmp_path)
    shown, said, key = blocks(PAGE, "text")
    assert f"{variant('hinge', 'ada')}\n" == shown
    (command,) = blocks(PAGE, "bash")
    assert command == "coursekit review a16_sagan\n"
    (nothing,) = write_questions(course, "a16_sagan")
    assert "no answer is graded and fully right" in nothing
    graded(course, "ada", "OK", "margin = 3.0")
    graded(course, "ben", "OK", "margin = 2.0")
    graded(course, "cy", "PARTIAL", "margin = 2.0")
    written = write_questions(course, "a16_sagan")
    folder = tmp_path / "autograder" / "own_code" / "a16_sagan"
    assert "\n".join([*written, ""]).replace(f"{tmp_path}/", "") == said
    assert (folder / "key.csv").read_text() == key
    page = (folder / "ada.html").read_text()
    assert "&lt;b&gt;ada" in page and "3.0" in page and "<b>" not in page
