"""Results that show themselves: all of a cell's, wherever in the cell they are made.

In a notebook a result is displayed as soon as it is made, and not again as the value of the same
cell. A script prints it. Python's own prompt displays every value anyway.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any, Self


class Shown:
    """A result that a learner reads: `show` displays it, and its cell does not display it again."""

    def show(self) -> Self:
        """Display this result now, and return it."""
        shell = running()
        if shell is not None:
            _Cell.of(shell).results.append(self)
            _publish(self)
        elif not hasattr(sys, "ps1"):
            _print(repr(self))
        return self

    def _ipython_display_(self) -> None:
        """Display this as the value of a cell, unless the cell has done so already."""
        shell = running()
        if shell is None or not any(self is one for one in _Cell.of(shell).results):
            _publish(self)


class _Cell:
    """What the cell that is running has displayed."""

    now: _Cell | None = None

    def __init__(self, shell: Any) -> None:
        self.shell, self.number = shell, shell.execution_count
        self.results: list[Any] = []

    @classmethod
    def of(cls, shell: Any) -> _Cell:
        now = cls.now
        if now is None or now.shell is not shell or now.number != shell.execution_count:
            now = cls.now = cls(shell)
        return now


def running() -> Any | None:
    """Return the shell of IPython, and so of a notebook; None in a script or a grader."""
    if "IPython" not in sys.modules:
        return None
    with suppress(Exception):
        shell = sys.modules["IPython"].get_ipython()
        return shell if isinstance(shell.execution_count, int) else None
    return None


def is_cell(file: str) -> bool:
    """Return whether the code of a cell has this name in the place of a file's."""
    return "ipykernel_" in file or "ipython-input" in file or file.startswith("<cell ")


def _print(text: str) -> None:
    """Print a text; characters that the terminal does not have become question marks."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    with suppress(OSError, ValueError):  # a stream that is closed
        print(text.encode(encoding, "replace").decode(encoding))


def _publish(result: Any) -> None:
    from IPython.display import publish_display_data

    data = {"text/plain": repr(result)}
    if hasattr(result, "_repr_html_"):
        data["text/html"] = result._repr_html_()
    publish_display_data(data)
