"""What a reader of a lecture notebook sees: what can be changed, and not what the book needs."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from coursetools.course import Course
from coursetools.book.contents import chapters
from coursekit.submission.cells import parse_cell
from coursetools.notebooks.imports import read_notebook

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = Course(ROOT).lectures
HIDDEN = "hide-input"


def called(node: ast.stmt) -> str:
    """Return the name of the function that a statement calls, if that is all it does."""
    call = node.value if isinstance(node, ast.Expr) else None
    return getattr(call.func, "id", "") if isinstance(call, ast.Call) else ""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_numbers_for_the_page_and_checks_of_them_stand_in_folded_cells(path):
    for cell in read_notebook(path)["cells"]:
        if cell["cell_type"] != "code" or HIDDEN in cell["metadata"].get("tags", []):
            continue
        body = parse_cell("".join(cell["source"])).body
        kinds = {"assert" if isinstance(node, ast.Assert) else called(node) for node in body}
        assert "glue" not in kinds, cell["id"]
        assert kinds == {"assert"} or "assert" not in kinds, cell["id"]  # a proof stands alone


@pytest.mark.parametrize("stem", chapters(Course(ROOT)))
def test_a_chapter_has_a_place_for_the_guess_before_it_is_run(stem):
    cells = read_notebook(ROOT / "notebooks" / f"{stem}.ipynb")["cells"]
    places = [n for n, cell in enumerate(cells) if cell["id"].endswith("-guess")]
    assert places
    for place in places:
        assert HIDDEN not in cells[place]["metadata"].get("tags", [])
        assert "".join(cells[place]["source"]).startswith("my_guess = ")
        assert cells[place + 1]["id"] == cells[place]["id"].removesuffix("-guess")
