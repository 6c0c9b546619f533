"""What a worker process of `coursekit grade` does: judges one submission after the other.

It holds the `Engine`, whose own processes run the students' code.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coursekit._base.errors import CourseError
from coursekit.submission.resource_limits import Limits
from coursetools.grading.gradebook.autograded import as_file, autograded
from coursetools.grading.records.folders import read_plain
from coursetools.grading.records.verdict import Verdict

if TYPE_CHECKING:
    from coursetools.grading.running.tasks import Task

ENGINE = "coursetools.grading.judging.engine:Engine"
MASTER = "coursetools.grading.judging.master:Master"


def digest(data: bytes) -> str:
    """Return the hash by which a submission is known."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def named(spec: str) -> Any:
    """Return what `module:name` or `path/to/file.py:name` stands for."""
    where, _, name = spec.rpartition(":")
    if not where.endswith(".py"):
        return getattr(importlib.import_module(where), name)
    module_spec = importlib.util.spec_from_file_location(Path(where).stem, where)
    if module_spec is None or module_spec.loader is None:
        raise CourseError(f"{where} cannot be loaded")
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[Path(where).stem] = module
    module_spec.loader.exec_module(module)
    return getattr(module, name)


class Judges:
    """The engines of an assignment, one a notebook, made when they are first needed."""

    def __init__(self, start: dict[str, Any]) -> None:
        self.limits = Limits(**start["limits"])
        self.require = frozenset(start["require"])
        self.factory = named(start["engine"])
        make = named(start["master"])
        self.masters = {name: make(**fields) for name, fields in start["masters"].items()}
        self.engines: dict[str, Any] = {}

    def engine(self, notebook: str) -> Any:
        """Return the engine of a notebook."""
        if notebook not in self.engines:
            master = self.masters[notebook]
            self.engines[notebook] = self.factory(master, self.limits, self.require)
        return self.engines[notebook]

    def grade(self, notebook: str, data: bytes, student: str) -> tuple[Verdict, str]:
        """Judge one submission; return the text of the graded notebook, too."""
        engine = self.engine(notebook)
        verdict = engine.grade(data, student)
        rebuilt = getattr(engine, "rebuilt", None)
        if rebuilt is None:
            return verdict, ""
        master = self.masters[notebook]
        return verdict, as_file(autograded(master, data, verdict, self.limits, rebuilt))

    def close(self) -> None:
        """End the engines and all their processes."""
        for engine in self.engines.values():
            engine.close()
        self.engines = {}


def work(start: dict[str, Any], jobs: Iterator[Task]) -> Iterator[Any]:
    """Judge one submission after the other."""
    judges = Judges(start)
    try:
        judges.engine(next(iter(judges.masters)))  # what cannot start is known before any task
        yield "ready"
        for task in jobs:
            yield answer(task, judges)
    finally:
        judges.close()


def answer(task: Task, judges: Judges) -> dict[str, Any]:
    """Return what the driver is told about one submission; a failure of ours is an `error`."""
    try:
        data = read_plain(task.path, judges.limits.submission_bytes)
        verdict, graded = judges.grade(task.notebook, data, task.student)
    except CourseError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())
        return {"error": f"{type(error).__name__}: {reason}"[:500]}
    return {"submission": digest(data), "verdict": verdict.as_json(), "graded": graded}
