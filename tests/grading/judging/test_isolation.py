"""Each submission gets what it gets alone: whoever came before it, and however busy the machine."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from coursekit.check.probe import after, gradients
from coursekit.submission.resource_limits import Limits
from coursetools.course import Course
from coursetools.grading.judging.engine import Engine
from coursetools.grading.judging.judge import Judge
from coursetools.grading.judging.master import Master
from coursetools.questions.known_answers import Known
from coursetools.questions.question import Assignment, Case, Question

SHARED = torch.tensor([1.0, -2.0, 4.0])  # as no case should have it
NAMES = ["b", "a"]

HONEST = "def scaled(x, names):\n    return x * len(names)"
CHANGES = {
    "in place": "x *= len(names)\n    return x",
    "to zero": "y = x * len(names)\n    x.zero_()\n    return y",
    "the data": "y = x * len(names)\n    x.data = x.data + 1\n    return y",
    "through numpy": "y = x * len(names)\n    x.detach().numpy().fill(3)\n    return y",
    "the shape": "y = x * len(names)\n    x.detach().resize_(1)\n    return y",
    "a list": "y = x * len(names)\n    names.sort()\n    names.append('c')\n    return y",
    "and is wrong": "x -= x.mean()\n    names.clear()\n    return x",
    "later": "kept.append(x)\n    for k in kept: k.mul_(2)\n    return x * len(names) / 2",
    "chance": "torch.manual_seed(len(kept))\n    kept.append(x)\n    return torch.rand_like(x)",
    "types": "torch.set_default_dtype(torch.float64)\n    return torch.ones(3) * len(names)",
    "gradients": "torch.set_grad_enabled(False)\n    return x * len(names)",
    "functions": "torch.equal = torch.allclose = lambda *a, **k: True\n    return x",
    "counts": "kept.append(x)\n    return x * len(names) if len(kept) % 2 else x",
    "nothing": "return x * len(names)",
}


def answer(body: str) -> str:
    return f"kept = []\ndef scaled(x, names):\n    {body}"


def assignment() -> Assignment:
    cases = (
        Case("shared", lambda student: student.scaled(SHARED, NAMES)),
        Case("shared again", lambda student: student.scaled(SHARED + 1, list(NAMES))),
        Case("twice", lambda s: (s.scaled(SHARED, NAMES), s.scaled(SHARED, NAMES))),
        Case("gradients", lambda student: gradients(student.scaled, SHARED, NAMES)),
        Case("by chance", lambda student: student.scaled(torch.rand(3), NAMES)),
        Case("what is left", lambda student: after(student.scaled, SHARED, NAMES)[1][0]),
    )
    question = Question(
        name="scaled",
        title="",
        points=6,
        difficulty=1,
        minutes=1,
        hint="",
        page="",
        reference=lambda x, names: x * len(names),
        cases=cases,
        misconceptions=(),
    )
    return Assignment(name="scales", title="", questions=(question,), written=())


@pytest.fixture(scope="module")
def scales(tools):
    source = tools.notebook(
        tools.cell("imports", "import torch"),
        tools.cell("scaled", "### BEGIN SOLUTION\n### END SOLUTION", solution=True),
        tools.cell("test_scaled", "check(scaled)", grade=True, locked=True, points=6),
    )
    made = assignment()
    with Engine(Master.of("scales", source), tools.LIMITS, assignment=made) as engine:

        def grade(text: str, judge: Judge) -> dict:
            cells = [tools.cell("imports", "import torch")]
            cells.append(tools.cell("scaled", text, solution=True))
            engine._judge = judge
            return tools.seen(engine.grade(tools.notebook(*cells).encode()))

        yield grade


def test_any_order_gives_everybody_what_they_get_alone(scales):
    answers = [HONEST, *map(answer, CHANGES.values())]
    alone = [scales(text, Judge(assignment())) for text in answers]
    assert alone[0]["points"] == 6
    assert alone[answers.index(answer(CHANGES["and is wrong"]))]["points"] == 0
    together, places = Judge(assignment()), list(range(len(answers)))
    for seed in range(4):
        random.Random(seed).shuffle(places)
        for place in places:
            assert scales(answers[place], together) == alone[place], answers[place]
    assert SHARED.tolist() == [1, -2, 4] and NAMES == ["b", "a"]


def test_no_expected_value_is_used_after_it_was_changed(scales):
    judge = Judge(assignment())
    judge._known["scaled"].expected(0).value.zero_()
    verdict = scales(HONEST, judge)
    assert verdict["status"] == "INTERNAL" and "has been changed" in verdict["flags"][0]


@pytest.fixture(scope="module")
def kernels(tools):
    """Grade the first assignment of the course: our own answers, but for those given."""
    from invented import Maker

    from coursetools.grading.records.folders import Folders

    place = Folders(Course(Path(__file__).parents[3]), "a01_kernels")
    maker = Maker(place, place.name, random.Random(0))
    limits = Limits(cell_seconds=2.0, question_seconds=4.0, notebook_seconds=4.0)
    with Engine(Master.read(place.course, place.name), limits) as engine:

        def grade(**instead: str) -> dict:
            notebook = maker.release | {"cells": [dict(cell) for cell in maker.release["cells"]]}
            maker._fill(notebook, maker.right | instead)
            verdict = engine.grade(json.dumps(notebook).encode())
            return {question.name: question for question in verdict.questions}

        yield grade


def points(questions: dict) -> dict[str, float]:
    return {name: question.points for name, question in questions.items()}


ALL = {"shares": 3, "gaussian_scores": 3, "predict": 4, "AdditiveScores": 5, "self_attention": 4}


def test_who_changes_what_is_given_changes_it_for_nobody_else(kernels):
    assert points(kernels()) == ALL
    changed = (
        "def predict(query, x, y, bandwidth):\n    x -= x.mean()\n    y *= 0\n"
        "    return shares(gaussian_scores(query[:, None], x[:, None], bandwidth)) @ y"
    )
    assert points(kernels(predict=changed))["predict"] == 0
    assert points(kernels()) == ALL


def test_zeros_earn_nothing_and_cost_the_others_nothing(kernels):
    zeros = kernels(shares="def shares(scores):\n    return torch.zeros_like(scores)")
    assert points(zeros) == ALL | {"shares": 0}
    for name in ("predict", "self_attention"):
        said = zeros[name].reason
        assert said.startswith("With our shares, since yours does not pass: All")
    idle = kernels(predict="def predict(query, x, y, bandwidth):\n    return query * 0")
    assert points(idle) == ALL | {"predict": 0}
    assert idle["predict"].reason.endswith("these alone earn no points.")


def test_what_fails_costs_a_tenth_and_the_points_of_the_cases_add_up(kernels):
    """One visible case of five fails, worth 3%; and one hidden case, worth 12%."""
    light = "softmax(scores, -1) * (scores.max() != 1000)"
    for right, points in ((light, 2.7), ("softmax(scores, -1).float()", 2.64)):
        verdict = kernels(shares=f"def shares(scores):\n    return torch.{right}")["shares"]
        brought = [case.share for case in verdict.cases if case.status == "OK"]
        assert len(brought) == len(verdict.cases) - 1 and verdict.points == points
        assert sum(case.share for case in verdict.cases) == pytest.approx(1, abs=1e-3)
        assert 3 * sum(brought) == pytest.approx(points, abs=1e-2)


def test_a_slow_answer_takes_no_time_from_others(kernels):
    """It sleeps for longer than the whole notebook has, and keeps its own points, too."""
    slow = kernels(
        shares="import time\ndef shares(scores):\n    time.sleep(0.3)\n"
        "    return torch.softmax(scores, -1)"
    )
    assert points(slow) == ALL


def test_on_a_busy_machine_everybody_gets_the_same(desk, tools, monkeypatch):
    # A third of its time is left to whom is nearest to the limit, for all that is not its answer.
    limits = dataclasses.replace(tools.LIMITS, cell_seconds=0.5, question_seconds=1.0)
    monkeypatch.setattr(desk.engine._server, "limits", limits)
    work = (
        "import time\ndef square(x):\n    start = time.process_time()\n"
        "    while time.process_time() < start + {}: pass\n    return x * x"
    )
    answers = {
        "quick": tools.GOOD,
        "slow": work.format(0.15),
        "slower": work.format(0.22),
        "endless": work.format(100),
        "asleep": "import time\ndef square(x):\n    time.sleep(100)",
        "dozing": "import time\ndef square(x):\n    time.sleep(0.25)\n    return x * x",
    }

    def grade() -> dict[str, dict]:
        return {
            name: tools.seen(desk.engine.grade(tools.submission(source)))
            for name, source in answers.items()
        }

    idle = grade()
    found = {name: verdict["points"] for name, verdict in idle.items()}
    assert found == {"quick": 5, "slow": 5, "slower": 5, "endless": 3, "asleep": 3, "dozing": 5}
    with crowded(tools.descendants(os.getpid())):
        loaded = grade()
    assert loaded == idle


@contextlib.contextmanager
def crowded(graders: list[int]) -> Iterator[None]:
    """Give the graders a sixth of a processor, as ten busy processes on two would leave them.

    Where processes can be bound to one processor, five on that one do the same, and what else the
    machine does, other tests above all, keeps the others.
    """
    count, bound = 10, hasattr(os, "sched_setaffinity")
    if bound:
        everywhere, count = os.sched_getaffinity(0), 5
        for pid in (0, *graders):
            os.sched_setaffinity(pid, {min(everywhere)})  # which those to come inherit
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for one in others:
            one.kill()
            one.wait()
        for pid in (0, *graders) if bound else ():
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(pid, everywhere)


def test_an_idle_answer_earns_nothing_whatever_it_passes():
    question = assignment().questions[0]
    known = Known(assignment(), question, question.cases)
    passed = [known.free(number) for number in range(len(question.cases))]
    assert any(passed) and not all(passed)
    assert known.earned(passed) == 0
    assert known.earned([True] * len(passed)) == 1
