"""`coursekit assignment release`: the notebook that students get.

The released notebook is what nbgrader's `generate_assignment` makes of the source: solutions and
hidden tests removed, graded cells locked, checksums written. It is made here in plain code, which
takes milliseconds and no database; a test holds the two equal.
"""

from __future__ import annotations

import ast
import copy
import re
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursekit.submission import regions
from coursekit.submission.deadline import spelled
from coursetools.assignments.sources import released, source
from coursetools.course import Course, write_changed
from coursetools.notebooks.header_cells import write_header
from coursetools.notebooks.header_lines import SETUP_ID, header_text
from coursetools.notebooks.imports import notebook_text, read_notebook
from coursetools.settings.assignment_settings import due_of, settings_of
from coursetools.settings.exam_settings import Exam, private_exam

# nbconvert's ClearOutput takes these away with the outputs.
NOISE = ("collapsed", "scrolled")
IMPORT = re.compile(r"^from coursekit\.check import .*\bcheck\b", re.MULTILINE)
EXAM = """**Exam. It starts {start} and ends {end}.** {allowed}

`check` says only that something has run, and `submit_check` whether all of it runs. Save often, and
hand in before the end."""


def release(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return the students' version of an instructor's notebook, both as plain data."""
    copied = copy.deepcopy(notebook)
    copied["metadata"].pop("celltoolbar", None)
    seen: set[str] = set()
    for cell in copied["cells"]:
        name = regions.grade_id(cell)
        if name and name in seen:
            raise CourseError(f"two cells have the grade_id {name!r}; give one another name")
        seen.add(name)
        _check_markers(cell)
        if regions.is_solution(cell):
            cell["metadata"]["deletable"] = False
        elif regions.is_locked(cell):
            cell["metadata"]["deletable"] = False
            cell["metadata"]["editable"] = False
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
            for noise in NOISE:
                cell["metadata"].pop(noise, None)
        cell["source"] = regions.release_source(cell)
        if regions.is_solution(cell) or regions.is_locked(cell):
            cell["metadata"]["nbgrader"]["checksum"] = regions.checksum(cell)
            cell["metadata"]["nbgrader"]["cell_type"] = cell["cell_type"]
    return copied


def with_due(notebook: dict[str, Any], due: datetime) -> dict[str, Any]:
    """Return a released notebook that says when it is due: below its title, and to `check`.

    A cell that is graded or locked is left alone; where there is no other text, none says it.
    """
    copied = copy.deepcopy(notebook)
    copied["metadata"]["coursekit"] = {"due": due.isoformat()}
    for cell in _first_text(copied):
        cell["source"] = header_text(cell["source"], notice=f"**Due {spelled(due)}.**")
    return copied


def as_exam(notebook: dict[str, Any], exam: Exam) -> dict[str, Any]:
    """Return a released notebook as an exam: its times at the top, and a `check` that is mute.

    A test that students can read would tell them what is right, and is refused.
    """
    copied = copy.deepcopy(notebook)
    copied["metadata"]["coursekit"] = {"due": exam.end.isoformat(), "exam": True}
    allowed = f"Allowed: {exam.allowed.rstrip('.')}." if exam.allowed else ""
    text = EXAM.format(start=spelled(exam.start), end=spelled(exam.end), allowed=allowed)
    for cell in _first_text(copied):
        cell["source"] = header_text(cell["source"], notice=text)
    for cell in copied["cells"]:
        if regions.is_test(cell) and not re.fullmatch(r"\s*(check\(.*\)\s*)?", cell["source"]):
            raise CourseError(
                f"the test {regions.grade_id(cell)} shows students what is right; in an exam it "
                "should stand between ### BEGIN HIDDEN TESTS and ### END HIDDEN TESTS"
            )
        if cell["cell_type"] == "code" and not regions.grade_id(cell):
            cell["source"] = IMPORT.sub(
                lambda line: re.sub(r"\bcheck$", "exam_check as check", line[0]), cell["source"]
            )
    return copied


def with_numbers(notebook: dict[str, Any], private: Path) -> dict[str, Any]:
    """Write the numbers of all students into an exam, since no package has them before its end."""
    from coursekit.check.exam import VARIANT

    copied = copy.deepcopy(notebook)
    for cell in copied["cells"]:
        for name in VARIANT.findall(cell["source"]):
            rows = variant_rows(private, name)
            own = f'variant("{name}", student, of="{private.name}", numbers={rows})'
            cell["source"] = cell["source"].replace(f'variant("{name}", student)', own)
    return copied


def variant_rows(private: Path, name: str) -> list[dict[str, Any]]:
    """Return the numbers of each variant, as the question's file has them."""
    path = private / f"{name}.py"
    if path.is_file():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "variants":
                columns = {str(one.arg): ast.literal_eval(one.value) for one in node.keywords}
                return [dict(zip(columns, row)) for row in zip(*columns.values(), strict=True)]
    raise CourseError(f"{path} says no variants(…), but the notebook shows {name} a student's own")


def _first_text(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the first cell of text that is neither graded nor locked, if there is one."""
    cells = notebook["cells"]
    texts = (one for one in cells if one["cell_type"] == "markdown" and not regions.grade_id(one))
    return list(islice(texts, 1))


def release_text(course: Course, name: str) -> str:
    """Return the text of the students' notebook, as the file should have it."""
    notebook = release(read_notebook(source(course, name)))
    if exam := private_exam(course, name):
        notebook = with_numbers(as_exam(notebook, exam), course.private(name))
    elif due_of(course.private(name)) is not None:
        notebook = with_due(notebook, settings_of(course.private(name))["due"])
    ours = any(cell.get("id") == SETUP_ID for cell in notebook["cells"])
    if ours and course.settings.get("repository"):  # else there is no address to be written
        write_header(notebook, released(course, name), course)
    return notebook_text(notebook)


def write_release(course: Course, name: str) -> bool:
    """Write the students' notebook and say whether anything has changed."""
    return write_changed(released(course, name), release_text(course, name))


def _check_markers(cell: dict[str, Any]) -> None:
    """Refuse regions in cells where nbgrader refuses them, since nothing would restore them."""
    text = cell["source"]
    name = regions.grade_id(cell) or cell.get("id", "a cell")
    if "BEGIN SOLUTION" in text and not regions.is_solution(cell):
        raise CourseError(f"{name} has a solution and is not a solution cell; mark it as one")
    if "BEGIN HIDDEN TESTS" in text and not regions.is_grade(cell):
        raise CourseError(f"{name} has hidden tests and is not a test cell; mark it as one")
    if "BEGIN MARK SCHEME" in text and not regions.is_task(cell):
        raise CourseError(f"{name} has a mark scheme and is not a task cell; mark it as one")
