"""The graded notebook with the feedback in it, for platforms that return the file itself.

Canvas shows a returned file under the name of the one that was submitted, so a web page would
arrive as a notebook that does not open. The notebook from `autograded/` has a report below each
test; here it gets a cell at the top, and one below each question, with what the page says.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from coursekit.submission import regions
from coursekit.submission.deadline import span
from coursetools.grading.records.verdict import Verdict
from coursetools.grading.results.feedback_advice import read_again, what_next
from coursetools.grading.results.feedback_page import Shown, questions_of, settled, while_open
from coursetools.grading.results.outline import Outline, Part
from coursetools.grading.results.pages import counted, number
from coursetools.grading.results.scores import Score, Student
from coursetools.text import harmless_markdown

UNREAD = ("MISSING", "MALFORMED", "INTERNAL")  # of which no question can be spoken


def feedback_notebook(
    graded: dict[str, Any],
    outline: Outline,
    student: Student,
    verdict: Verdict,
    score: Score,
    *,
    book: str = "",
) -> dict[str, Any]:
    """Return the graded notebook with the feedback in it; `graded` stays as it is."""
    asked = questions_of(outline, student, verdict) if verdict.status not in UNREAD else []
    by_cell = {one.part.cell: one for one in asked}
    top = summary(outline, student, verdict, score, book)
    cells = [_cell("feedback", top)]
    for cell in graded["cells"]:
        cells.append(cell)
        one = by_cell.get(regions.grade_id(cell))
        if one is not None:
            cells.append(_cell(f"feedback-{one.position}", _beside(one, book)))
    return {**graded, "cells": cells}


def summary(
    outline: Outline, student: Student, verdict: Verdict, score: Score, book: str = ""
) -> str:
    """Return, as Markdown, what was earned and what to do next."""
    if student.excused:
        return "# Feedback: excused\n\nThis assignment does not count for you.\n"
    if verdict.status == "INTERNAL":
        return (
            "# Feedback: not graded yet\n\nSomething went wrong on our side. It is not your fault "
            "and costs you no points; your file will be graded again.\n"
        )
    points = f"{number(score.total)} of {number(score.points)} points"
    lines = [f"# Feedback: {points}{' so far' if score.waits else ''}", outline.title + "."]
    if score.waits:
        lines.append(
            "Your written answers are not marked yet; they bring up to "
            f"{number(score.waits)} more points."
        )
    if student.open:
        lines.append(while_open(student))
    late = span(timedelta(seconds=student.seconds_late))
    if student.late_days and student.late_days.here:
        lines.append(
            f"It was submitted {late} late: {counted(student.late_days.here, 'late day')} spent, "
            f"{student.late_days.left} of {student.late_days.budget} left."
        )
    if score.penalty:
        lines.append(
            f"{number(score.auto + score.written)} points for your work, less "
            f"{number(score.penalty)} because it was late ({late})."
        )
    if verdict.status == "MALFORMED":
        lines.append(
            f"**Your file could not be graded.** {verdict.reason} Open the notebook that you "
            "worked in, run it from top to bottom, save it, and submit that .ipynb file again, or "
            "ask your instructor if the deadline has passed."
        )
        held = ((part, student.override(outline.name, part.cell)) for part in outline.parts)
        lines += [f"**{part.title}.** {override.sentence}" for part, override in held if override]
        return "\n\n".join(lines) + "\n"
    graded = {question.cell: question for question in verdict.questions}
    following = what_next(outline, graded, settled(questions_of(outline, student, verdict)))
    if following.steps:
        steps = "\n".join(
            f"{at}. {step.part.title}, {number(step.question.points)} of "
            f"{number(step.part.points)} points: {step.hint}{_again(step.part, book)}"
            for at, step in enumerate(following.steps, 1)
        )
        lines.append(f"**What to do next**\n\n{steps}")
    elif following.all_right:
        lines.append("Every check passes: all your code is right.")
    lines.append("The cell below each question says how it went.")
    return "\n\n".join(lines) + "\n"


def _beside(one: Shown, book: str) -> str:
    """Return what stands below a question."""
    points = "–" if one.open else number(one.points)
    worth = f"{points} of {number(one.part.points)} points"
    lines = [
        f"**Feedback on {one.part.title}: {'does not count' if one.dropped else worth}, "
        f"{one.said}.**"
    ]
    if one.override:
        lines.append(one.override.sentence)
    set_here = one.override and one.override.points != "keep"
    by_hand = one.mark is not None and one.mark.manual is not None and not set_here
    if by_hand and one.question is not None:
        lines.append(
            f"A person looked at this question; the automatic checks gave "
            f"{number(one.question.points)} points."
        )
    if one.mark is not None and one.mark.comment:
        lines.append(f"Comment: {one.mark.comment}")
    if one.question is not None and one.question.numbers:
        lines.append(f"Your numbers: `{one.question.numbers}`")
    if one.question is not None and one.question.carried:
        lines.append(
            f"This calls your {' and '.join(one.question.carried)}, not yet right, so it was run "
            "with ours instead: a mistake costs points in its own question only."
        )
    if one.needs:
        lines.append(
            f"This answer is run together with your {' and '.join(one.needs)}, not yet right: "
            "fix that first, and this one may pass unchanged."
        )
    if one.status not in ("OK", "INTERNAL") and (one.hint or one.missing):
        lines.append((one.hint or "There is no answer here.") + _again(one.part, book))
    return "\n\n".join(lines) + "\n"


def _again(part: Part, book: str) -> str:
    address = read_again(part, book)
    return f" [Read again in the book.]({address})" if address else ""


def _cell(name: str, source: str) -> dict[str, Any]:
    return {
        "cell_type": "markdown",
        "id": name,
        "metadata": {},
        "source": harmless_markdown(source),
    }
