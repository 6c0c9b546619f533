"""The cell tagged `parameters` of a training notebook: which names there are, and their values.

papermill puts a cell behind it with the values that somebody sets.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from coursekit._base.errors import CourseError
from coursekit.submission.cells import parse_cell

TAG = "parameters"
OPTIONS = {"profile": "--profile", "checkpoints": "--resume DIR", "processes": "--processes"}


def parameter_cells(notebook: dict) -> list[dict[str, Any]]:
    """Return the code cells with the tag."""
    return [
        cell
        for cell in notebook["cells"]
        if cell["cell_type"] == "code" and TAG in cell.get("metadata", {}).get("tags", [])
    ]


def parameters(notebook: dict) -> dict[str, Any]:
    """Return the names that the cell assigns with their values; the cell is read, not run.

    `steps = lr = None` gives two names, which papermill's own reading of a cell does not see.
    """
    values: dict[str, Any] = {}
    for cell in parameter_cells(notebook):
        try:
            tree = parse_cell("".join(cell["source"]))
        except (SyntaxError, ValueError):
            return {}  # the lint says where
        for node in tree.body:
            if isinstance(node, ast.Assign):
                targets, value = node.targets, node.value
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                targets, value = [node.target], node.value
            else:
                continue
            for target in targets:
                if isinstance(target, ast.Name):
                    values[target.id] = _literal(value)
    return values


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return None


def parse_settings(lines: Iterable[str]) -> dict[str, Any]:
    """Return the values of `--set NAME=VALUE`; a value is JSON, or else text."""
    settings: dict[str, Any] = {}
    for line in lines:
        name, equals, text = line.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier():
            raise CourseError(f"--set {line} should be --set NAME=VALUE")
        if name in settings:
            raise CourseError(f"--set {name} is given twice")
        try:
            settings[name] = json.loads(text, parse_constant=str)
        except ValueError:
            settings[name] = text.strip()
    return settings


def check_names(names: Iterable[str], known: Mapping[str, Any], where: str) -> None:
    """Say which of `names` cannot be set; `where` is who sets them, for the sentence."""
    for name in names:
        if name in OPTIONS:
            raise CourseError(f"{where} sets {name}; that is what {OPTIONS[name]} is for")
        if name not in known:
            can = ", ".join(other for other in known if other not in OPTIONS) or "none"
            raise CourseError(f"{where} sets {name}, which is not a parameter; choose from {can}")


def short_hash(values: Mapping[str, Any]) -> str:
    """Return eight letters and digits that differ where the values differ."""
    return sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:8]
