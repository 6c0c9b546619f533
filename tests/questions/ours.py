"""The questions of this course, for tests."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

from coursekit.check.outcome import differ, observe
from coursetools.assignments.sources import source
from coursetools.course import Course
from coursetools.questions import catalogue
from coursetools.questions.question import Assignment, Question

ROOT = Path(__file__).parents[2]
OURS = Course(ROOT)


def names() -> list[str]:
    return catalogue.names(OURS)


def load(name: str) -> Assignment:
    return catalogue.load(OURS, name)


def find(question: str) -> tuple[Assignment, Question]:
    return catalogue.find(OURS, question)


def everything() -> list[tuple[Assignment, Question]]:
    return [(one, question) for one in map(load, names()) for question in one.questions]


def reread(name: str, files: dict[str, str | None]) -> Assignment:
    """Return an assignment as it would be with other texts in some files; None is no file."""
    there = {**dict(catalogue.texts(OURS, name)), **files}
    kept = tuple((file, text) for file, text in there.items() if text is not None)
    return catalogue.of(name, source(OURS, name).read_text(encoding="utf-8"), kept)


def module(assignment: str, file: str) -> ModuleType:
    """Return the module that one of an assignment's files has become."""
    home = load(assignment).questions[0].reference.__module__.rpartition(".")[0]
    return sys.modules[f"{home}.{file}"]


def agree(name: str, other: object, tolerance: float = 0.0) -> None:
    """Assert that our answer and another one give the same in every case of a question."""
    assignment, question = find(name)
    right = catalogue.references(assignment)
    theirs = catalogue.references(assignment, **{name: other})
    for case in (*question.cases, *question.hidden):
        expected = observe(case.run, theirs)
        assert expected.error is None, case.says
        found = differ(observe(case.run, right), expected, max(case.tolerance, tolerance))
        assert found is None, case.says
