"""The graded notebook in nbgrader's conventions, for formgrader, feedback and plain nbgrader.

nbgrader reads points from what is below a test cell: an error is 0, a number as the result is
that many points, anything else is full marks. `outputs_of` writes exactly that, with a report that
a student may read. Nothing of a hidden test is in it but what the case says of itself.
"""

from __future__ import annotations

import json
import re
from typing import Any

from coursekit.submission import regions
from coursekit.submission.parsing import Malformed
from coursekit.submission.resource_limits import Limits
from coursetools.assignments.rebuild import Rebuilt, ids_of, rebuild, release_of
from coursetools.grading.hints import hint_of
from coursetools.grading.records.verdict import QuestionVerdict, Verdict
from coursetools.text import harmless_markdown

SAFE = ("text/plain", "image/png")
SIGNS = {"OK": "passed", "FAIL": "failed", "INTERNAL": "not tested"}


def autograded(
    master: Any,
    submission: bytes,
    verdict: Verdict,
    limits: Limits,
    rebuilt: Rebuilt | None = None,
) -> dict[str, Any]:
    """Return the notebook: the rebuilt submission, here or before, with the grader's outputs."""
    try:
        notebook = (rebuilt or rebuild(master, submission, limits)).notebook
    except Malformed as malformed:
        notebook = release_of(master)
        notebook["cells"].insert(0, _notice(f"{malformed.reason}; {malformed.hint}"))
    questions = {question.cell: question for question in verdict.questions}
    ours = {*ids_of(master), "not-graded"}
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            if regions.is_solution(cell) or cell["id"] not in ours:
                cell["source"] = harmless_markdown(cell["source"])
            continue
        if not regions.is_test(cell):
            cell["outputs"] = [_safe(out) for out in verdict.outputs.get(cell["id"], []) if out]
            continue
        points = float(regions.meta(cell)["points"])
        question = questions.get(regions.grade_id(cell))
        cell["outputs"] = outputs_of(question, points, verdict)
    return notebook


def as_file(notebook: dict[str, Any]) -> str:
    """Return the text of a notebook's file, a line for each cell.

    Half characters, which no file can hold, become `?`. (Python indents JSON twenty times slower.)
    """
    rest = {key: value for key, value in notebook.items() if key != "cells"}
    cells = ",\n".join(json.dumps(cell, ensure_ascii=False) for cell in notebook["cells"])
    text = f'{json.dumps(rest, ensure_ascii=False)[:-1]}, "cells": [\n{cells}\n]}}\n'
    return text.encode("utf-8", "replace").decode()


def outputs_of(
    question: QuestionVerdict | None, points: float, verdict: Verdict
) -> list[dict[str, Any]]:
    """Return outputs of a test cell from which nbgrader reads exactly our points."""
    if question is None or question.status == "INTERNAL":
        reason = question.reason if question else verdict.reason
        return [_error("NotGraded" if verdict.status == "INTERNAL" else verdict.status, reason)]
    report = {"output_type": "stream", "name": "stdout", "text": report_of(question)}
    if question.points >= points:
        return [report]
    if question.points <= 0:
        return [report, _error(question.status, question.reason)]
    number = {"text/plain": repr(float(question.points))}
    result = {"output_type": "execute_result", "data": number, "metadata": {}}
    return [report, result | {"execution_count": None}]


def report_of(question: QuestionVerdict) -> str:
    """Return what happened in a question, in lines that a student may read."""
    lines = [f"{question.points:g} of {question.max_points:g} points: {question.reason}"]
    if question.numbers:
        lines.append(f"  with {question.numbers}")
    for case in question.cases:
        sign = SIGNS.get(case.status, f"failed ({case.status.lower()})")
        lines.append(f"  {sign}: {case.says}")
        if case.detail and not case.hidden and case.status != "OK":
            lines += [f"      {line}" for line in case.detail.splitlines()[:20]]
    if hint := hint_of(question):
        lines.append(f"Hint: {hint}")
    return "\n".join(lines) + "\n"


def _safe(output: dict[str, Any]) -> dict[str, Any]:
    """Return an output with nothing in it that a browser would run."""
    kind = output.get("output_type")
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return {"output_type": "stream", "name": name, "text": _text(output.get("text"))}
    if kind == "error":
        return _error(_text(output.get("ename")), _text(output.get("evalue")), output)
    data = output.get("data")
    data = data if isinstance(data, dict) else {}
    safe = {key: _text(value) for key, value in data.items() if key in SAFE}
    if not re.fullmatch(r"[A-Za-z0-9+/=\s]*", safe.get("image/png", "")):
        del safe["image/png"]  # pages put it between quotation marks
    made: dict[str, object] = {"output_type": "display_data", "data": safe, "metadata": {}}
    if kind == "execute_result":
        made |= {"output_type": kind, "execution_count": None}
    return made


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _error(name: str, value: str, output: dict[str, Any] | None = None) -> dict[str, Any]:
    lines = (output or {}).get("traceback")
    lines = [_text(line) for line in lines] if isinstance(lines, list) else [f"{name}: {value}"]
    return {"output_type": "error", "ename": name, "evalue": value, "traceback": lines}


def _notice(sentence: str) -> dict[str, Any]:
    source = f"**This file could not be graded:** {sentence}."
    return {"cell_type": "markdown", "id": "not-graded", "metadata": {}, "source": source}
