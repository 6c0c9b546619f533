"""An executed notebook as its page shows it: without what only the book's machinery needs.

A line that glues a number for another page, the name of an object that nobody asked to see, and a
cell of which nothing is left are not for readers; the notebook itself keeps them.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from coursekit.submission.cells import parse_cell
from coursetools.notebooks.hidden_source import hidden

OBJECT = re.compile(r"<[\w.]+ .*>", re.DOTALL)  # <torch._C.Generator at 0x7fea8e990590>
GLUED = "application/papermill.record"


def for_its_page(text: str) -> str:
    """Return the JSON of an executed notebook as its page is made from it."""
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        cell["outputs"] = [output for output in cell["outputs"] if not _is_object(output)]
        cell["source"] = without_glue("".join(cell["source"]))
        tags = cell["metadata"].setdefault("tags", [])
        bare = not cell["source"].strip() or hidden(cell)
        if bare and not any(map(_is_seen, cell["outputs"])):
            tags.append("remove-cell")
    return json.dumps(notebook)


def without_glue(source: str) -> str:
    """Return a cell's source without its statements that only glue."""
    try:
        statements = parse_cell(source).body
    except SyntaxError:
        return source
    dropped: set[int] = set()
    for node in filter(_only_glues, statements):
        dropped.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = source.split("\n")
    return "\n".join(line for n, line in enumerate(lines, 1) if n not in dropped).strip("\n")


def _only_glues(node: ast.stmt) -> bool:
    if isinstance(node, ast.For):
        return all(map(_only_glues, node.body))
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and getattr(call.func, "id", "") == "glue"


def _is_object(output: dict[str, Any]) -> bool:
    """Return whether an output is the bare name of an object."""
    data = output.get("data", {})
    text = "".join(data.get("text/plain", ""))
    return (
        output["output_type"] == "execute_result"
        and set(data) == {"text/plain"}
        and OBJECT.fullmatch(text) is not None
    )


def _is_seen(output: dict[str, Any]) -> bool:
    return not any(kind.startswith(GLUED) for kind in output.get("data", {}))
