"""Execute notebooks, several at once, and keep the results that are still right.

Each notebook's executed copy is in `_build/executed/<stem>.ipynb`, with a record of how it was
made beside it (`<stem>.json`). The copy is stale once the key in the record differs from
`imports.cache_key`. Both files are written whole or not at all, and a lock lets one run at a time
write into a folder.

This process only hands out work: `execute_job.py` runs the kernels, in processes of its own, and
ends them as soon as this process goes away, in whatever manner.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursekit._base.nearest import no_such
from coursetools.course import Course
from coursetools.jobs.pool import Pool
from coursetools.notebooks.imports import cache_key
from coursekit._base.progress import Progress

TIMEOUT = 300.0  # seconds for a whole notebook
WORKER = "coursetools.notebooks.execute_job"


class NotebookError(CourseError):
    """Notebooks that failed; `failures` has one dict each: notebook, cell, error, kept."""

    def __init__(self, message: str, failures: list[dict[str, Any]]) -> None:
        super().__init__(message)
        self.failures = failures


@dataclass(frozen=True)
class Run:
    """One notebook with its executed copy; `ran` is False where the old copy was still right."""

    notebook: Path
    executed: Path
    record: dict[str, Any]
    ran: bool


def executed_copy(notebook: Path, out_dir: Path | None = None) -> Path:
    """Return where the executed copy of `notebook` belongs, whether or not it is there.

    Below `notebooks/` a subfolder is kept: `training/bert.ipynb` is not the page `bert.ipynb`.
    """
    notebook = Path(notebook).resolve()
    course = Course.around(notebook.parent)
    folder = course.executed if out_dir is None else Path(out_dir).resolve()
    inside = course.notebooks
    return folder / (
        notebook.relative_to(inside) if notebook.is_relative_to(inside) else notebook.name
    )


def read_record(executed: Path) -> dict[str, Any] | None:
    """Return the record beside an executed copy; None where either file is missing or broken."""
    try:
        record = json.loads(Path(executed).with_suffix(".json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and Path(executed).is_file() else None


def is_stale(notebook: Path, out_dir: Path | None = None) -> bool:
    """Return whether `notebook` must be executed again."""
    record = read_record(executed_copy(notebook, out_dir))
    return record is None or record.get("key") != cache_key(notebook)


def stale(course: Course, out_dir: Path | None = None) -> list[Path]:
    """Return the lecture notebooks whose executed copy is missing or no longer right."""
    return [path for path in course.lectures if is_stale(path, out_dir)]


def run_notebooks(
    paths: Iterable[Path],
    out_dir: Path | None = None,
    *,
    workers: int | None = None,
    timeout: float = TIMEOUT,
    progress: Progress | None = None,
    force: bool = False,
) -> list[Run]:
    """Execute those of `paths` that are stale (all with `force`) and return a `Run` for each path.

    At most `workers` processes are at work, two or the number of cores by default. A notebook that
    fails or needs more than `timeout` seconds does not stop the others; what it showed until then
    is kept as `<stem>.failed.ipynb`, and at the end one `NotebookError` names every failure. On
    Ctrl-C the kernels end, finished results stay, and nothing half-written is left.
    """
    notebooks = [Path(path).resolve() for path in paths]
    for path in notebooks:
        if not path.is_file():
            there = [one.name for one in path.parent.glob("*.ipynb")]
            raise CourseError(no_such("notebook", path.name, there, tell=False))
    if workers is not None and workers < 1:
        raise CourseError(f"at least one worker is needed, not {workers}")
    progress = progress or Progress()
    copies = {path: executed_copy(path, out_dir) for path in notebooks}
    if len(set(copies.values())) < len(copies):
        raise CourseError("two of these notebooks have the same name, so one would hide the other")
    executed = set()
    failures = []
    with _locked({copy.parent for copy in copies.values()}, progress):
        jobs = []
        for path, copy in copies.items():
            if not force and not is_stale(path, out_dir):
                progress.advance(f"{path.stem} is unchanged")
                continue
            course = Course.around(path.parent)
            jobs.append({"notebook": path, "copy": copy, "course": course, "timeout": timeout})
        count = min(len(jobs), workers or min(2, os.cpu_count() or 1))
        with Pool(WORKER, count) as pool:  # its processes end before the lock is let go
            for job, answer in pool.run(jobs):
                path = job["notebook"]
                if answer["ok"]:
                    executed.add(path)
                    progress.advance(f"{path.stem} ran in {answer['seconds']:.1f} s")
                else:
                    failures.append({"notebook": path, **answer})
                    progress.advance(f"{path.stem} failed")
    if failures:
        raise NotebookError(_sentence(failures), failures)
    return [Run(p, copy, read_record(copy) or {}, p in executed) for p, copy in copies.items()]


def _sentence(failures: list[dict[str, Any]]) -> str:
    parts = []
    for failure in sorted(failures, key=lambda failure: str(failure["notebook"])):
        course = Course.around(failure["notebook"].parent)
        part = course.relative(failure["notebook"])
        if failure.get("cell"):
            part += f", cell {failure['cell']}"
        part += f": {failure['error']}"
        if failure.get("kept"):
            part += f" (see {course.relative(Path(failure['kept']))})"
        parts.append(part)
    count = "a notebook failed" if len(parts) == 1 else f"{len(parts)} notebooks failed"
    return f"{count}: " + "; ".join(parts)


@contextmanager
def _locked(folders: set[Path], progress: Progress) -> Iterator[None]:
    """Hold the lock of every folder, and clear what a killed run left in it."""
    from filelock import FileLock, Timeout

    held = []
    try:
        for folder in sorted(folders):  # always in the same order, or two runs wait for each other
            folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(folder / ".lock")
            try:
                lock.acquire(timeout=0)
            except Timeout:
                progress.note(f"another run writes into {folder.name}; waiting for it to finish")
                lock.acquire()
            held.append(lock)
            for left_over in folder.glob(".*.tmp"):
                left_over.unlink(missing_ok=True)
        yield
    finally:
        for lock in reversed(held):
            lock.release()
