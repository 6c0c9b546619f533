"""A wrong answer as an edit of our own: `old`, which stands once in its source, becomes `new`.

An edit shows the mistake and nothing else, and follows when our answer is rewritten. It is compiled
when it is first asked for, since a notebook that is right never asks.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import linecache
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from coursekit.errors import CourseError


@dataclass(frozen=True)
class Edit:
    """Our answer with one passage changed; `made` is the function or class that comes of it."""

    reference: Callable[..., Any]
    old: str
    new: str

    @cached_property
    def source(self) -> str:
        """The changed source."""
        text = source_of(self.reference)
        if (count := text.count(self.old)) != 1:
            name = self.reference.__name__
            raise CourseError(f"{self.old!r} stands {count} times in our {name}, expected once")
        return text.replace(self.old, self.new)

    @cached_property
    def made(self) -> Callable[..., Any]:
        """What the changed source defines, beside the names of the file that our answer is in."""
        name, file = self.reference.__name__, f"<{self.reference.__name__}: {self.new!r}>"
        # in a copy: an answer that calls itself calls the changed one
        names = dict(vars(sys.modules[self.reference.__module__]))
        try:
            flags = __future__.annotations.compiler_flag
            code = compile(self.source, file, "exec", flags=flags, dont_inherit=True)
        except SyntaxError as error:
            raise CourseError(
                f"{self.new!r} in place of {self.old!r} makes no Python of our {name}: {error.msg}"
            ) from error
        exec(code, names)
        lines = self.source.splitlines(keepends=True)
        linecache.cache[file] = (len(self.source), None, lines, file)  # for tracebacks and inspect
        return names[name]


@cache
def source_of(answer: Callable[..., Any]) -> str:
    """Return the source of a function or class, moved to the left margin."""
    return textwrap.dedent(inspect.getsource(answer))


def as_cell(answer: Any, name: str) -> str:
    """Return the source of a wrong answer as a student would have it in a cell, called `name`.

    Classes that it is made from come first. What the file imports, torch above all, is left to the
    notebook, and so are the earlier answers that it calls.
    """
    if isinstance(answer, Edit):
        return ast.unparse(ast.parse(answer.source))
    wanted = [answer]
    if inspect.isclass(answer):
        wanted = [cls for cls in answer.__mro__ if cls.__module__ == answer.__module__][::-1]
    tree = ast.parse("\n\n\n".join(source_of(thing).rstrip() for thing in wanted))
    last = tree.body[-1]  # the answer; what decorates it belongs to the course
    last.name, last.decorator_list = name, []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == answer.__name__:
            node.id = name
    return ast.unparse(tree)
