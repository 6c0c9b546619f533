"""What a student should do next: where the points are that are easiest to win back, and how.

What other answers are made of comes first, then a mistake that we know by name, then whatever is
worth most.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from coursekit.check.advice import named
from coursetools.grading.hints import hint_of, untried
from coursetools.grading.records.verdict import QuestionVerdict
from coursetools.grading.results.outline import Outline, Part
from coursetools.grading.results.pages import counted

ADVICE = {  # where the way the code ended says more than the question's hint
    "TIMEOUT": "Your code did not finish. Look for a loop that never stops, and call your "
    "function on one small example.",
    "MEM": "Your code ran out of memory. Look for a list that grows without end, "
    "or a tensor with an axis too many; print its shape.",
    "OUTPUT": "Your code printed far too much. Take the print out of the loop.",
    "CRASH": "Python crashed while your code ran. Restart the kernel and call your function "
    "on one small example.",
    "BLOCKED": "Your code asked for something that a notebook cannot have while it is graded, such "
    "as the network or somebody else's files. The question can be solved without.",
}
STEPS = 3  # things to do next, at most


@dataclass(frozen=True)
class Step:
    """One thing to do next."""

    position: int
    part: Part
    question: QuestionVerdict
    hint: str


@dataclass(frozen=True)
class Next:
    """Where the points are that are easiest to win back: the first steps, in their order."""

    right: int  # questions that are fully right
    of: int
    steps: tuple[Step, ...] = ()
    open: int = 0  # questions with points to be won

    @property
    def all_right(self) -> bool:
        """Whether there is code, and nothing of it is wrong."""
        return self.right == self.of > 0


def what_next(outline: Outline, graded: dict[str, QuestionVerdict], settled: Set[str]) -> Next:
    """Say where the points are that are easiest to win back; of `settled` cells none are."""
    mistakes = []
    asked = [part for part in outline.parts if not part.written]
    for position, part in enumerate(outline.parts, 1):
        question = graded.get(part.cell)
        if part.written or question is None or question.status in ("OK", "INTERNAL"):
            continue
        if part.cell in settled:
            continue
        lost = part.points - question.points
        # First what others are made of; then a named mistake, the shortest way to more points.
        later = bool(not_right(part, outline, graded)) or untried(question)
        callers = sum(part.name in other.needs for other in asked if part.name)
        order = (later, -callers, not question.misconception, -lost, position)
        mistakes.append((order, Step(position, part, question, _short(question, part))))
    known = [graded[part.cell] for part in asked if part.cell in graded]
    right = sum(question.status == "OK" for question in known)
    steps = tuple(step for _, step in sorted(mistakes, key=lambda one: one[0])[:STEPS])
    return Next(right, len(asked if mistakes else known), steps, len(mistakes))


def advice(question: QuestionVerdict, part: Part) -> str:
    """Return the hint for this answer, "" where there is none."""
    if question.misconception and question.hint:
        return question.hint
    if question.status == "TIMEOUT" and untried(question):
        return "There was no time left to run this answer. It will be run once the others finish."
    return ADVICE.get(question.status) or hint_of(question, part.hint)


def _short(question: QuestionVerdict, part: Part) -> str:
    """Return what to do next about an answer: a known mistake, or which checks to look at.

    The hint for one that nobody has written down is with the question, and not said twice.
    """
    failed = [case.says for case in question.cases if case.status != "OK"]
    known = (question.misconception and question.hint) or question.status in ADVICE
    if known or not failed or untried(question):
        return advice(question, part) or question.reason
    fail = "fails" if len(failed) == 1 else "fail"
    return f"{len(failed)} of {counted(len(question.cases), 'check')} {fail}: {named(failed)}."


def not_right(part: Part, outline: Outline, graded: dict[str, QuestionVerdict]) -> list[str]:
    """Name the answers that a part calls and that are not right themselves."""
    status = {one.name: graded[one.cell].status for one in outline.parts if one.cell in graded}
    return [name for name in part.needs if status.get(name, "OK") not in ("OK", "INTERNAL")]


def read_again(part: Part, book: str) -> str:
    """Return the address of the page of the book, "" where there is none."""
    if not part.page or not book.startswith(("https://", "http://")):
        return ""
    page, _, anchor = part.page.partition("#")
    page = page if page.endswith(".html") else f"{page}.html"
    return f"{book.rstrip('/')}/{page}{f'#{anchor}' if anchor else ''}"
