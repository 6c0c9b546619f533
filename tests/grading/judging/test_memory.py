"""What was seen before is judged from memory, and exactly as it would be judged afresh."""

from __future__ import annotations

import json

import pytest
import torch

from coursetools.grading.judging.dialogues import Memory
from coursetools.grading.judging.engine import Engine
from coursetools.grading.judging.proxy import Link
from coursetools.questions.question import Assignment, Case, Misconception, Question

ANSWERS = {
    "right": "def square(x):\n    return x * x",
    "one mistake": "def square(x):\n    return x + x",
    "the other": "def square(x):\n    return x.abs() ** 3",
    "partly right": "def square(x):\n    return x * x if x.dim() else x",
    "nearly": "def square(x):\n    return x * x + 1e-7",
    "random": "def square(x):\n    return torch.rand_like(x)",
    "of another type": "def square(x):\n    return x.tolist()",
    "an object": "class A: pass\ndef square(x):\n    return A()",
    "a subclass": "class A(torch.Tensor): pass\ndef square(x):\n    return (x * x).as_subclass(A)",
    "not a number": "def square(x):\n    return x / 0",
    "an error": "def square(x):\n    raise ValueError(x.tolist())",
    "an error elsewhere": "y = 1\ndef square(x):\n    raise ValueError(x.tolist())",
    "no answer": "def square(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()",
    "changes its input": "def square(x):\n    x *= x\n    return x",
    "forbidden": "def square(x):\n    return torch.pow(x, 2)",
    "counts": "n = [0]\ndef square(x):\n    n[0] += 1\n    return x * x if n[0] % 2 else x",
    "blocked": "def square(x):\n    open('/etc/shadow')",
    "ends": "import os\ndef square(x):\n    os._exit(0) if x.dim() else None\n    return x * x",
}


class Forgetful(Memory):
    def keep(self, *_: object) -> None:
        """Remember nothing."""


@pytest.fixture(scope="module")
def engine(tools):
    with Engine(tools.MASTER, tools.LIMITS, assignment=tools.ASSIGNMENT) as engine:
        yield engine


def count_runs(engine, monkeypatch) -> list:
    """Count the letters that cases write themselves."""
    asked, original = [], Link._ask
    monkeypatch.setattr(Link, "_ask", lambda *a: asked.append(1) or original(*a))
    return asked


def test_with_memory_and_without_everything_is_the_same(engine, tools):
    submissions = [tools.submission(answer) for answer in ANSWERS.values()]
    engine._judge.asking.memory = Forgetful()
    fresh = [tools.seen(engine.grade(data)) for data in submissions]
    engine._judge.asking.memory = Memory()
    for _ in range(3):
        assert [tools.seen(engine.grade(data)) for data in submissions] == fresh
    found = {name: entry["questions"][0] for name, entry in zip(ANSWERS, fresh)}
    assert found["right"]["points"] == found["nearly"]["points"] == 2
    assert found["one mistake"]["misconception"] == "times"
    assert found["the other"]["misconception"] == "no sign"
    cases = {case["status"] for entry in found.values() for case in entry["cases"]}
    assert cases == {"OK", "FAIL", "BLOCKED", "CRASH"}


def test_what_is_known_is_not_run_again(engine, tools, monkeypatch):
    engine._judge.asking.memory = Memory()
    asked = count_runs(engine, monkeypatch)
    one, other = tools.submission(ANSWERS["right"]), tools.submission(ANSWERS["one mistake"])
    counts = []
    for data in (one, one, other, other, tools.submission("def square(x):\n    return x ** 2")):
        engine.grade(data)
        counts.append(len(asked))
        asked.clear()
    assert counts == [6, 0, 3, 0, 0]


def test_it_holds_no_more_than_it_may(engine, tools, monkeypatch):
    engine._judge.asking.memory = memory = Memory(room=8000)
    data = [tools.submission(f"def square(x):\n    return x * {n}.5") for n in range(8)]
    fresh = [tools.seen(engine.grade(one)) for one in data]
    assert 0 <= memory._room < 8000
    assert sum(map(_weight, memory._steps.values())) + memory._room == 8000
    assert [tools.seen(engine.grade(one)) for one in data] == fresh
    engine._judge.asking.memory = memory = Memory()
    engine.grade(tools.submission("def square(x):\n    return torch.zeros(1 << 20)"))
    assert not _ends(memory)


def _weight(step) -> int:
    from coursetools.grading.judging import dialogues

    return dialogues._size(step)


def _ends(memory) -> list:
    from coursetools.grading.judging.dialogues import End

    kept = [step for step in memory._steps.values() if isinstance(step, End)]
    return [end for end in kept if end.size > 1 << 20]


def test_a_case_that_asks_in_several_steps_is_led_along(tools):
    led, turns = [], []

    def steps(student):
        led.append(1)
        first = student.square(torch.tensor(2.0))
        if not isinstance(first, torch.Tensor):
            raise AssertionError("a tensor is expected")
        return first, student.square(first + 1)

    def erratic(student):
        turns.append(1)
        student.square(torch.tensor(2.0))
        other = student.square(torch.tensor(10.0 + len(turns))) * 0
        return other, student.square(torch.tensor(2.0))

    asked = tools.ASSIGNMENT.questions[0]
    cases = (Case("in steps", steps), Case("not the same", erratic))
    wrong = (Misconception("plus", lambda x: x + x, "times itself, not plus"),)
    changed = {"cases": cases, "hidden": (), "misconceptions": wrong}
    question = Question(**(vars(asked) | changed))
    assignment = Assignment(name="powers", title="", questions=(question,), written=())
    source = tools.notebook(
        tools.cell("imports", "import torch"),
        tools.cell("square", tools.wanted("square"), solution=True),
        tools.cell("test_square", "check(square)", grade=True, locked=True, points=2),
    )
    from coursetools.grading.judging.master import Master

    with Engine(Master.of("powers", source), tools.LIMITS, assignment=assignment) as engine:

        def grade(answer):
            data = json.loads(tools.submission(f"def square(x):\n    return {answer}"))
            data["cells"] = [c for c in data["cells"] if "cube" not in c["id"]]
            return engine.grade(json.dumps(data).encode())

        for answer, points in (
            ("x * x", 2),
            ("x + x", 1),
            ("x * x", 2),
            ("x * x if x < 3 else x", 1),
        ):
            for _ in range(2):
                verdict = grade(answer)
                assert verdict.points == points, (answer, verdict.questions)
        assert grade("x + x").questions[0].misconception == "plus"
        before = len(led), len(turns)
        grade("x * x")
        assert len(led) == before[0] and len(turns) > before[1]
