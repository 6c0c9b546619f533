"""Questions with variants: everybody is judged by the numbers of their own id."""

from __future__ import annotations

import json
from itertools import count

import pytest

from coursekit.check.variants import number_of
from coursetools.grading.gradebook.autograded import report_of
from coursetools.grading.judging.engine import Engine
from coursetools.grading.records.verdict import Verdict
from coursetools.grading.running import judge_job, judge_on_cluster
from coursetools.grading.running.judge_job import Judges
from coursetools.grading.running.tasks import Task

MINE = """
from coursekit.check.variants import variants

mine = variants(factors=(3, 4, 5))
"""
NUMBERS = (3, 4, 5)  # of nobody, and of the two variants


def student_of(number: int, other: str = "") -> str:
    """Return an id with this variant."""
    ids = (f"s{n}" for n in count())
    return next(one for one in ids if number_of("powers", one, 3) == number and one != other)


ADA, BOB = student_of(1), student_of(2)


def answer(factors: int) -> str:
    return f"def cube(x):\n    return x ** {factors}"


@pytest.fixture(scope="module")
def engine(tools):
    files = dict(tools.FILES)
    files["cube.py"] = MINE + tools.PYTHON.format(name="cube", power="mine.factors") + tools.SLOPES
    files["cube.md"] = tools.ABOUT.format(name="cube", power="mine.factors", needs="")
    with Engine(
        tools.titled(tools.master("check(square)", "check(cube)", tuple(files.items()))),
        tools.LIMITS,
    ) as made:
        yield made


@pytest.fixture
def grade(engine, tools):
    def grade(factors: int, student: str, written: str = "") -> Verdict:
        first = f"student = {written!r}"
        return engine.grade(tools.submission(cube=answer(factors), first=first), student)

    return grade


def test_everybody_has_their_own_numbers(grade):
    for student, factors in ((ADA, 4), (BOB, 5)):
        verdict = grade(factors, student, f" {student.upper()} ")
        assert (verdict.points, verdict.flags) == (5, [])
        assert verdict.questions[1].numbers == f"factors = {factors}"
        assert f"with factors = {factors}\n" in report_of(verdict.questions[1])
    assert verdict.questions[0].numbers == ""


def test_a_neighbours_answer_earns_what_it_deserves_and_is_seen(grade):
    for _ in "ab":  # afresh, and from memory
        verdict = grade(5, ADA, ADA)
        (square, cube) = verdict.questions
        assert (square.points, cube.status) == (2, "FAIL")
        assert cube.flags == ["right with factors = 5, not with their own factors = 4"]
        assert "numbers to practise" not in cube.hint and verdict.flags == []


def test_numbers_to_practise_with_are_nobodys(grade):
    cube = grade(3, ADA).questions[1]
    assert cube.points == 0 and "write your id into `student`" in cube.hint
    assert cube.numbers == "factors = 4"
    assert "practise" not in grade(3, ADA, ADA).questions[1].hint


def test_another_id_than_that_of_the_class_list_costs_nothing_and_is_seen(grade):
    verdict = grade(5, ADA, BOB)
    assert (verdict.points, verdict.status) == (5, "OK")
    assert verdict.flags == [f"the notebook says student = {BOB!r}"]
    assert verdict.questions[1].flags == [f"right with factors = 5, the numbers of {BOB!r}"]
    assert grade(4, ADA, BOB).points == 5  # or by their own
    assert grade(9, ADA, BOB).questions[1].flags == []


def test_a_tensor_called_student_is_no_id(engine, tools):
    for more in ("student = torch.zeros(2, 2)", "student = [1, 2]", "student = None"):
        lines = f"student = {ADA!r}\nimport torch\n{more}"
        verdict = engine.grade(tools.submission(cube=answer(4), first=lines), ADA)
        assert (verdict.points, verdict.flags) == (5, [])


def test_what_has_no_answer_or_no_variants_is_looked_at_once(engine, tools):
    stub = "def cube(x):\n    raise NotImplementedError()"
    cube = engine.grade(tools.submission(cube=stub), ADA).questions[1]
    assert (cube.points, cube.flags) == (0, [])
    verdict = engine.grade(json.dumps({"cells": 3}).encode(), ADA)
    assert verdict.status == "MALFORMED" and {one.numbers for one in verdict.questions} == {""}


def test_the_engine_is_told_whose_file_it_is(tmp_path):
    """By the worker, and by one of a cluster: the folder in `submitted/` says it."""
    told = []

    class Engine:
        def grade(self, data, student):
            told.append((data, student))
            return Verdict(assignment="powers", status="OK", reason="", points=5, max_points=5)

    judges = Judges({"limits": {}, "require": [], "masters": {"powers": {}},
                     "engine": "builtins:dict", "master": "builtins:dict"})  # fmt: skip
    judges.engines["powers"] = Engine()
    (tmp_path / "powers.ipynb").write_bytes(b"{}")
    found = judge_job.answer(Task(ADA, "powers", tmp_path / "powers.ipynb"), judges)
    judge_on_cluster._judges["start"] = judges
    assert judge_on_cluster.judge("start", "powers", b"{}", BOB)["verdict"] == found["verdict"]
    del judge_on_cluster._judges["start"]
    assert told == [(b"{}", ADA), (b"{}", BOB)]
