"""What a verdict depends on: the instructor's files, the limits, and the grader's own code."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from coursekit import __version__
from coursetools.course import Course
from coursetools.grading.records.folders import Folders
from coursetools.grading.running.judge_job import MASTER, named
from coursetools.notebooks.imports import closure, closure_of_cells
from coursetools.questions.catalogue import Texts, texts


def masters_of(folders: Folders, spec: str = MASTER) -> dict[str, Any]:
    """Return the instructor's notebooks of an assignment, by name."""
    make, files = named(spec), texts(folders.course, folders.name)
    return {
        notebook: make.of(
            folders.name, (folders.source / f"{notebook}.ipynb").read_text("utf-8"), files
        )
        for notebook in folders.notebooks()
    }


def key_of(master: Any, submission: str, folders: Folders) -> str:
    """Return the name of everything that a verdict depends on."""
    facts = [master.key, submission, asdict(folders.limits), engine_version(master.files)]
    return hashlib.blake2b(json.dumps(facts).encode(), digest_size=16).hexdigest()


def made_of(master: Any, folders: Folders) -> dict[str, str]:
    """Return the names of these things one by one, so that it can be said which has changed."""
    facts = {
        "assignment": master.key,
        "limits": asdict(folders.limits),
        "grader": engine_version(master.files),
    }
    return {
        name: hashlib.blake2b(json.dumps(fact).encode(), digest_size=6).hexdigest()
        for name, fact in facts.items()
    }


@cache
def engine_version(files: Texts = ()) -> str:
    """Return a hash of every file of ours that decides what a submission is worth.

    `files` are those of the questions, which import some of them.
    """
    package = Path(__file__).resolve().parents[2]
    parts = ("judging/engine", "student/fork_server", "student/serve")
    starts = [package / "grading" / f"{part}.py" for part in parts]
    cells = [{"cell_type": "code", "source": text} for name, text in files if name[-3:] == ".py"]
    here = Course(package.parent)
    sources = closure(starts, here) | closure_of_cells(cells, package, here)
    state = hashlib.blake2b(__version__.encode(), digest_size=16)
    # The course's address is in messages and links, and decides no points.
    for path in sorted(sources - {package.parent / "coursekit" / "_base" / "address.py"}):
        state.update(hashlib.blake2b(path.read_bytes()).digest())
    return state.hexdigest()
