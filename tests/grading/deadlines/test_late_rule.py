"""What lateness costs: never more than there is, never less for coming later."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from coursekit._base.errors import CourseError
from coursetools.settings.late_days import LateDays, days_spent
from coursetools.settings.late_rule import DAY, HOUR, LateRule, rule_of

SHARE = st.floats(0, 1)
HOURS = st.floats(0, 400)


@st.composite
def rules(draw) -> LateRule:
    grace, end = draw(HOURS), draw(st.one_of(st.just(math.inf), HOURS))
    if draw(st.booleans()):
        rate, most = draw(SHARE), draw(SHARE)
        return LateRule(rate=rate, most=most, grace_hours=grace, end_hours=end)
    hours = sorted(draw(st.sets(HOURS, max_size=4)))
    credits = sorted((draw(SHARE) for _ in hours), reverse=True)
    steps = [{"hours": h, "credit": c} for h, c in zip(hours, credits)]
    return LateRule(steps=steps, grace_hours=grace, end_hours=end)


@given(rules(), st.floats(0, 1e3), st.floats(0, 1e7), st.floats(0, 1e6))
def test_later_never_costs_less_and_nothing_costs_more_than_there_is(rule, score, late, more):
    assert rule.penalty(score, 0) == 0
    assert 0 <= rule.penalty(score, late) <= score + 0.005
    assert rule.penalty(score, late) <= rule.penalty(score, late + more)


@given(rules(), st.floats(0, 1e7), st.integers(0, 9))
def test_late_days_help_or_are_not_spent(rule, late, available):
    days = days_spent(rule, late, available)
    assert 0 <= days <= available
    assert rule.share(max(0.0, late - days * DAY)) <= rule.share(late)
    if days:
        assert rule.share(late - days * DAY) < rule.share(late - (days - 1) * DAY)
        assert late <= rule.end
    assert days_spent(rule, late, available + 1) >= days


STEPS = LateRule(steps=[{"hours": 24, "credit": 0.8}, {"hours": 72, "credit": 0.5}])


@pytest.mark.parametrize(
    ("hours", "lost"), [(0, 0), (0.1, 2), (24, 2), (24.1, 5), (72, 5), (72.1, 10)]
)
def test_credit_in_steps(hours, lost):
    assert STEPS.penalty(10, hours * HOUR) == pytest.approx(lost)


def test_what_comes_after_the_last_step_or_the_end_does_not_count():
    assert STEPS.end == 72 * HOUR
    assert LateRule(rate=0.1, most=0.3, end_hours=48).penalty(10, 48 * HOUR) == 2
    assert LateRule(rate=0.1, most=0.3, end_hours=48).penalty(10, 48 * HOUR + 1) == 10
    forever = LateRule(steps=[{"hours": math.inf, "credit": 0.5}])
    assert forever.penalty(10, 1e9) == 5 and math.isinf(forever.end)


@pytest.mark.parametrize(
    ("late", "available", "days"),
    [(0, 5, 0), (1, 5, 1), (DAY, 5, 1), (DAY + 1, 5, 2), (DAY + 1, 1, 1), (20 * DAY, 5, 0)],
)
def test_days_that_are_begun_are_spent_and_none_that_help_nobody(late, available, days):
    """At twenty days the most is lost, with five days fewer too."""
    assert days_spent(LateRule(rate=0.1, most=0.5), late, available) == days


def test_a_free_step_needs_no_late_day():
    rule = LateRule(steps=[{"hours": 24, "credit": 1.0}, {"hours": 48, "credit": 0.5}])
    assert days_spent(rule, 20 * HOUR, 3) == 0
    assert days_spent(rule, 30 * HOUR, 3) == 1
    assert days_spent(None, 30 * HOUR, 3) == 0


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("steps = 3", "steps should be a list"),
        ("steps = [{hours = 24}]", "found {'hours': 24}"),
        ("steps = [{hours = 24, credit = 1.5}]", "credit from 0 to 1"),
        ("steps = [{hours = 24, credit = 0.5}, {hours = 24, credit = 0.4}]", "hours must rise"),
        ("steps = [{hours = 24, credit = 0.5}, {hours = 48, credit = 0.6}]", "credit must fall"),
        ("rate = 0.1\nsteps = [{hours = 24, credit = 0.5}]", "keep one"),
        ("end_hours = -1", "end_hours is -1"),
        ("end = 3", "unknown end; expected rate, grace_hours, most, steps, end_hours"),
    ],
)
def test_a_rule_that_cannot_be_meant_is_named(tmp_path, table, said):
    (tmp_path / "assignment.toml").write_text(f"[late]\n{table}\n")
    with pytest.raises(CourseError, match=r"assignment\.toml.*\[late\]") as error:
        rule_of(tmp_path)
    assert said in str(error.value)


@given(rules(), st.floats(0, 1e6))
def test_a_rule_is_no_rule_before_the_deadline(rule, score):
    assume(score > 0)
    assert rule.share(0) == 0 and rule.penalty(score, rule.grace_hours * HOUR) == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[late_days]\nbudget = 2.5", "budget is 2.5; it should be a whole number"),
        ("[late_days]\nmost = 2", "budget is None"),
        ("[late_days]\nbudgets = 2", "unknown budgets; expected budget, most"),
        ("late_days = 5", "should be a table"),
        ("[latedays]\nbudget = 5", "unknown latedays; expected time_zone, late_days, term"),
        ("[late_days", "cannot be read"),
    ],
)
def test_late_days_that_cannot_be_meant_are_named(classroom, text, said):
    path = classroom.root / "autograder" / "class.toml"
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(CourseError, match=r"class\.toml") as error:
        LateDays.of(classroom.course)
    assert said in str(error.value)


def test_late_days_without_a_most_are_the_whole_budget(classroom):
    path = classroom.root / "autograder" / "class.toml"
    assert LateDays.of(classroom.course) is None
    path.parent.mkdir()
    path.write_text("[late_days]\nbudget = 3\n")
    assert LateDays.of(classroom.course) == LateDays(3, 3)
