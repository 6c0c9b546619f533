"""A mistake that `check` names in the notebook is named in the feedback, too.

The wrong answers are of people who make two mistakes at once: often only one of them shows in the
visible cases, and no mistake alone gives what the hidden ones show.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from coursekit.course import private_folder
from coursekit.exercises import catalogue, private
from coursekit.exercises.checking.check import check
from coursekit.exercises.comparing.outcome import Known, differ, observe
from coursekit.exercises.edits import Edit
from coursekit.exercises.question import Question

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Both(Edit):
    """Two edits, one after the other."""

    first: Edit

    @cached_property
    def source(self) -> str:
        """The source with both of them."""
        return self.first.source.replace(self.old, self.new)


def twice_wrong(question: Question) -> Iterator[tuple[str, Edit]]:
    """Yield our answer with any two of the known mistakes in it, where both fit."""
    edits = [(m.name, m.wrong) for m in question.misconceptions if isinstance(m.wrong, Edit)]
    for (one, first), (other, second) in itertools.permutations(edits, 2):
        if first.source.count(second.old) == 1:
            both = Both(question.reference, second.old, second.new, first)
            yield f"{one} and {other}", both


@pytest.mark.parametrize("name", ["early_stop", "pair_input", "equal_tokens"])
def test_what_check_names_is_named_by_all_cases_together(name):
    assignment, question = catalogue.find(name)
    hidden = private.load(private_folder(ROOT, assignment.name) / "hidden.py")[name]
    known = Known(assignment, question, (*question.cases, *hidden))
    contradicted = 0  # by the hidden cases
    for said, wrong in twice_wrong(question):
        told = check(name, wrong.made).misconception
        student = catalogue.references(assignment, **{name: wrong.made})
        outcomes = [observe(case, student) for case in known.cases]
        found = known.misconception(outcomes)
        assert not told or found is not None, said
        if told and found.name == told:
            alone = [known.of(found, number) for number in range(len(known.cases))]
            contradicted += any(
                differ(one, other, case.tolerance) is not None
                for one, other, case in zip(outcomes, alone, known.cases)
            )
    assert contradicted >= 3


def test_whom_no_visible_case_tells_anything_is_told_nothing():
    """Right in all that a learner sees: a mistake that shows there is not theirs."""
    assignment, question = catalogue.find("answer_span")
    hidden = private.load(private_folder(ROOT, assignment.name) / "hidden.py")["answer_span"]
    known = Known(assignment, question, (*question.cases, *hidden))
    right = [known.expected(number) for number in range(len(question.cases))]
    assert known.misconception([*right, *(known.expected(0) for _ in hidden)]) is None
