"""Every released notebook with the right answers in it: all of its checks pass, in one run."""

from __future__ import annotations

import dis
from pathlib import Path

import pytest

from coursekit.check.compiled import load
from coursekit.check.run_notebook import rehearse
from coursekit.submission import regions
from coursekit.submission.cells import parse_cell
from coursekit.submission.resource_limits import Limits
from coursetools.assignments.sources import released, source, sources
from coursetools.course import Course
from coursetools.notebooks.imports import read_notebook

OURS = Course(Path(__file__).resolve().parents[2])
PATIENT = Limits(cell_seconds=600, notebook_seconds=1200)  # a busy machine is slow


def answered(name):
    """Return the cells that students get, with our answers in those that they write."""
    ours = {regions.grade_id(cell): cell for cell in read_notebook(source(OURS, name))["cells"]}
    cells = read_notebook(released(OURS, name))["cells"]
    assert any(regions.is_solution(cell) for cell in cells)
    return [
        {**cell, "source": ours[regions.grade_id(cell)]["source"]}
        if regions.is_solution(cell)
        else cell
        for cell in cells
    ]


@pytest.mark.parametrize("name", sources(OURS))
def test_from_top_to_bottom_every_check_says_that_all_is_right(name, tmp_path):
    cells = answered(name)
    ran, ended = rehearse(cells, tmp_path, lambda cell: None, PATIENT)
    assert ended == "" and [one for one in ran if one.error] == []
    said = {regions.grade_id(cells[one.number]): one for one in ran if one.said}
    asked = load(name).questions
    assert list(said) == [f"test_{question.name}" for question in asked]
    for question, one in zip(asked, said.values()):
        cases = len(question.cases)
        assert (one.said, one.passed) == (f"all {cases} cases pass", cases), one


@pytest.mark.parametrize("name", sources(OURS))
def test_student_is_the_name_of_an_id_alone(name):
    """`check` reads the global `student`: whose numbers a question has."""
    for cell in answered(name):
        if cell["cell_type"] == "code" and "student" in cell["source"]:
            code = compile(parse_cell(cell["source"]), cell["id"], "exec")
            made = [one.argval for one in dis.get_instructions(code) if one.opname == "STORE_NAME"]
            assert "student" not in made or 'student = ""' in cell["source"]
