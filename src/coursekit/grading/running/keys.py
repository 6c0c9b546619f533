"""What a verdict depends on: the instructor's files, the limits, and the grader's own code."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from coursekit import __version__
from coursekit.grading.folders import Folders
from coursekit.grading.running.worker import MASTER, named
from coursekit.notebooks.imports import closure


def masters_of(folders: Folders, spec: str = MASTER) -> dict[str, Any]:
    """Return the instructor's notebooks of an assignment, by name."""
    make = named(spec)
    hidden = folders.private / "hidden.py"
    private = hidden.read_text(encoding="utf-8") if hidden.is_file() else ""
    return {
        notebook: make.of(
            folders.name, (folders.source / f"{notebook}.ipynb").read_text("utf-8"), private
        )
        for notebook in folders.notebooks()
    }


def key_of(master: Any, submission: str, folders: Folders) -> str:
    """Return the name of everything that a verdict depends on."""
    facts = [master.key, submission, asdict(folders.limits), engine_version(folders.name)]
    return hashlib.blake2b(json.dumps(facts).encode(), digest_size=16).hexdigest()


@lru_cache(maxsize=8)
def engine_version(name: str) -> str:
    """Return a hash of every file that decides what a submission is worth."""
    package = Path(__file__).resolve().parents[2]
    parts = ("judging/engine", "student/warm", "student/serve")
    starts = [package / "grading" / f"{part}.py" for part in parts]
    starts += (package / "exercises" / name).glob("*.py")
    found = closure([path for path in starts if path.is_file()], package.parents[0])
    state = hashlib.blake2b(__version__.encode(), digest_size=16)
    for path in sorted(found):
        state.update(hashlib.blake2b(path.read_bytes()).digest())
    return state.hexdigest()
