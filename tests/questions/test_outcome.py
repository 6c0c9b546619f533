"""What each case is worth, and what can be had without an answer."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from coursekit.check.outcome import differ, observe
from coursekit.check.probe import gradients, randn
from coursetools.questions import catalogue
from coursetools.questions.known_answers import CHEAP, LEAST, Known
from coursetools.questions.memorised import by_heart
from coursetools.questions.question import Assignment, Case, Question
from coursetools.questions.rounding import in_double, nudged


def twice(x):
    return 2 * x


class Scaled(nn.Module):
    def __init__(self, by):
        super().__init__()
        self.by = by
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x):
        return self.by * self.weight * x


def question(name, reference, visible):
    return Question(
        name=name,
        title=name,
        points=2,
        difficulty=1,
        minutes=1,
        hint="",
        page="",
        reference=reference,
        cases=visible,
    )


def known(reference, visible, hidden):
    one = question("answer", reference, visible)
    assignment = Assignment(name="a99_x", title="", questions=(one,), written=())
    return Known(assignment, one, [*visible, *hidden])


def at(*numbers, weight=1.0):
    return Case(
        f"at {numbers}", lambda student: student.answer(torch.tensor([*numbers])), weight=weight
    )


def test_what_is_visible_and_what_idle_answers_pass_bring_little_together():
    cases = known(twice, [at(1.0, 2.0), at(3.0, weight=2)], [at(0.0), at(5.0, 4.0), at(6.0, 1.0)])
    assert cases.shares == pytest.approx([CHEAP / 4, CHEAP / 2, CHEAP / 4, *[(1 - CHEAP) / 2] * 2])
    assert cases.earned([True] * 5) == 1.0
    assert cases.earned([True, True, True, False, False]) == pytest.approx(CHEAP)
    assert cases.earned([False, False, True, False, False]) == 0
    assert cases.earned([True, True, True, True, False]) == pytest.approx((1 + CHEAP) / 2)


def test_where_there_is_nothing_else_or_they_are_light_cases_count_by_their_weights():
    assert known(twice, [at(1.0, 2.0), at(3.0, weight=3)], []).shares == [0.25, 0.75]
    light = known(twice, [at(1.0, 2.0)], [at(5.0, 4.0, weight=9)])
    assert light.shares == pytest.approx([0.1, 0.9])


def test_what_fails_costs_a_tenth_at_least_and_the_points_of_the_cases_add_up():
    cases = known(twice, [at(1.0, 2.0)], [at(5.0, 4.0, weight=9), at(2.0, 7.0), at(0.0)])
    assert LEAST == 0.1 and all(share < LEAST for share in [cases.shares[0], *cases.shares[2:]])
    for failing in ({0}, {2}, {3}):
        passed = [number not in failing for number in range(4)]
        worth = cases.worth(passed)
        assert sum(worth) == pytest.approx(1)
        assert sum(worth[number] for number in failing) == pytest.approx(LEAST)
        assert cases.earned(passed) == pytest.approx(1 - LEAST)
    for failing in (set(), {1}, {0, 3}, {0, 2, 3}, {0, 1, 2, 3}):  # nothing, or more than a tenth
        assert cases.worth([number not in failing for number in range(4)]) == cases.shares


def graded(reference, visible, hidden):
    """Say which cases each answer by heart passes, one line for all that are alike."""
    cases = known(reference, visible, hidden)
    rows = set()
    for answer in by_heart(cases.assignment, cases.question).values():
        student = catalogue.references(cases.assignment, answer=answer)
        outcomes = [observe(case.run, student) for case in cases.cases]
        assert not any(outcome.error for outcome in outcomes)
        rows.add(tuple(differ(o, cases.expected(n), 1e-5) is None for n, o in enumerate(outcomes)))
    return rows


def test_by_heart_is_what_was_asked_with_its_gradients_and_nothing_else():
    def sloped(student):
        return gradients(student.answer, torch.tensor([1.0, 7.0]))

    visible, hidden = [at(1.0, 2.0), Case("gradients", sloped)], [at(1.0, 2.0, 2.5), at(1.0, 2.5)]
    assert graded(twice, visible, hidden) == {(True, True, False, False)}
    assert graded(twice, visible, [at(1.0, 7.0), at(7.0, 1.0)]) == {(True, True, True, False)}


def made(by, weights):
    def run(student):
        module = student.answer(by)
        with torch.no_grad():
            module.weight.copy_(torch.tensor(weights))
        return module(torch.tensor([3.0, 4.0]))

    return Case(f"by {by} of {weights}", run)


def test_of_a_class_it_knows_how_it_was_made_and_its_weights():
    hidden = [made(2.0, [1.0, 3.0]), made(3.0, [1.0, 2.5]), made(2.0, [1.0, 2.5])]
    assert graded(Scaled, [made(2.0, [1.0, 2.5])], hidden) == {(True, False, False, True)}


def at_thousands(student):
    return student.answer(3 * randn(4, 6) + 5000)


def by_logarithm(scores):
    return (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()


def test_where_numbers_are_large_a_right_answer_may_round_elsewhere():
    small, large = (
        Case("small", lambda student: student.answer(randn(4, 6))),
        Case("", at_thousands),
    )
    cases = known(lambda scores: scores.softmax(dim=-1), [small, large], [])
    assert cases.tolerance(0) == 1e-5 and 1e-4 < cases.tolerance(1) < 4e-3
    other = observe(at_thousands, SimpleNamespace(answer=by_logarithm))
    assert differ(other, cases.expected(1), 1e-5) and cases.difference(other, 1) is None
    wrong = observe(at_thousands, SimpleNamespace(answer=lambda x: (0.98 * x).softmax(dim=-1)))
    assert cases.difference(wrong, 1)
    near = observe(small.run, SimpleNamespace(answer=lambda x: x.softmax(dim=-1) + 3e-5))
    assert cases.difference(near, 0)


def test_what_jumps_is_compared_as_the_case_says():
    tie = Case("a tie", lambda student: student.answer(torch.tensor([1.0, 1.0])))
    cases = known(lambda x: (x == x.max()).float(), [tie], [])
    assert cases.tolerance(0) == 1e-5


def test_more_digits_change_no_dtype_and_leave_what_was_given():
    def small_part(x, kept):
        kept.append(x)
        return (x + 1e4) - 1e4

    kept = []
    exact = in_double(small_part)(torch.tensor([0.123456]), kept)
    assert exact.dtype == torch.float32 and exact.item() == pytest.approx(0.123456, abs=1e-7)
    assert small_part(torch.tensor([0.123456]), []).item() != pytest.approx(0.123456, abs=1e-5)
    assert [x.dtype for x in kept] == [torch.float64]
    assert in_double(small_part)(torch.ones(1).double(), []).dtype == torch.float64


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([1e4]))
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        return (x + self.weight) - self.weight


def test_of_a_module_the_weights_are_wide_and_have_gradients_and_buffers_go_on():
    module = in_double(Counting)()
    x = torch.tensor([0.123456])
    assert module(x).item() == pytest.approx(0.123456, abs=1e-7)
    module(x).backward()
    assert module.weight.grad.dtype == torch.float32 and module.calls == 2
    assert nudged(Counting, 1)()(x).item() != pytest.approx(0.123456, abs=1e-9)
