"""For the engine's tests: an assignment, `square` (2 points) and `cube` (3), and a desk."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from coursekit.check.probe import gradients
from coursekit.submission.resource_limits import MB, Limits
from coursetools.grading.judging.engine import Engine
from coursetools.grading.judging.master import Master
from coursetools.grading.records.verdict import Verdict
from coursetools.questions.catalogue import Texts
from coursetools.questions.question import Assignment, Case, Misconception, Question

SECRET = "hidden-secret-49"
LIMITS = Limits(
    cell_seconds=1.0,
    question_seconds=2.0,
    notebook_seconds=4.0,
    memory=256 * MB,
    file_bytes=4 * MB,
    files=50,
    processes=8,
    figures=2,
)
GOOD = "def square(x):\n    return x * x"
GOOD_CUBE = "def cube(x):\n    return x ** 3"


def seven(student):
    found = student.square(torch.tensor(7.0))
    if found.item() != 49:  # as `assert` says it where pytest does not add to what it says
        raise AssertionError(SECRET)
    return found


def slopes(student):
    return gradients(student.cube, torch.tensor([1.0, 2.0]))


HIDDEN = {"square": Case("seven", seven), "cube": Case("gradients", slopes)}


def question(name: str, power: int, points: float) -> Question:
    def reference(x):
        return x**power

    return Question(
        name=name,
        title=name,
        points=points,
        difficulty=1,
        minutes=1,
        hint=f"the {name} needs {power} factors",
        page="kernels",
        reference=reference,
        cases=(
            Case("three", lambda student: getattr(student, name)(torch.tensor(3.0))),
            Case("a row", lambda student: getattr(student, name)(torch.tensor([1.0, -2.0]))),
        ),
        hidden=(HIDDEN[name],),
        misconceptions=(
            Misconception("times", lambda x: x * power, f"{power} times is not to the {power}"),
            Misconception("no sign", lambda x: x.abs() ** (power + 1), "one factor too many"),
        ),
        forbidden=("torch.pow", "torch.nn.functional.softmax", "coursekit"),
    )


ASSIGNMENT = Assignment(
    name="powers",
    title="Powers",
    questions=(question("square", 2, 2.0), replace(question("cube", 3, 3.0), needs=("square",))),
    written=(),
)


def cell(name: str, source: str, kind: str = "code", **nbgrader: object) -> dict:
    made: dict = {"cell_type": kind, "id": name, "metadata": {}, "source": source}
    if nbgrader:
        about = {"grade": False, "solution": False, "locked": False, "task": False}
        about |= {"grade_id": name, "schema_version": 3, "cell_type": kind} | nbgrader
        made["metadata"]["nbgrader"] = about
    if kind == "code":
        made |= {"outputs": [], "execution_count": None}
    return made


def notebook(*cells: dict) -> str:
    return json.dumps({"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def wanted(name: str) -> str:
    return f"def {name}(x):\n    ### BEGIN SOLUTION\n    ### END SOLUTION"


PYTHON = """
import torch
from coursekit.check.probe import gradients
from coursetools.questions import hidden, visible

def {name}(x):
    factors = {power}
    return x**factors

@visible("three")
def three(student):
    return student.{name}(torch.tensor(3.0))

@visible("a row")
def a_row(student):
    return student.{name}(torch.tensor([1.0, -2.0]))
"""
SEVEN = f"""
@hidden("seven")
def seven(student):
    found = student.square(torch.tensor(7.0))
    assert found.item() == 49, "{SECRET}"
    return found
"""
SLOPES = """
@hidden("gradients")
def slopes(student):
    return gradients(student.cube, torch.tensor([1.0, 2.0]))
"""
ABOUT = """page: kernels
forbidden: torch.pow, torch.nn.functional.softmax
{needs}
the {name} needs {power} factors

## times
x**factors  ->  x * factors
{power} times is not to the {power}

## one more
factors = {power}  ->  factors = {power} + 1
one factor too many
"""
FILES = (  # the same assignment as it stands on the disk, in `solutions/powers/`
    ("cube.md", ABOUT.format(name="cube", power=3, needs="needs: square\n")),
    ("cube.py", PYTHON.format(name="cube", power=3) + SLOPES),
    ("square.md", ABOUT.format(name="square", power=2, needs="")),
    ("square.py", PYTHON.format(name="square", power=2) + SEVEN),
)


def titled(made: Master) -> Master:
    """Return a master whose notebook has the headings that files of questions ask for."""
    cells = json.loads(made.notebook)["cells"]
    for name, points in (("cube", 3), ("square", 2)):
        at = [one["id"] for one in cells].index(name)
        text = f"## {name.title()}\n\n*{points} points · easy · 1 minute*"
        cells.insert(at, cell(f"about-{name}", text, "markdown"))
    return Master.of(made.name, notebook(*cells), made.files)


def master(square_tests: str, cube_tests: str, files: Texts = (), name: str = "powers") -> Master:
    source = notebook(
        cell("imports", "import torch"),
        cell("square", wanted("square"), solution=True),
        cell("test_square", square_tests, grade=True, locked=True, points=2),
        cell("cube", wanted("cube"), solution=True),
        cell("test_cube", cube_tests, grade=True, locked=True, points=3),
    )
    return Master.of(name, source, files)


MASTER = master("check(square)", "check(cube)")


def submission(
    square: str | None = GOOD,
    cube: str | None = GOOD_CUBE,
    first: str = "",
    between: str = "",
    tags: list[str] | None = None,
    test: str = "check(square)",
) -> bytes:
    cells = [cell("imports", "import torch")]
    if first:
        cells.append(cell("first", first))
    if square is not None:
        cells.append(cell("square", square, solution=True))
    cells.append(cell("test_square", test, grade=True, locked=True, points=2))
    if tags:
        cells[-1]["metadata"]["tags"] = tags
    if between:
        cells.append(cell("between", between))
    if cube is not None:
        cells.append(cell("cube", cube, solution=True))
    cells.append(cell("test_cube", "check(cube)", grade=True, locked=True, points=3))
    return notebook(*cells).encode()


def seen(verdict: Verdict) -> dict:
    """Return what must be the same on every run."""
    data = verdict.as_json() | {"seconds": 0, "peak_bytes": 0}
    for entry in data["questions"]:
        entry["seconds"] = 0
        for case in entry["cases"]:
            case["seconds"] = 0
    return data


def processes_of(uid: int) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(line.split(":\t", 1) for line in status.read_text().splitlines())
        except OSError:
            continue
        if int(lines["Uid"].split()[0]) == uid:
            found.append(int(status.parent.name))
    return found


def descendants(pid: int) -> list[int]:
    found = []
    with contextlib.suppress(OSError):  # it may end while it is asked
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            found += [int(child), *descendants(int(child))]
    return found


def gone(before: set[Path], seconds: float = 60) -> bool:
    """Say whether the folders for students that are new since `before` vanish.

    The folder is the machine's, and other tests at work have theirs in it, which come and go.
    """
    last = time.monotonic() + seconds
    while scratch() - before:
        if time.monotonic() > last:
            return False
        time.sleep(0.05)
    return True


def scratch() -> set[Path]:
    return set(Path("/tmp").glob("coursekit-student-*"))


class Desk:
    """An engine, and the invariants that hold around whatever it grades."""

    def __init__(self, engine: Engine, points: float = 5) -> None:
        self.engine = engine
        self.baseline = seen(engine.grade(submission()))
        assert self.baseline["points"] == points, self.baseline

    def grade(self, *arguments: str, **parts: object) -> Verdict:
        """Grade a hostile one between two good ones, and look at what is left of it."""
        return self.grade_bytes(submission(*arguments, **parts))

    def grade_bytes(self, data: bytes) -> Verdict:
        standing, folders = len(self._processes()), scratch()  # other tests have engines, too
        started = time.monotonic()
        verdict = self.engine.grade(data)
        seconds = time.monotonic() - started
        assert seconds <= self.engine.limits.longest
        assert len(self._processes()) == standing
        assert gone(folders)
        assert SECRET not in str(self.for_students(verdict))
        assert seen(self.engine.grade(submission())) == self.baseline
        assert verdict.status != "INTERNAL", verdict.flags
        json.dumps(verdict.as_json(), allow_nan=False).encode()
        return verdict

    @staticmethod
    def first(verdict: Verdict) -> list[dict]:
        """Return the outputs of the student's own first cell."""
        return verdict.outputs.get("own-1", [])

    @staticmethod
    def for_students(verdict: Verdict) -> dict:
        """Return the verdict without what only the instructor reads."""
        data = verdict.as_json()
        for entry in data["questions"]:
            entry["cases"] = [c if not c["hidden"] else c["says"] for c in entry["cases"]]
        return data

    def _processes(self) -> list[int]:
        time.sleep(0)
        return descendants(os.getpid())


def statuses(verdict: Verdict) -> list[str]:
    return [question.status for question in verdict.questions]


@pytest.fixture(scope="session")
def tools():
    """Hand the helpers of this file to the tests."""
    import sys

    return sys.modules[__name__]


@pytest.fixture(scope="session")
def desk() -> Iterator[Desk]:
    with Engine(MASTER, LIMITS, assignment=ASSIGNMENT) as engine:
        yield Desk(engine)
