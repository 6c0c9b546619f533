"""A worker process of `coursekit grade`: reads one submission after the other and judges it.

It is started afresh (`python -m coursekit.grading.running.worker`), talks with the driver in JSON
over one socket, and holds the `Engine`, whose own processes run the students' code. It ends when
the driver does, however that ends.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import os
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from coursekit.assignments.limits import Limits
from coursekit.errors import CourseError
from coursekit.grading.folders import read_plain
from coursekit.grading.gradebook.autograded import as_file, autograded
from coursekit.grading.verdict import Verdict

ENGINE = "coursekit.grading.judging.engine:Engine"
MASTER = "coursekit.grading.judging.master:Master"


def digest(data: bytes) -> str:
    """Return the hash by which a submission is known."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def named(spec: str) -> Any:
    """Return what `module:name` or `path/to/file.py:name` stands for."""
    where, _, name = spec.rpartition(":")
    if not where.endswith(".py"):
        return getattr(importlib.import_module(where), name)
    made = importlib.util.spec_from_file_location(Path(where).stem, where)
    if made is None or made.loader is None:
        raise CourseError(f"{where} cannot be loaded")
    module = importlib.util.module_from_spec(made)
    sys.modules[Path(where).stem] = module
    made.loader.exec_module(module)
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

    def grade(self, notebook: str, data: bytes) -> tuple[Verdict, str]:
        """Judge one submission; return the text of the graded notebook, too."""
        engine = self.engine(notebook)
        verdict = engine.grade(data)
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


def answer(task: dict[str, Any], judges: Judges) -> dict[str, Any]:
    """Return what the driver is told about one task; a failure of ours is `lost`."""
    try:
        data = read_plain(Path(task["path"]), judges.limits.submission_bytes)
        verdict, graded = judges.grade(task["notebook"], data)
    except CourseError as error:
        return {"refused": str(error)}
    except Exception as error:
        said = " ".join(str(error).split())
        return {"lost": f"{type(error).__name__}: {said}"[:500]}
    return {"submission": digest(data), "verdict": verdict.as_json(), "graded": graded}


def main(handle: int) -> None:
    """Serve the driver at the other end of socket `handle` until it closes."""
    os.set_inheritable(handle, False)
    _end_with_driver()
    connection = Connection(handle)
    start = json.loads(connection.recv_bytes())
    try:
        judges = Judges(start)
        judges.engine(next(iter(judges.masters)))  # what cannot start is known before any task
    except CourseError as error:
        connection.send_bytes(json.dumps({"refused": str(error)}).encode())
        return
    try:
        _serve(connection, lambda task: answer(task, judges))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the driver has no more tasks, or is gone
    finally:
        judges.close()


def _serve(connection: Connection, work: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    connection.send_bytes(b'{"ready": true}')
    while True:
        task = json.loads(connection.recv_bytes())
        connection.send_bytes(json.dumps(work(task)).encode())


def _end_with_driver() -> None:
    """Ask Linux for a signal when the driver dies; elsewhere the socket tells, a little later."""

    def end(*_: object) -> None:
        raise SystemExit(143)

    signal.signal(signal.SIGTERM, end)
    if sys.platform == "linux":
        import ctypes

        PR_SET_PDEATHSIG = 1
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


if __name__ == "__main__":
    main(int(sys.argv[1]))
