"""Nobody loses a point for a form that is equal on paper; every question that needs one has it."""

from __future__ import annotations

import re
from functools import cache

import ours
import pytest
import torch
from equal_forms import EQUAL, MOVED

from coursekit.check.determinism import usual_numbers
from coursekit.check.outcome import observe
from coursetools.questions import catalogue
from coursetools.questions.audit import share
from coursetools.questions.known_answers import Known
from coursetools.questions.trivial_answers import instead
from coursetools.questions.wrong import Edit, source_of

LARGE = 100
USUAL = 1e-5


@cache
def known(name):
    return Known(*ours.find(name))


def outcomes(cases, answer):
    student = catalogue.references(cases.assignment, **{cases.question.name: answer})
    with usual_numbers():
        return [observe(case.run, student) for case in cases.cases]


@pytest.mark.parametrize(
    ("name", "old", "new"), EQUAL, ids=[f"{name}: {new[:40]}" for name, _, new in EQUAL]
)
@pytest.mark.filterwarnings("ignore:var.*degrees of freedom")
def test_an_equal_form_earns_everything(name, old, new):
    found = outcomes(known(name), Edit(known(name).question.reference, ((old, new),)).made)
    wrong = {
        case.says: str(known(name).difference(outcome, number))
        for number, (case, outcome) in enumerate(zip(known(name).cases, found))
        if known(name).difference(outcome, number)
    }
    assert wrong == {} and share(known(name), found) == 1


OTHERWISE = {
    r"(?<![\w.])(\w+)\.softmax\(dim=-1\)": "(x - x.logsumexp(dim=-1, keepdim=True)).exp()",
    r"(?<![\w.])(\w+)\.log_softmax\(dim=-1\)": "(x - x.logsumexp(dim=-1, keepdim=True))",
}
SOFTMAXES = [
    pytest.param(question.name, ((match[0], re.sub(r"\bx\b", match[1], new)),), id=question.name)
    for _, question in ours.everything()
    for old, new in OTHERWISE.items()
    if (match := re.search(old, source_of(question.reference)))
]


@pytest.mark.parametrize(("name", "edit"), SOFTMAXES)
def test_a_softmax_by_logsumexp_earns_everything(name, edit):
    """Also where the scores are large, and their last digit is."""
    cases = known(name)
    found = outcomes(cases, Edit(cases.question.reference, edit).made)
    assert share(cases, found) == 1 and len(SOFTMAXES) > 8


def numbers(value):
    if isinstance(value, torch.Tensor):
        yield from [value.detach()] if value.is_floating_point() and value.numel() else []
    elif isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from numbers(item)


def test_every_question_with_large_scores_or_a_close_look_has_one():
    needs = set()
    for name in (question.name for _, question in ours.everything()):

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
