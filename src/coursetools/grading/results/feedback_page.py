"""The page that one student reads: first what they got, then what to do next, then each question.

It is made of the verdict, which says nothing of a hidden check but its name, and of the gradebook's
marks and comments. Here it is decided what the page says of each; the words are in
`templates/feedback.html`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from markupsafe import Markup

from coursekit.submission.deadline import clock, span, spelled
from coursetools.grading.hints import failing
from coursetools.grading.records.overrides import Override
from coursetools.grading.records.verdict import QuestionVerdict, Verdict
from coursetools.grading.results.feedback_advice import advice, not_right, read_again, what_next
from coursetools.grading.results.outline import Outline, Part
from coursetools.grading.results.pages import outputs, render
from coursetools.grading.results.scores import (
    Mark,
    Score,
    Student,
    answer_in_words,
    waits_for_human,
)

STATUS = {  # what a student reads in place of a status, and its colour
    "OK": ("right", "good"),
    "PARTIAL": ("partly right", "part"),
    "FAIL": ("not yet right", "bad"),
    "TIMEOUT": ("ran out of time", "bad"),
    "MEM": ("too much memory", "bad"),
    "OUTPUT": ("printed too much", "bad"),
    "CRASH": ("Python crashed", "bad"),
    "BLOCKED": ("not allowed when graded", "bad"),
    "MALFORMED": ("could not be graded", "bad"),
    "MISSING": ("no answer", "none"),
    "INTERNAL": ("not graded yet", "none"),
}


@dataclass(kw_only=True)
class Shown:
    """What the page shows of one question."""

    position: int
    part: Part
    status: str
    points: float
    mark: Mark | None
    override: Override | None = None
    said: str = ""
    # of one that is tested
    question: QuestionVerdict | None = None
    hint: str = ""
    needs: list[str] = field(default_factory=list)  # answers that it calls, and are not right
    sources: list[str] = field(default_factory=list)
    printed: str = ""  # Markup
    # of an answer in words
    answer: str = ""

    def __post_init__(self) -> None:
        words, self.colour = STATUS[self.status]
        self.said = self.said or words
        given = self.override.given(self.part.points) if self.override else None
        if given is not None:
            self.points = given
            self.said, self.colour = "set by your instructor", "none"
        self.dropped = bool(self.override and self.override.drops)
        self.open = self.status == "INTERNAL" and given is None  # no points yet
        self.missing = self.status == "MISSING"


def feedback_page(
    outline: Outline,
    student: Student,
    verdict: Verdict | None,
    score: Score,
    *,
    book: str = "",
    whole: Score | None = None,
) -> str:
    """Return the page; `book` is the address that pages of the book start with.

    `score` is of this notebook; `whole` of the assignment, where that has several notebooks.
    """
    state = "MISSING" if verdict is None else verdict.status
    about = {
        "title": f"{outline.title}: feedback for {student.name}",
        "outline": outline,
        "student": student,
        "verdict": verdict,
        "score": score,
        "whole": whole,
        "book": book,
        "state": state,
        "share": min(100.0, 100 * score.total / score.points) if score.points else 0.0,
        "lateness": span(timedelta(seconds=student.seconds_late)),
        "extension": student.extension and f"{span(student.extension)} later than the class's",
        "due": student.due and spelled(student.due),
        "open": while_open(student),
        "counts": student.submitted is None or student.submitted != student.too_late,
        "clock": clock,
        "read_again": read_again,
        "failing": failing,
        "statuses": STATUS,
        "several": whole is not None,
    }
    if verdict is None or state in ("MISSING", "MALFORMED", "INTERNAL"):
        answers = verdict.answers.values() if verdict is not None else ()
        kept = [one for one in answers if one.strip()]
        held = ((part, student.override(outline.name, part.cell)) for part in outline.parts)
        set_here = [(part, override) for part, override in held if override]
        return render("feedback.html", **about, kept=kept, set_here=set_here)
    graded = {question.cell: question for question in verdict.questions}
    questions = questions_of(outline, student, verdict)
    next_steps = what_next(outline, graded, settled(questions))
    return render(
        "feedback.html", **about, questions=questions, next=next_steps,
        errors=_elsewhere(outline, verdict),
    )  # fmt: skip


def while_open(student: Student) -> str:
    """Say to a student that there is still time, and what that means for these points."""
    end = student.standing.until
    until = f" until {spelled(end)}" if end else ""
    return f"The assignment is open{until}: you can submit again. These points do not count yet."


def questions_of(outline: Outline, student: Student, verdict: Verdict) -> list[Shown]:
    """Return what a student is shown of each question, in the order of the notebook."""
    marks = (student.marks or {}).get(outline.name, {})
    held = {part.cell: student.override(outline.name, part.cell) for part in outline.parts}
    graded = {question.cell: question for question in verdict.questions}
    return [
        _written(position, part, verdict, marks.get(part.cell), held[part.cell])
        if part.written
        else _tested(
            position,
            part,
            verdict,
            marks.get(part.cell),
            not_right(part, outline, graded),
            held[part.cell],
        )
        for position, part in enumerate(outline.parts, 1)
    ]


def settled(questions: list[Shown]) -> set[str]:
    """Return the cells of questions at which nothing is left to do."""
    return {one.part.cell for one in questions if one.points >= one.part.points or one.dropped}


def _tested(
    position: int,
    part: Part,
    verdict: Verdict,
    mark: Mark | None,
    needs: list[str],
    override: Override | None,
) -> Shown:
    """Return what is shown of a question that is tested."""
    question = next((one for one in verdict.questions if one.cell == part.cell), None)
    if question is None:
        question = QuestionVerdict(
            name=part.cell,
            cell=part.cell,
            points=0.0,
            max_points=part.points,
            status="INTERNAL",
            reason="This question was not graded yet; that is not your fault.",
        )
    sources = [verdict.answers.get(cell, "") for cell in part.answers]
    sources = [source for source in sources if source.strip()]
    blank = question.status in ("FAIL", "MISSING") and part.answers and not sources
    status = "MISSING" if blank else question.status
    printed = (outputs(verdict.outputs.get(cell, [])) for cell in part.ids if cell)
    return Shown(
        position=position,
        part=part,
        status=status,
        points=question.points if mark is None else mark.score,
        mark=mark,
        override=override,
        question=question,
        hint=advice(question, part) if question.status != "INTERNAL" else "",
        needs=[] if status == "MISSING" or question.carried else needs,
        sources=sources,
        printed=Markup("").join(printed),
    )


def _written(
    position: int, part: Part, verdict: Verdict, mark: Mark | None, override: Override | None
) -> Shown:
    """Return what is shown of an answer in words."""
    answer = answer_in_words(part, verdict)
    points = mark.score if mark else 0.0
    status, words = "OK", "read by a person"
    if not answer and (mark is None or mark.manual is None):
        status, words = "MISSING", ""
    elif waits_for_human(part, mark, verdict):
        status, words = "INTERNAL", "not read yet"
    elif points < part.points:
        status = "PARTIAL"
    return Shown(
        position=position, part=part, status=status, points=points, mark=mark, override=override,
        said=words, answer=answer,
    )  # fmt: skip


def _elsewhere(outline: Outline, verdict: Verdict) -> Markup:
    """Return the errors of cells that belong to no question: they are often where it began."""
    known = {cell for part in outline.parts for cell in (*part.ids, part.test)}
    return outputs(
        [
            entry
            for cell, entries in verdict.outputs.items()
            if cell not in known
            for entry in entries
            if isinstance(entry, dict) and entry.get("output_type") == "error"
        ]
    )
