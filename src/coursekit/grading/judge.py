"""Judges the questions of an assignment, in a process that no student's code has ever touched.

The cases run here with a `student` that stands for a process elsewhere. Values are compared here,
partial credit is counted here, and here it is decided which sentence a student may read: of a
hidden case what it `says`, and nothing that it gave or got.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from coursekit.errors import CourseError
from coursekit.exercises.excerpt import excerpt
from coursekit.exercises.forbidden import spelled
from coursekit.exercises.fresh import same_chance
from coursekit.exercises.outcome import Known, Outcome, differ
from coursekit.exercises.question import Assignment, Case, Question
from coursekit.grading.alarm import Overtime, alarm
from coursekit.grading.attempt import Attempt
from coursekit.grading.carried import Carried
from coursekit.grading.memory import End, Memory
from coursekit.grading.process import Stopped, StudentProcess, Until
from coursekit.grading.proxy import Link, Strayed, Student, StudentError, Wants
from coursekit.grading.sentences import Seen, leaf, named, overall, raised, reason, said
from coursekit.grading.text import clean, one_line
from coursekit.grading.verdict import CaseVerdict, QuestionVerdict, Status
from coursekit.grading.wire import Letter, Unsendable

LEASH = 10  # after a case of a question was endless, the others get a tenth of the time
GRACE = 5.0  # seconds of work for the judge's own part of a case
TOGETHER = 2.0  # seconds for all cases of a question that are asked together
FREE = "Zeros or the unchanged input would pass as many: they earn nothing alone."
ROUNDS = 12  # of letters that are asked together; a case that has more to say is asked alone


@dataclass
class _Looking:
    """One question on its way to a verdict."""

    question: Question
    answer: str | None  # None where its cell was not handed in
    cases: tuple[Case, ...]
    seen: list[Seen] = field(default_factory=list)
    used: set[str] = field(default_factory=set)  # forbidden names, as they ran
    flags: list[str] = field(default_factory=list)
    spent: float = 0.0  # seconds of the student's processes
    verdict: QuestionVerdict | None = None  # where there is nothing to look at

    def of(self, hidden: bool) -> range:
        """Return the numbers of the visible cases, or of the hidden ones."""
        visible = len(self.question.cases)
        return range(visible, len(self.cases)) if hidden else range(visible)

    def link(self, number: int, dialogue: int) -> Link:
        """Return the beginning of the dialogue of one case."""
        return Link(f"{self.question.name} {number}", dialogue, self.question.forbidden)


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
        self._ours: OrderedDict[bytes, Letter] = OrderedDict()  # what ours was asked, and answered
        self._numbers = itertools.count()  # every dialogue has its own
        for known in self._known.values():
            for number, case in enumerate(known.cases):
                self._check(case, known.expected(number))

    def judge(self, attempt: Attempt, answers: dict[str, str]) -> list[QuestionVerdict]:
        """Judge all questions; `answers` has the source of each cell that was handed in.

        First the visible cases of all, then the hidden ones: what the student's process says of a
        visible case is passed on, so it must not have seen a hidden one before.
        """
        looks = self._looks(self.names, attempt, answers)
        verdicts = {look.question.name: look.verdict or self._verdict(look) for look in looks}
        return [self._carried(look, verdicts, attempt, answers) for look in looks]

    def _looks(
        self, names: Iterable[str], attempt: Attempt, answers: dict[str, str]
    ) -> list[_Looking]:
        """Look at some questions, from their first case to their last."""
        looks = [
            _Looking(question, answers.get(question.name), self._known[question.name].cases)
            for question in self.assignment.questions
            if question.name in names
        ]
        for look in looks:
            self._open(look, attempt)
        for hidden in (False, True):
            for look in looks:
                if look.verdict is None:
                    self._take(look, look.of(hidden), attempt)
        return looks

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

    def _take(self, look: _Looking, numbers: range, attempt: Attempt) -> None:
        """Run some cases: all together while that goes well, else one by one."""
        question = look.question
        ends = self._together(look, numbers, attempt)
        for number in numbers:
            seen = self._seen(ends[number], 0.0) if number in ends else None
            look.seen.append(seen or self._alone(look, number, attempt))
            error = look.seen[-1].outcome and look.seen[-1].outcome.error
            if not look.answer and number == 0 and isinstance(error, NotImplementedError):
                look.verdict = self._without(
                    question, *self._undefined(question, attempt, look.answer), look.flags
                )
                return

    def blank(self, question: Question, status: Status, sentence: str) -> QuestionVerdict:
        """Return the verdict for a question that could not be looked at."""
        return self._without(question, status, sentence, [])

    def _together(self, look: _Looking, numbers: range, attempt: Attempt) -> dict[int, End]:
        """Ask all these cases at once, a letter each, and again, until they have come to an end.

        What an answer is called with, and in which order, depends on itself alone. Where one of the
        calls is endless or ends the process, those that are not finished are asked alone.
        """
        ends: dict[int, End] = {}
        talking = {number: look.link(number, next(self._numbers)) for number in numbers}
        try:
            process = attempt.process()
            until = process.until(min(TOGETHER, attempt.limits.cell_seconds))
            for turn in range(ROUNDS):
                letters = {}
                for number, link in list(talking.items()):
                    try:
                        step = self._next(look.question, number, link)
                    except Strayed:
                        self._memory.give_up(link.case)
                        step = None
                    if isinstance(step, Letter):
                        letters[number] = step
                        continue
                    del talking[number]
                    if step is not None:
                        ends[number] = step
                if not letters:
                    break
                links = [talking[number] for number in letters]
                self._ask(look, links, list(letters.values()), process, until, attempt, turn == 0)
        except Stopped:
            self._afresh(attempt)
        if any(_is_memory(end) for end in ends.values()):
            self._afresh(attempt)
            return {}
        return ends

    def _afresh(self, attempt: Attempt) -> None:
        """Get a new process now, on nobody's time."""
        attempt.restart()
        with contextlib.suppress(Stopped):
            attempt.process()

    def _ask(
        self,
        look: _Looking,
        links: list[Link],
        letters: list[Letter],
        process: StudentProcess,
        until: Until,
        attempt: Attempt,
        fresh: bool,
    ) -> None:
        """Send a letter in each of some dialogues, and take down the answers."""
        about = {"cases": [link.about for link in links], "fresh": fresh}
        envelope, replies = process.exchange(letters, about, until, attempt.carried)
        process.clear()  # what is printed here could be a hidden input: nobody keeps it
        used = envelope.get("used")
        for link, names in zip(links, used if isinstance(used, list) else []):
            if isinstance(names, list):
                look.used.update(name for name in link.about["forbidden"] if name in names)
        for link, letter, reply in zip(links, letters, replies):
            link.hear(letter, reply)

    def _next(self, question: Question, number: int, link: Link) -> Letter | End | None:
        """Return the next letter of a case, or its end; None where the judge itself finds no end.

        From memory, where others gave the same answers; else the case is run from its beginning.
        """
        known = self._memory.next(link)
        if known is not None:
            return known
        case = self._known[question.name].cases[number]
        link.rewind()
        try:
            with alarm(GRACE), same_chance():
                outcome = Outcome(value=case.run(Student(link)))
        except Wants as wants:
            return wants.letter
        except Overtime:
            return None
        except Unsendable:
            raise  # the case is at fault, and so are we
        except Exception as error:
            outcome = Outcome(error=error)
        end = End(outcome, self._difference(question, number, case, outcome))
        self._memory.keep(link, end)
        return end

    def _alone(self, look: _Looking, number: int, attempt: Attempt) -> Seen:
        """Run one case by itself, in the time that its question has left."""
        question, before = look.question, attempt.spent
        endless = any(seen.status == "TIMEOUT" for seen in look.seen)
        seconds = attempt.limits.cell_seconds / (LEASH if endless else 1)
        link = look.link(number, next(self._numbers))
        try:
            process = attempt.process()
            left = attempt.limits.question_seconds - look.spent - (attempt.spent - before)
            if left <= 0:
                raise Stopped("TIMEOUT", "the time for this question was used up")
            until = process.until(min(seconds, left))

            def ask(link: Link, letter: Letter) -> None:
                fresh = not link.heard
                self._ask(look, [link], [letter], process, until, attempt, fresh)

            while isinstance(step := self._memory.next(link), Letter):
                ask(link, step)
            if step is None:
                link.ask = ask
                step = self._next(question, number, link)
            if not isinstance(step, End):
                raise Stopped("TIMEOUT", "")
            if _is_memory(step):
                attempt.restart()
            return self._seen(step, attempt.spent - before)
        except Strayed:  # it is not the same every time, and is remembered no more
            self._memory.give_up(link.case)
            return self._alone(look, number, attempt)
        except Stopped as stop:
            attempt.restart()
            sentence = stop.sentence or f"it took longer than {seconds:.3g} s"
            return Seen(stop.status, None, sentence, round(attempt.spent - before, 4))
        finally:
            look.spent += attempt.spent - before

    def _seen(self, end: End, seconds: float) -> Seen:
        """Return how a case has ended."""
        error, seconds = end.outcome.error, round(seconds, 4)
        if isinstance(error, StudentError) and error.status != "FAIL":
            return Seen(error.status, None, raised(error), seconds)
        if end.difference is None:
            return Seen("OK", end.outcome, "", seconds)
        return Seen("FAIL", end.outcome, end.difference, seconds)

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
        status = overall(seen)
        why = reason(known.cases, visible, seen)
        right = 1.0 if status == "OK" else known.earned([one.passed for one in seen])
        if status == "PARTIAL" and not right:
            status, why = "FAIL", f"{why} {FREE}"
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
            points=round(question.points * right, 2),
            max_points=question.points,
            status=status,
            reason=why,
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

    def _carried(
        self,
        look: _Looking,
        first: dict[str, QuestionVerdict],
        attempt: Attempt,
        answers: dict[str, str],
    ) -> QuestionVerdict:
        """Return a question's verdict; where it calls earlier answers that are wrong, with ours.

        It gets the points of the better of the two runs, and the sentence says whose fault it is.
        """
        question, verdict = look.question, first[look.question.name]
        wrong = [q for q in self._below(question) if first[q.name].status != "OK"]
        called = [q.name for q in wrong if re.search(rf"\b{q.name}\b", look.answer or "")]
        if verdict.status == "OK" or not called or question.name not in attempt.defined:
            return verdict
        better = self._with_ours(
            question, Carried(wrong, attempt.limits, self._ours), attempt, answers
        )
        which, pass_ = " and ".join(called), "does" if len(called) == 1 else "do"
        if better.points > verdict.points:
            said = (
                f"With ours in the place of your {which}, which {pass_} not pass: {better.reason}"
            )
            return replace(better, reason=said, flags=verdict.flags)
        if verdict.misconception:
            return verdict
        cause = (
            f"It calls your {which}, which {pass_} not pass yet: mend that first, then look here "
            "again."
        )
        return replace(verdict, hint=f"{cause} {verdict.hint}".strip())

    def _with_ours(
        self, question: Question, carried: Carried, attempt: Attempt, answers: dict[str, str]
    ) -> QuestionVerdict:
        """Judge one question with some answers of ours in its notebook.

        First in the process that is there. It has seen hidden cases, so nothing that it says may be
        passed on; that all is right may. For any other end the notebook runs afresh.
        """
        attempt.carry(carried)
        (look,) = self._looks([question.name], attempt, answers)
        if look.verdict is None and all(seen.passed for seen in look.seen):
            return self._verdict(look)
        attempt.restart()
        again = attempt.again(carried)
        try:
            (look,) = self._looks([question.name], again, answers)
        finally:
            again.restart()
            attempt.peak = max(attempt.peak, again.peak)
        return look.verdict or self._verdict(look)

    def _below(self, question: Question) -> list[Question]:
        """Return the earlier questions whose answers this one may reach, in order."""
        reached, names = set(), list(question.needs)
        while names:
            name = names.pop()
            if name not in reached:
                reached.add(name)
                names += self._known[name].question.needs
        return [known.question for name, known in self._known.items() if name in reached]

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


def _readable(detail: str) -> str:
    """Return a sentence and, below it, the numbers side by side, if there are any."""
    sentence, _, table = detail.partition("\n")
    return "\n".join([one_line(sentence, 500), *([clean(table)] if table else [])])


def _is_memory(end: End) -> bool:
    error = end.outcome.error
    return isinstance(error, StudentError) and error.status == "MEM"


def _identical(one: Any, other: Any) -> bool:
    """Say whether two values are tensors that are the same to the last bit; quick."""
    return (
        type(one) is type(other) is torch.Tensor
        and one.dtype == other.dtype
        and torch.equal(one, other)
    )
