"""What a student should do next: where the points are that are easiest to win back, and how.

What other answers are made of comes first, then a mistake that we know by name, then whatever is
worth most.
"""

from __future__ import annotations

from coursekit.grading.results.outline import Outline, Part
from coursekit.grading.results.pages import number, text
from coursekit.grading.results.scores import Mark
from coursekit.grading.verdict import QuestionVerdict

ADVICE = {  # where the way the code ended says more than the question's hint
    "TIMEOUT": "Your code did not come to an end. Look for a loop that never stops, and call your "
    "function on one small example.",
    "MEM": "Your code asked for more memory than there is. Look for a list that grows without end, "
    "or a tensor with an axis too many; print its shape.",
    "OUTPUT": "Your code printed far too much. Take the print out of the loop.",
    "CRASH": "Python itself stopped while your code ran. Restart the kernel and call your function "
    "on one small example.",
    "BLOCKED": "Your code asked for something that a notebook cannot have while it is graded, such "
    "as the network or somebody else's files. The question can be solved without.",
}
STEPS = 3  # things to do next, at most


def what_next(
    outline: Outline, graded: dict[str, QuestionVerdict], marks: dict[str, Mark], book: str
) -> str:
    """Say where the points are that are easiest to win back."""
    open_parts = []
    asked = [part for part in outline.parts if not part.written]
    for position, part in enumerate(outline.parts, 1):
        question = graded.get(part.cell)
        if part.written or question is None or question.status in ("OK", "INTERNAL"):
            continue
        if (mark := marks.get(part.cell)) and mark.score >= part.points:
            continue
        lost = part.points - question.points
        # First what others are made of; then a named mistake, the shortest way to more points.
        later = bool(not_right(part, outline, graded)) or untried(question)
        callers = sum(part.name in other.needs for other in asked if part.name)
        order = (later, -callers, not question.misconception, -lost, position)
        open_parts.append((order, position, part, question))
    if not open_parts:
        right = [graded[part.cell] for part in asked if part.cell in graded]
        if right and all(question.status == "OK" for question in right):
            return '<div class="card"><p>Every check passes: all your code is right.</p></div>'
        return ""
    done = sum(1 for part in asked if part.cell in graded and graded[part.cell].status == "OK")
    said = f"{done} of {len(asked)} questions are fully right." if done else ""
    steps = []
    for _, position, part, question in sorted(open_parts, key=lambda one: one[0])[:STEPS]:
        hint = advice(question, part) or question.reason
        steps.append(
            f'<li><a href="#q{position}">{text(part.title)}</a>, '
            f"{number(question.points)} of {number(part.points)} points: {text(hint)}"
            f"{read_again(part, book)}</li>"
        )
    first = "<p>Start here:</p>" if len(open_parts) > 1 else ""
    return (
        f"<h2>What to do next</h2>{f'<p>{said}</p>' if said else ''}{first}"
        f'<ol class="next">{"".join(steps)}</ol>'
    )


def advice(question: QuestionVerdict, part: Part) -> str:
    """Return the hint for this answer, "" where there is none."""
    if question.misconception and question.hint:
        return question.hint
    if question.status == "TIMEOUT" and untried(question):
        return "There was no time left to try this answer. It will be tried once the others end."
    return ADVICE.get(question.status) or question.hint or part.hint


def untried(question: QuestionVerdict) -> bool:
    """Say whether no check of a question was run, as when the time was used up before."""
    cases = question.cases
    return bool(cases) and not any(case.status == "OK" or case.detail for case in cases)


def not_right(part: Part, outline: Outline, graded: dict[str, QuestionVerdict]) -> list[str]:
    """Name the answers that a part calls and that are not right themselves."""
    status = {one.name: graded[one.cell].status for one in outline.parts if one.cell in graded}
    return [name for name in part.needs if status.get(name, "OK") not in ("OK", "INTERNAL")]


def read_again(part: Part, book: str) -> str:
    """Return a link to the page of the book, "" where there is none."""
    if not part.page or not book.startswith(("https://", "http://")):
        return ""
    page, _, anchor = part.page.partition("#")
    page = page if page.endswith(".html") else f"{page}.html"
    address = f"{book.rstrip('/')}/{page}{f'#{anchor}' if anchor else ''}"
    return f' <a href="{text(address)}">Read again in the book.</a>'
