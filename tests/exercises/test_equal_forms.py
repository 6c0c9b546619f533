"""Nobody loses a point for a form that is equal on paper; every question that needs one has it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import torch
from equal_forms import EQUAL, MOVED

from coursekit.exercises import catalogue, private
from coursekit.exercises.audit import share
from coursekit.exercises.comparing.idle import instead
from coursekit.exercises.comparing.outcome import Known, observe
from coursekit.exercises.edits import Edit
from coursekit.exercises.fresh import usual_numbers

ROOT = Path(__file__).parents[2]
LARGE = 100
USUAL = 1e-5


@cache
def known(name):
    assignment, question = catalogue.find(name)
    hidden = private.load(ROOT / "solutions" / assignment.name / "hidden.py")
    return Known(assignment, question, [*question.cases, *hidden[name]])


def outcomes(cases, answer):
    student = catalogue.references(cases.assignment, **{cases.question.name: answer})
    with usual_numbers():
        return [observe(case, student) for case in cases.cases]


@pytest.mark.parametrize(
    ("name", "old", "new"), EQUAL, ids=[f"{name}: {new[:40]}" for name, _, new in EQUAL]
)
@pytest.mark.filterwarnings("ignore:var.*degrees of freedom")
def test_an_equal_form_earns_everything(name, old, new):
    found = outcomes(known(name), Edit(known(name).question.reference, old, new).made)
    wrong = {
        case.says: str(known(name).difference(outcome, number))
        for number, (case, outcome) in enumerate(zip(known(name).cases, found))
        if known(name).difference(outcome, number)
    }
    assert wrong == {} and share(known(name), found) == 1


def numbers(value):
    if isinstance(value, torch.Tensor):
        yield from [value.detach()] if value.is_floating_point() and value.numel() else []
    elif isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from numbers(item)


def test_every_question_with_large_scores_or_a_close_look_has_one():
    needs = set()
    for name in (q.name for a in map(catalogue.load, catalogue.names()) for q in a.questions):

        def noting(function, method, name=name):
            def noted(*given, **named):
                found = [x[x.isfinite()].abs() for x in numbers([*given[method:], named])]
                if any(x.numel() and x.max() >= LARGE for x in found):
                    needs.add(name)
                return function(*given, **named)

            return noted

        cases = known(name)
        outcomes(cases, instead(cases.question.reference, noting))
        if any(case.tolerance < USUAL for case in cases.cases):
            needs.add(name)
    assert len(needs) > 50 and needs - {name for name, *_ in EQUAL} == MOVED
