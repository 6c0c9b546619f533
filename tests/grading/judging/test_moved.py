"""An answer counts where Python finds it: the notebook is run from top to bottom, in the sandbox.

`tests/assignments/test_moved.py` looks at every question of the course; here is the grader itself.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from coursekit.submission import regions
from coursetools.assignments.rebuild import release_of
from coursetools.course import Course
from coursetools.grading.judging.engine import Engine
from coursetools.grading.judging.master import Master

ROOT = Path(__file__).resolve().parents[3]
RIGHT, WRONG = "def square(x):\n    return x * x", "def square(x):\n    return x"
STUB = "def square(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"


def handed_in(tools, home: str | None, above=(), below=(), after=()) -> bytes:
    """A submission in which cells stand around `home`, the text of the solution cell."""
    data = json.loads(tools.submission(square=home))
    at = [regions.grade_id(cell) for cell in data["cells"]].index("test_square")
    start = at - (home is not None)
    extra = {
        place: [tools.cell(f"{place}-{n}", text) for n, text in enumerate(texts)]
        for place, texts in (("above", above), ("below", below), ("after", after))
    }
    cells = data["cells"]
    data["cells"] = [
        *cells[:start],
        *extra["above"],
        *cells[start:at],
        *extra["below"],
        cells[at],
        *extra["after"],
        *cells[at + 1 :],
    ]
    return json.dumps(data).encode()


@pytest.mark.parametrize(
    ("home", "around", "points"),
    [
        (STUB, {"below": [RIGHT]}, 2),
        ("", {"below": [RIGHT]}, 2),
        ("# see below", {"below": [RIGHT]}, 2),
        (WRONG, {"below": [RIGHT]}, 2),
        (STUB, {"above": [RIGHT]}, 2),
        (None, {"above": [RIGHT]}, 2),
        (STUB, {"after": [RIGHT]}, 2),
        (RIGHT, {"below": [WRONG]}, 0),
        (RIGHT, {"after": [WRONG]}, 2),
        (RIGHT, {"after": ["square = 3"]}, 2),
        (RIGHT, {"after": ["del square"]}, 2),
        (WRONG, {"after": [RIGHT, "check(square)"]}, 2),
        (
            "",
            {
                "above": ["def by(x, y):\n    return x * y"],
                "below": ["def square(x):\n    return by(x, x)"],
            },
            2,
        ),
        # A helper of the same name, another for the next question: each its own.
        (
            "def square(x):\n    return by(x)",
            {
                "above": ["def by(x):\n    return x * x"],
                "after": ["def by(x, y):\n    return x - y"],
            },
            2,
        ),
    ],
)
def test_an_answer_counts_where_python_finds_it(desk, tools, home, around, points):
    verdict = desk.grade_bytes(handed_in(tools, home, **around))
    assert [question.points for question in verdict.questions] == [points, 3.0], verdict.as_json()


def test_the_cell_with_the_answer_is_named_where_it_stops(desk, tools):
    verdict = desk.grade_bytes(handed_in(tools, "", below=["def square(x):\n    return ("]))
    assert "the cell of square fails" in verdict.questions[0].reason.lower(), verdict.questions[0]
    assert "SyntaxError" in verdict.questions[0].reason


@pytest.mark.parametrize("name", ["a06_blocks"])
@pytest.mark.parametrize("below", [True, False])
def test_a_whole_assignment_answered_in_other_cells(name, below):
    """The notebook's own solutions, each in a new cell; every stub stands as it was."""
    master = Master.read(Course(ROOT), name)
    cells = []
    for cell, solved in zip(release_of(master)["cells"], json.loads(master.notebook)["cells"]):
        cell = copy.deepcopy(cell)
        if cell["cell_type"] == "code" and regions.is_solution(cell):
            own = {**cell, "id": f"my-{cell['id']}", "metadata": {}, "source": solved["source"]}
            cells += [cell, own] if below else [own, cell]
        else:
            cells.append(cell)
    data = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    with Engine(master) as engine:
        verdict = engine.grade(json.dumps(data).encode())
    assert verdict.points == verdict.max_points and verdict.status == "OK"
