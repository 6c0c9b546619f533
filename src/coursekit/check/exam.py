"""`check` in an exam: it says that something is there, and no more, for it knows no more.

The notebook of an exam imports it in the place of the other `check`. What is asked stands in the
notebook alone: nothing to compare with comes before the exam is over.
"""

from __future__ import annotations

import inspect
import re
import sys
from dataclasses import replace
from typing import Any

from coursekit.check.answer import Answer
from coursekit.check.compiled import CompiledAssignment, CompiledQuestion, Numbers
from coursekit.check.stubs import has_stub
from coursekit.submission import regions

MISSING = object()
VARIANT = re.compile(r'^variant\("(\w+)", student\b', re.MULTILINE)  # it shows one's own numbers
RAN = "ran; in an exam nothing more is said"


def exam_check(answer: Any = MISSING, function: Any = MISSING) -> Answer:
    """Say that what a question asks for is there, or that it is not written yet."""
    return _seen(answer, function, sys._getframe(1).f_globals).show()


def _seen(answer: Any, function: Any, names: dict[str, Any]) -> Answer:
    name = answer if isinstance(answer, str) else getattr(answer, "__name__", "check")
    if isinstance(answer, str):
        answer = names.get(name, MISSING) if function is MISSING else function
    if answer is MISSING:
        return Answer(name, "not defined yet: run the cell that defines it first")
    try:
        stub = has_stub(inspect.getsource(answer))
    except (OSError, TypeError):
        stub = False
    return Answer(name, "not written yet" if stub else RAN)


def is_exam(metadata: dict[str, Any]) -> bool:
    """Return whether a notebook's metadata says that it was released for an exam."""
    ours = metadata.get("coursekit")
    return isinstance(ours, dict) and ours.get("exam") is True


def asked(cells: list[dict[str, Any]]) -> CompiledAssignment:
    """Return what the cells of an exam ask for: names, and nothing to compare with."""
    names = {regions.grade_id(one): one for one in cells if regions.is_solution(one)}
    tested = {regions.grade_id(one) for one in cells if regions.is_test(one)}
    with_numbers = {name for one in cells for name in VARIANT.findall(one["source"])}
    nothing = CompiledQuestion(
        name="", title="", is_class=False, hint="", page="", forbidden=(), needs=(), code="",
        cases=(), mistakes=(), numbers=Numbers(),
    )  # fmt: skip
    questions = tuple(
        replace(nothing, name=name, title=name, variants=(nothing,) * (name in with_numbers))
        for name in names
        if f"test_{name}" in tested
    )
    written = tuple(name for name, one in names.items() if regions.is_grade(one))
    return CompiledAssignment("exam", "Exam", questions, written)
