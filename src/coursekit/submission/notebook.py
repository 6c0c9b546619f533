"""Runs a notebook's cells, in a process of their own: compile and exec, nothing of IPython between.

The grader runs what was handed in with this, and `submit_check` what will be.

What a cell printed is read from its pipes by the judge; here are its figures, the value of its last
expression, and its error with the line of the student's own code.
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import contextlib
import errno
import inspect
import io
import linecache
import os
import re
import sys
import types
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from coursekit.submission import stand_ins
from coursekit.submission.checked import Checked
from coursekit.submission.resource_limits import Limits

TEXT = 10_000  # characters of a shown value
SENTENCE = 600  # of an error's message
FIGURE_BYTES = 256 << 10
SPECIAL = re.compile(r"^[^\S\n]*[%!?]|\?\s*$|=\s*[%!]", re.MULTILINE)
NO_MEMORY = ("can't allocate memory", "not enough memory", "bad_alloc", "bad allocation")
REFUSED = {errno.EPERM, errno.EACCES, errno.EROFS, errno.ENETUNREACH, errno.ENETDOWN}
FULL = {
    errno.ENOSPC: "it wrote more, or more files, than a submission may",
    errno.EDQUOT: "it wrote more than a submission may",
    errno.EFBIG: "it wrote a larger file than a submission may",
    errno.EAGAIN: "it started more processes or threads than a submission may",
    errno.EMFILE: "it opened more files at once than a submission may",
}
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


class Notebook:
    """One student's notebook: a namespace that its cells share."""

    def __init__(
        self, limits: Limits, modules: Collection[str] = (), *, graded: bool = True
    ) -> None:
        self._module = types.ModuleType("__main__")
        self.names: dict[str, Any] = self._module.__dict__
        self.names["__builtins__"] = builtins
        self.checked = Checked(self.names)
        self._limits, self._figures, self._figure_bytes = limits, 0, 0
        self._pending: list[bytes] = []
        stand_ins.put_in_place(self.names, lambda *_, **__: self._draw(), modules, graded=graded)
        sys.modules["__main__"] = self._module

    def forget(self, kept: dict[str, Any]) -> None:
        """Go back to the names that there were before some cells ran."""
        self.names.clear()
        self.names.update(kept)
        for name in [name for name in linecache.cache if name.startswith("<cell ")]:
            del linecache.cache[name]

    def run(self, number: int, source: str, definitions: bool) -> dict[str, Any]:
        """Run a cell and return plain data: "text" of its value, "number", "error", "figures"."""
        name = cell_name(number)
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        output: dict[str, Any] = {}
        try:
            value = self._execute(source, name, definitions)
            if value is not None:
                output["text"] = repr(value)[:TEXT]
                if type(value) in (int, float):
                    output["number"] = value
                self.names["_"] = value
        except BaseException as error:
            output["error"] = describe(error) | {"here": _line_in(error, name)}
        try:
            self._draw()
        except BaseException as error:
            output.setdefault("error", describe(error))
        output["figures"], self._pending = self._pending, []
        flush()
        return output

    def _execute(self, source: str, name: str, definitions: bool) -> Any:
        first, last = compiled(source, name, definitions)
        self._evaluate(first)
        return None if last is None else self._evaluate(last)

    def _evaluate(self, code: types.CodeType) -> Any:
        if code.co_flags & inspect.CO_COROUTINE:
            return asyncio.run(eval(code, self.names))
        return eval(code, self.names)

    def _draw(self) -> None:
        """Turn the open figures into PNG, as far as there may be more, and close them."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None or not pyplot.get_fignums():
            return
        for number in pyplot.get_fignums():
            self._figures += 1
            room = self._limits.notebook_output - self._figure_bytes
            if self._figures <= self._limits.figures and room > 0:
                file = io.BytesIO()
                pyplot.figure(number).savefig(file, format="png", dpi=72)
                if file.tell() <= min(FIGURE_BYTES, room):
                    self._pending.append(file.getvalue())
                    self._figure_bytes += file.tell()
        if self._figures > self._limits.figures:
            print(f"only {self._limits.figures} figures are kept when graded", file=sys.stderr)
        pyplot.close("all")


@lru_cache(maxsize=256)
def compiled(
    source: str, name: str, definitions: bool = False
) -> tuple[types.CodeType, types.CodeType | None]:
    """Return the code of a cell, and that of its last expression if it has a value to be shown.

    Remembered, so that the fork server can compile what everybody's notebook has.
    """
    source = _plain(source)
    tree = ast.parse(source, name)
    if definitions:
        tree.body = [node for node in tree.body if isinstance(node, DEFINITIONS)]
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not _silenced(source):
        value = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
        last = compile(value, name, "eval", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    return compile(tree, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), last


def cell_name(number: int) -> str:
    """Return the name that the code of a cell has, in place of a file's."""
    return f"<cell {number}>"


def flush() -> None:
    """Hand on what was printed; a student's own stdout may refuse."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()


def describe(error: BaseException) -> dict[str, Any]:
    """Return plain data of an error: its status, type, message, and where the student wrote it."""
    cell, line = _place(error)
    try:
        message = str(error)
    except BaseException:
        message = "an error that cannot be shown"
    status, sentence = _judged(error, message)
    return {
        "status": status,
        "type": type(error).__name__[:100],
        "builtin": getattr(builtins, type(error).__name__, None) is type(error),
        "message": sentence[:SENTENCE],
        "cell": cell,
        "line": line,
    }


def _line_in(error: BaseException, name: str) -> int:
    """Return the line of the cell called `name` that led to an error, 0 for none."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == name:
            return trace.tb_lineno
        trace = trace.tb_next
    return 0


def _place(error: BaseException) -> tuple[int, int]:
    """Return the cell and line of the innermost frame that is the student's, 0 for none."""
    position = (0, 0)
    trace = error.__traceback__
    frames = [(trace.tb_frame.f_code.co_filename, trace.tb_lineno)] if trace else []
    while trace is not None:
        frames.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    if isinstance(error, SyntaxError):
        frames.append((error.filename or "", error.lineno or 0))
    for name, line in frames:
        match = re.fullmatch(r"<cell (\d+)>", name)
        if match:
            position = (int(match[1]), line)
    return position


def _judged(error: BaseException, message: str) -> tuple[str, str]:
    """Return the status of an error and what to say of it."""
    if isinstance(error, MemoryError):
        return "MEM", message or "it asked for more memory than a submission may use"
    if isinstance(error, RuntimeError):
        if any(words in message for words in NO_MEMORY):
            return "MEM", message.splitlines()[0]
        if "can't start new thread" in message:
            return "BLOCKED", FULL[errno.EAGAIN]
    if isinstance(error, SystemExit):
        return "FAIL", "it ended the program with exit(); leave that out"
    if isinstance(error, KeyboardInterrupt):
        return "FAIL", "it interrupted itself"
    if isinstance(error, FileNotFoundError):
        return _no_file(error, message)
    if isinstance(error, OSError):
        if isinstance(error, PermissionError) or error.errno in REFUSED:
            return "BLOCKED", f"the sandbox refuses this ({message})"
        if error.errno in FULL:
            return "BLOCKED", FULL[error.errno]
    if "unable to open database file" in message or "Temporary failure in name" in message:
        return "BLOCKED", f"the sandbox refuses this ({message})"
    return "FAIL", message


def _no_file(error: FileNotFoundError, message: str) -> tuple[str, str]:
    name = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else ""
    if os.path.isabs(name) and not name.startswith("/tmp/"):
        return "BLOCKED", f"the sandbox does not show {name[:200]!r} to a submission"
    return "FAIL", f"{message}; when graded, there is your notebook and none of your other files"


def _plain(source: str) -> str:
    """Return Python for a cell that may have IPython's magics and shell lines."""
    if not SPECIAL.search(source):
        return source
    from IPython.core.inputtransformer2 import TransformerManager

    try:
        ast.parse(source)
    except SyntaxError:
        return TransformerManager().transform_cell(source)
    except (ValueError, RecursionError, MemoryError):
        pass
    return source


def _silenced(source: str) -> bool:
    """Return whether a cell ends with a semicolon, which hides its last value."""
    return source.rstrip().endswith(";")
