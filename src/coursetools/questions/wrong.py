"""A wrong answer as what differs from our own: a passage that changes, or another answer whole.

An edit shows the mistake and nothing else, and follows when our answer is rewritten. It is compiled
when it is first asked for. Two edits of one answer make a third, which has both mistakes.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import linecache
import re
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import Any

from coursekit._base.errors import CourseError
from coursekit.check.variants import Variant
from coursetools.questions import forgotten_demands


@dataclass(frozen=True)
class Wrong:
    """Python that takes the place of `reference`; `made` is the function or class of it."""

    reference: Callable[..., Any]

    @property
    def source(self) -> str:
        """What takes the place of our answer's source."""
        raise NotImplementedError

    @cached_property
    def made(self) -> Any:
        """What the source binds last, beside the names of the file that our answer is in."""
        name, module = self.reference.__name__, _module(self.reference)
        file = f"<{name}: {hash(self.source):x}>"
        # in a copy: an answer that calls itself calls the changed one
        names = {**vars(forgotten_demands), **vars(module)}
        try:
            flags = __future__.annotations.compiler_flag
            tree = ast.parse(self.source)
            code = compile(self.source, file, "exec", flags=flags, dont_inherit=True)
        except SyntaxError as error:
            raise CourseError(f"{self} makes no Python of our {name}: {error.msg}") from error
        lines = self.source.splitlines(keepends=True)
        linecache.cache[file] = (len(self.source), None, lines, file)  # for tracebacks and inspect
        exec(code, names)
        return names[_bound(tree.body[-1], name)]


@dataclass(frozen=True)
class Edit(Wrong):
    """Our answer with passages changed; each `old` occurs once in what is there by then."""

    changes: tuple[tuple[str, str], ...]  # (old, new)

    @cached_property
    def source(self) -> str:
        """Our source, changed."""
        text = source_of(self.reference)
        for old, new in self.changes:
            if (count := text.count(old)) != 1:
                name = self.reference.__name__
                raise CourseError(f"{old!r} stands {count} times in our {name}, expected once")
            text = text.replace(old, new)
        return text

    def and_also(self, other: Edit) -> Edit | None:
        """Return the answer with both mistakes, or None where they do not fit together."""
        for first, second in ((self, other), (other, self)):
            both = Edit(self.reference, (*first.changes, *second.changes))
            try:
                ast.parse(both.source)
            except (CourseError, SyntaxError):
                continue
            if both.source not in (self.source, other.source, source_of(self.reference)):
                return both
        return None

    def __str__(self) -> str:
        return " and ".join(f"{new!r} in place of {old!r}" for old, new in self.changes)


@dataclass(frozen=True)
class Whole(Wrong):
    """Another answer, written out; it may use our own and all else in the file of the question."""

    text: str

    @property
    def source(self) -> str:
        """The answer as it is written."""
        return self.text

    def __str__(self) -> str:
        return repr(self.text.partition("\n")[0])


def _module(reference: Callable[..., Any]) -> ModuleType:
    return sys.modules[reference.__module__]


def _bound(statement: ast.stmt, name: str) -> str:
    """Return the name that the last statement of an answer binds."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return statement.name
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Name):
        raise CourseError(f"a wrong {name} should end with the function or class that it is")
    return target.id


def with_numbers(text: str, reference: Callable[..., Any]) -> str:
    """Return source of a question's file as a student writes it, with the numbers themselves."""
    home = sys.modules.get(reference.__module__)  # not there for what is made in a notebook
    for name, value in vars(home).items() if home else ():
        if isinstance(value, Variant):
            for number, typed in value.values.items():
                text = re.sub(rf"\b{name}\.{number}\b", repr(typed), text)
    return text


@cache
def source_of(answer: Callable[..., Any]) -> str:
    """Return the source of a function or class, moved to the left margin."""
    return textwrap.dedent(inspect.getsource(answer))


def as_cell(wrong: Wrong, name: str) -> str:
    """Return the source of a wrong answer as a student would have it in a cell, called `name`.

    What the file imports, torch above all, is left to the notebook, and so are the earlier answers
    that it calls; an answer that is made of ours brings it along.
    """
    tree = ast.parse(with_numbers(wrong.source, wrong.reference))
    if isinstance(wrong, Edit):
        return ast.unparse(tree)
    last = tree.body[-1]
    if not isinstance(last, ast.FunctionDef | ast.ClassDef):
        raise CourseError(f"{wrong} is not a function or a class that a student could write")
    uses = [node for node in ast.walk(last) if isinstance(node, ast.Name) and node.id == name]
    ours = with_numbers(source_of(wrong.reference), wrong.reference)
    before = ast.parse(ours).body if uses else []
    for node in [*uses, *before]:
        setattr(node, "id" if isinstance(node, ast.Name) else "name", f"right_{name}")
    for node in ast.walk(last):
        if isinstance(node, ast.Name) and node.id == last.name:
            node.id = name
    last.name = name
    return "\n\n\n".join(map(ast.unparse, [*before, *tree.body]))
