"""`submit_check()` and `coursekit check`: what a grader will find, said before the upload.

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
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursekit._base.nearest import did_you_mean
from coursekit.check.answer import BROKEN, fault
from coursekit.check.compiled import CompiledAssignment, CompiledQuestion
from coursekit.check.in_notebook import COUNTS, which
from coursekit.check.run_notebook import Ran, rehearse
from coursekit.check.shown import Shown
from coursekit.check.stubs import is_open
from coursekit.check.variants import student_in
from coursekit.submission import deadline, forbidden, parsing, regions
from coursekit.submission.cells import parse_cell
from coursekit.submission.resource_limits import Limits

INPUT = re.compile(r"(?<![\w.])input\(")  # Python's own; not pair_input or a layer's self.input
ASK = (
    "This program does not say which file the notebook is. Save it, and name it: "
    'submit_check("a01_kernels.ipynb")'
)


@dataclass
class Report(Shown):
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
    """Run the command `check`; 1 if something should be mended."""
    from coursekit._base.progress import track

    path = Path(arguments.notebook)
    if not path.is_file():
        raise CourseError(_no_file(path).rstrip("."))
    with track(_count(path), "cells", arguments.quiet) as progress:
        report = look_at(path, progress.advance)
    print(report)
    return 1 if report.mend else 0


def submit_check(notebook: str | Path | None = None) -> Report | None:
    """Say what a grader will find in this notebook; `notebook` is its file, if it must be told."""
    from coursekit.check.notebook_path import this_notebook, unsaved

    globals_ = sys._getframe(1).f_globals
    try:
        path = Path(notebook) if notebook else this_notebook(globals_)
        if path is None or not path.is_file():
            print(_no_file(path) if path else ASK)
            return None
        show = _ticker(_count(path))
        report = look_at(path, show)
        assignment = _assignment(path)
        names = [question.name for question in assignment.questions] if assignment else []
        if stale := unsaved(path, globals_, names):
            report.mend.insert(
                0, f"what is on the disk is older than your {', '.join(stale)}: save the notebook"
            )
        else:
            ago = time.strftime("%H:%M:%S", time.localtime(path.stat().st_mtime))
            report.good.insert(0, f"checked {path.name}, saved at {ago}")
        return report.show()
    except Exception as error:  # a broken check must not look like a broken answer
        print(f"submit_check itself failed. {fault(error)}")
        return None


def _no_file(path: Path) -> str:
    there = [one.name for one in path.parent.glob("*.ipynb")] if path.parent.is_dir() else []
    close = did_you_mean(path.name, there)
    return f"There is no file {path}{close or '.'}"


def look_at(
    path: Path, advance: Callable[[str], None] = lambda _: None, limits: Limits | None = None
) -> Report:
    """Return what a grader will find in the notebook at `path`."""
    limits = limits or Limits()
    report = Report(path.name)
    data = path.read_bytes()
    try:
        notebook = parsing.read(data, limits)
    except parsing.Malformed as error:
        report.mend.append(f"{error.reason}; {error.hint}" if error.hint else error.reason)
        return report
    if due := deadline.of_notebook(notebook["metadata"]):
        now = datetime.now(UTC)
        sentence = deadline.said(due, now)
        more = "; late work may cost points, unless you have more time"
        (report.good if now <= due else report.look).append(
            sentence if now <= due else sentence + more
        )
    cells = notebook["cells"]
    assignment = which(notebook)
    if assignment is None:
        report.mend.append(
            "no cell of this file belongs to an assignment: its metadata is lost, or it is another "
            "notebook. Copy your answers into a fresh download"
        )
        return report
    program = _program(assignment, cells)
    ran, ended = rehearse(program, path.resolve().parent, advance, limits)
    checked = _checked(assignment, cells, ran)
    _cells(report, assignment, cells, checked)
    _student(report, assignment, cells)
    _syntax(report, cells)
    _order(report, data)
    _performance(report, cells, ran, ended, checked)
    return report


def _assignment(path: Path) -> CompiledAssignment | None:
    try:
        return which(parsing.read(path.read_bytes()))
    except parsing.Malformed:
        return None


def _program(assignment: CompiledAssignment, cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the cells as a grader runs them: no stub undoes an answer in another cell."""
    elsewhere = {question.name for question in assignment.questions if _elsewhere(question, cells)}
    return [
        {**cell, "source": ""}
        if regions.grade_id(cell) in elsewhere and is_open(cell["source"])
        else cell
        for cell in cells
    ]


def _elsewhere(question: CompiledQuestion, cells: list[dict[str, Any]]) -> list[int]:
    """Return the cells that define what a question asks for, and are not the cell for it."""
    return [
        number
        for number, cell in enumerate(cells)
        if cell["cell_type"] == "code"
        and question.name in regions.defined(cell["source"])
        and regions.grade_id(cell) not in (question.name, f"test_{question.name}")
        and not is_open(cell["source"])
    ]


def _checked(
    assignment: CompiledAssignment, cells: list[dict[str, Any]], ran: list[Ran]
) -> dict[str, Ran]:
    """Return what the last check of each question has shown, where it has shown something."""
    return {
        question.name: one
        for question in assignment.questions
        for one in ran
        if one.cases and _is_check(question, cells[one.number])
    }


def _is_check(question: CompiledQuestion, cell: dict[str, Any]) -> bool:
    typed = cell["source"].strip() == f"check({question.name})"
    return typed or regions.grade_id(cell) == f"test_{question.name}"


def _cells(
    report: Report,
    assignment: CompiledAssignment,
    cells: list[dict[str, Any]],
    checked: dict[str, Ran],
) -> None:
    """Look at the cells that are graded, and at what is in them."""
    imports = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "code")
    for question in assignment.questions:
        name, others = question.name, _elsewhere(question, cells)
        answers = [cell for cell in cells if regions.grade_id(cell) == name]
        tests = [n for n, cell in enumerate(cells) if regions.grade_id(cell) == f"test_{name}"]
        last = max((n for n, cell in enumerate(cells) if _is_check(question, cell)), default=None)
        below = [n for n in others if last is not None and n > last]
        inside = [n for n in tests if name in regions.defined(cells[n]["source"])]
        passed = name in checked and bool(checked[name].passed) and not inside
        counts = len(below) < len(others) or passed
        if len(answers) > 1:
            report.mend.append(
                f"there are {len(answers)} cells for {name}; keep one (a copied cell is a "
                "second answer)"
            )
        elif answers and not is_open(answers[0]["source"]):
            counts = True
        elif inside and not counts and not below:
            there = "still holds the stub" if answers else "is gone"
            report.look.append(
                f"{name} is defined in the cell of its check, and the answer's own cell {there}: "
                f"move the definition into it; {COUNTS}"
            )
        elif not counts and not below:
            report.mend.append(
                f"{name} is not answered"
                if answers
                else f"the cell for {name} is gone; copy your answers into a fresh download"
            )
        elif not answers:
            report.look.append(f"the cell for {name} is gone; the answer in another cell counts")
        if below:
            which = cells[below[-1]]["id"]
            report.look.append(
                f"the cell {which} defines {name} below its check; what stands above it is graded"
                if counts
                else f"the answer to {name} stands below its check, in the cell {which}; move it up"
            )
        if [cells[n]["source"].strip() for n in tests] != [f"check({name})"]:
            what = "changed" if len(tests) == 1 else "gone" if not tests else "there twice"
            report.look.append(f"the cell that checks {name} is {what}; the grader uses its own")
        for cell in [*answers, *(cells[n] for n in (*others, *inside))]:
            if calls := forbidden.used(cell["source"], question.forbidden, imports):
                spelled = ", ".join(map(forbidden.spelled, calls))
                report.look.append(f"{name} uses {spelled}; a human will look at it")
    for written in assignment.written:
        answers = [cell for cell in cells if regions.grade_id(cell) == written]
        if not answers:
            report.mend.append(f"the cell for the answer in words, {written}, is gone")
        elif not answers[0]["source"].strip().replace(regions.TEXT_STUB, ""):
            report.mend.append(f"{written}, in words, is not answered")
        else:
            report.good.append(f"{written} is answered in words; a human will read it")
    for cell in cells:
        if cell["cell_type"] == "code" and INPUT.search(cell["source"]):
            report.look.append(f"the cell {cell['id']} calls input(), which no grader can answer")


def _student(report: Report, assignment: CompiledAssignment, cells: list[dict[str, Any]]) -> None:
    """Say whose numbers the answers have, where not everybody has the same."""
    if any(question.variants for question in assignment.questions):
        student = student_in(cell["source"] for cell in cells if cell["cell_type"] == "code")
        if student:
            report.good.append(f"your numbers are those of {student!r}")
        else:
            report.mend.append(
                'your id is missing: write it into student = "", at the top, and answer with '
                "your own numbers"
            )


def _syntax(report: Report, cells: list[dict[str, Any]]) -> None:
    for cell in cells:
        if cell["cell_type"] == "code":
            try:
                parse_cell(cell["source"])
            except (SyntaxError, ValueError) as error:
                line = getattr(error, "lineno", None) or 1
                message = getattr(error, "msg", str(error))
                report.mend.append(f"the cell {cell['id']} is not Python in line {line}: {message}")


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
    cells: list[dict[str, Any]],
    ran: list[Ran],
    ended: str,
    checked: dict[str, Ran],
) -> None:
    """Say what the run from top to bottom showed."""
    if ended:
        report.mend.append(f"it does not run from top to bottom: {ended}")
    for one in ran:
        cell = cells[one.number]
        if one.said == BROKEN:
            report.look.append(
                f"the check in the cell {cell['id']} {BROKEN}; that is a fault of the course, and "
                "costs you no points: report it to your instructor, with what this cell shows"
            )
        if one.error and not one.error.startswith("SyntaxError"):
            line = f", line {one.line}" if one.line else ""
            report.mend.append(f"the cell {cell['id']}{line} raises {one.error}")
    if not ended and not any(one.error for one in ran):
        report.good.append("it runs from top to bottom in a fresh process")
    for name, one in checked.items():
        sentence = f"{name}: {one.passed} of {one.cases} visible cases pass"
        (report.good if one.passed == one.cases else report.look).append(sentence)


def _count(path: Path) -> int:
    try:
        cells = parsing.read(path.read_bytes())["cells"]
    except parsing.Malformed:
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
