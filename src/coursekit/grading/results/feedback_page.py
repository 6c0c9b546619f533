"""The page that one student reads: first what they got, then what to do next, then each question.

It is made of the verdict, which says nothing of a hidden check but its name, and of the gradebook's
marks and comments. Everything that the student wrote goes through `pages`.
"""

from __future__ import annotations

from collections.abc import Sequence

from coursekit.grading.results import pages
from coursekit.grading.results.feedback_advice import (
    advice,
    not_right,
    read_again,
    untried,
    what_next,
)
from coursekit.grading.results.outline import Outline, Part
from coursekit.grading.results.pages import (
    code,
    document,
    name,
    number,
    outputs,
    prose,
    text,
    verbatim,
)
from coursekit.grading.results.scores import Mark, Score, Student, waits_for_human
from coursekit.grading.verdict import CaseVerdict, QuestionVerdict, Verdict

STATUS = {  # what a student reads in place of a status, and its colour
    "OK": ("right", "good"),
    "PARTIAL": ("partly right", "part"),
    "FAIL": ("not yet right", "bad"),
    "TIMEOUT": ("ran out of time", "bad"),
    "MEM": ("too much memory", "bad"),
    "OUTPUT": ("printed too much", "bad"),
    "CRASH": ("Python crashed", "bad"),
    "BLOCKED": ("not allowed when graded", "bad"),
    "MALFORMED": ("could not be read", "bad"),
    "MISSING": ("no answer", "none"),
    "INTERNAL": ("not graded yet", "none"),
}


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
    top = _top(outline, student, verdict, score, whole)
    if verdict is None or verdict.status in ("MISSING", "MALFORMED", "INTERNAL"):
        body = [top, _what_now(verdict)]
        read = verdict is not None and verdict.status == "INTERNAL"
        if read and any(answer.strip() for answer in verdict.answers.values()):
            body.append("<p>What you handed in is safe; this is what we have of it:</p>")
            body += [code(answer) for answer in verdict.answers.values() if answer.strip()]
    else:
        marks = (student.marks or {}).get(outline.name, {})
        graded = {question.cell: question for question in verdict.questions}
        body = [top, what_next(outline, graded, marks, book)]
        if any(not part.written for part in outline.parts):
            body.append("<h2>Question by question</h2>")
        for position, part in enumerate(outline.parts, 1):
            mark = marks.get(part.cell)
            if part.written:
                body.append(_written(position, part, verdict, mark, book))
            else:
                needs = not_right(part, outline, graded)
                question = graded.get(part.cell)
                body.append(_question(position, part, question, verdict, mark, book, needs))
        body.append(_elsewhere(outline, verdict))
        body.append(_how(verdict))
    return document(f"{outline.title}: feedback for {student.name}", "\n".join(filter(None, body)))


def _top(
    outline: Outline, student: Student, verdict: Verdict | None, score: Score, whole: Score | None
) -> str:
    about = [name(student.name)]
    if student.id != student.name:
        about.append(text(student.id))
    if student.submitted:
        about.append(f"handed in {student.submitted:%Y-%m-%d %H:%M} UTC")
    lines = [f"<h1>{text(outline.title)}</h1>", f'<p class="quiet">{" · ".join(about)}</p>']
    if verdict is not None and verdict.status == "INTERNAL":
        lines.append('<p class="score">Not graded yet</p>')
        return "\n".join(lines)
    share = min(100.0, 100 * score.total / score.points) if score.points else 0.0
    so_far = " <small>so far</small>" if score.waits else ""
    lines.append(
        f'<p class="score">{number(score.total)} <small>of {number(score.points)} points</small>'
        f"{so_far}</p>"
        f'<div class="meter" aria-hidden="true"><span style="width:{share:.0f}%"></span></div>'
    )
    notes = []
    if score.waits:
        notes.append(
            f"A person will read what you wrote in words; up to {number(score.waits)} of the "
            "points come from there."
        )
    if score.penalty:
        notes.append(
            f"{number(score.auto + score.written)} points for your work, less "
            f"{number(score.penalty)} because it came late ({_lateness(student.seconds_late)})."
        )
    if whole is not None:
        notes.append(
            f"The whole assignment, with its other notebooks: {number(whole.total)} of "
            f"{number(whole.points)} points."
        )
    lines += [f"<p>{text(note)}</p>" for note in notes]
    return "\n".join(lines)


def _lateness(seconds: float) -> str:
    hours = seconds / 3600
    if hours < 1:
        return f"{max(1, round(seconds / 60))} minutes"
    return f"{hours:.0f} hours" if hours < 48 else f"{hours / 24:.1f} days"


def _what_now(verdict: Verdict | None) -> str:
    if verdict is None or verdict.status == "MISSING":
        return (
            '<div class="card"><p>We have no notebook from you for this assignment.</p><p>If you '
            "did hand one in, tell your instructor when and where, and keep the file as it is. If "
            "not, ask whether you still may: the questions are worth doing in any case.</p></div>"
        )
    if verdict.status == "INTERNAL":
        return (
            '<div class="card"><p>Something went wrong on our side while your notebook was graded. '
            "It is not your fault and costs you no points. Your file is kept and will be graded "
            "again; you need not do anything.</p></div>"
        )
    return (
        f'<div class="wrong"><p><strong>Your file could not be graded.</strong> '
        f"{text(verdict.reason)}</p></div>"
        '<div class="card"><p><strong>What to do next.</strong> Open the notebook that you worked '
        "in, run it from top to bottom, save it, and look at it once more with "
        "<code>coursekit submit-check NOTEBOOK</code>. Hand in that .ipynb file again, or ask your "
        "instructor if the deadline has passed: your work is probably still in the file that you "
        "have.</p></div>"
    )


def _question(
    position: int,
    part: Part,
    question: QuestionVerdict | None,
    verdict: Verdict,
    mark: Mark | None,
    book: str,
    needs: list[str],
) -> str:
    if question is None:
        question = QuestionVerdict(
            name=part.cell,
            cell=part.cell,
            points=0.0,
            max_points=part.points,
            status="INTERNAL",
            reason="This question was not graded yet; that is not your fault.",
        )
    points = question.points if mark is None else mark.score
    blank = question.status in ("FAIL", "MISSING") and not any(
        verdict.answers.get(cell, "").strip() for cell in part.answers
    )
    status = "MISSING" if blank and part.answers else question.status
    body = [_head(position, part, status, points, internal=status == "INTERNAL")]
    if mark is not None and mark.manual is not None:
        body.append(
            f'<p class="quiet">A person looked at this question and gave {number(points)} points; '
            f"the automatic checks gave {number(question.points)}.</p>"
        )
    if mark is not None and mark.comment:
        body.append(f'<div class="tip"><strong>Comment</strong>{prose(mark.comment)}</div>')
    if question.carried:
        body.append(
            f"<p>This calls your {_named(question.carried)}, not yet right. So it was tried with "
            "ours in that place: a mistake costs its own question only.</p>"
        )
    if question.status != "OK":
        if needs and status != "MISSING" and not question.carried:
            body.append(
                f"<p>This answer is tried together with your {_named(needs)}, not yet right: "
                "mend that first, and this may come right by itself.</p>"
            )
        body.append(_failure(question))
        hint = advice(question, part)
        if question.status != "INTERNAL" and hint:
            label = "We know this one." if question.misconception else "Hint."
            if question.misconception and question.carried:  # it failed with ours there as well
                label = f"We know this one, and it is in {_named([part.name])} itself."
            elif question.misconception and needs:
                label = f"We know this one, unless it comes from your {_named(needs)}."
            body.append(f'<div class="tip"><p><strong>{label}</strong> {text(hint)}</p></div>')
        if (again := read_again(part, book)) and question.status != "INTERNAL":
            body.append(f"<p>{again.strip()}</p>")
    if status != "MISSING":
        body.append(_cases(question))
        body.append(_work(part, verdict, opened=status != "OK"))
    return f'<section class="card" id="q{position}">{"".join(body)}</section>'


def _named(names: Sequence[str]) -> str:
    return " and ".join(f"<code>{text(name)}</code>" for name in names)


def _head(
    position: int, part: Part, status: str, points: float, *, internal: bool, said: str = ""
) -> str:
    shown, colour = STATUS[status]
    got = "–" if internal else number(points)
    return (
        f'<div class="head"><h3>{position}. {text(part.title)}</h3>'
        f'<span class="tag {colour}">{said or shown}</span>'
        f'<span class="points">{got} of {number(part.points)}</span></div>'
    )


def _failure(question: QuestionVerdict) -> str:
    """Show the first check that failed: all of a visible one, of a hidden one only its name."""
    failed = [case for case in question.cases if case.status != "OK"]
    if not failed or untried(question):
        return f"<p>{text(question.reason)}</p>" if question.reason else ""
    case = next((case for case in failed if not case.hidden), failed[0])
    which = f"<p>First check that fails: <strong>{text(case.says)}</strong>{_why(case)}."
    if case.hidden:
        said = " It is one that you cannot see; try an example like it yourself.</p>"
    else:
        sentence, _, table = case.detail.strip().partition("\n")
        said = f" {text(sentence[:1].upper() + sentence[1:])}</p>"
        said += verbatim(table, "out", 4000, 60) if table else ""
    if not question.points and any(case.status == "OK" for case in question.cases):
        said += (
            "<p>What passes would pass with zeros, or with the input returned as it is, too. "
            "That alone brings no points.</p>"
        )
    return f'<div class="wrong">{which}{said}</div>'


def _why(case: CaseVerdict) -> str:
    return "" if case.status in ("FAIL", "PARTIAL") else f" ({STATUS[case.status][0]})"


def _cases(question: QuestionVerdict) -> str:
    if not question.cases:
        return ""
    passed = sum(1 for case in question.cases if case.status == "OK")
    rows = []
    for case in question.cases:
        colour = {"OK": "good", "INTERNAL": "none"}.get(case.status, "bad")
        why = "" if case.status == "OK" else _why(case)
        seen = ' <span class="quiet">(hidden)</span>' if case.hidden else ""
        worth = f' <span class="worth">{number(case.share * question.max_points)} pt</span>'
        spoken = "passes" if case.status == "OK" else "fails"
        rows.append(
            f'<li class="{colour}" aria-label="{spoken}: {text(case.says)}">{text(case.says)}'
            f"{why}{seen}{worth}</li>"
        )
    opened = " open" if question.status not in ("OK", "INTERNAL") else ""
    return (
        f"<details{opened}><summary>{passed} of {pages.counted(len(question.cases), 'check')} "
        f'pass</summary><ul class="cases">{"".join(rows)}</ul></details>'
    )


def _work(part: Part, verdict: Verdict, *, opened: bool) -> str:
    sources = [verdict.answers.get(cell, "") for cell in part.answers]
    shown = "".join(code(source) for source in sources if source.strip())
    said = "".join(outputs(verdict.outputs.get(cell, [])) for cell in part.ids if cell)
    if not shown:
        return ""
    after = f'<p class="quiet">What it printed or drew:</p>{said}' if said else ""
    return (
        f"<details{' open' if opened else ''}><summary>Your code</summary>{shown}{after}</details>"
    )


def _written(position: int, part: Part, verdict: Verdict, mark: Mark | None, book: str) -> str:
    given = [verdict.answers.get(cell, "") for cell in part.answers]
    answer = "\n\n".join(source for source in given if part.is_answer(source)).strip()
    waits = waits_for_human(part, mark, verdict)
    status, said = "OK", "read by a person"
    points = mark.score if mark else 0.0
    if not answer and (mark is None or mark.manual is None):
        status, said = "MISSING", ""
    elif waits:
        status, said = "INTERNAL", "not read yet"
    elif points < part.points:
        status = "PARTIAL"
    body = [_head(position, part, status, points, internal=status == "INTERNAL", said=said)]
    if mark is not None and mark.comment:
        body.append(f'<div class="tip"><strong>Comment</strong>{prose(mark.comment)}</div>')
    if status == "MISSING" and (again := read_again(part, book)):
        body.append(f"<p>There is no answer here.{again}</p>")
    if answer:
        body.append(f"<details open><summary>Your answer</summary>{prose(answer)}</details>")
    return f'<section class="card" id="q{position}">{"".join(body)}</section>'


def _elsewhere(outline: Outline, verdict: Verdict) -> str:
    """Show the errors of cells that belong to no question: they are often where it began."""
    known = {cell for part in outline.parts for cell in (*part.ids, part.test)}
    errors = [
        entry
        for cell, entries in verdict.outputs.items()
        if cell not in known
        for entry in entries
        if isinstance(entry, dict) and entry.get("output_type") == "error"
    ]
    if not errors:
        return ""
    return (
        "<details><summary>Other cells of your notebook that stopped with an error</summary>"
        f"{outputs(errors)}</details>"
    )


def _how(verdict: Verdict) -> str:
    shared = ""
    if any(question.cases for question in verdict.questions):
        shared = (
            "The points of a question are shared out among its checks; the number behind a check "
            "is what it is worth. Hidden checks try the same things with other numbers. "
        )
    return (
        f'<p class="quiet">{shared}Your notebook was run from top to bottom in a fresh Python, '
        "with the instructor's own copy of the tests. If you think that a check is wrong, tell "
        "your instructor the question and the name of the check: that helps everybody.</p>"
    )
