"""What a submission may take of the judge: its memory and its time have bounds, and are its own."""

from __future__ import annotations

import gc
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from coursekit.submission.limits import MB
from coursetools.grading.judging.dialogues import LONGEST, weight
from coursetools.grading.judging.engine import Engine
from coursetools.grading.judging.proxy import Link, Remote
from coursetools.questions.question import Case
from coursetools.questions.time_limit import Overtime, alarm

CASES = 24
WRONG = "def square(x):\n    return 2 * x + 1"
# Dies when it is asked a second time: so every case is asked in a process of its own.
LARGE = (
    "import os\nasked = []\ndef square(x):\n    asked.append(1)\n"
    "    if len(asked) > {calls}: os._exit(0)\n    return torch.ones({size})"
)


def engine_of(tools, square=None, limits=None, **changes):
    """Return an engine for the usual assignment with another question `square`."""
    first, cube = tools.ASSIGNMENT.questions
    questions = (square or replace(first, **changes), cube)
    assignment = replace(tools.ASSIGNMENT, questions=questions)
    return Engine(tools.MASTER, limits or tools.LIMITS, assignment=assignment)


def peak(act) -> float:
    """Return by how many MB the memory of this process grew while `act` was at work."""
    gc.collect()
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    except OSError:
        pytest.skip("the system does not say how much memory was used at most")
    before = _resident("VmRSS")
    act()
    return (_resident("VmHWM") - before) / MB


def _resident(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(name))


def at(number: int):
    return lambda student: student.square(torch.tensor(float(number)))


def ten_times(student):
    return [student.square(torch.tensor(float(n))) for n in range(10)]


@pytest.fixture
def many(tools):
    """An engine with many cases of `square`."""
    limits = replace(tools.LIMITS, memory=1024 * MB, cell_seconds=4.0, question_seconds=60.0)
    cases = [*tools.ASSIGNMENT.questions[0].cases, *(Case(f"{n}", at(n)) for n in range(CASES))]
    with engine_of(tools, limits=limits, cases=tuple(cases)) as engine:
        yield engine


@pytest.mark.parametrize(("megabytes", "status"), [(15, "CRASH"), (40, "MEM"), (80, "MEM")])
def test_large_answers_are_dropped_and_larger_ones_are_not_read(many, tools, megabytes, status):
    desk = tools.Desk(many)
    found = []
    large = tools.submission(LARGE.format(calls=1, size=megabytes << 18))
    assert peak(lambda: found.append(many.grade(large))) < 6 * 16  # six times what may be read
    first, cube = found[0].questions
    assert (first.status, cube.status, found[0].points) == (status, "OK", 3)
    if status == "MEM":
        assert "larger than 16 MB" in first.reason
    assert tools.seen(many.grade(tools.submission())) == desk.baseline


def test_one_case_that_is_too_large_costs_no_other(tools):
    with engine_of(tools) as engine:
        much = "def square(x):\n    return x * x if x.numel() == 1 else torch.ones(5 << 20)"
        verdict = tools.Desk(engine).grade(much)
    assert [case.status for case in verdict.questions[0].cases] == ["OK", "MEM", "OK"]
    assert tools.statuses(verdict) == ["PARTIAL", "OK"]


def test_what_one_case_hands_over_in_many_steps_is_added_up(tools):
    cases = (*tools.ASSIGNMENT.questions[0].cases, Case("ten times", ten_times))
    limits = replace(tools.LIMITS, memory=1024 * MB, answer_bytes=8 * MB, cell_seconds=4.0)
    with engine_of(tools, limits=limits, cases=cases) as engine:
        one = LARGE.format(calls=99, size=1 << 19)  # 2 MB, ten times
        found = []
        assert peak(lambda: found.append(engine.grade(tools.submission(one)))) < 6 * 8
    *small, steps, hidden = found[0].questions[0].cases
    assert steps.status == "MEM"
    assert {case.status for case in (*small, hidden)} == {"FAIL"}


def test_a_mistake_in_what_is_large_is_still_told(tools):
    def large(student):
        return student.square(torch.arange(1 << 19) / 7)

    cases = (*tools.ASSIGNMENT.questions[0].cases, Case("large", large))
    with engine_of(tools, cases=cases) as engine:
        outcomes = []
        settled = engine._judge._known["square"].settled
        engine._judge._known["square"].settled = lambda *a: (
            outcomes.append(settled(*a)) or (outcomes[-1])
        )
        for _ in range(2):
            wrong = engine.grade(tools.submission("def square(x):\n    return x + x"))
            assert wrong.questions[0].misconception == "times"
        assert engine.grade(tools.submission()).points == 5
    assert outcomes
    assert all(outcome.value is None for outcome in outcomes)


def test_what_a_value_weighs():
    link = Link(lambda link, packet: None, "square", 0)
    for value, least, most in (
        (torch.ones(1 << 20), 4 << 20, 5 << 20),
        ([[]] * 10_000, 1 << 20, 20 << 20),
        ({"a": torch.ones(10)}, 100, 5000),
        ("x" * 1000, 1000, 2000),
        ([1, 2.0, None], 50, 5000),
    ):
        assert least <= weight(value) <= most
    assert weight([1, (Remote(link, {"object": 0}, "A"),)]) > LONGEST


def test_what_a_case_makes_of_an_answer_has_a_bound_too(tools):
    def pairs(student):
        x = student.square(torch.ones(3))
        return (x[:, None] - x).sum()

    with engine_of(tools, cases=(Case("pairs", pairs),)) as engine:
        wide = tools.submission("def square(x):\n    return torch.ones(30_000)")  # 3.6 GB of pairs
        found = []
        assert peak(lambda: found.append(engine.grade(wide))) < 600
        assert found[0].questions[0].cases[0].status == "FAIL"
        assert engine.grade(tools.submission()).points == 5


def test_time_in_which_a_case_is_led_astray_is_the_answers_own(tools):
    def astray(student):
        found, began = float(student.square(torch.tensor(2.0))), time.thread_time()
        while time.thread_time() < began + found - 4:
            pass
        return found

    cases = tuple(Case(f"{n}", astray) for n in range(30))
    limits = replace(tools.LIMITS, cell_seconds=1.0, question_seconds=2.0)
    with engine_of(tools, limits=limits, cases=cases, misconceptions=()) as engine:
        assert engine.grade(tools.submission()).points == 5
        began = time.thread_time()
        verdict = engine.grade(tools.submission("def square(x):\n    return torch.tensor(4.9)"))
        assert time.thread_time() - began < 20  # where all thirty would take 27
    assert tools.statuses(verdict)[1] == "OK"
    assert verdict.questions[0].cases[29].status == "TIMEOUT"


# what calls `square` of ours in the place of a wrong one, and no end of it
GREEDY = {
    "calls without an end": (
        "def cube(x):\n    n = 0\n    while True:\n        n += 1\n"
        "        try: square(x + 9 + n)\n        except Exception: pass",
        "TIMEOUT",
        "most of it in calls of our reference answers",
    ),
    "a call without an end": (
        "def cube(x):\n    square(x)\n    try: square(x - 1000)\n    except Exception: pass\n"
        "    while square(x - 1000): pass",
        "TIMEOUT",
        "most of it in calls of our reference answers",
    ),
    "eight million numbers": (
        "def cube(x):\n    return square(torch.ones(8_000_000))[0] * x",
        "MEM",
        "larger than 16 MB",
    ),
    "many calls with many numbers": (
        "def cube(x):\n    for n in range(9): y = square(torch.full((1 << 20,), 1.0 + n))\n"
        "    return y[0] * x",
        "MEM",
        "larger than 16 MB",
    ),
    "an answer that is larger than what may be sent": (
        "def cube(x):\n    return square(torch.tensor(-64.0)) * x",
        "FAIL",
        "MemoryError",
    ),
    "too many calls": (
        "def cube(x):\n    for n in range(60): square(x * 0 - 1)\n    return square(x) * x",
        "TIMEOUT",
        "it called our reference answers more than 50 times",
    ),
}


@pytest.fixture(scope="module")
def lender(tools):
    """A desk of which `square` takes its time, and has an answer that is large."""
    called = []  # with how many numbers, and for how long

    def reference(x):
        first, began = float(x.detach().flatten()[0]), time.thread_time()
        end = began + (1e9 if first < -900 else 0.2 if first > 5 else 0)
        try:
            while time.thread_time() < end:
                pass
        finally:
            called.append((x.numel(), time.thread_time() - began))
        return torch.ones(1 << 25) if first == -64 else x**2

    question = replace(tools.ASSIGNMENT.questions[0], reference=reference)
    limits = replace(tools.LIMITS, memory=1024 * MB, lent_calls=50)
    with engine_of(tools, question, limits) as engine:
        yield tools.Desk(engine), called


@pytest.mark.parametrize("name", GREEDY)
def test_calls_of_what_is_lent_are_in_their_own_time(lender, tools, name, monkeypatch):
    desk, called = lender
    source, status, said = GREEDY[name]
    if "without" in name:
        monkeypatch.setattr(
            desk.engine._server, "limits", replace(desk.engine.limits, lent_calls=9**9)
        )
    called.clear()
    verdict = desk.grade(WRONG, source)
    numbers, seconds = zip(*called) if called else ((0,), (0.0,))
    cube = verdict.questions[1]
    assert (tools.statuses(verdict), cube.points) == (["FAIL", status], 0)
    assert said in cube.reason
    assert cube.reason.startswith("With our square")
    # The system's alarm counts ticks and misses most of them on a busy machine, so what is held is
    # that there is an end: a call of these would go on for thirty years.
    assert sum(seconds) < 60
    assert max(numbers) <= 4 * MB


def test_an_honest_answer_with_what_is_lent_is_as_good_as_ever(lender, tools):
    desk, _ = lender
    verdict = desk.grade(WRONG, "def cube(x):\n    return square(x) * x")
    assert (tools.statuses(verdict), verdict.points) == (["FAIL", "OK"], 3)


def test_an_alarm_within_another_leaves_it_its_time():
    def spin(seconds):
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass

    with alarm(0.3):
        with pytest.raises(Overtime), alarm(0.1):
            spin(20)
        spin(0.1)
    with pytest.raises(Overtime), alarm(0.3):
        with alarm(5):
            spin(0.5)  # is not of the outer one's time
        with pytest.raises(Overtime), alarm(0.1):
            spin(20)
        spin(20)


def test_a_number_that_no_float_can_hold_is_wrong_and_no_fault_of_ours(tools):
    cases = (Case("a number", lambda student: _value(student.square(torch.tensor(2.0)))),)
    with engine_of(tools, cases=cases) as engine:
        verdict = engine.grade(tools.submission("def square(x):\n    return 10**2500"))
    assert tools.statuses(verdict) == ["FAIL", "OK"]


def _value(found):
    return found.item() if isinstance(found, torch.Tensor) else found
