"""Functions and classes of the public notebooks, to be tried in the place of answers.

A definition is taken out of its notebook with the imports and the constants around it; nothing else
of the notebook runs. A default that only a run would know is None.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from coursekit.submission.cells import parse_cell
from coursekit.submission.forbidden import used
from coursetools.course import Course
from coursetools.notebooks.imports import read_notebook
from coursetools.questions.question import Question

FOLDERS = ("", "training")  # of `notebooks/`: not the assignments, and not what is published later


def name_of(notebook: str, name: str) -> str:
    """Return how a definition is called where the text of a question names it."""
    return f"{notebook}:{name}"


def is_there(course: Course, part: str) -> bool:
    """Return whether a part of a question is one of the library, or of a notebook that is there."""
    notebook, colon, _ = part.partition(":")
    return not colon or (course / notebook).is_file()


def definitions(course: Course, question: Question) -> Iterator[tuple[str, Any]]:
    """Yield the definitions of all notebooks that use nothing that the question forbids."""
    for name, part, source, imports in _all(course.root):
        if not used(source, question.forbidden, imports):
            yield name, part


@cache
def _all(root: Path) -> tuple[tuple[str, Any, str, str], ...]:
    course = Course(root)
    paths = [path for one in FOLDERS for path in sorted((course.notebooks / one).glob("*.ipynb"))]
    return tuple(found for path in paths for found in _of(path, course.relative(path)))


def _of(path: Path, notebook: str) -> Iterator[tuple[str, Any, str, str]]:
    nodes: list[ast.stmt] = []
    for cell in read_notebook(path)["cells"]:
        if cell["cell_type"] == "code":
            with contextlib.suppress(SyntaxError):
                nodes += parse_cell(cell["source"]).body
    names: dict[str, Any] = {"__name__": notebook}
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    constants = [n for n in nodes if isinstance(n, ast.Assign) and _is_constant(n.value)]
    for first in (*imports, *constants):
        with contextlib.suppress(Exception):  # a package that is not there
            _run(first, notebook, names)
    text = "\n".join(map(ast.unparse, imports))
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            with contextlib.suppress(Exception):
                try:
                    _run(node, notebook, names)
                except NameError:
                    _run(_without_defaults(node), notebook, names)
                yield name_of(notebook, node.name), names[node.name], ast.unparse(node), text


def _is_constant(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _without_defaults(node: ast.stmt) -> ast.stmt:
    nothing = ast.Constant(None)
    for one in ast.walk(node):
        if isinstance(one, ast.arguments):
            one.defaults = [nothing for _ in one.defaults]
            one.kw_defaults = [default and nothing for default in one.kw_defaults]
    return ast.fix_missing_locations(node)


def _run(node: ast.stmt, notebook: str, names: dict[str, Any]) -> None:
    exec(compile(ast.Module([node], []), f"<{notebook}>", "exec"), names)
