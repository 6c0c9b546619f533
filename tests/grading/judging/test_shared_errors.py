"""Wrong outcomes that no mistake gives have a name, the same for the same values."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from coursekit.check.outcome import Outcome
from coursetools.grading.judging.shared_errors import name_of

SAME = [  # the same but for rounding
    (torch.tensor([1 / 3, 2e-5]), torch.tensor([0.33333337, 2.000001e-5])),
    ([torch.ones(40), "a"], [torch.ones(40) + 1e-7, "a"]),
    ({"x": 0.1 + 0.2}, {"x": 0.3}),
    (torch.tensor([0.0]), torch.tensor([-0.0])),
    (np.array([1.5]), torch.tensor([1.5], dtype=torch.float64)),
]
OTHERS = [
    (torch.tensor([0.3]), torch.tensor([0.4])),
    (torch.ones(2, 3), torch.ones(3, 2)),
    (torch.ones(2), torch.ones(2, dtype=torch.float64)),
    ([1, 2], (1, 2)),
    ({"x": 1}, {"y": 1}),
    ("a", "b"),
    (None, 0),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_rounding_changes_nothing(one, other):
    assert name_of([Outcome(one)]) == name_of([Outcome(other)]) != ""


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_other_values_have_another_name(one, other):
    assert name_of([Outcome(one)]) != name_of([Outcome(other)])


def test_errors_count_by_their_kind_and_what_has_no_end_says_nothing():
    assert name_of([Outcome(error=ValueError("a"))]) == name_of([Outcome(error=ValueError("b"))])
    assert name_of([Outcome(error=ValueError())]) != name_of([Outcome(error=TypeError())])
    assert name_of([None, None]) == ""


def test_the_engine_names_what_no_mistake_gives(tools, desk):
    one = desk.engine.grade(tools.submission("def square(x):\n    return x * x + 7"))
    same = desk.engine.grade(tools.submission("def square(x):\n    return 7 + x**2"))
    other = desk.engine.grade(tools.submission("def square(x):\n    return x * x + 8"))
    known = desk.engine.grade(tools.submission("def square(x):\n    return x + x"))
    names = [verdict.questions[0].unknown for verdict in (one, same, other, known)]
    assert names[0] == names[1] != "" and names[2] not in ("", names[0])
    assert known.questions[0].misconception and names[3] == ""
    assert desk.engine.grade(tools.submission()).questions[0].unknown == ""
