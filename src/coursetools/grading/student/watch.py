"""Notices, in the student's process, that an answer uses what its question forbids of torch.

Whatever else is forbidden is not there to be found (`sandbox.hiding`). torch has to be there, and
one question's forbidden function is another's tool, so each is replaced, once and before any code
of a student is loaded, by one that takes a note where the question at hand forbids it. The notes
are shown to a human and change no points. They lie in no object that has a name. Who gets at them
all the same, or at torch below the names that Python sees, had to say how: `assignments.evasions`
finds that in the source, in the judge's process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from importlib import import_module
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from numpy import ufunc

from coursetools.grading.student.call_recorder import watched

METHODS = ("__init__", "forward", "step")  # by which a class is used


def watch(names: Sequence[str]) -> tuple[Callable[[Collection[str]], None], Callable[[], list]]:
    """Watch torch for `names`; return what begins to look for some of them, and what ends it.

    The second returns those that were used in between, or when it was called the last time.
    """
    looking: frozenset[str] = frozenset()
    used: set[str] = set()

    def begin(forbidden: Collection[str]) -> None:
        nonlocal looking
        looking = frozenset(forbidden)

    def end() -> list[str]:
        nonlocal looking
        looking = frozenset()
        names = sorted(used)
        used.clear()
        return names

    def note(names: set[str], anybody: bool) -> Callable[[], None]:
        caller = sys._getframe

        def called() -> None:
            if looking and (anybody or _is_cell(caller(2).f_code.co_filename)):
                used.update(names & looking)

        return called

    known: dict[tuple[Any, str], tuple[set[str], Any, bool]] = {}
    for name in names:
        for holder, leaf, original, anybody in _meant(name):
            known.setdefault((holder, leaf), (set(), original, anybody))[0].add(name)
    made: dict[Any, Any] = {}  # the same function is the same in every module that has it
    for (holder, leaf), (meant, original, anybody) in known.items():
        place = _place(holder, leaf, original)
        key = id(original), place, frozenset(meant), anybody
        if key not in made:
            made[key] = watched(original, note(meant, anybody), place)
        try:
            setattr(holder, leaf, made[key])
        except (AttributeError, TypeError):
            continue  # a class that is torch's C++: its name in the source is seen
    return begin, end


def _meant(name: str) -> Iterator[tuple[Any, str, Callable[..., Any], bool]]:
    """Yield what comes after a dotted name: where it is held, under what name, and itself.

    And whether it is the same who calls it, torch or the notebook: torch calls what is in its
    modules for ends of its own. A class is its methods, a function whatever is called the same, a
    module all that is in it and has no other name, as `torch.no_grad` has. What does not exist
    nobody can use.
    """
    parts = name.split(".")
    if parts[0] not in ("torch", "functorch", "numpy", "math"):
        return
    value: Any = import_module(parts[0])
    for number, part in enumerate(parts[1:], start=2):
        holder, leaf = value, part
        try:
            value = getattr(value, part)
        except AttributeError:
            try:
                value = import_module(".".join(parts[:number]))
            except ImportError:
                return
    if isinstance(value, ModuleType):
        for module in [m for n, m in list(sys.modules.items()) if f"{n}.".startswith(f"{name}.")]:
            for leaf, one in list(vars(module).items()):
                if getattr(sys.modules["torch"], leaf, None) is one:
                    continue
                if isinstance(one, (FunctionType, BuiltinFunctionType)):
                    yield module, leaf, one, False
                elif isinstance(one, type) and one.__module__ == module.__name__:
                    yield from ((one, at, method, at != "__init__") for at, method in _methods(one))
    elif isinstance(value, type):
        yield from ((value, at, method, True) for at, method in _methods(value))
    else:
        torch = sys.modules["torch"]
        homes = (torch, torch.special, torch.nn.functional, torch.Tensor)
        for home in dict.fromkeys((holder, *homes)):  # the same by another name
            for spelled in (leaf, f"{leaf}_"):
                one = getattr(home, spelled, None)
                if callable(one) and not isinstance(one, ufunc):  # whose methods would be lost
                    yield home, spelled, one, True
                    made_in = getattr(one, "__self__", None)  # of a function of C: its module
                    if isinstance(made_in, ModuleType):
                        yield made_in, one.__name__, one, True


def _place(holder: Any, leaf: str, original: Any) -> str:
    """Return the name by which a pickle finds a function in its module."""
    if isinstance(holder, type):
        return f"{holder.__qualname__}.{leaf}"
    return (
        original.__name__ if isinstance(getattr(original, "__self__", None), ModuleType) else leaf
    )


def _methods(kind: type) -> list[tuple[str, Callable[..., Any]]]:
    methods = ((leaf, vars(kind).get(leaf)) for leaf in METHODS)
    return [(leaf, method) for leaf, method in methods if isinstance(method, FunctionType)]


def _is_cell(file: str) -> bool:
    """Return whether code is a notebook's, and not torch's own, which calls these names itself."""
    return file.startswith("<") and not file.startswith("<frozen")
