"""Whose numbers are right and whose gradients are gone cannot be trained: a hidden case sees it."""

from __future__ import annotations

import ours
import pytest
import torch
from test_equal_forms import known, outcomes

from coursetools.questions.trivial_answers import instead


def without(function, method):
    def answer(*given, **named):
        with torch.no_grad():
            return function(*given, **named)

    return answer


@pytest.mark.parametrize("name", [question.name for _, question in ours.everything()])
def test_gradients_that_a_visible_case_asks_for_are_asked_for_by_a_hidden_one(name):
    asked = known(name)
    found = outcomes(asked, instead(asked.question.reference, without))
    failed = [asked.difference(outcome, number) is not None for number, outcome in enumerate(found)]
    visible = len(asked.question.cases)
    assert any(failed[visible:]) or not any(failed[:visible])
