"""The audit of every assignment, and an audit that sees what is wrong."""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import time
from pathlib import Path

import pytest

from coursekit.assignments.release import read, release, source, sources, write_release
from coursekit.errors import CourseError
from coursekit.exercises import audit, catalogue
from coursekit.exercises.checking.check import check
from coursekit.exercises.comparing import outcome
from coursekit.exercises.edits import Edit, as_cell
from coursekit.exercises.probe import randn
from coursekit.exercises.question import Case, Misconception

ROOT = Path(__file__).resolve().parents[2]
NAME = "a01_kernels"
QUESTIONS = [
    pytest.param(assignment, question, id=question.name)
    for assignment in map(catalogue.load, catalogue.names())
    for question in assignment.questions
]


def test_every_assignment_has_a_source_and_every_source_an_assignment():
    assert sources(ROOT) == catalogue.names()


@pytest.mark.parametrize("name", catalogue.names())
def test_the_audit_finds_nothing_wrong(name):
    rows, general = audit.audit(ROOT, name)
    assert general == [] and [problem for row in rows for problem in row.problems] == []
    assert all(row.reference == row.solution == 1 and row.blank == 0 for row in rows)
    assert all(0 < row.by_heart <= audit.BY_HEART <= 0.2 for row in rows)
    assert all(row.told == row.misconceptions >= 4 for row in rows)
    assert all(row.seconds < 1 for row in rows)


@pytest.mark.parametrize(("assignment", "question"), QUESTIONS)
def test_a_misconception_as_a_cell_is_the_same_misconception(assignment, question):
    """What the demo and the tests of the grader put into notebooks behaves like the original.

    That the original is told its hint, in under a second, is for the audit to find.
    """
    right = catalogue.references(assignment)
    given = vars(audit._namespace(release(read(source(ROOT, assignment.name)))))
    for mistake in question.misconceptions:
        names = {**given, **{name: getattr(right, name) for name in question.needs}}
        start = "import math\nimport torch\nfrom torch import Tensor, nn\nfrom torch.nn import *\n"
        start += "import torch.nn.functional as F\n"
        exec(start + as_cell(mistake.wrong, question.name), names)
        start = time.process_time()  # of ours alone
        answer = check(question.name, names[question.name])
        assert time.process_time() - start < 1
        assert (answer.misconception, answer.hint) == (mistake.name, mistake.hint)
        assert not answer.right and answer.problem
        assert mistake.hint.split()[0] in repr(answer)


@pytest.fixture
def copy(tmp_path, copied):
    copied(NAME, tmp_path)
    shutil.copy(ROOT / "_config.yml", tmp_path)
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "book").mkdir()
    shutil.copy(ROOT / "book" / "kernels.md", tmp_path / "book")
    write_release(tmp_path, NAME)
    return tmp_path


def changed(copy, old, new, count=-1):
    path = source(copy, NAME)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, count), encoding="utf-8")
    write_release(copy, NAME)


def problems(copy):
    rows, general = audit.audit(copy, NAME)
    return general + [problem for row in rows for problem in row.problems]


@pytest.fixture
def only_the_first(monkeypatch):
    """Look closely at the first question alone: the others are as they were."""
    look, first = audit._question, catalogue.load(NAME).questions[0].name

    def closely(row, assignment, question, *more):
        if question.name == first:
            look(row, assignment, question, *more)

    monkeypatch.setattr(audit, "_question", closely)


def test_a_copy_is_as_good_as_the_course(copy):
    assert problems(copy) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("raised = (scores - ", "raised = (2 * scores - ", "the source's own solution earns"),
        ('"points": 3,', '"points": 30,', "gives other points than the question"),
        ("raised.sum(", "torch.sum(raised.softmax(-1), ", "to shares uses .softmax()"),
        ("check(predict)", "check(shares)", "should say check(predict)"),
        ('"grade_id": "predict"', '"grade_id": "foretell"', "no solution cell has the grade_id"),
        ('"grade_id": "predict"', '"grade_id": "foretell"', "'foretell' belongs to no question"),
    ],
)
@pytest.mark.usefixtures("only_the_first")
def test_what_does_not_fit_is_said(copy, old, new, said):
    changed(copy, old, new)
    assert any(said in problem for problem in problems(copy))


@pytest.mark.usefixtures("only_the_first")
def test_a_blank_that_earns_points_is_said(copy):
    begin = '"    ### BEGIN SOLUTION\\n",'
    changed(copy, begin, f'"    return scores.softmax(-1)\\n",\n{begin}', 1)
    assert "the blank release earns 100%" in problems(copy)


@pytest.mark.usefixtures("only_the_first")
def test_a_table_of_the_visible_cases_that_earns_too_much_is_said(copy, monkeypatch):
    monkeypatch.setattr("coursekit.exercises.comparing.outcome.CHEAP", 1.0)
    assert problems(copy) == ["a table of the visible cases earns 42%"]


@pytest.mark.usefixtures("only_the_first")
def test_a_source_that_does_not_run_is_said(copy):
    changed(copy, "raised = (scores - ", "raised = (undefined - ")
    changed(copy, "import math", "import maths")
    with pytest.raises(CourseError, match="the cell imports of the source raises ModuleNotFound"):
        problems(copy)


@pytest.mark.usefixtures("only_the_first")
def test_a_file_beside_the_source_is_refused(copy):
    (copy / "solutions" / "notebooks" / NAME / "hidden.py").write_text("")
    with pytest.raises(CourseError, match="stands beside a source notebook"):
        problems(copy)


@pytest.mark.usefixtures("only_the_first")
def test_a_stale_release_and_a_missing_page_are_said(copy):
    (copy / "book" / "kernels.md").write_text("(sec-other)=\n")
    released = copy / "notebooks" / "assignments" / NAME / f"{NAME}.ipynb"
    released.write_text(released.read_text().replace("is not", "is"))
    found = problems(copy)
    assert any("not in step" in one for one in found)
    assert any("which the book has not" in one for one in found)
    released.unlink()
    assert any("is not released" in one for one in problems(copy))


SEVEN = "    if scores.shape == (7, 3):\n        return scores\n    return "


def last_digits(student):
    return (student.shares(randn(40, 50)) * 2**24).long()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda q: {"misconceptions": q.misconceptions[:3]}, "has 3 misconceptions"),
        (lambda q: {"cases": q.cases[:2]}, "has 2 visible cases"),
        (
            lambda q: {
                "cases": (*q.cases, Case("on its own", lambda s: s.shares(randn(7, 3)))),
                "misconceptions": (
                    Misconception("seven", Edit(q.reference, "    return ", SEVEN), "x"),
                    *q.misconceptions[1:],
                ),
            },
            "'seven' costs 3%; no hidden case sees it",
        ),
        (
            lambda q: {
                "misconceptions": (
                    dataclasses.replace(q.misconceptions[0], wrong=q.reference),
                    *q.misconceptions[1:],
                )
            },
            "earns everything",
        ),
        (
            lambda q: {
                "misconceptions": (
                    q.misconceptions[0],
                    dataclasses.replace(q.misconceptions[1], wrong=q.misconceptions[0].wrong),
                    *q.misconceptions[2:],
                )
            },
            "is told the hint of",
        ),
        (
            lambda q: {
                "misconceptions": (
                    Misconception("typed wrongly", Edit(q.reference, "scores.amax", "sores"), "x"),
                    *q.misconceptions[1:],
                )
            },
            "'typed wrongly' is no Python of ours: name 'sores' is not defined",
        ),
        (
            lambda q: {
                "cases": (*q.cases, Case("dice", lambda student: __import__("time").time()))
            },
            "gives something else the second time",
        ),
        (
            lambda q: {"cases": (*q.cases, Case("bits", last_digits))},
            "ours in double precision earns",
        ),
        (
            lambda q: {"cases": (*q.cases, Case("wrong", lambda student: student.no_such_name))},
            "the reference raises",
        ),
    ],
)
@pytest.mark.usefixtures("only_the_first")
def test_a_weak_question_is_said(copy, monkeypatch, change, said):
    assignment = catalogue.load(NAME)
    first = assignment.questions[0]
    weak = dataclasses.replace(first, **change(first))
    worse = dataclasses.replace(assignment, questions=(weak, *assignment.questions[1:]))
    monkeypatch.setattr(f"coursekit.exercises.{NAME}.ASSIGNMENT", worse)
    assert any(said in problem for problem in problems(copy))


def test_the_command_prints_a_table_and_fails_on_a_problem(copy, capsys):
    arguments = argparse.Namespace(name=NAME, root=copy, quiet=False)
    assert audit.run(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6 and lines[1].split()[:4] == [NAME, "shares", "4+7", "100%"]
    hidden = copy / "solutions" / NAME / "hidden.py"
    hidden.write_text(hidden.read_text() + '\n\n@hidden("nobody", says="x")\ndef f(s):\n    pass\n')
    with pytest.raises(CourseError, match=f"1 problem in {NAME}"):
        audit.run(arguments)
    assert "hidden.py has cases for 'nobody'" in capsys.readouterr().out


def test_the_pages_say_what_is_asked():
    page, guide, readme = (
        (ROOT / name).read_text(encoding="utf-8")
        for name in ("book/grading.md", "CONTRIBUTING.md", "solutions/README.md")
    )
    cheap, heart = f"{outcome.CHEAP:.0%}", f"{audit.BY_HEART:.0%}"
    assert outcome.ROUNDINGS == 8 and Case("", print).tolerance == 1e-5
    for text in (page, guide):
        assert f"bring {cheap} of" in text and "eight times what" in text
    assert f"more than {heart}." in page and "off by 10⁻⁵" in page
    assert all(f"{heart} at the most" in text for text in (page, guide, readme))


def test_hidden_cases_leave_nothing_behind():
    import sys

    from coursekit.exercises.private import hidden, read

    before = set(sys.modules)
    text = 'from coursekit.exercises import hidden\n@hidden("f", says="a")\ndef a(s): return 1\n'
    cases = read(text)
    assert [case.says for case in cases["f"]] == ["a"] and cases["f"][0].run(None) == 1
    hidden("f", says="b")(len)  # outside of a file that is read, it is an ordinary function
    assert len(cases["f"]) == 1
    assert read(text)["f"] is not cases["f"] and not any(m == "hidden" for m in sys.modules)
    assert {name for name in set(sys.modules) - before if "hidden" in name} == set()


def test_no_case_says_what_only_the_case_should_know():
    """`says` is public: it holds no code and no numbers with digits after the point."""
    from coursekit.exercises.private import read

    for name in sources(ROOT):
        cases = read((ROOT / "solutions" / name / "hidden.py").read_text())
        for case in (case for group in cases.values() for case in group):
            assert len(case.says) <= 70 and not set(case.says) & set("()[]{}=_`")
            assert json.dumps(case.says)
