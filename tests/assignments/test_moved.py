"""What a notebook computes from top to bottom is graded, wherever its answers stand.

The oracle is Python itself: the student's own cells are executed in their order, and at the check
of a question its name is looked up. The grader's program, made of the rebuilt notebook, must find
the same there, in every assignment.
"""

from __future__ import annotations

import contextlib
import copy
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.submission import regions
from coursekit.submission.checked import Checked
from coursetools.assignments.rebuild import rebuild, release_of
from coursetools.assignments.sources import source, sources
from coursetools.course import Course

ROOT = Path(__file__).resolve().parents[2]
MASTERS = {
    name: SimpleNamespace(notebook=source(Course(ROOT), name).read_text(encoding="utf-8"))
    for name in sources(Course(ROOT))
}
QUESTIONS = [
    (name, regions.grade_id(cell))
    for name, master in MASTERS.items()
    for cell in release_of(master)["cells"]
    if cell["cell_type"] == "code" and regions.is_solution(cell)
]
PLACES = ["top", "above", "below", "after", "end"]  # above and below the solution cell, its check


def answer(stub: str, name: str, says: str) -> str:
    """Return an answer of the kind that is asked for; what it computes is in its docstring."""
    kind = "class" if f"class {name}" in stub else "def"
    return f'{kind} {name}({"" if kind == "class" else "*_, **__"}):\n    "{says}"'


def own(source: str) -> dict:
    return {
        "cell_type": "code",
        "id": f"x{abs(hash(source))}",
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def arranged(assignment: str, name: str, home: str | None, extras: list[tuple[str, str]]) -> dict:
    """Return a submission: `home` in the solution cell, None without it; cells at some places."""
    notebook = copy.deepcopy(release_of(MASTERS[assignment]))
    cells = notebook["cells"]
    (at,) = [n for n, cell in enumerate(cells) if regions.grade_id(cell) == name]
    added: dict[str, list[dict]] = {place: [] for place in PLACES}
    for place, text in extras:
        added[place].append(own(text))
    solution = [cells[at]] if home is not None else []
    cells[at]["source"] = home
    notebook["cells"] = [
        *cells[:1],
        *added["top"],
        *cells[1:at],
        *added["above"],
        *solution,
        *added["below"],
        cells[at + 1],
        *added["after"],
        *cells[at + 2 :],
        *added["end"],
    ]
    return notebook


def execute(cells: list[dict], space: dict, shown: set[str], at_test) -> None:
    """Run code as a notebook does, on past errors; `shown` are the cells that only show."""
    for cell in cells:
        if regions.is_test(cell):
            at_test(regions.grade_id(cell).removeprefix("test_"))
        elif cell["cell_type"] == "code" and cell["id"] not in shown:
            with contextlib.suppress(Exception):
                exec(cell["source"], space)


def shown(assignment: str) -> set[str]:
    """Return the code cells between the questions, which show something and take time."""
    cells = release_of(MASTERS[assignment])["cells"]
    free = [c["id"] for c in cells if c["cell_type"] == "code" and not regions.grade_id(c)]
    return set(free) - {"imports"}


def says(value: object) -> str | None:
    return None if value is None else value.__doc__


def graded(assignment: str, name: str, notebook: dict) -> tuple[str | None, dict]:
    """Return what the grader asks for this question, and the rebuilt notebook."""
    rebuilt = rebuild(MASTERS[assignment], notebook)
    assert not [flag for flag in rebuilt.flags if "TAMPERED" in flag]
    again = rebuild(MASTERS[assignment], copy.deepcopy(rebuilt.notebook)).notebook
    assert [c["source"] for c in again["cells"]] == [c["source"] for c in rebuilt.notebook["cells"]]
    space: dict = {}
    checked = Checked(space)
    execute(rebuilt.notebook["cells"], space, shown(assignment), lambda one: checked.keep([one]))
    checked.turn_to(name)
    assert (name in checked.kinds([name])) == (name in space)
    return says(space.get(name)), rebuilt.answers


def computed(assignment: str, name: str, notebook: dict) -> str | None:
    """Return what Python finds at the last check of this question, None where nothing is."""
    found: list = []
    space: dict = {}

    def look(one: str) -> None:
        if one == name:
            found[:] = [space.get(name)]

    cells = [
        {**cell, "metadata": {"nbgrader": {"grade": True, "grade_id": f"test_{name}"}}}
        if cell["source"] == f"check({name})"
        else cell
        for cell in notebook["cells"]
    ]
    execute(cells, space, shown(assignment), look)
    return says(found[0]) if found else None


def stub_of(assignment: str, name: str) -> str:
    cells = release_of(MASTERS[assignment])["cells"]
    return next(cell["source"] for cell in cells if regions.grade_id(cell) == name)


def test_every_assignment_is_here():
    assert len(MASTERS) >= 20 and len(QUESTIONS) >= 100


@pytest.mark.parametrize(("assignment", "name"), QUESTIONS)
def test_the_only_answer_is_found_at_every_place(assignment, name):
    """Above or below the cell that is for it, in the first cell or the last; whatever it says."""
    stub = stub_of(assignment, name)
    right = answer(stub, name, "right")
    for home in (stub, "", "# see below", '"see below"', None):
        for place in PLACES:
            notebook = arranged(assignment, name, home, [(place, right)])
            found, answers = graded(assignment, name, notebook)
            assert (found, answers[name]) == ("right", right), (home, place)
    for extras in ([], [("below", "y = 1")], [("above", "y = 1"), ("after", "y = 2")]):
        notebook = arranged(assignment, name, right, extras)
        found, answers = graded(assignment, name, notebook)
        assert (found, answers[name]) == ("right", right)


@pytest.mark.parametrize(("assignment", "name"), QUESTIONS)
def test_what_stands_below_the_check_undoes_nothing(assignment, name):
    stub = stub_of(assignment, name)
    right, wrong = answer(stub, name, "right"), answer(stub, name, "wrong")
    for scratch in (wrong, f"{name} = 3", f"del {name}"):
        for home, extras in (
            (right, []),
            (wrong, [("below", right)]),
            (stub, [("below", right)]),
            (stub, [("above", right)]),
            (None, [("above", right)]),
        ):
            for place in ("after", "end"):
                notebook = arranged(assignment, name, home, [*extras, (place, scratch)])
                found, answers = graded(assignment, name, notebook)
                assert (found, answers[name]) == ("right", right), (home, extras, place, scratch)


@settings(max_examples=400)
@given(data=st.data())
def test_any_arrangement_is_what_python_computes(data):
    """Several tries, helpers, parts and checks typed anew, in any order."""
    assignment, name = data.draw(st.sampled_from(QUESTIONS))
    stub = stub_of(assignment, name)
    right, wrong = answer(stub, name, "right"), answer(stub, name, "wrong")
    texts = [
        right,
        wrong,
        "helper = 'by a helper'",
        f"{answer(stub, name, 'unfinished')}\n{name}.__doc__ = helper",
        f"{name}.__doc__ += ' and more'",
        f"check({name})",
        "helper = 'scratch'",
        "x = 1",
    ]
    homes = [stub, "", "# see below", '"see below"', None, *texts[:4]]
    home = data.draw(st.sampled_from(homes))
    places = st.sampled_from(["above", "below", "after"])
    extras = data.draw(st.lists(st.tuples(places, st.sampled_from(texts)), max_size=5))
    notebook = arranged(assignment, name, home, extras)
    expected = computed(assignment, name, notebook)
    found, answers = graded(assignment, name, notebook)
    if expected is not None and not expected.startswith(says_of(stub, name) or "?"):
        assert found == expected
        assert answers[name]


def says_of(stub: str, name: str) -> str | None:
    """Return the docstring of a stub."""
    space: dict = {}
    exec(f"import torch\nfrom torch import Tensor, nn\n{stub}", space)
    return says(space[name])
