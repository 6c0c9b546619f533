"""Wrong answers that people really give, one file for each assignment.

What stands in these files is wrong on purpose. `check` and the grader compare a learner's results
with theirs, and when the two agree, they know which hint to give.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any


def as_cell(answer: Any, name: str) -> str:
    """Return the source of a wrong answer as a student would have it in a cell, called `name`.

    Classes that it is made from come first. What the file imports, torch above all, is left to the
    notebook.
    """
    wanted = [answer]
    if inspect.isclass(answer):
        bases = [cls for cls in answer.__mro__ if cls.__module__ == answer.__module__]
        wanted = bases[::-1]
    sources = [textwrap.dedent(inspect.getsource(thing)).rstrip() for thing in wanted]
    tree = ast.parse("\n\n\n".join(sources))
    tree.body[-1].name = name  # the answer is the last of them
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == answer.__name__:
            node.id = name
    return ast.unparse(tree)
