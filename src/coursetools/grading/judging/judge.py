"""Judges the questions of an assignment, in a process that no student's code has ever touched.

The cases run here with a `student` that stands for a process elsewhere. Values are compared here,
partial credit is counted here, and here it is decided which sentence a student may read: of a
hidden case what it `says`, and nothing that it gave or got.
"""

from __future__ import annotations

import copy
import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from coursekit._base.errors import CourseError
from coursekit.check.outcome import Outcome
from coursekit.submission.forbidden import spelled
from coursetools.grading.judging.asking import Asking, Looking
from coursetools.grading.judging.attempt import Attempt
from coursetools.grading.judging.process import Stopped
from coursetools.grading.judging.reference_answers import ReferenceAnswers
from coursetools.grading.judging.sentences import Seen, leaf, named, overall, reason
from coursetools.grading.judging.shared_errors import name_of
from coursetools.grading.records.verdict import CaseVerdict, QuestionVerdict, Status
from coursetools.grading.student.wire import Packet
from coursetools.questions.known_answers import Known
from coursetools.questions.question import Assignment, Case, Question
from coursetools.text import clean, one_line, sentence

FREE = "Zeros, or the input unchanged, would pass as many cases, so these alone earn no points."


class Judge:
    """The questions of one assignment with their hidden cases, and what the right answers are."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        names = [question.name for question in assignment.questions]
        self._known = {
            question.name: Known(assignment, question) for question in assignment.questions
        }
        self.watched = sorted({name for q in assignment.questions for name in q.forbidden})
        self.names = names
        self.asking = Asking(self._known)
        self._ours: OrderedDict[bytes, Packet] = OrderedDict()  # what ours was asked, and answered
        self._others: dict[int, Judge] = {}  # by the numbers of their variants
        self._check_all()

    def of(self, number: int) -> Judge:
        """Return the judge of one variant, which shares all that is the same for everybody."""
        if not number or self.assignment.count == 1:
            return self
        if number not in self._others:
            other = copy.copy(self)
            other.assignment = self.assignment.of(number)
            other._known = {
                one.name: Known(other.assignment, one) if one.variant else self._known[one.name]
                for one in other.assignment.questions
            }
            other.asking = self.asking.of(other._known)
            other._check_all()
            self._others[number] = other
        return self._others[number]

    def right(
        self, question: Question, attempt: Attempt, answers: dict[str, str]
    ) -> QuestionVerdict | None:
        """Return the verdict on one more question if all of it is right.

        The process may have seen hidden cases, so nothing else that it says may be passed on.
        """
        (look,) = self._looks([question.name], attempt, answers, strict=True)
        return None if look.over else self._verdict(look)

    def judge(self, attempt: Attempt, answers: dict[str, str]) -> list[QuestionVerdict]:
        """Judge all questions; `answers` has the source of each cell that was submitted.

        First the visible cases of all, then the hidden ones: what the student's process says of a
        visible case is passed on, so it must not have seen a hidden one before.
        """
        looks = self._looks(self.names, attempt, answers)
        verdicts = {look.question.name: look.verdict or self._verdict(look) for look in looks}
        for look in looks:  # from the first question on: what one needs has its verdict by then
            verdicts[look.question.name] = self._carried(look, verdicts, attempt, answers)
        return [verdicts[look.question.name] for look in looks]

    def _looks(
        self,
        names: Iterable[str],
        attempt: Attempt,
        answers: dict[str, str],
        *,
        strict: bool = False,
        endless: bool = False,
    ) -> list[Looking]:
        """Look at some questions, from their first case to their last."""
        looks = [
            Looking(
                question,
                answers.get(question.name),
                self._known[question.name].cases,
                strict=strict,
                endless=endless,
            )
            for question in self.assignment.questions
            if question.name in names
        ]
        for look in looks:
            self._open(look, attempt)
        for hidden in (False, True):
            for look in looks:
                if not look.over:
                    self._take(look, look.of(hidden), attempt)
        return looks

    def _open(self, look: Looking, attempt: Attempt) -> None:
        """See whether there is anything to be looked at."""
        question, answer = look.question, look.answer or ""
        look.flags = [f"uses {spelled(name)}" for name in named(question, answer, attempt.imports)]
        try:
            attempt.process()
        except Stopped as stop:
            look.verdict = self._without(question, stop.status, stop.sentence, look.flags)
            return
        if question.name not in attempt.defined:
            look.verdict = self._undefined(look, attempt)

    def _take(self, look: Looking, numbers: range, attempt: Attempt) -> None:
        """Run some cases, one after the other."""
        for number in numbers:
            look.seen.append(self.asking.case(look, number, attempt))
            if look.over:
                return
            outcome = look.seen[-1].outcome
            if not look.answer and number == 0 and outcome and _is_stub(outcome.error):
                look.verdict = self._undefined(look, attempt)
                return

    def blank(self, question: Question, status: Status, why: str) -> QuestionVerdict:
        """Return the verdict for a question that could not be looked at."""
        return replace(self._without(question, status, why, []), numbers="")

    def _verdict(self, look: Looking) -> QuestionVerdict:
        question, seen = look.question, look.seen
        known = self._known[question.name]
        status = overall(seen)
        why = reason(known.cases, len(question.cases), seen)
        right = 1.0 if status == "OK" else known.earned([one.passed for one in seen])
        if status == "PARTIAL" and not right:
            status, why = "FAIL", f"{why} {FREE}"
        outcomes = [one.outcome for one in seen]
        mistake = None if status == "OK" else known.misconception(outcomes)
        for name in sorted(look.used):
            flag = f"uses {spelled(name)}"
            if not any(leaf(flag) == leaf(other) for other in look.flags):
                look.flags.append(flag)
        return self._made(
            question,
            seen,
            points=round(question.points * right, 2),
            status=status,
            reason=why,
            misconception=mistake.name if mistake else "",
            hint=mistake.hint if mistake else "" if status == "OK" else question.hint,
            unknown="" if mistake or status == "OK" else name_of(outcomes),
            flags=look.flags,
        )

    def _carried(
        self,
        look: Looking,
        verdicts: dict[str, QuestionVerdict],
        attempt: Attempt,
        answers: dict[str, str],
    ) -> QuestionVerdict:
        """Return a question's verdict; where earlier answers are at fault, with others.

        That is with ours where theirs are wrong, and with theirs where these are right, but were
        further down in the notebook or something else by then. It gets the points of the better of
        the two runs, and the sentence says why.
        """
        question, verdict = look.question, verdicts[look.question.name]
        if verdict.status == "OK" or question.name not in attempt.defined:
            return verdict
        below, reached = self._below(question), self._called(question, answers)
        wrong = [q for q in below if verdicts[q.name].status != "OK"]
        called = [q.name for q in wrong if q.name in reached]
        elsewhere = reached & set(attempt.moved.get(question.name, ()))
        moved = [q.name for q in below if q not in wrong and q.name in elsewhere]
        if not called and not moved:
            return verdict
        better = self._with_ours(
            question, ReferenceAnswers(wrong, attempt.limits, self._ours, moved), attempt, answers
        )
        if better.points < verdict.points:
            return verdict
        # Equal is better, too: what is wrong now is wrong here, and its hint is the right one.
        which, pass_ = " and ".join(called), "does" if len(called) == 1 else "do"
        why = f"With our {which}, since yours {pass_} not pass: " if called else ""
        if moved and not called:
            why = f"With the {' and '.join(moved)} that was graded: "
        return replace(better, reason=f"{why}{better.reason}", flags=verdict.flags, carried=called)

    def _with_ours(
        self,
        question: Question,
        carried: ReferenceAnswers,
        attempt: Attempt,
        answers: dict[str, str],
    ) -> QuestionVerdict:
        """Judge one question with some answers of ours in its notebook.

        First in the process that is there. It has seen hidden cases, so nothing that it says may be
        passed on; that all is right may. At any other end the notebook runs afresh, and what never
        ended is not waited for as long again.
        """
        attempt.carry(carried)
        (look,) = self._looks([question.name], attempt, answers, strict=True)
        if not look.over:
            return self._verdict(look)
        endless = any(seen.status == "TIMEOUT" for seen in look.seen)
        attempt.restart()
        again = attempt.again(carried)
        try:
            (look,) = self._looks([question.name], again, answers, endless=endless)
        finally:
            again.restart()
            attempt.peak = max(attempt.peak, again.peak)
        return look.verdict or self._verdict(look)

    def _called(self, question: Question, answers: dict[str, str]) -> set[str]:
        """Return the earlier questions that an answer names, or that those name."""
        below = {one.name for one in self._below(question)}
        called: set[str] = set()
        names = [question.name]
        while names:
            text = answers.get(names.pop()) or ""
            new = {name for name in below - called if re.search(rf"\b{name}\b", text)}
            called |= new
            names += new
        return called

    def _below(self, question: Question) -> list[Question]:
        """Return the earlier questions whose answers this one may reach, in order."""
        reached, names = set(), list(question.needs)
        while names:
            name = names.pop()
            if name not in reached:
                reached.add(name)
                names += self._known[name].question.needs
        return [known.question for name, known in self._known.items() if name in reached]

    def _undefined(self, look: Looking, attempt: Attempt) -> QuestionVerdict:
        """Return the verdict where the name that is asked for is not there, and say why."""
        name, answer = look.question.name, look.answer
        trouble = attempt.trouble(name, answer)
        status: Status = "FAIL"
        stub = trouble is not None and trouble.kind == "NotImplementedError" and not trouble.message
        if trouble is not None and (answer or not stub):
            status, reason = trouble.status, one_line(trouble.sentence())
            why = f"the cell of {name} fails, so {name} is not defined: {reason}"
        elif answer is None:
            status, why = "MISSING", f"the cell of {name} is not in the notebook"
        elif answer == "":
            why = "there is no answer here yet"
        else:
            why = f"the cell runs, but does not define {name}"
        return self._without(look.question, status, why, look.flags)

    def _without(
        self, question: Question, status: Status, why: str, flags: list[str]
    ) -> QuestionVerdict:
        """Return the verdict on a question of which no case was run."""
        return self._made(
            question,
            [Seen(status, None, "", 0.0)] * len(self._known[question.name].cases),
            points=0.0,
            status=status,
            reason=sentence(why or "the time for the notebook was used up"),
            hint=question.hint,
            flags=flags,
        )

    def _made(self, question: Question, seen: Sequence[Seen], **facts: Any) -> QuestionVerdict:
        """Return a verdict with what came of each case, and with further `facts`."""
        known = self._known[question.name]
        worth = known.worth([one.passed for one in seen])
        return QuestionVerdict(
            name=question.name,
            cell=f"test_{question.name}",
            max_points=question.points,
            numbers=str(question.variant or ""),
            seconds=round(sum(one.seconds for one in seen), 4),
            cases=[
                CaseVerdict(
                    says=case.says,
                    hidden=number >= len(question.cases),
                    status=one.status,
                    share=round(share, 4),
                    detail=_readable(one.detail),
                    seconds=one.seconds,
                )
                for number, (case, share, one) in enumerate(zip(known.cases, worth, seen))
            ],
            **facts,
        )

    def _check_all(self) -> None:
        for known in self._known.values():
            for number, case in enumerate(known.cases):
                self._check(case, known.expected(number))

    def _check(self, case: Case, expected: Outcome) -> None:
        """Find now, not in ten thousand verdicts, that a case fails with the right answer."""
        if isinstance(expected.error, AssertionError):
            raise CourseError(
                f"{self.assignment.name}: the case “{case.says}” fails with the reference itself; "
                "coursekit audit shows more"
            )


def _is_stub(error: BaseException | None) -> bool:
    """Return whether this is what an empty stub raises; torch's errors of this name say more."""
    return isinstance(error, NotImplementedError) and not str(error)


def _readable(detail: str) -> str:
    """Return a sentence and, below it, the numbers side by side, if there are any."""
    first, _, table = detail.partition("\n")
    return "\n".join([one_line(first, 500), *([clean(table)] if table else [])])
