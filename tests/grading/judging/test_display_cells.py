"""Cells that only show something are not run while a notebook is graded, unless one needs them."""

from __future__ import annotations

import pytest

from coursetools.grading.judging.attempt import Cell
from coursetools.grading.judging.display_cells import drop_display_cells

LOOK = "import math\nseries = [square(n) for n in range(9)]\nprint(series)"
RELEASE = [
    {"cell_type": "code", "id": "look", "source": LOOK, "metadata": {"tags": ["look"]}},
    {"cell_type": "code", "id": "plain", "source": LOOK, "metadata": {}},
]
ANSWER = "def square(x):\n    return x * x"


def run(*cells):
    made = [Cell(n, name, "", source) for n, (name, source) in enumerate(cells, 1)]
    return [cell.id for cell in drop_display_cells(made, RELEASE)]


def test_what_was_left_as_it_was_is_not_run():
    assert run(("answer", ANSWER), ("look", LOOK)) == ["answer"]
    assert run(("answer", ANSWER), ("plain", LOOK)) == ["answer", "plain"]
    assert run(("answer", ANSWER), ("look", LOOK + "\nmine = 1")) == ["answer", "look"]


@pytest.mark.parametrize(
    "user",
    [
        "print(series)",
        "def square(x):\n    return series[x]",
        "class Cube:\n    def of(self, x):\n        return (lambda: math.pow(x, 3))()",
        "total = sum(n for n in series)",
        "series += [1]",
        "del series",
    ],
)
def test_what_another_cell_asks_for_is_there(user):
    assert run(("answer", ANSWER), ("look", LOOK), ("own", user)) == ["answer", "look", "own"]


@pytest.mark.parametrize(
    "user",
    ["def f(series):\n    return series", "def f():\n    series = 1\n    return series", "def ("],
)
def test_a_name_of_a_functions_own_asks_for_nothing(user):
    assert run(("look", LOOK), ("own", user)) == ["own"]


def test_a_right_answer_that_uses_what_a_look_binds_is_right(tools):
    """The whole way through the engine."""
    import json

    notebook = json.loads(tools.MASTER.notebook)
    look = {"cell_type": "code", "id": "look", "metadata": {"tags": ["look"]}, "outputs": []}
    look |= {"execution_count": None, "source": "power = 2"}
    notebook["cells"].insert(1, look)
    from coursetools.grading.judging.engine import Engine
    from coursetools.grading.judging.master import Master

    master = Master.of(tools.MASTER.name, json.dumps(notebook))
    with Engine(master, tools.LIMITS, assignment=tools.ASSIGNMENT) as engine:
        submission = json.loads(tools.submission("def square(x):\n    return x**power"))
        submission["cells"].insert(1, look)
        assert engine.grade(json.dumps(submission).encode()).questions[0].status == "OK"
