"""From the student come answers and their own cells; everything that grades is the instructor's."""

from __future__ import annotations

import copy
import json
import time

import pytest

from coursekit.submission.parsing import Malformed
from coursetools.assignments.matching import BY_PLACE
from coursetools.assignments.rebuild import rebuild, release_of


def run(notebook: dict, names: str = "square cube") -> dict:
    """Execute the code cells but for the tests, as the grader does; return what is asked for."""
    space: dict = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code" and not cell["metadata"].get("nbgrader", {}).get("grade"):
            exec(cell["source"], space)
    return {name: space[name](3) for name in names.split()}


def sources(rebuilt) -> dict[str, str]:
    return {cell["id"]: cell["source"] for cell in rebuilt.notebook["cells"]}


def test_an_honest_notebook(classroom, ps1):
    rebuilt = rebuild(ps1, classroom.answered(why="Since 3."))
    assert run(rebuilt.notebook) == {"square": 9, "cube": 27}
    assert rebuilt.answers["square"] == "def square(x):\n    return x * x"
    assert rebuilt.answers["why"] == "Since 3."
    assert rebuilt.flags == []
    assert "hidden" not in json.dumps(rebuilt.notebook).lower()
    assert "x * x" not in json.dumps(release_of(ps1))


def test_bytes_are_read_and_refused(ps1):
    with pytest.raises(Malformed, match="not JSON"):
        rebuild(ps1, b"hello")


def test_blank_answers_are_none(classroom, ps1):
    notebook = classroom.release()
    classroom.find(notebook, "square")["source"] += "   # later\n\n"
    classroom.find(notebook, "cube")["source"] = "# nothing\n"
    assert rebuild(ps1, notebook).answers == {"square": "", "cube": "", "why": ""}


def test_helpers_between_the_questions_run_where_they_stand(classroom, ps1, make_cell):
    notebook = classroom.answered(square="twice(x) * x / 2")
    helper = make_cell("code", "mine", "def twice(x):\n    return 2 * x")
    redo = make_cell("code", "late", "cube = lambda x, old=cube: old(x) + BONUS\nBONUS = 1")
    notebook["cells"].insert(3, helper)
    notebook["cells"].append(redo)
    rebuilt = rebuild(ps1, notebook)
    order = [cell["id"] for cell in rebuilt.notebook["cells"]]
    assert order.index("own-3") == order.index("square") - 1
    assert order[-1] == "own-9"
    assert run(rebuilt.notebook) == {"square": 9, "cube": 28}
    assert rebuilt.flags == []


def test_a_changed_import_cell_is_kept(classroom, ps1):
    notebook = classroom.answered(square="int(floor(x)) ** 2")
    classroom.find(notebook, "imports")["source"] = "from math import floor"
    assert run(rebuild(ps1, notebook).notebook)["square"] == 9


def strip(notebook: dict, ids: bool = True) -> dict:
    notebook = copy.deepcopy(notebook)
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"] = {}
        cell["id"] = f"c{number}" if ids else cell["id"]
    return notebook


@pytest.mark.parametrize("ids", [True, False])
def test_metadata_stripped(classroom, ps1, ids):
    rebuilt = rebuild(ps1, strip(classroom.answered(why="In words."), ids))
    assert run(rebuilt.notebook) == {"square": 9, "cube": 27}
    assert rebuilt.answers["why"] == "In words."
    assert (BY_PLACE in rebuilt.flags) == ids
    assert "TAMPERED" not in rebuilt.flags


def test_metadata_stripped_and_names_gone(classroom, ps1):
    """A lambda in the place of the function: only its place and its words tell."""
    notebook = classroom.answered()
    classroom.find(notebook, "square")["source"] = "square = lambda x: x * x"
    notebook = strip(notebook)
    rebuilt = rebuild(ps1, notebook)
    assert rebuilt.answers["square"] == "square = lambda x: x * x"
    assert run(rebuilt.notebook) == {"square": 9, "cube": 27}


def test_solution_cells_twice(classroom, ps1):
    notebook = classroom.answered()
    wrong = copy.deepcopy(classroom.find(notebook, "square"))
    wrong["source"] = "def square(x):\n    return 0"
    stub = copy.deepcopy(classroom.find(classroom.release(), "square"))
    notebook["cells"].insert(1, wrong)
    notebook["cells"].append(stub)
    rebuilt = rebuild(ps1, notebook)
    assert rebuilt.answers["square"] == "def square(x):\n    return x * x"
    assert run(rebuilt.notebook)["square"] == 9
    assert any("3 times" in flag for flag in rebuilt.flags)
    last = copy.deepcopy(wrong)
    notebook["cells"].append(last)
    assert run(rebuild(ps1, notebook).notebook)["square"] == 0


def test_a_split_solution_cell(classroom, ps1):
    notebook = classroom.answered()
    second = copy.deepcopy(classroom.find(notebook, "square"))
    classroom.find(notebook, "square")["source"] = "def half(x):\n    return x * x / 2"
    second["source"] = "def square(x):\n    return 2 * half(x)"
    notebook["cells"].insert(4, second)
    assert run(rebuild(ps1, notebook).notebook)["square"] == 9


@pytest.mark.parametrize("at", [0, 9])
def test_the_answer_in_a_cell_of_their_own(classroom, ps1, make_cell, at):
    """The stub was left alone; one cell holds both answers, before the stubs or after them."""
    notebook = classroom.release()
    both = "def square(x):\n    return x * x\n\ndef cube(x):\n    return x**3"
    notebook["cells"].insert(at, make_cell("code", "mine", both))
    rebuilt = rebuild(ps1, notebook)
    assert run(rebuilt.notebook) == {"square": 9, "cube": 27}
    assert rebuilt.answers["cube"] == both
    assert "the answer to square was in another cell" in rebuilt.flags


def test_a_deleted_solution_cell(classroom, ps1):
    notebook = classroom.answered()
    notebook["cells"] = [c for c in notebook["cells"] if c["id"] != "cube"]
    rebuilt = rebuild(ps1, notebook)
    assert "cube" not in rebuilt.answers
    assert "solution cell cube is missing" in rebuilt.flags
    assert sources(rebuilt)["cube"].startswith("def cube(x):")


def turn(cell: dict, kind: str, source: str | None = None) -> None:
    """What a key does in Jupyter: the kind is another, text and metadata stay."""
    cell["cell_type"] = kind
    cell.pop("outputs", None)
    cell.pop("execution_count", None)
    cell["source"] = cell["source"] if source is None else source


@pytest.mark.parametrize("kind", ["markdown", "raw"])
@pytest.mark.parametrize("lost", ["nothing", "grade_id", "id", "both"])
@pytest.mark.parametrize("fence", ["{}", "```python\n{}\n```"])
def test_a_solution_cell_turned_into_text(classroom, ps1, kind, lost, fence):
    notebook = classroom.answered()
    cell = classroom.find(notebook, "square")
    turn(cell, kind, fence.format(cell["source"]))
    if lost in ("grade_id", "both"):
        cell["metadata"] = {}
    if lost in ("id", "both"):
        cell["id"] = "another"
    rebuilt = rebuild(ps1, notebook)
    assert run(rebuilt.notebook) == {"square": 9, "cube": 27}
    assert rebuilt.answers["square"] == "def square(x):\n    return x * x"
    (flag,) = [flag for flag in rebuilt.flags if "was turned into" in flag]
    assert flag.startswith(f"solution cell square was turned into a {kind} cell; its text was read")
    restored = classroom.find(rebuilt.notebook, "square")
    assert restored["cell_type"] == "code" and len(rebuilt.notebook["cells"]) == 8


def test_prose_in_the_place_of_code_is_no_answer(classroom, ps1):
    notebook = classroom.answered()
    turn(classroom.find(notebook, "square"), "markdown", "I did not get to this one, sorry.")
    rebuilt = rebuild(ps1, notebook)
    assert rebuilt.answers["square"] == "" and run(rebuilt.notebook, "cube") == {"cube": 27}
    assert "solution cell square was turned into a markdown cell, and holds no code" in (
        rebuilt.flags
    )


def test_an_answer_in_words_turned_into_code(classroom, ps1):
    notebook = classroom.answered(why="Since 3.")
    cell = classroom.find(notebook, "why")
    cell |= {"cell_type": "code", "outputs": [], "execution_count": None}
    rebuilt = rebuild(ps1, notebook)
    assert rebuilt.answers["why"] == "Since 3." and "turned into a code cell" in rebuilt.flags[0]
    assert classroom.find(rebuilt.notebook, "why")["cell_type"] == "markdown"


@pytest.mark.parametrize("keeps", [True, False])
def test_a_note_with_the_code_in_it_is_a_note(classroom, ps1, make_cell, keeps):
    """Beside the real answer, a text cell with other code is what it was: text."""
    notebook = classroom.answered()
    note = copy.deepcopy(classroom.find(notebook, "square"))
    turn(note, "markdown", "```python\ndef square(x):\n    return 0\n```")
    note = note if keeps else make_cell("markdown", "note", note["source"])
    notebook["cells"].append(note)
    rebuilt = rebuild(ps1, notebook)
    assert run(rebuilt.notebook) == {"square": 9, "cube": 27}
    assert not any("turned into" in flag for flag in rebuilt.flags)
    assert rebuilt.answers["square"] == "def square(x):\n    return x * x"


def edited(classroom, **change: object) -> dict:
    notebook = classroom.answered(square="0")
    test = classroom.find(notebook, "test_square")
    if "source" in change:
        test["source"] = change["source"]
    test["metadata"]["nbgrader"].update(change.get("nbgrader", {}))
    if "tags" in change:
        test["metadata"]["tags"] = change["tags"]
    return notebook


@pytest.mark.parametrize(
    ("change", "tampered"),
    [
        ({"source": "pass"}, True),
        ({"tags": ["skip-execution"]}, True),
        ({"nbgrader": {"points": 200}}, True),
        ({"nbgrader": {"grade": False, "solution": True}}, True),
        ({"tags": ["remember"]}, False),
        ({"source": "assert square(3)==9  # reformatted\n"}, False),
        ({}, False),
    ],
)
def test_tests_come_from_the_master(classroom, ps1, change, tampered):
    rebuilt = rebuild(ps1, edited(classroom, **change))
    assert ("TAMPERED" in rebuilt.flags) == tampered
    restored = classroom.find(rebuilt.notebook, "test_square")
    assert restored == classroom.find(classroom.release(), "test_square")


def test_tests_deleted_or_twice(classroom, ps1):
    notebook = classroom.answered()
    test = classroom.find(notebook, "test_square")
    notebook["cells"].append(copy.deepcopy(test))
    notebook["cells"] = [c for c in notebook["cells"] if c["id"] != "test_cube"]
    rebuilt = rebuild(ps1, notebook)
    assert [c["id"] for c in rebuilt.notebook["cells"]].count("test_square") == 1
    assert "test cell test_cube was deleted and has been restored" in rebuilt.flags
    assert "test cell test_square appears 2 times" in rebuilt.flags
    assert "TAMPERED" not in rebuilt.flags
    copied = copy.deepcopy(test) | {"source": "pass"}
    notebook["cells"].append(copied)
    assert "TAMPERED" in rebuild(ps1, notebook).flags


def test_a_test_cell_passed_off_as_an_answer(classroom, ps1):
    """The id of one, the grade_id of the other: the master decides what each is."""
    notebook = classroom.answered()
    test = classroom.find(notebook, "test_square")
    test["metadata"]["nbgrader"]["grade_id"] = "square"
    test["source"] = "def square(x):\n    return 'from the test cell'"
    rebuilt = rebuild(ps1, notebook)
    assert sources(rebuilt)["test_square"] == "assert square(3) == 9"
    assert len({cell["id"] for cell in rebuilt.notebook["cells"]}) == len(rebuilt.notebook["cells"])


def test_raw_cells_and_foreign_metadata_stay_out(classroom, ps1, make_cell):
    notebook = classroom.answered()
    raw = make_cell("raw", "raw", "<script>1</script>")
    mine = make_cell("code", "mine", "1", grade=True, points=1000, grade_id="mine")
    mine["metadata"]["tags"] = ["skip-execution"]
    notebook["cells"] += [raw, mine]
    rebuilt = rebuild(ps1, notebook)
    assert "<script>" not in json.dumps(rebuilt.notebook)
    assert rebuilt.notebook["cells"][-1]["metadata"] == {}


def test_an_answer_of_megabytes_takes_no_time(classroom, ps1):
    """Nobody parses a stranger's text without a limit."""
    notebook = classroom.answered()
    notebook["cells"][3]["source"] = "x = 1\n" * 1_000_000
    notebook["cells"] += [copy.deepcopy(notebook["cells"][5]) for _ in range(2000)]
    start = time.process_time()
    rebuilt = rebuild(ps1, notebook)
    assert time.process_time() - start < 5
    assert len(rebuilt.answers["square"]) == 6_000_000


def test_the_master_is_never_changed(classroom, ps1):
    before = release_of(ps1)
    rebuilt = rebuild(ps1, edited(classroom, source="pass"))
    for cell in rebuilt.notebook["cells"]:
        cell["source"] = "changed"
    assert release_of(ps1) == before


def test_the_release_is_what_nbgrader_makes(ps1):
    """The same sources and checksums as nbgrader's own preprocessors."""
    import nbformat
    from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions, ComputeChecksums

    notebook = nbformat.reads(ps1.notebook, as_version=4)
    for step in (ClearSolutions, ClearHiddenTests, ComputeChecksums):
        notebook, _ = step().preprocess(notebook, {})
    for ours, theirs in zip(release_of(ps1)["cells"], notebook.cells, strict=True):
        assert ours["source"] == theirs.source
        assert ours["metadata"] == theirs.metadata
