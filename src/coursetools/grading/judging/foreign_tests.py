"""Grades an nbgrader notebook by somebody else, whose tests are plain asserts in locked cells.

Such tests can only run where the student's code has run, in the student's own process, which could
tamper with them: the verdict says so. nbgrader's conventions hold: an error is no points, a number
as the last value is partial credit, anything else is full marks; what is printed to stderr is not
scored. The notebook runs with the tests, in order. Of that run only the points are kept, and what
was shown before the first test: whatever comes later may repeat a hidden test. If there is such a
thing, the notebook runs a second time, without the tests, for what the student sees.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from coursekit.submission import parsing, regions
from coursetools.grading.judging.attempt import Attempt, Cell, Ran
from coursetools.grading.judging.fork_client import ForkServer
from coursetools.grading.judging.process import Stopped
from coursetools.grading.records.verdict import QuestionVerdict, Status
from coursetools.text import one_line, sentence


def tests(notebook: str) -> dict[str, tuple[str, float]]:
    """Return the graded code cells of an instructor's notebook: source with hidden tests, points.

    Written answers, and code that is read by a human, are not among them.
    """
    cells = {}
    for cell in parsing.master(notebook)["cells"]:
        if cell["cell_type"] == "code" and regions.is_test(cell):
            points = float(regions.meta(cell).get("points") or 0)
            cells[regions.grade_id(cell)] = (cell["source"], points)
    return cells


def judge(
    server: ForkServer, cells: list[Cell], notebook: str, answers: dict[str, str]
) -> tuple[list[QuestionVerdict], Attempt]:
    """Return a verdict for each graded cell, and what the other cells have shown."""
    graded = tests(notebook)
    sources = {name: source for name, (source, _) in graded.items()}
    attempt = Attempt(server, [_with_tests(cell, sources) for cell in cells])
    stop = _run(attempt)
    before: list[str] = []
    verdicts = []
    for cell in cells:
        if cell.graded:
            _, points = graded[cell.grade_id]
            ran = attempt.ran.get(cell.number)
            verdict = _verdict(cell.grade_id, points, ran, stop, sources[cell.grade_id])
            if verdict.status == "FAIL" and before and all(not answers.get(n) for n in before):
                verdict = replace(verdict, reason="There is no answer here yet.")
            verdicts.append(verdict)
            before = []
        elif cell.grade_id:
            before.append(cell.grade_id)
    return verdicts, _shown(server, cells, attempt)


def _run(attempt: Attempt) -> Stopped | None:
    """Run the cells to their end; return what stopped them for good, if anything did."""
    try:
        attempt.process()
    except Stopped as stop:
        return stop
    finally:
        attempt.restart()
    return None


def _shown(server: ForkServer, cells: list[Cell], tested: Attempt) -> Attempt:
    """Return an attempt with nothing of a test in what its cells show: the same, or a new one."""
    own = [cell for cell in cells if not cell.graded]
    clean, after_tests = {}, False
    for cell in cells:
        after_tests = after_tests or cell.graded
        ran = tested.ran.get(cell.number)
        if ran is not None and not cell.graded and not (after_tests and _says_something(ran)):
            clean[cell.number] = ran
    if len(clean) == len(own):
        return tested
    attempt = Attempt(server, own)
    _run(attempt)
    attempt.ran = {**clean, **attempt.ran}
    attempt.layers = attempt.layers or tested.layers  # no time was left for a process
    attempt.peak = max(attempt.peak, tested.peak)
    return attempt


def _says_something(ran: Ran) -> bool:
    """Return whether the student's own words are in what was seen of a cell."""
    return bool(ran.outputs or (ran.trouble is not None and ran.trouble.kind))


def _with_tests(cell: Cell, sources: dict[str, str]) -> Cell:
    if not cell.graded:
        return cell
    return Cell(cell.number, cell.id, cell.grade_id, sources[cell.grade_id], graded=True)


def _verdict(
    name: str, most: float, ran: Ran | None, stop: Stopped | None, source: str
) -> QuestionVerdict:
    status: Status
    if ran is None:
        # No record that the tests have run: never a pass.
        status = stop.status if stop is not None else "CRASH"
        points, reason = 0.0, stop.sentence if stop is not None else "the tests did not run"
    elif ran.trouble is not None:
        status, points = ran.trouble.status, 0.0
        reason = _safe(ran, source)
    elif ran.number is not None:
        points = round(min(max(ran.number, 0.0), most), 2) if ran.number == ran.number else 0.0
        status = "OK" if points == most else "PARTIAL" if points else "FAIL"
        reason = "All tests pass" if status == "OK" else "Some of the tests do not pass"
    else:
        status, points, reason = "OK", most, "All tests pass"
    return QuestionVerdict(
        name=name,
        cell=name,
        points=points,
        max_points=most,
        status=status,
        reason=sentence(reason),
    )


def _safe(ran: Ran, source: str) -> str:
    """Say what failed, without a word of a hidden test or of what it had found.

    The sentence is made of the instructor's own visible line, not of what the process reports.
    """
    trouble = ran.trouble
    assert trouble is not None
    if trouble.status == "TIMEOUT":
        return "a test took too long"
    if trouble.status != "FAIL":
        return {
            "MEM": "a test needed more memory than a submission may use",
            "OUTPUT": "more was printed during a test than a submission may print",
            "BLOCKED": "the answer did something that the sandbox refuses",
        }.get(trouble.status, "the process ended during a test")
    lines = source.split("\n")
    at = trouble.here - 1
    if 0 <= at < len(lines) and not _is_hidden(lines, at):
        return f"this test fails: {one_line(lines[at], 200)}"
    return "a hidden test fails"


def _is_hidden(lines: list[str], at: int) -> bool:
    """Return whether the release does not have this line."""
    inside = False
    for number, line in enumerate(lines):
        inside = inside or "BEGIN HIDDEN TESTS" in line
        if number == at:
            return inside or "HIDDEN" in line or not line.strip()
        if "END HIDDEN TESTS" in line:
            inside = False
    return True


def shown_cells(cells: list[dict[str, Any]]) -> list[Cell]:
    """Return the code cells of a rebuilt notebook, the tests marked."""
    return [
        Cell(
            number,
            str(cell.get("id", number)),
            regions.grade_id(cell),
            cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"]),
            graded=regions.is_test(cell),
        )
        for number, cell in enumerate(cells, start=1)
        if cell["cell_type"] == "code"
    ]
