"""Answers that are the course's own: ours, the source notebook's, or a part of the library.

Compared are fingerprints, so other names and another layout do not hide it. Short answers say
nothing: there are few good ways to write three lines. For a human to look at; nobody loses points.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module

from coursekit.submission import parsing, regions
from coursetools.grading.fingerprints import fingerprints
from coursetools.questions.question import Assignment
from coursetools.questions.wrong import source_of, with_numbers

LONG = 30  # fingerprints: shorter right answers are often alike by themselves
ALIKE = 0.75  # of all that the two have
OURS = "the course's answer"
SOLUTION = "the solution in the course's notebook"


@dataclass(frozen=True)
class Likeness:
    """An answer that is nearly one of the course's own."""

    question: str
    what: str
    share: float  # of the fingerprints, that both have

    def __str__(self) -> str:
        return f"{self.question} is {self.share:.0%} the same as {self.what}"


class OwnAnswers:
    """The course's own answers to one assignment; `notebook` is its source."""

    def __init__(self, assignment: Assignment, notebook: str) -> None:
        self._own: dict[str, list[tuple[str, frozenset[int]]]] = {}
        self._given: dict[str, frozenset[int]] = {}
        solutions = {}
        for cell in parsing.master(notebook)["cells"]:
            if cell["cell_type"] == "code" and regions.is_solution(cell):
                name = regions.grade_id(cell)
                lines = cell["source"].split("\n")
                solutions[name] = "\n".join(line for line in lines if "## " not in line)
                self._given[name] = _marks(regions.release_source(cell))
        for question in assignment.questions:
            sources = {}
            with suppress(OSError):  # it is in no file
                ours = source_of(question.reference)
                sources[OURS] = with_numbers(ours, question.reference)
            if question.name in solutions:
                sources[SOLUTION] = solutions[question.name]
            sources |= {part: _source(part) for part in question.parts if ":" not in part}
            given = self._given.get(question.name, frozenset())
            marks = [(what, _marks(source) - given) for what, source in sources.items()]
            self._own[question.name] = [one for one in marks if len(one[1]) >= LONG]

    def like(self, answers: dict[str, str]) -> Iterator[Likeness]:
        """Yield the answers that are nearly ours, each with what it is most like."""
        for name, own in self._own.items():
            if not own or not (source := answers.get(name, "")):
                continue
            marks = _marks(source) - self._given.get(name, frozenset())
            share, what = max((len(marks & ours) / len(marks | ours), what) for what, ours in own)
            if share >= ALIKE:
                yield Likeness(name, what, share)


def _marks(source: str) -> frozenset[int]:
    return frozenset(fingerprints({"": source}))


def _source(part: str) -> str:
    module, _, name = part.rpartition(".")
    return inspect.getsource(getattr(import_module(module), name))
