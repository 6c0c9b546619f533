"""What a reader of a lecture notebook sees: what can be changed, and not what the book needs."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from coursekit.notebooks.imports import parse_cell, read_notebook
from coursekit.notebooks.run import lecture_notebooks

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = lecture_notebooks(ROOT)
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
