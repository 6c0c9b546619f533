"""A mistake that `check` names in the notebook is named in the feedback, too.

The wrong answers are of people who make several mistakes at once: two are known together, of three
often only some show in the visible cases, and nothing known gives what the hidden ones show.
"""

from __future__ import annotations

from collections.abc import Iterator

import ours
import pytest

from coursekit.check import check
from coursekit.check.outcome import Outcome, differ, observe
from coursetools.questions import catalogue
from coursetools.questions.known_answers import Known
from coursetools.questions.question import Misconception
from coursetools.questions.wrong import Edit

NAMES = ["early_stop", "pair_input", "infill"]
MOST = 80  # answers with three mistakes, of one question; spread over all that there are


def thrice_wrong(known: Known) -> Iterator[tuple[str, Edit]]:
    """Yield our answer with any three of the known mistakes in it, where they fit together."""
    for pair in known.pairs:
        for one in known.question.misconceptions:
            fits = isinstance(one.wrong, Edit) and one.name not in pair.name.split("; ")
            if fits and (all_three := pair.wrong.and_also(one.wrong)):
                yield f"{pair.name}; {one.name}", all_three


def outcomes(known: Known, answer: object) -> list[Outcome]:
    student = catalogue.references(known.assignment, **{known.question.name: answer})
    return [observe(case.run, student) for case in known.cases]


def agree(known: Known, given: list[Outcome], mistake: Misconception) -> bool:
    """Say whether a mistake gives the same in all cases."""
    alone = (known.of(mistake, number) for number in range(len(known.cases)))
    pairs = enumerate(zip(given, alone))
    return not any(differ(one, other, known.tolerance(n)) for n, (one, other) in pairs)


@pytest.mark.parametrize("name", NAMES)
def test_two_mistakes_at_once_are_named_and_all_cases_bear_it_out(name):
    known = Known(*ours.find(name))
    assert len(known.pairs) >= 5
    for pair in known.pairs:
        found = known.misconception(outcomes(known, pair.answer))
        if found is None:  # the two undo each other
            assert check(name, pair.answer).right, pair.name
            continue
        assert agree(known, outcomes(known, found.answer), pair), pair.name


@pytest.mark.parametrize("name", NAMES)
def test_what_check_names_is_named_by_all_cases_together(name):
    known = Known(*ours.find(name))
    contradicted = 0  # by the hidden cases
    all_three = list(thrice_wrong(known))
    for said, wrong in all_three[:: 1 + len(all_three) // MOST]:
        told = check(name, wrong.made).misconception
        given = outcomes(known, wrong.made)
        found = known.misconception(given)
        assert not told or found is not None, said
        if told and found.name == told:
            contradicted += not agree(known, given, found)
    assert contradicted >= 3


def test_whom_no_visible_case_tells_anything_is_told_nothing():
    """Right in all that a learner sees: a mistake that shows there is not theirs."""
    known = Known(*ours.find("answer_span"))
    right = [known.expected(number) for number in range(len(known.question.cases))]
    assert (
        known.misconception([*right, *(known.expected(0) for _ in known.question.hidden)]) is None
    )
