"""What our answer and the wrong ones give in each case, and which mistake gives the same."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cached_property
from itertools import combinations
from typing import Any

import torch

from coursekit._base.errors import CourseError
from coursekit.check.compare import Difference
from coursekit.check.compiled import both
from coursekit.check.determinism import seal, usual_numbers
from coursekit.check.outcome import Outcome, differ, explained, observe
from coursetools.questions.catalogue import references
from coursetools.questions.question import Assignment, Case, Misconception, Question
from coursetools.questions.rounding import Rounded, in_double, nudged
from coursetools.questions.time_limit import Overtime, alarm
from coursetools.questions.trivial_answers import idle
from coursetools.questions.wrong import Edit

ROUNDINGS = 8  # of its inputs, that a right answer may be away from ours
OTHERWISE = 2  # times as far as ours is when its own results are rounded otherwise
FARTHEST = 0.01  # what moves by more when an input is rounded does not bend, it jumps
CHEAP = 0.15  # of a question's points, for what teaches: what is left to the other cases grades
LEAST = 0.1  # of a question's points, that failed cases cost together
ENDLESS = 2.0  # seconds of work for a case, after which two mistakes together have no end


def pairs(question: Question) -> Iterator[Misconception]:
    """Yield our answer with any two of the mistakes in it, where both fit; both hints are said."""
    mistakes = question.misconceptions
    edits = [(one, one.wrong) for one in mistakes if isinstance(one.wrong, Edit)]
    for (first, edit), (second, other) in combinations(edits, 2):
        wrong = edit.and_also(other)
        if wrong is not None:
            names = first.name, second.name
            yield Misconception("; ".join(names), wrong, both(first.hint, second.hint), names)


class Known:
    """What the reference and each misconception answer to some cases of one question.

    Computed when first asked for and remembered, so ten thousand answers cost it once.
    """

    def __init__(
        self, assignment: Assignment, question: Question, cases: Sequence[Case] | None = None
    ) -> None:
        self.assignment, self.question = assignment, question
        self.cases = (*question.cases, *question.hidden) if cases is None else tuple(cases)
        self._found: dict[tuple[Hashable, int], tuple[Outcome, bytes]] = {}  # with its seal
        self._tolerances: dict[int, float] = {}

    def expected(self, number: int) -> Outcome:
        """Return what the reference gives on the case with this number."""
        return self._outcome("", self.question.reference, number)

    def of(self, misconception: Misconception, number: int) -> Outcome:
        """Return what a wrong answer gives on the case with this number."""
        return self._outcome(misconception.name, misconception, number)

    def outcomes(self, misconception: Misconception | None = None) -> list[Outcome]:
        """Return what a wrong answer gives on all cases, or ours."""
        numbers = range(len(self.cases))
        if misconception is None:
            return list(map(self.expected, numbers))
        return [self.of(misconception, number) for number in numbers]

    def difference(self, outcome: Outcome, number: int) -> Difference | None:
        """Return how an outcome differs from what the reference gives, None if it does not."""
        difference = self._differ(outcome, self.expected(number), number)
        return explained(difference, self.cases[number].run)

    def like_ours(self, outcome: Outcome, number: int) -> bool:
        """Return whether an outcome is what the reference gives; it is compared only once."""
        return self._like(outcome, "", self.question.reference, number)

    def settled(self, outcome: Outcome, number: int) -> Outcome:
        """Return an outcome without its value, and what it is like for whoever asks later."""
        self.like_ours(outcome, number)
        for mistake in (*self.question.misconceptions, *self.pairs):
            self._like(outcome, mistake.name, mistake, number)
        return Outcome(error=outcome.error, alike=outcome.alike)

    def misconception(self, outcomes: Sequence[Outcome | None]) -> Misconception | None:
        """Return the misconception that gives exactly `outcomes`, one for each case.

        Where none does, two of them together; and where no two do, that which gives those of the
        visible cases, as `check` has named it. It must differ from the reference somewhere, and a
        case that was never looked at (None) speaks neither for it nor against it.
        """
        seen = [(n, outcome) for n, outcome in enumerate(outcomes) if outcome is not None]
        for some in (seen, [one for one in seen if one[0] < len(self.question.cases)]):
            if all(self.like_ours(outcome, n) for n, outcome in some):
                return None
            for candidate in (*self.question.misconceptions, *self.pairs):
                if all(self._like(outcome, candidate.name, candidate, n) for n, outcome in some):
                    return candidate
        return None

    @cached_property
    def pairs(self) -> tuple[Misconception, ...]:
        """Two mistakes at once, where they fit together."""
        return tuple(pairs(self.question))

    def earned(self, passed: Sequence[bool]) -> float:
        """Return the share of the points that these cases bring, 0 to 1.

        Those that an idle answer passes as well count beside others, and bring nothing alone.
        """
        if all(self.free(number) for number, one in enumerate(passed) if one):
            return 0.0
        if all(passed):
            return 1.0
        return sum(share for share, one in zip(self.worth(passed), passed) if one)

    def worth(self, passed: Sequence[bool]) -> list[float]:
        """Return the share of the points of each case, for an answer that passes these.

        The failed cases count for at least `LEAST` together, so that every requirement has its
        price however many cases a question has; the passed ones share the rest. The shares always
        sum to 1, and an answer that loses more than `LEAST` anyway loses nothing further.
        """
        lost = sum(share for share, one in zip(self.shares, passed) if not one)
        if not 0 < lost < LEAST:
            return self.shares
        raised = {True: (1 - LEAST) / (1 - lost), False: LEAST / lost}
        return [share * raised[one] for share, one in zip(self.shares, passed)]

    @cached_property
    def shares(self) -> list[float]:
        """The share of the points that each case brings, where none fails.

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
        """Return whether an answer that looks at nothing passes this case."""
        return any(self.like_ours(self.of(one, number), number) for one in self.idle)

    @cached_property
    def idle(self) -> tuple[Misconception, ...]:
        """Answers that look at nothing."""
        return idle(self.question.reference)

    def _like(self, outcome: Outcome, who: str, answer: Any, number: int) -> bool:
        if who not in outcome.alike:
            other = self._outcome(who, answer, number)
            try:
                outcome.alike[who] = self._differ(outcome, other, number) is None
            except Exception:  # a value on which the comparison itself breaks is like no other
                outcome.alike[who] = False
        return outcome.alike[who]

    def _differ(self, actual: Outcome, expected: Outcome, number: int) -> Difference | None:
        difference = differ(actual, expected, self.cases[number].tolerance)
        if difference is None or difference.largest is None:
            return difference
        return differ(actual, expected, self.tolerance(number))

    def tolerance(self, number: int) -> float:
        """Return what a right answer may be off by: what the case says, more where numbers need it.

        That is found out by rounding the inputs of ours, and then each of its results, this way and
        that. It is only asked where an answer is off.
        """
        if number not in self._tolerances:
            self._tolerances[number] = self._found_out(number)
        return self._tolerances[number]

    def _found_out(self, number: int) -> float:
        stated, answer = self.cases[number].tolerance, self.question.reference
        moved = [self._outcome(("moved", n), nudged(answer, n), number) for n in range(3)]
        tolerance = self._needed(moved, number, ROUNDINGS)
        if stated < torch.finfo(torch.float32).eps:  # what counts are digits of double precision
            return tolerance
        other = [self._outcome(("other", n), answer, number, Rounded(n)) for n in range(3)]
        return max(tolerance, self._needed(other, number, OTHERWISE))

    def _needed(self, outcomes: Sequence[Outcome], number: int, times: int) -> float:
        """Return the tolerance in which these outcomes are so many times; at least what is said."""
        tolerance = stated = self.cases[number].tolerance
        exact = self._outcome(("exact", 0), in_double(self.question.reference), number)
        if exact.error is not None:  # it works in single precision only
            exact = self.expected(number)
        while any(differ(one, exact, tolerance / times) is not None for one in outcomes):
            tolerance *= 2
            if tolerance > max(stated, FARTHEST):
                return stated
        return tolerance

    def _outcome(
        self,
        who: Hashable,
        answer: Any,
        number: int,
        mode: AbstractContextManager[Any] | None = None,
    ) -> Outcome:
        case = self.cases[number]
        if (who, number) not in self._found:
            outcome = Outcome(error=Overtime())
            with suppress(Overtime), alarm(ENDLESS), usual_numbers():
                if isinstance(answer, Misconception):
                    answer = answer.answer  # compiled when it is first asked for
                student = references(self.assignment, **{self.question.name: answer})
                with mode or nullcontext():
                    outcome = observe(case.run, student)
            self._found[who, number] = outcome, seal(outcome.value)
        outcome, sealed = self._found[who, number]
        if seal(outcome.value) != sealed:
            raise CourseError(
                f"what “{case.says}” of {self.question.name} should give has been changed since "
                "it was computed; nothing is compared with it"
            )
        return outcome


def share(known: Known, outcomes: Sequence[Outcome]) -> float:
    """Return the share of the points that these outcomes earn."""
    return known.earned(passed(known, outcomes))


def passed(known: Known, outcomes: Sequence[Outcome]) -> list[bool]:
    """Return which cases these outcomes pass."""
    return [
        outcome.error is None and known.like_ours(outcome, number)
        for number, outcome in enumerate(outcomes)
    ]
