"""Answers that are the course's own are flagged, however they are dressed up."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from coursetools.assignments.sources import source
from coursetools.course import Course
from coursetools.grading.own_answers import OURS, SOLUTION, OwnAnswers
from coursetools.questions import catalogue
from coursetools.questions.wrong import source_of

ROOT = Path(__file__).parents[2]
COURSE = Course(ROOT)


@pytest.fixture(scope="module")
def giou():
    assignment = catalogue.load(COURSE, "a20_detr")
    own = OwnAnswers(assignment, source(COURSE, "a20_detr").read_text(encoding="utf-8"))
    return own, source_of(assignment.questions[0].reference)


def renamed(text):
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            for other in ast.walk(tree):
                if isinstance(other, ast.Name) and other.id == node.id and other is not node:
                    other.id = f"my_{node.id}"
            node.id = f"my_{node.id}"
    return "# all my own work\n" + ast.unparse(tree)


@pytest.mark.parametrize("dress", [str, renamed], ids=["as it is", "renamed"])
def test_our_answer_is_known_again(giou, dress):
    own, text = giou
    (found,) = own.like({"giou": dress(text)})
    assert (found.question, found.what) == ("giou", OURS) and found.share > 0.9


def test_two_right_answers_that_are_independent_are_not_alike():
    """In the later assignments the notebook's solution was written without ours."""
    for name in ("a13_gpt", "a18_mae", "a20_detr"):
        assignment = catalogue.load(COURSE, name)
        notebook = source(COURSE, name).read_text(encoding="utf-8")
        own = OwnAnswers(assignment, notebook)
        ours = {question.name: source_of(question.reference) for question in assignment.questions}
        found = list(own.like(ours))
        assert {one.what for one in found} == {OURS} and SOLUTION not in str(found)


def test_of_independent_answers_that_are_long_enough_none_are_alike():
    """Ours beside the notebooks' solutions, in the assignments where the two are independent."""
    compared = 0
    for name in catalogue.names(COURSE):
        notebook = source(COURSE, name).read_text(encoding="utf-8")
        assignment = catalogue.load(COURSE, name)
        own = OwnAnswers(assignment, notebook)
        for versions in own._own.values():
            marks = dict(versions)
            if OURS in marks and SOLUTION in marks:
                compared += 1
                shared = marks[OURS] & marks[SOLUTION]
                assert len(shared) < 0.5 * len(marks[OURS] | marks[SOLUTION])
    assert compared > 20


def test_a_part_of_the_library_is_known_again():
    import inspect

    from coursekit.positions import padded_sine_2d

    part = "coursekit.positions.padded_sine_2d"
    assignment = catalogue.load(COURSE, "a20_detr")
    named = [replace(one, parts=(*one.parts, part)) for one in assignment.questions]
    own = OwnAnswers(
        replace(assignment, questions=tuple(named)),
        source(COURSE, "a20_detr").read_text(encoding="utf-8"),
    )
    (found,) = own.like({"places_2d": inspect.getsource(padded_sine_2d)})
    assert found.what == part


@pytest.mark.parametrize("text", ["", "def giou(a, b):\n    return a", "def (", "\0"])
def test_short_answers_and_no_python_say_nothing(giou, text):
    assert list(giou[0].like({"giou": text})) == []
