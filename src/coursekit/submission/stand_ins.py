"""What a notebook finds in the place of things that a grader does not have.

`input`, IPython's shell, Colab's modules, and the course's own `check`, which has nothing to say
when somebody else is judging.
"""

from __future__ import annotations

import builtins
import importlib.abc
import sys
import types
from collections.abc import Collection, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any, NoReturn

OURS = ("coursekit", "coursetools")
SILENT = ("coursekit.check",)  # says nothing when graded
HARMLESS = {  # magics that change nothing about an answer
    *("autoreload", "capture", "config", "env", "load_ext", "matplotlib", "pylab", "precision"),
    *("reload_ext", "time", "timeit", "prun", "who", "whos", "xmode", "colors"),
}
RUNS_ITS_CELL = {"time", "capture", "prun"}


def put_in_place(
    names: dict[str, Any], show: Any, modules: Collection[str] = (), *, graded: bool = True
) -> None:
    """Give the notebook's namespace `names`, and this process, their stand-ins.

    Of our own package there are `modules`; all, if none is named. Where a notebook is not `graded`,
    but its author rehearses, the package stays as it is, and `check` speaks.
    """
    shell = Shell(names)
    names.update(get_ipython=lambda: shell, display=display)
    builtins.input = _no_input
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.show = show  # type: ignore[attr-defined]
    sys.meta_path.insert(0, _NotHere(modules))
    if not graded:
        return
    for name in [name for name in sys.modules if name.split(".")[0] in OURS]:
        del sys.modules[name]  # ours; an import finds fresh ones, which know nothing
    for name in SILENT:
        silent = types.ModuleType(name, "Quiet while a notebook is graded.")
        silent.__path__ = []
        for attribute in ("check", "exam_check", "submit_check", "variant", "catch"):
            setattr(silent, attribute, quiet)
        sys.modules[name] = silent


def _no_input(prompt: object = "") -> NoReturn:
    """Stand for `input`, and for `getpass` in effect: there is nobody to answer."""
    raise EOFError("input() is not available when graded")


def quiet(*_: Any, **__: Any) -> None:
    """Stand for `check`, `submit_check`, `variant` and `catch`."""


def display(*objects: Any, **_: Any) -> None:
    """Stand for IPython's: show as text."""
    for value in objects:
        print(repr(value))


class Shell:
    """Stands for IPython's shell: knows the magics that do no harm, and refuses the others."""

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names

    def run_line_magic(self, name: str, line: str, *_: Any, **__: Any) -> None:
        """Run what comes after `%name line`, or say that it is not run."""
        if name in ("time", "timeit", "prun"):
            exec(compile(line, "<magic>", "exec"), self._names)
        elif name not in HARMLESS:
            _not_run(f"%{name} {line}")

    def run_cell_magic(self, name: str, line: str, cell: str) -> None:
        """Run the cell below `%%name`, or say that it is not run."""
        if name in RUNS_ITS_CELL or name == "timeit":
            exec(compile(cell, "<magic>", "exec"), self._names)
        else:
            _not_run(f"%%{name} {line}")

    def system(self, command: str) -> None:
        """Stand for `!command`."""
        _not_run(f"!{command}")

    def getoutput(self, command: str, *_: Any, **__: Any) -> list[str]:
        """Stand for `x = !command`."""
        _not_run(f"!{command}")
        return []

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"IPython's shell is not there when graded, so neither is its {name}")


def _not_run(what: str) -> None:
    print(f"not run when graded: {what.strip()[:200]}", file=sys.stderr)


class _NotHere(importlib.abc.MetaPathFinder):
    """Says of Colab's modules, and of ours, why they are missing."""

    def __init__(self, modules: Collection[str]) -> None:
        self._modules = frozenset(modules)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: Any = None
    ) -> ModuleSpec | None:
        if name == "google.colab" or name.startswith("google.colab."):
            raise ModuleNotFoundError(
                "google.colab is there in Colab only, not when graded; leave it out, or put it "
                "between `try:` and `except ModuleNotFoundError:`",
                name=name,
            )
        if self._modules and name.split(".")[0] in OURS and name not in self._modules:
            raise ModuleNotFoundError(
                f"{name} is not there when graded: this assignment asks you to do without it",
                name=name,
            )
        if name == "google" and PathFinder.find_spec(name, path) is None:
            # The parent is looked for first; without it nobody would ask for google.colab.
            return ModuleSpec(name, None, is_package=True)
        return None
