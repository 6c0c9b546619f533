"""`submit_check()` and `coursekit submit-check`: what a grader will find, said before the upload.

First the file is read as a grader reads it: is it a notebook, are the graded cells there and once,
is every question answered, is all of it Python. Then it is run from top to bottom in a fresh
process. Nothing is sent anywhere.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from coursekit.assignments import forbidden, intake, regions
from coursekit.assignments.limits import Limits
from coursekit.errors import CourseError
from coursekit.exercises.catalogue import load, names
from coursekit.exercises.question import Assignment
from coursekit.exercises.submitting.rehearsal import Ran, rehearse
from coursekit.notebooks.imports import parse_cell

INPUT = re.compile(r"(?<![\w.])input\(")  # Python's own; not pair_input or a layer's self.input
ASK = (
    "This program does not say which file the notebook is. Save it, and name it: "
    'submit_check("a01_kernels.ipynb")'
)


@dataclass
class Report:
    """What was found; `mend` costs points, `look` may, `good` is as it should be."""

    name: str
    mend: list[str] = field(default_factory=list)
    look: list[str] = field(default_factory=list)
    good: list[str] = field(default_factory=list)

    def _verdict(self) -> str:
        if not self.mend:
            return "ready to hand in"
        return f"{len(self.mend)} thing{'' if len(self.mend) == 1 else 's'} to mend"

    def _lines(self) -> list[tuple[str, str]]:
        marks = (("✗", self.mend), ("!", self.look), ("✓", self.good))
        return [(mark, sentence) for mark, sentences in marks for sentence in sentences]

    def __repr__(self) -> str:
        lines = [f"{self.name}: {self._verdict()}"]
        return "\n".join(lines + [f"  {mark} {sentence}" for mark, sentence in self._lines()])

    def _repr_html_(self) -> str:
        colour = "rgba(213,94,0,.95)" if self.mend else "rgba(0,158,115,.9)"
        rows = "".join(
            f'<li style="list-style:none"><span aria-hidden="true">{mark}</span> '
            f"{escape(sentence)}</li>"
            for mark, sentence in self._lines()
        )
        return (
            f'<div style="border-left:4px solid {colour};padding:.2em .8em;max-width:60em">'
            f"<strong>{escape(self.name)}</strong>: {self._verdict()}"
            f'<ul style="margin:.3em 0;padding-left:1em">{rows}</ul></div>'
        )


def run(arguments: argparse.Namespace) -> int:
    """Run the command `submit-check`; 1 if something should be mended."""
    from coursekit.progress import track

    path = Path(arguments.notebook)
    if not path.is_file():
        raise CourseError(f"there is no file {path}")
    with track(_count(path), "cells", arguments.quiet) as progress:
        report = look_at(path, progress.advance)
    print(report)
    return 1 if report.mend else 0


def submit_check(notebook: str | Path | None = None) -> Report | None:
    """Say what a grader will find in this notebook; `notebook` is its file, if it must be told."""
    from coursekit.exercises.submitting.whereabouts import this_notebook, unsaved

    globals_ = sys._getframe(1).f_globals
    try:
        path = Path(notebook) if notebook else this_notebook(globals_)
        if path is None or not path.is_file():
            print(f"There is no file {path}." if path else ASK)
            return None
        show = _ticker(_count(path))
        report = look_at(path, show)
        assignment = _assignment(path)
        asked = [question.name for question in assignment.questions] if assignment else []
        if stale := unsaved(path, globals_, asked):
            report.mend.insert(
                0, f"what is on the disk is older than your {', '.join(stale)}: save the notebook"
            )
        else:
            ago = time.strftime("%H:%M:%S", time.localtime(path.stat().st_mtime))
            report.good.insert(0, f"looked at {path.name}, saved at {ago}")
        return report
    except Exception as error:  # a broken check must not look like a broken answer
        print(f"The check itself failed ({type(error).__name__}: {error}). Please tell the course.")
        return None


def look_at(
    path: Path, advance: Callable[[str], None] = lambda _: None, limits: Limits | None = None
) -> Report:
    """Return what a grader will find in the notebook at `path`."""
    limits = limits or Limits()
    report = Report(path.name)
    data = path.read_bytes()
    try:
        notebook = intake.read(data, limits)
    except intake.Malformed as error:
        report.mend.append(f"{error.reason}; {error.hint}" if error.hint else error.reason)
        return report
    cells = notebook["cells"]
    assignment = _which(cells)
    if assignment is None:
        report.mend.append(
            "no cell of this file belongs to an assignment: its metadata is lost, or it is another "
            "notebook. Copy your answers into a fresh download"
        )
        return report
    _cells(report, assignment, cells)
    _syntax(report, cells)
    _order(report, data)
    ran, ended = rehearse(cells, path.resolve().parent, advance, limits)
    _performance(report, assignment, cells, ran, ended)
    return report


def _which(cells: list[dict[str, Any]]) -> Assignment | None:
    """Return the assignment with the most cells in the notebook."""
    there = {regions.grade_id(cell) for cell in cells}
    best, most = None, 0
    for assignment in map(load, names()):
        shared = len(there & {question.name for question in assignment.questions})
        if shared > most:
            best, most = assignment, shared
    return best


def _assignment(path: Path) -> Assignment | None:
    try:
        return _which(intake.read(path.read_bytes())["cells"])
    except intake.Malformed:
        return None


def _cells(report: Report, assignment: Assignment, cells: list[dict[str, Any]]) -> None:
    """Look at the cells that are graded, and at what is in them."""
    imports = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "code")
    for question in assignment.questions:
        answers = [cell for cell in cells if regions.grade_id(cell) == question.name]
        tests = [cell for cell in cells if regions.grade_id(cell) == f"test_{question.name}"]
        if not answers:
            report.mend.append(
                f"the cell for {question.name} is gone; copy your answers into a fresh download"
            )
        elif len(answers) > 1:
            report.mend.append(
                f"there are {len(answers)} cells for {question.name}; keep one (a copied cell is a "
                "second answer)"
            )
        elif _blank(answers[0]):
            report.mend.append(f"{question.name} is not answered")
        if len(tests) != 1 or tests[0]["source"].strip() != f"check({question.name})":
            what = "changed" if len(tests) == 1 else "gone" if not tests else "there twice"
            report.look.append(
                f"the cell that checks {question.name} is {what}; the grader uses its own"
            )
        for cell in answers:
            if calls := forbidden.used(cell["source"], question.forbidden, imports):
                spelled = ", ".join(map(forbidden.spelled, calls))
                report.look.append(f"{question.name} uses {spelled}; a human will look at it")
    for written in assignment.written:
        answers = [cell for cell in cells if regions.grade_id(cell) == written.name]
        if not answers:
            report.mend.append(f"the cell for the answer in words, {written.name}, is gone")
        elif not answers[0]["source"].strip().replace(regions.TEXT_STUB, ""):
            report.mend.append(f"{written.name}, in words, is not answered")
        else:
            report.good.append(f"{written.name} is answered in words; a human will read it")
    for cell in cells:
        if cell["cell_type"] == "code" and INPUT.search(cell["source"]):
            report.look.append(f"the cell {cell['id']} calls input(), which no grader can answer")


def _blank(cell: dict[str, Any]) -> bool:
    return "raise NotImplementedError()" in cell["source"] or not cell["source"].strip()


def _syntax(report: Report, cells: list[dict[str, Any]]) -> None:
    for cell in cells:
        if cell["cell_type"] == "code":
            try:
                parse_cell(cell["source"])
            except (SyntaxError, ValueError) as error:
                line = getattr(error, "lineno", None) or 1
                said = getattr(error, "msg", str(error))
                report.mend.append(f"the cell {cell['id']} is not Python in line {line}: {said}")


def _order(report: Report, data: bytes) -> None:
    """Say if the outputs in the file were not made by one run from top to bottom."""
    raw = json.loads(data.decode(json.detect_encoding(data), "replace"))
    counts = [
        cell.get("execution_count")
        for cell in raw.get("cells", [])
        if isinstance(cell, dict) and cell.get("cell_type") == "code" and cell.get("outputs")
    ]
    numbers = [count for count in counts if isinstance(count, int)]
    if numbers != sorted(set(numbers)):
        report.look.append(
            "the outputs come from cells that were run out of order; restart the kernel and run "
            "all cells, then save"
        )


def _performance(
    report: Report,
    assignment: Assignment,
    cells: list[dict[str, Any]],
    ran: list[Ran],
    ended: str,
) -> None:
    """Say what the run from top to bottom showed."""
    if ended:
        report.mend.append(f"it does not run from top to bottom: {ended}")
    checked = {regions.grade_id(cells[one.number]): one for one in ran if one.passed is not None}
    for one in ran:
        cell = cells[one.number]
        if one.error and not one.error.startswith("SyntaxError"):
            line = f", line {one.line}" if one.line else ""
            report.mend.append(f"the cell {cell['id']}{line} raises {one.error}")
    if not ended and not any(one.error for one in ran):
        report.good.append("it runs from top to bottom in a fresh process")
    for question in assignment.questions:
        one = checked.get(f"test_{question.name}")
        if one is None or not one.cases:
            continue
        said = f"{question.name}: {one.passed} of {one.cases} visible cases pass"
        (report.good if one.passed == one.cases else report.look).append(said)


def _count(path: Path) -> int:
    try:
        cells = intake.read(path.read_bytes())["cells"]
    except intake.Malformed:
        return 0
    return sum(cell["cell_type"] == "code" for cell in cells)


def _ticker(total: int) -> Callable[[str], None]:
    """Return a function that shows in the notebook how far the run has come, in one line."""
    try:
        from IPython.display import DisplayHandle

        handle = DisplayHandle()
        handle.display({"text/plain": "Running all cells in a fresh process …"}, raw=True)
    except Exception:
        return lambda _: None
    done = 0

    def advance(cell: str) -> None:
        nonlocal done
        done += 1
        text = f"Running all cells in a fresh process … {done} of {total} ({cell})"
        handle.update({"text/plain": text}, raw=True)

    return advance
