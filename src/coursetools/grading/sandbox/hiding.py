"""What students' code does not find on the disk: `check`, and what a question forbids.

An assignment whose questions forbid `coursekit` is graded without it: of the whole package there is
what the released notebook imports itself, and what answers in the student's process. Other packages
that a question forbids are not there either. torch has to be (`watch`).
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import cache_from_source
from pathlib import Path

from coursekit.submission.stand_ins import OURS, SILENT

LIBRARY = "coursekit"
ANSWERS = "coursetools.grading.student.serve"
HERE = {"torch", "functorch", "numpy", "math"}  # torch needs functorch to compile
IMPORT = re.compile(r"^[^\S\n]*(?:from\s+(coursekit[\w.]*)\s+)?import\s+([\w., ]+)", re.MULTILINE)


def hidden(
    source: Path, folders: Iterable[str], watched: Iterable[str], cells: Sequence[Sequence[object]]
) -> tuple[list[str], list[str], list[str]]:
    """Return folders to hide, files in them to be shown all the same, and the latter's modules.

    Our packages are in `source`, copies of them perhaps in `folders`. `watched` is all that the
    questions forbid, `cells` the released notebook. No modules stand for all of them: then only
    `check` is hidden, which knows what visible cases should give.
    """
    roots = {name.split(".")[0] for name in watched} - HERE
    away = [*OURS, *roots - {*OURS}] if LIBRARY in roots else [*roots]
    hide = [os.path.join(home, name) for home in (str(source), *folders) for name in away]
    if LIBRARY not in roots:
        hide += [str(source.joinpath(*name.split("."))) for name in SILENT]
    hide = [path for one in hide for path in (one, os.path.realpath(one))]
    hide = [path for path in dict.fromkeys(hide) if os.path.isdir(path)]
    if LIBRARY not in roots:
        return hide, [], []
    own = (name for _, text in cells for name in _named(str(text)))
    modules = dict(_with_imports(source, [LIBRARY, ANSWERS, *own]))
    show = [str(path) for path in modules.values()]
    show += [file for one in show if os.path.isfile(file := cache_from_source(one))]
    show += {str(path.parent / "files") for path in modules.values()}
    return hide, [path for path in show if os.path.exists(path)], list(modules)


def visible(read: Iterable[str], hide: Sequence[str]) -> list[str]:
    """Return what is left of `read` without `hide`: neighbours, in place of what holds both."""
    names = []
    for path in read:
        if any(_within(path, one) for one in hide):
            continue
        if not any(_within(one, path) for one in hide) or os.path.islink(path):
            names.append(path)
        else:
            names += visible((os.path.join(path, name) for name in os.listdir(path)), hide)
    return names


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _named(source: str) -> Iterator[str]:
    """Yield what a cell imports of ours, or may: `from a import b` may mean a module `a.b`."""
    for match in IMPORT.finditer(source):
        home, names = match[1], [part.split()[0] for part in match[2].split(",") if part.strip()]
        if home:
            yield home
        for name in names:
            if home or name.split(".")[0] == LIBRARY:
                yield f"{home}.{name}" if home else name


def _with_imports(source: Path, names: Iterable[str]) -> Iterator[tuple[str, Path]]:
    """Yield modules and their files, with all that they import of this package."""
    from coursetools.notebooks.imports import homes

    seen, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name in seen or ".".join(name.split(".")[:2]) in SILENT:
            continue
        seen.add(name)
        place = source.joinpath(*name.split("."))
        path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        if not path.is_file():  # not a module, but something in one
            home, _, inside = name.rpartition(".")
            shown = source.joinpath(*home.split("."), "__init__.py")
            if shown.is_file() and (file := homes(shown).get(inside)):
                waiting.append(f"{home}.{file}")
            continue
        yield name, path
        waiting.append(name.rpartition(".")[0] or LIBRARY)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OURS:
                waiting += [str(node.module), *(f"{node.module}.{a.name}" for a in node.names)]
            elif isinstance(node, ast.Import):
                waiting += [alias.name for alias in node.names if alias.name.startswith(OURS)]
