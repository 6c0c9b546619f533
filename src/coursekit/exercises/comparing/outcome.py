"""What came out of a case, and which known mistake gives the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from coursekit.errors import CourseError
from coursekit.exercises.catalogue import references
from coursekit.exercises.comparing.compare import Difference, same
from coursekit.exercises.comparing.idle import idle
from coursekit.exercises.fresh import copied, same_chance, seal, usual_numbers
from coursekit.exercises.question import Assignment, Case, Misconception, Question

CHEAP = 0.15  # of a question's points, for what teaches: what is left to the other cases grades


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
    with same_chance():
        try:
            return Outcome(value=copied(case.run(student)))
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
        self._found: dict[tuple[str, int], tuple[Outcome, bytes]] = {}  # with its seal

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

    def earned(self, passed: Sequence[bool]) -> float:
        """Return the share of the points that these cases bring, 0 to 1.

        Those that an idle answer passes as well count beside others, and bring nothing alone.
        """
        if all(self.free(number) for number, one in enumerate(passed) if one):
            return 0.0
        if all(passed):
            return 1.0
        return sum(share for share, one in zip(self.shares, passed) if one)

    @cached_property
    def shares(self) -> list[float]:
        """The share of the points that each case brings.

        A case counts by its weight. But what a learner sees, and what an idle answer passes, can be
        had without an answer: beside other cases, all such together bring no more than `CHEAP`.
        """
        cheap = [case in self.question.cases or self.free(n) for n, case in enumerate(self.cases)]
        light = sum(case.weight for case, one in zip(self.cases, cheap) if one)
        heavy = sum(case.weight for case in self.cases) - light
        if light and heavy and light / (light + heavy) > CHEAP:
            each = {True: CHEAP / light, False: (1 - CHEAP) / heavy}
        else:
            each = dict.fromkeys((True, False), 1 / ((light + heavy) or 1.0))
        return [case.weight * each[one] for case, one in zip(self.cases, cheap)]

    def free(self, number: int) -> bool:
        """Say whether an answer that looks at nothing passes this case."""
        expected, tolerance = self.expected(number), self.cases[number].tolerance
        return any(
            differ(self.idle(name, answer, number), expected, tolerance) is None
            for name, answer in idle(self.question.reference).items()
        )

    def idle(self, name: str, answer: Any, number: int) -> Outcome:
        """Return what an answer that looks at nothing gives on the case with this number."""
        return self._outcome(f"idle: {name}", answer, number)

    def _like(self, outcome: Outcome, who: str, answer: Any, number: int) -> bool:
        if who not in outcome.alike:
            other, tolerance = self._outcome(who, answer, number), self.cases[number].tolerance
            outcome.alike[who] = differ(outcome, other, tolerance) is None
        return outcome.alike[who]

    def _outcome(self, who: str, answer: Any, number: int) -> Outcome:
        case = self.cases[number]
        if (who, number) not in self._found:
            student = references(self.assignment, **{self.question.name: answer})
            with usual_numbers():
                outcome = observe(case, student)
            self._found[who, number] = outcome, seal(outcome.value)
        outcome, sealed = self._found[who, number]
        if seal(outcome.value) != sealed:
            raise CourseError(
                f"what “{case.says}” of {self.question.name} should give has been changed since "
                "it was computed; nothing is compared with it"
            )
        return outcome
