"""Judges the questions of an assignment, in a process that no student's code has ever touched.

The cases run here with a `student` that stands for a process elsewhere. Values are compared here,
partial credit is counted here, and here it is decided which sentence a student may read: of a
hidden case what it `says`, and nothing that it gave or got.
"""

from __future__ import annotations

import itertools
import re
import time
import zlib
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from coursekit.errors import CourseError
from coursekit.exercises.excerpt import excerpt
from coursekit.exercises.forbidden import spelled
from coursekit.exercises.outcome import Known, Outcome, differ
from coursekit.exercises.question import Assignment, Case, Question
from coursekit.grading.alarm import Overtime, alarm
from coursekit.grading.attempt import Attempt
from coursekit.grading.memory import End, Memory
from coursekit.grading.process import Stopped
from coursekit.grading.proxy import Link, Strayed, Student, StudentError
from coursekit.grading.sentences import Seen, leaf, named, overall, raised, reason, said
from coursekit.grading.text import clean, one_line
from coursekit.grading.verdict import CaseVerdict, QuestionVerdict, Status
from coursekit.grading.wire import Unsendable

LEASH = 10  # after a case of a question was endless, the others get a tenth of the time
GRACE = 2.0  # seconds for the judge's own part of a case


@dataclass
class _Looking:
    """One question on its way to a verdict."""

    question: Question
    answer: str | None  # None where its cell was not handed in
    count: int  # of its cases
    seen: list[Seen] = field(default_factory=list)
    used: set[str] = field(default_factory=set)  # forbidden names, as they ran
    flags: list[str] = field(default_factory=list)
    verdict: QuestionVerdict | None = None  # where there is nothing to look at


class Judge:
    """The questions of one assignment with their hidden cases, and what the right answers are."""

    def __init__(self, assignment: Assignment, hidden: dict[str, list[Case]]) -> None:
        self.assignment = assignment
        names = [question.name for question in assignment.questions]
        strange = sorted(set(hidden) - set(names))
        if strange:
            raise CourseError(
                f"hidden.py of {assignment.name} has cases for {', '.join(strange)}; "
                f"the questions are {', '.join(names)}"
            )
        self._known = {
            question.name: Known(
                assignment, question, (*question.cases, *hidden.get(question.name, ()))
            )
            for question in assignment.questions
        }
        self.watched = sorted({name for q in assignment.questions for name in q.forbidden})
        self.names = names
        self._memory = Memory()
        self._numbers = itertools.count()  # every look at an answer has its own
        for known in self._known.values():
            for number, case in enumerate(known.cases):
                self._check(case, known.expected(number))

    def judge(self, attempt: Attempt, answers: dict[str, str]) -> list[QuestionVerdict]:
        """Judge all questions; `answers` has the source of each cell that was handed in.

        First the visible cases of all, then the hidden ones: what the student's process says of a
        visible case is passed on, so it must not have seen a hidden one before.
        """
        looks = [
            _Looking(question, answers.get(question.name), len(self._known[question.name].cases))
            for question in self.assignment.questions
        ]
        for look in looks:
            self._open(look, attempt)
        for hidden in (False, True):
            for look in looks:
                count = len(look.question.cases)
                cases = range(count, look.count) if hidden else range(count)
                for number in cases:
                    if look.verdict is None:
                        self._take(look, number, attempt)
        verdicts = {look.question.name: look.verdict or self._verdict(look) for look in looks}
        return [_with_cause(look, verdicts) for look in looks]

    def _open(self, look: _Looking, attempt: Attempt) -> None:
        """See whether there is anything to be looked at."""
        question, answer = look.question, look.answer or ""
        look.flags = [f"uses {spelled(name)}" for name in named(question, answer, attempt.imports)]
        try:
            attempt.process()
        except Stopped as stop:
            look.verdict = self._without(question, stop.status, stop.sentence, look.flags)
            return
        if question.name not in attempt.defined:
            look.verdict = self._without(
                question, *self._undefined(question, attempt, look.answer), look.flags
            )

    def _take(self, look: _Looking, number: int, attempt: Attempt) -> None:
        """Run one case."""
        question = look.question
        endless = any(before.status == "TIMEOUT" for before in look.seen)
        case = self._known[question.name].cases[number]
        seen = self._look(look, case, number, attempt, endless)
        look.seen.append(seen)
        if not look.answer and number == 0 and isinstance(_error(seen), NotImplementedError):
            look.verdict = self._without(
                question, *self._undefined(question, attempt, look.answer), look.flags
            )

    def blank(self, question: Question, status: Status, sentence: str) -> QuestionVerdict:
        """Return the verdict for a question that could not be looked at."""
        return self._without(question, status, sentence, [])

    def _look(
        self, look: _Looking, case: Case, number: int, attempt: Attempt, endless: bool
    ) -> Seen:
        """Run a case against the student's process."""
        question = look.question
        started = time.perf_counter()

        def seen(status: Status, outcome: Outcome | None, detail: str) -> Seen:
            return Seen(status, outcome, detail, round(time.perf_counter() - started, 4))

        seconds = attempt.limits.cell_seconds / (LEASH if endless else 1)
        try:
            process = attempt.process()
            seconds = min(seconds, attempt.remaining)
            if seconds <= 0:
                raise Stopped("TIMEOUT", "the time for the notebook was used up")
            forbidden = question.forbidden if _watched(look.answer, number) else ()
            link = Link(process, next(self._numbers), seconds, forbidden)
            try:
                end = self._run(question, case, number, link, seconds)
            finally:
                look.used |= link.used
        except Stopped as stop:
            return seen(stop.status, None, stop.sentence or f"it took longer than {seconds:.3g} s")
        except Overtime:
            attempt.restart()
            return seen("TIMEOUT", None, f"it took longer than {seconds:.3g} s")
        except Strayed:
            self._memory.give_up(_place(question, number))
            return self._look(look, case, number, attempt, endless)
        error = end.outcome.error
        if isinstance(error, StudentError) and error.status != "FAIL":
            if error.status == "MEM":
                attempt.restart()
            return seen(error.status, None, raised(error))
        if end.difference is None:
            return seen("OK", end.outcome, "")
        return seen("FAIL", end.outcome, end.difference)

    def _run(self, question: Question, case: Case, number: int, link: Link, seconds: float) -> End:
        """Return what comes of a case: from memory where others gave the same answers."""
        known = self._memory.follow(_place(question, number), link)
        if known is not None:
            return known
        link.rewind()
        try:
            with alarm(seconds + GRACE):
                outcome = Outcome(value=case.run(Student(link)))
        except Unsendable:
            raise  # the case is at fault, and so are we
        except Exception as error:
            outcome = Outcome(error=error)
        end = End(outcome, self._difference(question, number, case, outcome))
        self._memory.keep(_place(question, number), link, end)
        return end

    def _difference(
        self, question: Question, number: int, case: Case, outcome: Outcome
    ) -> str | None:
        """Say how an outcome differs from the reference's, None if it does not."""
        expected = self._known[question.name].expected(number)
        if _identical(outcome.value, expected.value) and not (outcome.error or expected.error):
            return None  # most right answers, and so most of all comparisons
        try:
            found = differ(outcome, expected, case.tolerance)
        except Exception as error:  # a value on which the comparison itself breaks is not the same
            return f"it cannot be compared ({type(error).__name__})"
        if found is None:
            return None
        if isinstance(outcome.error, StudentError):
            return raised(outcome.error)
        if isinstance(outcome.error, AssertionError):
            return str(outcome.error) or "what the case asserts does not hold"
        if outcome.error is not None:
            return f"the value has the wrong form ({type(outcome.error).__name__})"
        hidden = number >= len(question.cases)
        table = None if hidden else excerpt(found, case.tolerance)
        return f"{said(found)}\n{table.text()}" if table else said(found)

    def _verdict(self, look: _Looking) -> QuestionVerdict:
        question, seen = look.question, look.seen
        known = self._known[question.name]
        visible = len(question.cases)
        total = sum(case.weight for case in known.cases)
        shares = [case.weight / total if total else 0.0 for case in known.cases]
        right = sum(share for share, one in zip(shares, seen) if one.passed)
        status = overall(seen)
        mistake = None
        if status != "OK":
            mistake = known.misconception([one.outcome for one in seen])
        for name in sorted(look.used):
            flag = f"uses {spelled(name)}"
            if not any(leaf(flag) == leaf(other) for other in look.flags):
                look.flags.append(flag)
        return QuestionVerdict(
            name=question.name,
            cell=f"test_{question.name}",
            points=round(question.points * (1.0 if status == "OK" else right), 2),
            max_points=question.points,
            status=status,
            reason=reason(known.cases, visible, seen),
            misconception=mistake.name if mistake else "",
            hint=mistake.hint if mistake else "" if status == "OK" else question.hint,
            flags=look.flags,
            seconds=round(sum(one.seconds for one in seen), 4),
            cases=[
                CaseVerdict(
                    says=case.says,
                    hidden=number >= visible,
                    status=one.status,
                    share=round(share, 4),
                    detail=_readable(one.detail),
                    seconds=one.seconds,
                )
                for number, (case, share, one) in enumerate(zip(known.cases, shares, seen))
            ],
        )

    def _undefined(
        self, question: Question, attempt: Attempt, answer: str | None
    ) -> tuple[Status, str]:
        """Say why the name that is asked for is not there."""
        name = question.name
        trouble = attempt.trouble(name)
        if trouble is not None and (answer or trouble.kind != "NotImplementedError"):
            said = one_line(trouble.sentence())
            return trouble.status, f"the cell of {name} stops, so {name} is not defined: {said}"
        if answer is None:
            return "MISSING", f"the cell of {name} is not in the notebook"
        if answer == "":
            return "FAIL", "there is no answer here yet"
        return "FAIL", f"the cell runs, but does not define {name}"

    def _without(
        self, question: Question, status: Status, sentence: str, flags: list[str]
    ) -> QuestionVerdict:
        known = self._known[question.name]
        total = sum(case.weight for case in known.cases) or 1.0
        sentence = sentence or "the time for the notebook was used up"
        sentence = sentence[:1].upper() + sentence[1:]
        return QuestionVerdict(
            name=question.name,
            cell=f"test_{question.name}",
            points=0.0,
            max_points=question.points,
            status=status,
            reason=sentence if sentence.endswith((".", "…")) else f"{sentence}.",
            hint=question.hint,
            flags=flags,
            cases=[
                CaseVerdict(
                    says=case.says,
                    hidden=number >= len(question.cases),
                    status=status,
                    share=round(case.weight / total, 4),
                )
                for number, case in enumerate(known.cases)
            ],
        )

    def _check(self, case: Case, expected: Outcome) -> None:
        """Find now, not in ten thousand verdicts, that a case fails with the right answer."""
        if isinstance(expected.error, AssertionError):
            raise CourseError(
                f"{self.assignment.name}: the case “{case.says}” fails with the reference itself; "
                "coursekit audit shows more"
            )


def _with_cause(look: _Looking, verdicts: dict[str, QuestionVerdict]) -> QuestionVerdict:
    """Return a question's verdict; its hint says where the fault may lie in an earlier answer."""
    verdict = verdicts[look.question.name]
    wrong = [
        name
        for name in look.question.needs
        if verdicts[name].status != "OK" and re.search(rf"\b{name}\b", look.answer or "")
    ]
    if verdict.status == "OK" or verdict.misconception or not wrong:
        return verdict
    which = " and ".join(wrong)
    cause = (
        f"It calls your {which}, which does not pass yet: mend that first, then look here again."
    )
    return replace(verdict, hint=f"{cause} {verdict.hint}".strip())


def _readable(detail: str) -> str:
    """Return a sentence and, below it, the numbers side by side, if there are any."""
    sentence, _, table = detail.partition("\n")
    return "\n".join([one_line(sentence, 500), *([clean(table)] if table else [])])


def _error(look: Seen) -> BaseException | None:
    return look.outcome.error if look.outcome is not None else None


def _identical(one: Any, other: Any) -> bool:
    """Say whether two values are tensors that are the same to the last bit; quick."""
    return (
        type(one) is type(other) is torch.Tensor
        and one.dtype == other.dtype
        and torch.equal(one, other)
    )


def _watched(answer: str | None, number: int) -> bool:
    """Say whether an answer is watched during a case: the first, and some that nobody can foresee.

    Watching takes longer than most answers do.
    """
    return number == 0 or zlib.crc32(f"{answer}{number}".encode("utf-8", "replace")) % 4 == 0


def _place(question: Question, number: int) -> str:
    return f"{question.name} {number}"
