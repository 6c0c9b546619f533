"""What came out of a case, and which known mistake gives the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from coursekit.exercises.catalogue import references
from coursekit.exercises.compare import Difference, same
from coursekit.exercises.question import Assignment, Case, Misconception, Question


@dataclass(frozen=True)
class Outcome:
    """The value that a case returned, or the error that it raised; never changed later.

    `alike` remembers for whoever was asked about whether it is what they answer to the same case.
    """

    value: Any = None
    error: BaseException | None = None
    alike: dict[str, bool] = field(default_factory=dict, compare=False, repr=False)


def observe(case: Case, student: Any) -> Outcome:
    """Run a case; an error of the answer, or an assertion of the case, is an outcome as well."""
    try:
        return Outcome(value=case.run(student))
    except Exception as error:
        return Outcome(error=error)


def differ(actual: Outcome, expected: Outcome, tolerance: float) -> Difference | None:
    """Return how two outcomes differ; two errors are the same if they are of the same type."""
    if actual.error is not None or expected.error is not None:
        names = [type(outcome.error).__name__ for outcome in (actual, expected)]
        if names[0] == names[1]:
            return None
        return Difference(f"raised {names[0]}" if actual.error is not None else "raised nothing")
    return same(actual.value, expected.value, tolerance)


class Known:
    """What the reference and each misconception answer to some cases of one question.

    Computed when first asked for and remembered, so ten thousand answers cost it once.
    """

    def __init__(self, assignment: Assignment, question: Question, cases: Sequence[Case]) -> None:
        self.assignment, self.question, self.cases = assignment, question, tuple(cases)
        self._found: dict[tuple[str, int], Outcome] = {}

    def expected(self, number: int) -> Outcome:
        """Return what the reference gives on the case with this number."""
        return self._outcome("", self.question.reference, number)

    def of(self, misconception: Misconception, number: int) -> Outcome:
        """Return what a misconception gives on the case with this number."""
        return self._outcome(misconception.name, misconception.answer, number)

    def misconception(self, outcomes: Sequence[Outcome | None]) -> Misconception | None:
        """Return the misconception that gives exactly `outcomes`, one for each case.

        It must differ from the reference somewhere, and a case that was never looked at (None)
        speaks neither for it nor against it.
        """
        seen = [(n, outcome) for n, outcome in enumerate(outcomes) if outcome is not None]
        if all(self._like(outcome, "", self.question.reference, n) for n, outcome in seen):
            return None
        for candidate in self.question.misconceptions:
            who, answer = candidate.name, candidate.answer
            if all(self._like(outcome, who, answer, n) for n, outcome in seen):
                return candidate
        return None

    def _like(self, outcome: Outcome, who: str, answer: Any, number: int) -> bool:
        if who not in outcome.alike:
            other, tolerance = self._outcome(who, answer, number), self.cases[number].tolerance
            outcome.alike[who] = differ(outcome, other, tolerance) is None
        return outcome.alike[who]

    def _outcome(self, who: str, answer: Any, number: int) -> Outcome:
        if (who, number) not in self._found:
            student = references(self.assignment, **{self.question.name: answer})
            self._found[who, number] = observe(self.cases[number], student)
        return self._found[who, number]
