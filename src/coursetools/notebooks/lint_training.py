"""What only a training notebook has: parameters, three profiles, a record, a GPU on Colab."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coursetools.course import Course
from coursekit.submission.cells import parse_cell
from coursekit.submission.forbidden import dotted_name, imported
from coursetools.notebooks.parameters_cell import parameter_cells, parameters

GPU = "GPU"  # what Colab reads in the metadata `accelerator`
NEEDED = ("profile", "seed", "checkpoints")
RECORDS = "coursekit.training.records"


def is_training(path: Path, course: Course) -> bool:
    """Return whether the notebook at `path` is one for `coursekit train`."""
    return course.relative(path).startswith("notebooks/training/")


def training(notebook: dict, path: Path, course: Course) -> Iterator[tuple[str, str]]:
    """Yield the cell and the sentence of everything that a training lacks."""
    if not is_training(path, course):
        return
    if notebook.get("metadata", {}).get("accelerator") != GPU:
        yield "", "needs the metadata accelerator GPU, so that Colab gives it one; --fix writes it"
    cells = parameter_cells(notebook)
    if len(cells) != 1:
        yield "", f"needs one cell with the tag parameters, found {len(cells)}"
    for cell in cells:
        yield from _parameters(cell, notebook)
    calls = list(_calls(notebook))
    for name in ("choose", "record"):
        if not any(called == f"{RECORDS}.{name}" for _, called, _ in calls):
            yield "", f"never calls {name} of {RECORDS}"
    for name, called, node in calls:
        lacks = {"smoke", "cpu", "gpu", "changes"} - {keyword.arg for keyword in node.keywords}
        if called == f"{RECORDS}.choose" and lacks:
            yield name, f"calls choose without {', '.join(sorted(lacks))}"


def _parameters(cell: dict[str, Any], notebook: dict) -> Iterator[tuple[str, str]]:
    name = str(cell.get("id"))
    try:
        tree = parse_cell(cell["source"])
    except (SyntaxError, ValueError):
        return  # another rule says so
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        try:
            ast.literal_eval(getattr(node, "value", node))  # a statement is not a literal
            plain = all(isinstance(target, ast.Name) for target in targets)
        except (ValueError, TypeError):
            plain = False
        if not plain:
            yield name, f"holds {ast.unparse(node)!r}; a parameter is a name = a plain value"
    values = parameters(notebook)
    for needed in NEEDED:
        if needed not in values:
            yield name, f"lacks the parameter {needed}"
    if values.get("profile", "cpu") != "cpu":
        yield name, f"has the profile {values['profile']!r}; a reader begins with 'cpu'"


def _calls(notebook: dict) -> Iterator[tuple[str, str, ast.Call]]:
    """Yield each call: its cell, the dotted name of what is called, its node."""
    names: dict[str, str] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        try:
            tree = parse_cell(cell["source"])
        except (SyntaxError, ValueError):
            continue
        names |= imported(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                yield str(cell.get("id")), dotted_name(node.func, names), node
