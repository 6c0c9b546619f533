"""A game of `catch`: an open function of the package, and mistakes that people make in it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import torch

from coursekit._base.errors import CourseError
from coursekit._base.shown_code import shown_lines
from coursekit.check.compare import Difference
from coursekit.check.outcome import Outcome, differ, observe

TOLERANCE = 1e-5


@dataclass(frozen=True)
class Mistake:
    """Where `old` stands in the function, people write `new`; `says` tells what becomes of it."""

    name: str
    old: str
    new: str
    says: str  # plain words


@dataclass(frozen=True)
class Game:
    """A function and its mistakes, with calls for the book's page.

    A game of three mistakes asks which of four versions is right. A game of one asks which of the
    calls shows the mistake; just one does.
    """

    name: str  # "masked softmax"
    function: str  # "attention.masked_softmax"
    mistakes: tuple[Mistake, ...]
    calls: tuple[str, ...]  # Python, where the function's file, `torch` and `tensor` are known

    @property
    def called(self) -> str:
        """The function's own name."""
        return self.function.rpartition(".")[2]

    @property
    def file(self) -> str:
        """The file that it stands in, below `src/coursekit`."""
        return f"{self.function.rpartition('.')[0].replace('.', '/')}.py"

    @property
    def module(self) -> ModuleType:
        """That file as a module."""
        return import_module(f"coursekit.{self.function.rpartition('.')[0]}")

    @property
    def promise(self) -> str:
        """The first line of the function's docstring: what it should do."""
        return (inspect.getdoc(getattr(self.module, self.called)) or "").split("\n")[0]

    def code(self, mistake: Mistake | None = None) -> str:
        """Return the function as it is shown: without types, docstring and checks."""
        text = self._source(mistake)
        lines = text.split("\n")
        (function,) = ast.parse(text).body
        assert isinstance(function, ast.FunctionDef)
        for one in ast.walk(function.args):
            if isinstance(one, ast.arg):
                one.annotation = None
        head = f"def {function.name}({ast.unparse(function.args)}):"
        body = function.body[0].lineno - 1  # where the docstring begins
        kept = shown_lines(function, lines, docstring=False)
        return "\n".join([head, *(lines[n] for n in kept if n >= body)])

    def run(self, call: str, mistake: Mistake | None = None) -> Outcome:
        """Return what a call gives, by the package's function or by the one with the mistake."""
        space = self._space(mistake)
        return observe(lambda _: eval(call, space), None)

    def made(self, mistake: Mistake | None = None) -> Callable[..., Any]:
        """Return the function, with the mistake if there is one."""
        return self._space(mistake)[self.called]

    def difference(self, call: str, mistake: Mistake) -> Difference | None:
        """Return how a call's outcome is changed by a mistake."""
        return differ(self.run(call, mistake), self.run(call), TOLERANCE)

    def telling(self, mistake: Mistake) -> str:
        """Return the first of the calls that shows a mistake."""
        for call in self.calls:
            if self.difference(call, mistake):
                return call
        raise CourseError(f"no call of the game {self.name!r} shows {mistake.name!r}")

    def _space(self, mistake: Mistake | None) -> dict[str, Any]:
        space = {**vars(self.module), "torch": torch, "tensor": torch.tensor}
        if mistake:
            program = compile(self._source(mistake), f"<{self.name}>", "exec")
            exec(program, space)
        return space

    def _source(self, mistake: Mistake | None) -> str:
        text = textwrap.dedent(inspect.getsource(getattr(self.module, self.called)))
        if mistake is None:
            return text
        if text.count(mistake.old) != 1:
            raise CourseError(
                f"{mistake.old!r} stands {text.count(mistake.old)} times in {self.function}, but "
                f"the mistake {mistake.name!r} needs it once"
            )
        return text.replace(mistake.old, mistake.new)


def written(value: Any) -> str:
    """Write a value in one line; of a number at most three digits behind the point."""
    if isinstance(value, torch.Tensor):
        return written(value.tolist())
    if isinstance(value, (list, tuple)):
        inside = ", ".join(map(written, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    return f"{round(value, 3) + 0.0:g}" if isinstance(value, float) else str(value)
