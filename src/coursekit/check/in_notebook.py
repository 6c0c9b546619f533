"""Where in its notebook an answer is: which assignment this is, and which cell defines a name."""

from __future__ import annotations

import sys
from typing import Any

from coursekit.check import compiled, exam
from coursekit.check.compiled import CompiledAssignment
from coursekit.check.notebook_path import this_notebook
from coursekit.check.raised import codes
from coursekit.check.shown import is_cell
from coursekit.check.stubs import is_open
from coursekit.submission import parsing, regions

COUNTS = "it counts there too, but the cell of a check is replaced when a notebook is graded"


def which(notebook: dict[str, Any]) -> CompiledAssignment | None:
    """Return the assignment with the most cells in the notebook; an exam says itself what it is."""
    cells = notebook["cells"]
    if exam.is_exam(notebook["metadata"]):
        return exam.asked(cells)
    there = {regions.grade_id(cell) for cell in cells}
    best, most = None, 0
    for assignment in map(compiled.load, compiled.names()):
        asked = {question.name for question in assignment.questions}
        shared = len(there & (asked | {f"test_{name}" for name in asked}))
        if shared > most:
            best, most = assignment, shared
    return best


def assignment_of(names: dict[str, Any]) -> CompiledAssignment | None:
    """Return the assignment of the notebook whose names are `names`, by them or by its file."""
    everything = [compiled.load(name) for name in compiled.names()]
    best = max(everything, key=lambda a: sum(q.name in names for q in a.questions))
    if any(question.name in names for question in best.questions):
        return best
    saved = _saved(names)
    return which(saved) if saved else None


def misplaced(name: str, file: str, names: dict[str, Any]) -> str:
    """Say if the cell with the check, whose code is called `file`, defines the answer as well.

    That is right in the cell for the answer. In the one that came with the check it counts as well,
    and is easily lost.
    """
    answer = names.get(name)
    if not is_cell(file) or file not in {code.co_filename for code in codes(answer)}:
        return ""
    cells = (_saved(names) or {"cells": []})["cells"]
    answers = [cell for cell in cells if regions.grade_id(cell) == name]
    checks = [cell for cell in cells if regions.grade_id(cell) == f"test_{name}"]
    if any(name in regions.defined(cell["source"]) for cell in checks) and answers:
        return f"{name} is defined in the cell of its check: {_move(answers)}"
    if any(is_open(cell["source"]) for cell in answers):
        return f"{name} is defined in the same cell as its check: {_move(answers)}"
    if not answers:
        return (
            f"{name} is defined in the same cell as its check. If that is the cell that came with "
            f"the check, move the definition into the cell above: {COUNTS}."
        )
    return ""


def _move(answers: list[dict[str, Any]]) -> str:
    stub = (
        ", which still holds the stub" if any(is_open(cell["source"]) for cell in answers) else ""
    )
    return f"move the definition into the answer's own cell{stub}, and save; {COUNTS}."


def _saved(names: dict[str, Any]) -> dict[str, Any] | None:
    """Return the notebook as it was saved last; None where no file is known, as in Colab."""
    if "google.colab" in sys.modules:
        return None
    path = this_notebook(names)
    try:
        return parsing.read(path.read_bytes()) if path else None
    except (OSError, parsing.Malformed):
        return None
