"""Whether the source of an answer still has the stub in it that the notebook came with."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence

from coursekit.submission import regions

STUB = "raise NotImplementedError"


def is_open(source: str) -> bool:
    """Return whether a cell has no answer yet: nothing but comments, or a stub that is reached."""
    return regions.is_blank("", source) or has_stub(source)


def has_stub(source: str) -> bool:
    """Return whether a function of this source comes to a bare `raise NotImplementedError()`.

    Not one behind a `return` or under a condition: an answer may well keep such a line.
    """
    if STUB not in source:
        return False
    try:
        tree = ast.parse(textwrap.dedent(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True  # of what is no Python a stub is the likeliest part
    blocks = [node.body for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return any(map(_comes_to_it, [tree.body, *blocks]))


def _comes_to_it(body: Sequence[ast.stmt]) -> bool:
    for line in body:
        if isinstance(line, ast.Return):
            return False
        if isinstance(line, ast.Raise) and line.exc is not None:
            return ast.unparse(line.exc) in ("NotImplementedError", "NotImplementedError()")
    return False
