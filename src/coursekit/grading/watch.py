"""Notices, in the student's process, that an answer uses what its question forbids.

Three looks, since each can be evaded: functions and classes under their names, torch's functions
and operations by whatever way they were reached, and the code of forbidden modules as it runs. What
they see is shown to a human and changes no points.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from types import FrameType, ModuleType
from typing import Any

from torch.overrides import TorchFunctionMode

OURS = "coursekit.grading."  # that is us, looking
BELOW = {  # beginnings of operation names, where they differ from the public one
    "scaled_dot_product_attention": ("scaled_dot_product",),
    "MultiheadAttention": ("multi_head_attention", "native_multi_head", "transform_bias_rescale"),
}


class Watch:
    """Knows some forbidden names, and which of them were used while it looked."""

    def __init__(self, names: Sequence[str]) -> None:
        self.used: set[str] = set()
        self._looking: frozenset[str] = frozenset()
        self._modules: list[str] = []
        self._means: dict[str, frozenset[str]] = {}  # an operation -> forbidden names
        self._opened = False  # a file of one of the modules
        self._at_opening: Callable[[], None] = _nothing
        for name in names:
            try:
                self._wrap(name)
            except (ImportError, AttributeError, TypeError):
                continue  # nothing of this name: then nobody can use it
        self._leaves = {n: _beginnings(n) for n in names if n.startswith("torch.")}
        if self._modules:
            sys.addaudithook(self._audit())

    def begin(self) -> None:
        """Forget what has been opened so far: that was us."""
        self._opened = False

    @contextmanager
    def look(self, names: Sequence[str]) -> Iterator[None]:
        """Notice the use of `names` inside the block."""
        self.used, self._looking = set(), frozenset(names)
        modules = tuple(name for name in self._modules if name in self._looking)
        with ExitStack() as stack:
            if modules and self._opened:
                self._profile(stack, modules)
            elif modules:
                self._at_opening = lambda: self._profile(stack, modules)
            if any(name in self._leaves for name in self._looking):
                stack.enter_context(_Functions(self._saw))
            try:
                yield
            finally:
                self._looking, self._at_opening = frozenset(), _nothing

    def _wrap(self, name: str) -> None:
        holder, leaf = _holder(name)
        if holder is None:
            self._modules.append(name)  # a module, or one that is not installed
            return
        original = getattr(holder, leaf)
        if isinstance(original, ModuleType):
            self._modules.append(name)
        elif isinstance(original, type):
            original.__init__ = self._noting(name, original.__init__)  # type: ignore[misc]
        else:
            setattr(holder, leaf, self._noting(name, original))

    def _noting(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def noted(*arguments: Any, **named: Any) -> Any:
            if name in self._looking:
                self.used.add(name)
            return original(*arguments, **named)

        return noted

    def _audit(self) -> Callable[[str, tuple[Any, ...]], None]:
        """Return what Python calls for every file that is opened, whoever does it, to the end."""
        parts = tuple(f"{os.sep}{name.replace('.', os.sep)}" for name in self._modules)

        def audit(event: str, arguments: tuple[Any, ...]) -> None:
            if event == "open" and not self._opened:
                path = arguments[0]
                plain = type(path) is str and path.startswith(os.sep)
                if not plain or any(part in os.path.realpath(path) for part in parts):
                    self._opened = True
                    self._at_opening()

        return audit

    def _profile(self, stack: ExitStack, modules: tuple[str, ...]) -> None:
        def profile(frame: FrameType, event: str, _: Any) -> None:
            if event == "call":
                where = frame.f_globals.get("__name__")
                if type(where) is str and not where.startswith(OURS):
                    for name in modules:
                        if where == name or where.startswith(name + "."):
                            self.used.add(name)

        sys.setprofile(profile)
        stack.callback(sys.setprofile, None)

    def _saw(self, operation: str) -> None:
        if operation not in self._means:
            self._means[operation] = frozenset(self._meant(operation.strip("_")))
        self.used |= self._means[operation] & self._looking

    def _meant(self, operation: str) -> Iterator[str]:
        """Yield the forbidden names that an operation of torch is called by."""
        for name, beginnings in self._leaves.items():
            leaf = name.rpartition(".")[2]
            if operation.startswith(beginnings) and (
                leaf in BELOW or operation.split(".")[0].rstrip("_") == leaf
            ):
                yield name


class _Functions(TorchFunctionMode):
    """torch's functions and methods, by whatever name they were reached."""

    def __init__(self, saw: Callable[[str], None]) -> None:
        super().__init__()
        self._saw = saw

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._saw(str(getattr(func, "__name__", "")))
        return func(*args, **(kwargs or {}))


def _nothing() -> None:
    """Be called where there is nothing to do."""


def _beginnings(name: str) -> tuple[str, ...]:
    leaf = name.rpartition(".")[2]
    return BELOW.get(leaf, (leaf,))


def _holder(name: str) -> tuple[Any, str]:
    """Return the module or class that holds the last part of a dotted name."""
    parts = name.split(".")
    if parts[0] not in ("torch", "numpy", "math"):
        return None, ""  # other modules are watched while they run
    value: Any = import_module(parts[0])
    for number, part in enumerate(parts[1:-1], start=2):
        if not hasattr(value, part):
            import_module(".".join(parts[:number]))
        value = getattr(value, part)
    return (value, parts[-1]) if len(parts) > 1 else (None, "")
