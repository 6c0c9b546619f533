"""The audit of every assignment, and an audit that sees what is wrong."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import time
from functools import cache
from pathlib import Path

import ours
import pytest

from coursekit._base.errors import CourseError
from coursekit.check import check
from coursetools.assignments.release import release, write_release
from coursetools.assignments.sources import source, sources
from coursetools.course import Course
from coursetools.notebooks.imports import read_notebook
from coursetools.questions import audit, catalogue, compiling, known_answers
from coursetools.questions.question import Case
from coursetools.questions.wrong import as_cell

ROOT = Path(__file__).resolve().parents[2]
NAME = "a01_kernels"
QUESTIONS = [
    pytest.param(assignment, question, id=question.name)
    for assignment, question in ours.everything()
]


def test_every_assignment_has_a_source_and_every_source_an_assignment():
    assert sources(Course(ROOT)) == ours.names()


@pytest.mark.parametrize("name", ours.names())
def test_the_audit_finds_nothing_wrong(name):
    rows, general = audit.audit(Course(ROOT), name)
    problems = [problem for row in rows for problem in row.problems]
    missing = [problem for problem in problems if problem.startswith(audit.UNFINISHED)]
    assert general == [] and [problem for problem in problems if problem not in missing] == []
    assert not missing, f"{missing[0]} ({len(missing)} such problems in {name})"
    assert all(row.reference == row.solution == 1 and row.blank == 0 for row in rows)
    assert all(0 < row.by_heart <= audit.BY_HEART <= 0.2 for row in rows)
    assert all(row.told == row.misconceptions >= 4 for row in rows)
    assert all(row.seconds < 1 for row in rows)


@cache
def given(name):
    """Return what the released notebook defines before anything is answered."""
    return vars(audit._namespace(release(read_notebook(source(Course(ROOT), name)))))


@pytest.mark.parametrize(("assignment", "question"), QUESTIONS)
def test_a_misconception_as_a_cell_is_the_same_misconception(assignment, question):
    """What the demo and the tests of the grader put into notebooks behaves like the original.

    That the original is told its hint, in under a second, is for the audit to find.
    """
    right = catalogue.references(assignment)
    for mistake in question.misconceptions:
        names = {
            **given(assignment.name),
            **{name: getattr(right, name) for name in question.needs},
        }
        start = "import math\nimport torch\nfrom torch import Tensor, nn\nfrom torch.nn import *\n"
        start += "import torch.nn.functional as F\n"
        exec(start + as_cell(mistake.wrong, question.name), names)
        start = time.process_time()  # of ours alone
        answer = check(question.name, names[question.name])
        assert time.process_time() - start < 1
        assert (answer.misconception, answer.hint) == (mistake.name, mistake.hint)
        assert not answer.right and answer.problem
        assert mistake.hint.split()[0] in repr(answer)


@pytest.fixture(scope="module")
def released(tmp_path_factory, copied):
    root = tmp_path_factory.mktemp("released")
    copied(NAME, root)
    shutil.copy(ROOT / "_config.yml", root)
    (root / "notebooks").mkdir()
    (root / "book").mkdir()
    shutil.copy(ROOT / "book" / "kernels.md", root / "book")
    write_release(Course(root), NAME)
    compiling.write(Course(root), NAME)
    return root


@pytest.fixture
def copy(released, tmp_path):
    return Path(shutil.copytree(released, tmp_path / "course"))


def changed(copy, old, new, count=-1):
    path = source(Course(copy), NAME)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, count), encoding="utf-8")
    write_release(Course(copy), NAME)


def problems(copy):
    rows, general = audit.audit(Course(copy), NAME)
    return general + [problem for row in rows for problem in row.problems]


@pytest.fixture
def only_the_first(monkeypatch):
    """Look closely at the first question alone: the others are as they were."""
    look, first = audit._question, ours.load(NAME).questions[0].name

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
        ('"test_predict"', '"test_foretell"', "no test cell has the grade_id 'test_predict'"),
        ('"test_predict"', '"test_foretell"', "the cell 'test_foretell' belongs to no question"),
    ],
)
@pytest.mark.usefixtures("only_the_first")
def test_what_does_not_fit_is_said(copy, old, new, said):
    changed(copy, old, new)
    assert any(said in problem for problem in problems(copy))


def test_a_cell_without_a_question_is_refused(copy):
    changed(copy, '"grade_id": "predict"', '"grade_id": "foretell"')
    with pytest.raises(CourseError, match=r"foretell\.py is missing, the question foretell"):
        problems(copy)


@pytest.mark.usefixtures("only_the_first")
def test_a_blank_that_earns_points_is_said(copy):
    begin = '"    ### BEGIN SOLUTION\\n",'
    changed(copy, begin, f'"    return scores.softmax(-1)\\n",\n{begin}', 1)
    assert "the blank release earns 100%" in problems(copy)


@pytest.mark.usefixtures("only_the_first")
def test_a_table_of_the_visible_cases_that_earns_too_much_is_said(copy, monkeypatch):
    monkeypatch.setattr("coursetools.questions.known_answers.CHEAP", 1.0)
    assert problems(copy) == ["a table of the visible cases earns 46%"]


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


def rewritten(copy, file, change):
    """Change a file of the questions: by a function, or by a text more."""
    path = copy / "solutions" / NAME / file
    text = path.read_text(encoding="utf-8")
    path.write_text(text + change if isinstance(change, str) else change(text), encoding="utf-8")


def look(kind, says, *lines):
    """Return the text of a case."""
    return f'\n\n@{kind}("{says}")\ndef more(student):\n    ' + "\n    ".join(lines) + "\n"


SEVEN = """
## seven
- return
+ if scores.shape == (7, 3):
+         return scores
+     return
x
"""
UNSAID = '\n## "whatever they are"\n+ wrong = single(shares)\n'


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"shares.md": lambda text: text.partition("## one sum")[0]}, "has 3 of 4 misconceptions"),
        ({"shares.py": lambda text: re.sub("@visible.*", "", text, count=3)}, "has 2 of 3 visible"),
        (
            {
                "shares.md": SEVEN,
                "shares.py": look("visible", "alone", "return student.shares(randn(7, 3))"),
            },
            "'seven' keeps 100% of the points in hidden cases, expected at most 90%; "
            "add a hidden case like “alone”",
        ),
        (
            {"shares.md": "\n## none\n+ wrong = shares\nx\n"},
            "'none' keeps 100% of the points in hidden cases, expected at most 90%; "
            "no case sees it",
        ),
        (
            {"shares.md": "\n## again\nraised / raised.sum(dim=-1, keepdim=True)  ->  raised\nx\n"},
            "'again' is told the hint of 'not divided by the sum'",
        ),
        (
            {"shares.md": "\n## typed wrongly\nscores.amax  ->  sores\nx\n"},
            "'typed wrongly' is no Python of ours: name 'sores' is not defined",
        ),
        (
            {"shares.py": look("hidden", "dice", "import time", "return time.time()")},
            "gives something else the second time",
        ),
        (
            {"shares.py": look("hidden", "b", "return (student.shares(randn(9)) * 2**24).long()")},
            "ours in double precision earns",
        ),
        (
            {"shares.py": look("hidden", "wrong", "return student.no_such_name")},
            "the reference raises on 'wrong'",
        ),
        (
            {"shares.md": '\n## "every row sums to 1"\n+ wrong = shares\n'},
            '"every row sums to 1" keeps 100% of the points in hidden cases, expected at most 90%; '
            "no case sees it",
        ),
        ({"shares.md": UNSAID}, 'shares quotes "whatever they are", which its text does not say'),
        (
            {"shares.py": lambda text: text.replace("batch of four", "batch of 4")},
            "what check knows is not in step with its questions; run coursekit assignment release",
        ),
    ],
)
@pytest.mark.usefixtures("only_the_first")
def test_a_weak_question_is_said(copy, changes, said):
    for file, change in changes.items():
        rewritten(copy, file, change)
    assert any(said in problem for problem in problems(copy))


@pytest.mark.usefixtures("only_the_first")
def test_the_command_prints_a_table_and_fails_on_a_problem(copy, capsys, monkeypatch):
    arguments = argparse.Namespace(name=NAME, course=Course(copy), quiet=False)
    assert audit.run(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6 and lines[1].split()[:4] == [NAME, "shares", "5+7", "100%"]
    monkeypatch.setattr(audit, "_parts", lambda course, name: [])  # which were looked at just now
    rewritten(copy, "shares.md", UNSAID)
    with pytest.raises(CourseError, match=f"1 problem in {NAME}"):
        audit.run(arguments)
    said = f'{NAME}: shares quotes "whatever they are", which its text does not say'
    assert said in capsys.readouterr().out.splitlines()


def test_the_guide_says_what_is_asked():
    page, guide = (
        (ROOT / name).read_text(encoding="utf-8")
        for name in ("book/grading.md", "solutions/README.md")
    )
    assert known_answers.ROUNDINGS == 8 and Case("", print).tolerance == 1e-5
    assert f"bring {known_answers.CHEAP:.0%} of" in guide and "eight times what" in guide
    assert f"at least {known_answers.LEAST:.0%} of" in guide
    assert f"{audit.BY_HEART:.0%} at the most" in guide
    assert "off by 10⁻⁵" in page


def test_no_case_says_what_only_the_case_should_know():
    """`says` is public: it holds no code and no numbers with digits after the point."""
    for case in (case for _, question in ours.everything() for case in question.hidden):
        assert len(case.says) <= 70 and not set(case.says) & set("()[]{}=_`")
        assert json.dumps(case.says)
