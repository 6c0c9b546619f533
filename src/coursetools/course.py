"""Where a course is, and how its files are read and written: for every command.

A course is a folder that holds `_config.yml` and `notebooks/`. This file loads nothing heavy.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coursekit._base.errors import CourseError

# nbgrader copies to students whatever lies beside a source notebook; so what is private does not.
SOURCES = "solutions/notebooks"


def course_root(start: Path) -> Path:
    """Return the folder of the course: the nearest from `start` upwards that has both."""
    start = Path(start).resolve()
    for folder in (start, *start.parents):
        if (folder / "_config.yml").is_file() and (folder / "notebooks").is_dir():
            return folder
    raise CourseError(
        f"{start} is not inside a course: no folder from there upwards holds "
        "both _config.yml and notebooks/"
    )


def source_folder(root: Path, name: str) -> Path:
    """Return the folder of an assignment's source notebook, and of what students get beside it."""
    return Path(root) / SOURCES / name


def private_folder(root: Path, name: str) -> Path:
    """Return the folder of an assignment's hidden cases and settings."""
    return Path(root) / "solutions" / name


def relative(path: Path, root: Path) -> str:
    """Return `path` as a reader of the course would write it: from `root`, with slashes."""
    path, root = Path(path).resolve(), Path(root).resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that nobody ever sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def quick_imports() -> Iterator[None]:
    """Make `import nbformat` two seconds faster inside this block.

    nbformat imports jsonschema, and that compiles a grammar of internet addresses at once if the
    package rfc3987_syntax is there, which comes with Jupyter. The form of notebooks has no use for
    it, and jsonschema does without it.
    """
    name = "rfc3987_syntax"
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # Python's own sign for "not there"
    try:
        yield
    finally:
        del sys.modules[name]
