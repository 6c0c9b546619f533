"""Judges everybody by their own numbers, where questions have variants.

A student's variant follows from their id in the class list. An answer that is wrong there, and
right for the id that the notebook says, has its points: `check` said that it was right, and a human
sees the flag. One that is right for other numbers only keeps its points and gets a flag as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from coursekit.check.variants import number_of, plain, student_in
from coursetools.grading.judging.attempt import Attempt, Cell
from coursetools.grading.judging.judge import Judge
from coursetools.grading.records.verdict import QuestionVerdict
from coursetools.questions.question import Question
from coursetools.text import one_line


def judged(
    judge: Judge, attempt: Attempt, answers: dict[str, str], student: str, cells: Iterable[Cell]
) -> tuple[list[QuestionVerdict], list[str]]:
    """Return the verdicts on all questions, and flags of the whole."""
    name, count = judge.assignment.name, judge.assignment.count
    if count == 1:
        return judge.judge(attempt, answers), []
    written = student_in(cell.source for cell in cells)
    own, theirs = number_of(name, student, count), number_of(name, written, count)
    verdicts = judge.of(own).judge(attempt, answers)
    for place, question in enumerate(judge.assignment.questions):
        wrong = verdicts[place].status in ("FAIL", "PARTIAL")
        if question.variant and wrong and answers.get(question.name):
            numbers = dict.fromkeys((theirs, *range(count)))
            numbers.pop(own)
            verdicts[place] = _elsewhere(
                judge, question, verdicts[place], attempt, answers, written, [*numbers]
            )
    flags = []
    if written and plain(written) != plain(student):
        flags.append(f"the notebook says student = {one_line(repr(written), 60)}")
    return verdicts, flags


def _elsewhere(
    judge: Judge,
    question: Question,
    verdict: QuestionVerdict,
    attempt: Attempt,
    answers: dict[str, str],
    written: str,
    numbers: list[int],
) -> QuestionVerdict:
    """Look whether a wrong answer is right with other numbers, first those of what is written."""
    for number in numbers:
        right = judge.of(number).right(question, attempt, answers)
        if right is None:
            continue
        if number == numbers[0] and written:
            flag = f"right with {right.numbers}, the numbers of {one_line(repr(written), 60)}"
            return replace(right, flags=[*verdict.flags, flag])
        flag = f"right with {right.numbers}, not with their own {verdict.numbers}"
        hint = verdict.hint
        if number == 0 and not written:
            hint = (
                f"This is right for the practice numbers, {right.numbers}. Yours are "
                f"{verdict.numbers}: write your id into `student`, and run `check` again."
            )
        return replace(verdict, flags=[*verdict.flags, flag], hint=hint)
    return verdict
