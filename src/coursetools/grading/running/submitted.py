"""What a student's folder in `submitted/` holds: the notebook and its time, or nothing."""

from __future__ import annotations

import hashlib
import os
from datetime import datetime
from pathlib import Path

from coursekit._base.errors import CourseError
from coursekit._base.progress import Progress
from coursetools.course import write_changed
from coursetools.grading.records.folders import Folders, read_plain
from coursetools.grading.records.verdict import Status, Verdict
from coursetools.grading.records.verdict_files import Place
from coursetools.grading.running.judge_job import digest

NOTHING, NO_PLAIN_FILE = "nothing", "no plain file"  # in the place of a file's hash
NO_FILE: dict[str, tuple[Status, str]] = {
    NOTHING: ("MISSING", "the notebook was not submitted"),
    NO_PLAIN_FILE: ("MALFORMED", "a link or something else was submitted, not a file"),
}


def submitted_file(folders: Folders, student: str, notebook: str, of: int) -> Path | None:
    """Return the file that was submitted; a single one with another name counts too."""
    folder = folders.submitted(student)
    path = folder / f"{notebook}.ipynb"
    if os.path.lexists(path):
        return path
    others = sorted(folder.glob("*.ipynb")) if of == 1 else []
    return others[0] if len(others) == 1 else None


def read(path: Path, folders: Folders) -> bytes:
    """Return the content of a file, nothing where it cannot be read."""
    try:
        return read_plain(path, folders.limits.submission_bytes)
    except OSError:
        return b""


def write_if_new(path: Path, text: str) -> None:
    """Write a file of a run, which says what to do where that fails."""
    try:
        write_changed(path, text)
    except OSError as error:
        raise CourseError(
            f"cannot write {path} ({error.strerror}); verdicts so far are kept: fix this and run "
            "the same command again"
        ) from error


def state_of(path: Path, folders: Folders) -> str:
    """Return the hash of a file, or "" where it cannot be read, which is never up to date."""
    try:
        return digest(read_plain(path, folders.limits.submission_bytes))
    except OSError:
        plain = path.is_file() and not path.is_symlink()
        return "" if plain else NO_PLAIN_FILE


def no_file(name: str, state: str) -> Verdict:
    """Return the verdict on a folder without a notebook; `state` says what is there."""
    status, reason = NO_FILE[state]
    return Verdict(assignment=name, status=status, reason=reason, points=0.0, max_points=0.0)


def mark_of(place: Place, stamp: str, late: str) -> str:
    """Return what names a verdict with what its penalty depends on: times and rule."""
    return hashlib.blake2b(f"{place.check} {stamp} {late}".encode(), digest_size=12).hexdigest()


def stamp_of(folders: Folders, student: str) -> str:
    """Return the text of `timestamp.txt`, "" where there is none."""
    try:
        path = folders.submitted(student) / "timestamp.txt"
        return read_plain(path, 200).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def time_of(text: str, folder: Path, progress: Progress) -> datetime | None:
    """Return the time of handing in, in UTC, as nbgrader reads it."""
    if not text:
        return None
    from nbgrader.utils import parse_utc

    try:
        return parse_utc(text)
    except (ValueError, OverflowError):
        progress.note(f"{folder / 'timestamp.txt'} contains no time; counted as on time")
        return None
