"""Let one command at a time change an assignment, or a table of the class.

A lock is held on a file and goes with the process that holds it, however that ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from coursekit._base.errors import CourseError
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.log import account
from coursetools.text import one_line

MOMENT = 1.0  # seconds; one that was just killed has its lock until what it was starting has begun
WRITING = 30.0  # seconds; far longer than a table takes


@contextmanager
def one_command(folders: Folders, command: str) -> Iterator[None]:
    """Hold the assignment's lock; refuse while another command has it, and say whose it is."""
    path = folders.verdicts.with_suffix(".lock")
    with _held(path, MOMENT, lambda: f"{folders.name} is in use{_holder(path)}") as first:
        if first:
            with suppress(OSError):
                path.write_text(f"{account()} is running coursekit {command}\n", encoding="utf-8")
        yield


@contextmanager
def one_writer(table: Path) -> Iterator[None]:
    """Hold a lock on a table of the class, to read it and write it back."""
    path = table.with_name(f".{table.name}.lock")
    with _held(path, WRITING, lambda: f"{table} is being written by another command"):
        yield


@contextmanager
def _held(path: Path, wait: float, refusal: Callable[[], str]) -> Iterator[bool]:
    """Hold a lock, and yield whether this process did not hold it already."""
    from filelock import FileLock, Timeout

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A singleton may be taken again by the one who has it.
        held = FileLock(path, is_singleton=True).acquire(timeout=wait)
    except Timeout as error:
        raise CourseError(f"{refusal()}; wait until that has finished") from error
    except OSError as error:
        raise CourseError(f"cannot write to {path} ({error.strerror})") from error
    with held:
        yield held.lock.lock_counter == 1


def _holder(path: Path) -> str:
    """Return who has the lock, as its file says."""
    try:
        return f": {one_line(path.read_text(encoding='utf-8').strip(), 80)}"
    except (OSError, UnicodeDecodeError):
        return ""
