"""What an answer has touched is not used again: shared values are refused, the known is sealed."""

from __future__ import annotations

import numpy as np
import ours
import pytest
import torch

from coursekit._base.errors import CourseError
from coursekit.check import check
from coursekit.check.determinism import copied, same_chance, seal
from coursetools.questions.fresh_values import refuse_shared
from coursetools.questions.known_answers import Known
from coursetools.questions.question import Case
from coursetools.questions.trivial_answers import idle

SHARES = ours.ROOT / "solutions" / "a01_kernels" / "shares.py"
ROWS = """

{value}


@hidden("rows")
def rows(student):
    return student.shares(ROWS)
"""


def with_rows(value):
    """Return the question `shares` with one case more, whose input is made once for all."""
    text = SHARES.read_text(encoding="utf-8") + ROWS.format(value=value)
    return ours.reread("a01_kernels", {"shares.py": text}).questions[0]


@pytest.mark.parametrize(
    "value",
    [
        "ROWS = torch.zeros(2, 2)",
        "ROWS = torch.nn.Linear(2, 2)",
        "ROWS = [1.0, 2.0]",
        "ROWS = {'a': 1}",
        "ROWS = ('a', ['b'])",
        "import numpy\nROWS = numpy.zeros(2)",
    ],
)
def test_a_value_for_all_cases_is_refused(value):
    said = r"^solutions/a01_kernels/shares\.py: ROWS is one .* make it anew"
    with pytest.raises(CourseError, match=said):
        with_rows(value)


@pytest.mark.parametrize("value", ["ROWS = (1.0, 2.0)", "ROWS = 'ab'", "ROWS = torch.float64"])
def test_what_cannot_be_changed_may_be_shared(value):
    assert with_rows(value).hidden[-1].says == "rows"


def test_what_a_case_is_closed_around_is_refused_too():
    rows = torch.zeros(2)
    refuse_shared("here", {}, [Case("none", lambda student: student.shares(torch.zeros(2)))])
    for case in (
        Case("around", lambda student: student.shares(rows)),
        Case("default", lambda student, rows=rows: student.shares(rows)),
    ):
        with pytest.raises(CourseError, match="for all cases"):
            refuse_shared("here", {}, [case])


def test_every_assignment_makes_its_values_anew():
    assert all(ours.load(name).questions for name in ours.names())


CHANGES = {  # wrong answers that change what they are given: what is known must stay
    "predict": (
        "def predict(query, x, y, bandwidth):\n    x -= x.mean()\n    y.zero_()\n    return query"
    ),
    "padding_mask": "def padding_mask(tokens, end):\n    tokens -= end\n    return tokens != 0",
    "masked_shares": (
        "def masked_shares(scores, mask):\n    mask.logical_not_()\n    scores.zero_()\n"
        "    return scores"
    ),
    "smoothed_loss": (
        "def smoothed_loss(logits, labels, pad, eps=0.1):\n    labels.fill_(1)\n"
        "    logits *= 0\n    return logits.sum()"
    ),
    "beam_search": "def beam_search(table, *rest):\n    table.zero_()\n    return [], 0.0",
    "wordpiece": "def wordpiece(word, pieces):\n    pieces.clear()\n    return []",
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_learner_who_changes_what_is_given_gets_the_same_check_as_before(name):
    reference = ours.find(name)[1].reference
    names: dict = {"torch": torch}
    exec(CHANGES[name], names)
    wrong = check(name, names[name])
    for _ in range(2):
        assert check(name, reference).right
    again = check(name, names[name])
    assert (again.cases, again.hint, again.problem) == (wrong.cases, wrong.hint, wrong.problem)


def test_numbers_of_a_notebook_do_not_change_what_is_expected():
    assignment, question = ours.find("shares")
    plain = Known(assignment, question, question.cases)
    before = [seal(plain.expected(n).value) for n in range(len(question.cases))]
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad():
            strange = Known(assignment, question, question.cases)
            after = [seal(strange.expected(n).value) for n in range(len(question.cases))]
    finally:
        torch.set_default_dtype(torch.float32)
    assert after == before


def test_a_seal_tells_every_bit():
    x = torch.tensor([1.0, float("nan")])
    values = [x, x.double(), x[None], [x], (x,), {"a": x}, np.ones(2), 1, 1.0, True, "1", None]
    assert len({seal(value) for value in values}) == len(values)
    assert seal([x, {"a": (1, "b")}]) == seal(copied([x, {"a": (1, "b")}]))
    assert seal(x.to(torch.bfloat16)) != seal(torch.tensor([1.0, 2.0], dtype=torch.bfloat16))
    assert seal(torch.empty(0)) != seal(torch.empty(0, 1))


def test_copies_are_their_own():
    x = torch.ones(2, requires_grad=True)
    value = {"a": [x, np.ones(2)], "b": (1, "c")}
    made = copied(value)
    made["a"][0].zero_()
    made["a"][1][:] = 0
    assert x.tolist() == [1, 1] and value["a"][1].tolist() == [1, 1]
    assert made["b"] == (1, "c")


def test_chance_is_the_same_in_each_case_and_untouched_outside():
    torch.manual_seed(5)
    state = torch.get_rng_state()
    with same_chance():
        first = torch.rand(3)
    with same_chance():
        assert torch.equal(torch.rand(3), first)
    assert torch.equal(torch.get_rng_state(), state)


def test_idle_answers_keep_the_form_and_nothing_else():
    class Double(torch.nn.Linear):
        def scores(self, x):
            return self(x).argmax(-1)

    def pair(x, n):
        if n < 0:
            raise ValueError(n)
        return x + n, {"n": n, "s": "a"}

    x = torch.tensor([2.0, 4.0])
    zeros, ones, given, _ = (one.answer for one in idle(pair))
    assert torch.equal(ones(x, 3)[0], torch.ones(2))
    assert zeros(x, 3)[1] == {"n": 0, "s": ""}
    assert given(x, 3) is x and given(x, -3) is x
    zeros, ones, _, mean = (one.answer for one in idle(Double))
    assert torch.equal(zeros(2, 3)(x), torch.zeros(3))
    assert torch.equal(mean(2, 3)(x), torch.full((3,), 3.0))
    assert ones(2, 3).scores(x).item() == 1
    assert set(zeros(2, 3).state_dict()) == {"weight", "bias"}
