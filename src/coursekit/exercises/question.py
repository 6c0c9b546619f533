"""What a question of an assignment is: a name to fill, known answers, and ways to look at one.

A file holds one question: our answer, what is asked, the cases, and the wrong answers that we know.

    QUESTION = Question(name="shares", points=3, ..., reference=shares)

    @QUESTION.visible(says="one key only")
    def one_key(student):
        return student.shares(torch.randn(3, 1))

    QUESTION.mistake("not divided by the sum", old=" / raised.sum()", new="", hint="Your rows ...")

Everything here is public: learners have it on their machines. The hidden cases, in the same form,
stay with the instructor in `solutions/`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from coursekit.errors import CourseError
from coursekit.exercises.edits import Edit

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


@dataclass(frozen=True)
class Misconception:
    """A wrong answer that people really give, and the hint for whoever gave it."""

    name: str  # "no scale"
    wrong: Any  # an edit of the reference, or what takes its place
    hint: str

    @property
    def answer(self) -> Any:
        """What takes the reference's place."""
        return self.wrong.made if isinstance(self.wrong, Edit) else self.wrong


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
    cases: Sequence[Case] = field(default_factory=list)
    misconceptions: Sequence[Misconception] = field(default_factory=list)

    def visible(
        self, *, says: str, weight: float = 1.0, tolerance: float = 1e-5
    ) -> Callable[[Run], Run]:
        """Make the function below a visible case; `hidden` has the same form."""

        def register(run: Run) -> Run:
            self.cases.append(Case(says=says, run=run, weight=weight, tolerance=tolerance))
            return run

        return register

    def mistake(
        self, name: str, *, hint: str, old: str | None = None, new: str | None = None
    ) -> Callable[[Any], Any]:
        """Add a misconception: our answer with `new` for `old`, or else what stands below."""

        def register(wrong: Any) -> Any:
            self.misconceptions.append(Misconception(name, wrong, hint))
            return wrong

        if (old is None) != (new is None):
            raise CourseError(f"the mistake {name!r} has one of old and new; it needs both or none")
        if old is not None:
            register(Edit(self.reference, old, new))
        return register


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
