"""What a question of an assignment is: a name to fill, known answers, and ways to look at one.

Everything here is public: learners have it on their machines. The hidden cases, in the same form,
stay with the instructor in `solutions/`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Case:
    """One look at an answer: `run(student)` calls what the student wrote and returns what came out.

    `student` has the names that the assignment asks for as attributes: a notebook's own functions,
    our reference, or a proxy of a process elsewhere. The same run with the reference gives the
    expected value, so that nothing is typed twice; a case may also `assert` on its own, and return
    None. Runs are deterministic: the same inputs every time.
    """

    says: str  # what a student may read, "a mask that hides a whole row"
    run: Callable[[Any], Any]
    weight: float = 1.0  # of this case in the question's points
    tolerance: float = 1e-5  # absolute and relative


@dataclass(frozen=True)
class Misconception:
    """A wrong answer that people really give, and the hint for whoever gave it."""

    name: str  # "no scale"
    answer: Any  # takes the reference's place
    hint: str


@dataclass(frozen=True, kw_only=True)
class Question:
    """A function or class that the student writes, autograded."""

    name: str  # as the student writes it: check(name), student.name
    title: str
    points: float
    difficulty: Literal[1, 2, 3]
    minutes: int
    hint: str  # the first one, for everybody
    page: str  # where the book explains it: "scaling", or "scaling.html#an-anchor"
    reference: Any
    cases: tuple[Case, ...]
    misconceptions: tuple[Misconception, ...]
    forbidden: tuple[str, ...] = ()  # dotted names: of torch, shown to a human; else not there
    needs: tuple[str, ...] = ()  # earlier questions whose answers this one may call


@dataclass(frozen=True, kw_only=True)
class Written:
    """A question that is answered in words and read by a human."""

    name: str
    title: str
    points: float
    minutes: int
    page: str


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """The questions of one assignment, in the order of its notebook."""

    name: str  # "a02_scaling": its folder and file
    title: str
    questions: tuple[Question, ...]
    written: tuple[Written, ...]
