"""Which lines of a definition are shown to a reader: what it does, not what it refuses.

The book's listings and the games of `coursekit.check.catch` show code in this way.
"""

from __future__ import annotations

import ast

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def shown_lines(statement: ast.stmt, lines: list[str], docstring: bool = True) -> list[int]:
    """Return the numbers, from 0, of the lines of a definition that are shown.

    Of a docstring only the first line is kept, or nothing. In `lines` it is closed there, and what
    only the formatter reads is taken away.
    """
    first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
    dropped: set[int] = set()
    for node in ast.walk(statement):
        if isinstance(node, Definition) and ast.get_docstring(node, clean=False) is not None:
            doc = node.body[0]
            dropped.update(range(doc.lineno + docstring, last_line(doc) + 1))
            if docstring and last_line(doc) != doc.lineno:
                lines[doc.lineno - 1] += '"""'
        elif isinstance(node, ast.stmt) and _only_checks(node):
            dropped.update(range(node.lineno, last_line(node) + 1))
    kept = [n - 1 for n in range(first, last_line(statement) + 1) if n not in dropped]
    for n in kept:
        lines[n] = lines[n].removesuffix("  # fmt: skip")
    return kept


def last_line(node: ast.stmt) -> int:
    """Return the number of the last line of a statement."""
    return node.end_lineno or node.lineno


def _only_checks(node: ast.stmt) -> bool:
    """Return whether a statement only refuses what was given: `check_int(...)`, `if …: raise`."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return getattr(node.value.func, "id", "").lstrip("_").startswith("check_")
    return (
        isinstance(node, ast.If | ast.For)
        and not node.orelse
        and all(isinstance(one, ast.Raise) or _only_checks(one) for one in node.body)
    )
