"""The hint that fits how an answer has failed, for all that a student reads about it."""

from __future__ import annotations

from coursekit.check.advice import about, fitting
from coursetools.grading.records.verdict import CaseVerdict, QuestionVerdict

OWN = "right with "  # a flag: with numbers that are not theirs, and the hint is about those


def hint_of(question: QuestionVerdict, first: str = "") -> str:
    """Return the hint for an answer; `first` is the question's, where the verdict has none.

    A known mistake has its own. The question's first hint is for an answer that fails most checks.
    """
    hint = question.hint or first
    theirs = any(flag.startswith(OWN) for flag in question.flags)
    failed = [case.says for case in question.cases if case.status != "OK"]
    if question.status == "OK" or question.misconception or theirs or untried(question):
        return hint
    sentence = _sentence(failing(question))
    if not failed or not question.points:
        return about(sentence) or hint
    return fitting(hint, failed, len(question.cases), sentence)


def untried(question: QuestionVerdict) -> bool:
    """Return whether no check of a question was run, as when the time was used up before."""
    cases = question.cases
    return bool(cases) and not any(case.status == "OK" or case.detail for case in cases)


def failing(question: QuestionVerdict) -> CaseVerdict | None:
    """Return the first check that fails, a visible one if there is any; None where none ran."""
    failed = [case for case in question.cases if case.status != "OK"]
    if not failed or untried(question):
        return None
    return next((case for case in failed if not case.hidden), failed[0])


def _sentence(case: CaseVerdict | None) -> str:
    """Return what a student may read about a check: of a hidden one nothing."""
    return "" if case is None or case.hidden else case.detail.partition("\n")[0]
