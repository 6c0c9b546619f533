"""What a question of an assignment is: a name to fill, our answer, and ways to look at one.

A question is in two files of `solutions/NAME/`, which no student has. `shares.py` holds our
answer and the cases:

    def shares(scores):
        ...

    @visible("one key only")
    def one_key(student):
        return student.shares(randn(3, 1))

    @hidden("large scores", weight=2)
    def large(student):
        ...

`shares.md` says which page explains it, gives the first hint, and lists the wrong answers that
people give (`mistakes.py` reads it). Title, points, difficulty and minutes are in the notebook.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any, Literal

from coursekit.check.variants import Variant
from coursetools.questions.wrong import Wrong

Run = Callable[[Any], Any]


@dataclass(frozen=True)
class Case:
    """One look at an answer: `run(student)` calls what the student wrote and returns what came out.

    `student` has the names that the assignment asks for as attributes: a notebook's own functions,
    our reference, or a proxy of a process elsewhere. The same run with the reference gives the
    expected value, so that nothing is typed twice; a case may also `assert` on its own, and return
    None. Runs are deterministic: the same inputs every time.
    """

    says: str  # what a student may read, "a mask that hides a whole row"
    run: Run
    weight: float = 1.0  # of this case in the question's points
    tolerance: float = 1e-5  # absolute and relative


def visible(
    says: str, *, weight: float = 1.0, tolerance: float = 1e-5
) -> Callable[[FunctionType], Run]:
    """Make the function below a case that `check` runs in the student's notebook."""
    return _case("visible", says, weight, tolerance)


def hidden(
    says: str, *, weight: float = 1.0, tolerance: float = 1e-5
) -> Callable[[FunctionType], Run]:
    """Make the function below a case of which a student reads what it `says`, and no more."""
    return _case("hidden", says, weight, tolerance)


def _case(kind: str, says: str, weight: float, tolerance: float) -> Callable[[FunctionType], Run]:
    def register(run: FunctionType) -> Run:
        vars(run)[kind] = Case(says, run, weight, tolerance)
        return run

    return register


@dataclass(frozen=True)
class Misconception:
    """A wrong answer that must lose points, and the hint for those who gave it.

    Without a hint it shows that something which the question demands is looked at.
    """

    name: str  # "no scale"
    wrong: Wrong | Any  # how our answer changes; or what takes its place
    hint: str = ""
    both: tuple[str, ...] = ()  # the names of two, where it is two at once

    @property
    def answer(self) -> Any:
        """What takes the reference's place."""
        return self.wrong.made if isinstance(self.wrong, Wrong) else self.wrong


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
    forbidden: tuple[str, ...] = ()  # dotted names: of torch, shown to a human; else not there
    needs: tuple[str, ...] = ()  # earlier questions whose answers this one may call
    parts: tuple[str, ...] = ()  # of the library and the notebooks, that earn much in its place
    cases: tuple[Case, ...] = ()  # those that students see
    hidden: tuple[Case, ...] = ()
    misconceptions: tuple[Misconception, ...] = ()  # with a hint each
    demands: tuple[Misconception, ...] = ()  # without one
    variant: Variant | None = None  # its numbers, where they are not the same for everybody
    variants: tuple[Question, ...] = ()  # the same question with the others, from 1 on


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

    name: str  # "a02_scaling": its folder
    title: str
    questions: tuple[Question, ...]
    written: tuple[Written, ...]

    @property
    def count(self) -> int:
        """How many variants it has; all its questions with variants have as many."""
        return max((1 + len(question.variants) for question in self.questions), default=1)

    def of(self, number: int) -> Assignment:
        """Return it with the numbers of one variant; what has no variants is the same object."""
        questions = (q.variants[number - 1] if number and q.variants else q for q in self.questions)
        return replace(self, questions=tuple(questions))
