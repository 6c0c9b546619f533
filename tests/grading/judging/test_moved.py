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


CALLS = "def cube(x):\n    return x * square(x)"
HELPED = "def by(x, y):\n    return x * y\ndef square(x):\n    return by(x, x)"


def calling(tools, square: str, cube: str = CALLS, after: str = "", end: str = "") -> bytes:
    """A submission in which the second answer calls the first, with cells below them."""
    data = json.loads(tools.submission(square, cube, between=after))
    data["cells"] += [tools.cell("end", end)] if end else []
    return json.dumps(data).encode()


@pytest.mark.parametrize(
    ("parts", "points"),
    [
        ({"square": RIGHT}, 5),
        ({"square": STUB, "end": RIGHT}, 5),
        ({"square": "", "end": RIGHT}, 5),
        ({"square": STUB, "end": HELPED}, 5),
        ({"square": RIGHT, "after": WRONG}, 5),
        ({"square": RIGHT, "after": "square = 3"}, 5),
        ({"square": RIGHT, "after": "del square"}, 5),
        ({"square": RIGHT, "end": WRONG}, 5),
        ({"square": WRONG}, 3),  # with ours
        ({"square": WRONG, "after": RIGHT}, 3),
        ({"square": STUB, "end": WRONG}, 3),
        # A right answer may make more of an earlier one, in its own cell.
        (
            {
                "square": RIGHT,
                "cube": "def square(x, y):\n    return x * x * y\n"
                "def cube(x):\n    return square(x, x)",
            },
            5,
        ),
    ],
)
def test_what_calls_an_answer_finds_it_as_it_is_graded(desk, tools, parts, points):
    verdict = desk.grade_bytes(calling(tools, **parts))
    assert verdict.points == points, verdict.as_json()


def test_a_wrong_answer_that_calls_a_moved_one_is_wrong(desk, tools):
    verdict = desk.grade_bytes(
        calling(tools, STUB, "def cube(x):\n    return square(x)", end=RIGHT)
    )
    assert verdict.questions[0].points == 2 and verdict.questions[1].points < 1


TEST = "check(square)"


@pytest.mark.parametrize(
    ("home", "test", "points", "tampered"),
    [
        (STUB, f"{RIGHT}\n{TEST}", 5, False),
        (STUB, f"{TEST}\n{RIGHT}", 5, False),
        ("", f"{RIGHT}\n\n{TEST}\n", 5, False),
        (None, f"{RIGHT}\n{TEST}", 5, False),
        (STUB, RIGHT, 5, True),
        (WRONG, f"{RIGHT}\n{TEST}", 5, False),
        (RIGHT, f"{WRONG}\n{TEST}", 3, False),  # what `check` saw
        (STUB, f"{WRONG}\n{TEST}", 3, False),
        (RIGHT, f"x = 1\n{TEST}", 5, True),  # no answer: what was before counts
        (RIGHT, f"def helper(x):\n    return x\n{TEST}", 5, True),
    ],
)
def test_an_answer_in_the_cell_of_its_check_counts(desk, tools, home, test, points, tampered):
    verdict = desk.grade_bytes(tools.submission(square=home, cube=CALLS, test=test))
    assert verdict.points == points, verdict.as_json()
    assert ("TAMPERED" in verdict.flags) == tampered
    if test.startswith(RIGHT) or test.endswith(RIGHT):
        assert verdict.answers["square"].strip() == RIGHT


SLIP = "x.long().softmax(-1)"  # torch raises NotImplementedError, as the stub does, and says more


@pytest.mark.parametrize(
    ("home", "first"),
    [
        ("", f"square = lambda x: {SLIP}"),
        (f"def square(x):\n    return {SLIP}", ""),
        (f"x = torch.ones(2)\n{SLIP}\ndef square(x):\n    return x", ""),
    ],
)
def test_what_torch_has_not_implemented_is_no_empty_stub(desk, tools, home, first):
    verdict = desk.grade_bytes(tools.submission(square=home, first=first))
    reason = verdict.questions[0].reason
    assert "not implemented for 'Long'" in reason and "no answer" not in reason, reason


def test_an_empty_stub_is_no_answer(desk, tools):
    verdict = desk.grade_bytes(tools.submission(square=STUB))
    assert "no answer here yet" in verdict.questions[0].reason


def test_a_global_called_student_disturbs_nothing():
    """A tensor or a list under this name is not the student's id."""
    master = Master.read(Course(ROOT), "a18_mae")
    cells = json.loads(master.notebook)["cells"]
    extra = {"cell_type": "code", "id": "mine", "metadata": {}, "outputs": []}
    extra |= {"execution_count": None, "source": "student = [1, 2]\nstudent = torch.zeros(2, 2)"}
    first = next(n for n, cell in enumerate(cells) if regions.is_solution(cell))
    data = {"cells": [*cells[:first], extra, *cells[first:]], "metadata": {}}
    with Engine(master) as engine:
        verdict = engine.grade(json.dumps(data | {"nbformat": 4, "nbformat_minor": 5}).encode())
    assert verdict.points == verdict.max_points, [q.reason for q in verdict.questions]
