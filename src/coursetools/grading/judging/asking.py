"""Asks a student's process what a case wants to know, and says how the case has ended.

What an answer is called with, and in which order, depends on itself alone, never on what is known
from others.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from coursekit.check.determinism import same_chance
from coursekit.check.excerpt import excerpt
from coursekit.check.outcome import Outcome
from coursetools.grading.judging.attempt import Attempt
from coursetools.grading.judging.dialogues import LONGEST, End, Memory, weight
from coursetools.grading.judging.process import Stopped, StudentProcess, Until
from coursetools.grading.judging.proxy import Link, NotRepeatable, Student, StudentError
from coursetools.grading.judging.reference_answers import LENT, ROOM, bounded
from coursetools.grading.judging.sentences import Seen, raised, said
from coursetools.grading.records.verdict import QuestionVerdict
from coursetools.grading.student.wire import Packet, Unsendable
from coursetools.questions.known_answers import Known
from coursetools.questions.question import Case, Question
from coursetools.questions.time_limit import Overtime, alarm

LEASH = 10  # after a case of a question was endless, the others get a tenth of the time
GRACE = 5.0  # seconds of work for the judge's own part of a case


@dataclass
class Looking:
    """One question on its way to a verdict."""

    question: Question
    answer: str | None  # None where its cell was not submitted
    cases: tuple[Case, ...]
    seen: list[Seen] = field(default_factory=list)
    used: set[str] = field(default_factory=set)  # forbidden names, as they ran
    flags: list[str] = field(default_factory=list)
    spent: float = 0.0  # seconds of the student's processes
    endless: bool = False  # a case of it is known to be
    strict: bool = False  # it is looked at as long as all is right
    verdict: QuestionVerdict | None = None  # where there is nothing to look at

    @property
    def over(self) -> bool:
        """Whether there is no more to be seen."""
        wrong = any(not one.passed for one in self.seen)
        return self.verdict is not None or (self.strict and wrong)

    def of(self, hidden: bool) -> range:
        """Return the numbers of the visible cases, or of the hidden ones."""
        visible = len(self.question.cases)
        return range(visible, len(self.cases)) if hidden else range(visible)

    def link(self, number: int, ask: Callable[[Link, Packet], None]) -> Link:
        """Return the beginning of the dialogue of one case."""
        variant = self.question.variant.number if self.question.variant else 0
        return Link(ask, self.question.name, number, self.question.forbidden, variant)


class Asking:
    """The dialogues of all cases of one assignment."""

    def __init__(self, known: dict[str, Known]) -> None:
        self.memory = Memory()
        self._known = known

    def of(self, known: dict[str, Known]) -> Asking:
        """Return one for questions that have other numbers, with the same memory."""
        other = copy.copy(self)
        other._known = known
        return other

    def case(self, look: Looking, number: int, attempt: Attempt) -> Seen:
        """Run one case, in the time that its question has left."""
        question, before, lent = look.question, attempt.spent, attempt.lent
        look.endless |= any(seen.status == "TIMEOUT" for seen in look.seen)
        seconds = attempt.limits.cell_seconds / (LEASH if look.endless else 1)
        try:
            process = attempt.process()
            left = attempt.limits.question_seconds - look.spent - (attempt.spent - before)
            if left <= 0:
                raise Stopped("TIMEOUT", "the time for this question was used up")
            seconds = min(seconds, left)
            until = process.until(seconds)

            def ask(link: Link, packet: Packet) -> None:
                self._ask(look, link, packet, process, until, attempt)

            link = look.link(number, ask)
            while isinstance(step := self.memory.next(link), Packet):
                ask(link, step)
            end = step or self._end(question, number, link, process)
            if _is_memory(end):
                attempt.restart()
            return seen(end, attempt.spent - before)
        except NotRepeatable:  # it is not the same every time, and is remembered no more
            self.memory.give_up(link.case)
            return self.case(look, number, attempt)
        except Stopped as stop:
            attempt.restart()
            sentence = stop.sentence or _too_long(
                seconds, attempt.lent - lent, attempt.limits.cell_seconds
            )
            return Seen(stop.status, None, sentence, round(attempt.spent - before, 4))
        finally:
            look.spent += attempt.spent - before

    def _ask(
        self,
        look: Looking,
        link: Link,
        packet: Packet,
        process: StudentProcess,
        until: Until,
        attempt: Attempt,
    ) -> None:
        """Send a packet, and take down the answer."""
        about = {"case": link.about, "fresh": not link.heard}
        room = attempt.limits.answer_bytes - link.kept
        envelope, reply = process.exchange(packet, about, until, attempt.carried, room)
        process.clear()  # what is printed here could be a hidden input: nobody keeps it
        names = envelope.get("used")
        if isinstance(names, list):
            look.used.update(name for name in look.question.forbidden if name in names)
        link.hear(packet, reply)

    def _end(self, question: Question, number: int, link: Link, process: StudentProcess) -> End:
        """Run a case from its beginning to its end, in the time of the process that it asks.

        Of an outcome that is large, or that holds on to all that was said, nothing is kept but what
        it is like.
        """
        known = self._known[question.name]
        case = known.cases[number]
        try:
            with process.serving(), alarm(GRACE), bounded(ROOM), same_chance():
                outcome = Outcome(value=case.run(Student(link)))
        except Overtime:
            raise Stopped("TIMEOUT", "") from None
        except Unsendable:
            raise  # the case is at fault, and so are we
        except Exception as error:
            error.__traceback__ = error.__context__ = error.__cause__ = None
            outcome = Outcome(error=error)
        difference = self._difference(question, number, case, outcome)
        if outcome.error is not None and not isinstance(outcome.error, StudentError):
            outcome.error.args = ()  # they may hold what was compared
        size = weight(outcome.value)
        if size > LONGEST:
            outcome, size = known.settled(outcome, number), 0
        end = End(outcome, difference, size)
        self.memory.keep(link, end)
        return end

    def _difference(
        self, question: Question, number: int, case: Case, outcome: Outcome
    ) -> str | None:
        """Say how an outcome differs from the reference's, None if it does not."""
        expected = self._known[question.name].expected(number)
        if _identical(outcome.value, expected.value) and not (outcome.error or expected.error):
            return None  # most right answers, and so most of all comparisons
        try:
            difference = self._known[question.name].difference(outcome, number)
        except Exception as error:  # a value on which the comparison itself breaks is not the same
            return f"it cannot be compared ({type(error).__name__})"
        if difference is None:
            return None
        if isinstance(outcome.error, StudentError):
            return raised(outcome.error)
        if isinstance(outcome.error, AssertionError):
            return str(outcome.error)[:1000] or "what the case asserts does not hold"
        if outcome.error is not None:
            return f"the value has the wrong form ({type(outcome.error).__name__})"
        hidden = number >= len(question.cases)
        table = (
            None if hidden else excerpt(difference, self._known[question.name].tolerance(number))
        )
        return f"{said(difference)}\n{table.text()}" if table else said(difference)


def _too_long(seconds: float, lent: float, usual: float) -> str:
    sentence = f"it took longer than {seconds:.3g} s"
    if seconds == usual / LEASH:
        sentence = (
            f"it took longer than the {seconds:.3g} s that a case may take after one that ran "
            f"longer than {usual:.3g} s"
        )
    return f"{sentence}, {LENT}" if lent > seconds / 2 else sentence


def seen(end: End, seconds: float = 0.0) -> Seen:
    """Return how a case has ended."""
    error, seconds = end.outcome.error, round(seconds, 4)
    if isinstance(error, StudentError) and error.status != "FAIL":
        return Seen(error.status, None, raised(error), seconds)
    if end.difference is None:
        return Seen("OK", end.outcome, "", seconds)
    return Seen("FAIL", end.outcome, end.difference, seconds)


def _is_memory(end: End) -> bool:
    error = end.outcome.error
    return isinstance(error, StudentError) and error.status == "MEM"


def _identical(one: Any, other: Any) -> bool:
    """Return whether two values are tensors that are the same to the last bit; quick."""
    return (
        type(one) is type(other) is torch.Tensor
        and one.dtype == other.dtype
        and torch.equal(one, other)
    )
