"""Packages whose names are loaded when they are asked for (PEP 562), so that importing is quick."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType


def lazily(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package; `homes` is name -> module that holds it.

    `data.verses` is a function in the file `verses.py`. Python binds a file to its package when it
    is loaded, and the name would mean one thing before and another after: here it is the function.
    """

    class Package(ModuleType):
        def __setattr__(self, name: str, value: object) -> None:
            if homes.get(name) == name and isinstance(value, ModuleType):
                value = getattr(value, name)
            super().__setattr__(name, value)

    if any(name == home for name, home in homes.items()):
        sys.modules[package].__class__ = Package

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    def names() -> list[str]:
        return sorted([*vars(sys.modules[package]), *homes])

    return load, names


def homes_of(files: Mapping[str, str]) -> dict[str, str]:
    """Return the file of each name; `files` has their names, a space between two, by the file."""
    return {name: file for file, names in files.items() for name in names.split()}
