"""`coursekit backup FILE.zip` and `coursekit restore FILE.zip`: all that decides a class's grades.

That is everything below `autograder/` but what git has and what is written again from the rest
(graded notebooks, pages, reports, tables); and outside it the deadlines and late rules, the commit,
and what differs from the commit. The gradebook is copied as a whole even while formgrader is at
work on it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sqlite3
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from coursekit._base.errors import CourseError
from coursetools.course import Course, new_zip
from coursetools.grading.changes.deciding_files import (
    ASIDE,
    SETTINGS,
    InGit,
    PutBack,
    is_saved_path,
    put_back,
    to_save,
)
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.log import FILE as LOG
from coursetools.grading.records.log import account, now, read_lines, record
from coursetools.grading.records.verdict_files import Verdicts
from coursetools.grading.results.pages import counted
from coursetools.grading.running import grade_class
from coursetools.grading.running.keys import key_of, made_of, masters_of
from coursetools.text import some

OURS = {"README.md", "nbgrader_config.py", "jupyterhub_config.py", "demo"}  # git has them
# written again from the rest
AGAIN = {"autograded", "feedback", "report", "export", "marking", "own_code", ASIDE}
ABOUT = "coursekit-backup.json"
COURSE = ".course"  # the folder in the zip with files of the course outside autograder/
WHY = {
    "assignment": "its questions or its notebook differ",
    "limits": "its limits differ",
    "grader": "the grader's code differs",
}  # from what a verdict was made of
MOST = 64 << 30  # bytes that a backup may hold when it is unpacked


@dataclass(frozen=True)
class Held:
    """What a backup holds."""

    files: int  # of the class
    settings: int  # of assignments
    commit: str
    changed: tuple[str, ...]  # other files of the course that git does not have as they are


def backup(course: Course, path: Path) -> Held:
    """Write the class of a course into a new zip; return what it holds."""
    path, folder = Path(path), course / "autograder"
    files = list(_files(folder))
    if not files:
        raise CourseError(f"there is no class in {folder}, so there is nothing to back up")
    if path.exists():
        raise CourseError(f"{path} already exists; choose another name")
    if not path.resolve().parent.is_dir():
        raise CourseError(
            f"there is no folder {path.parent}: make it, or connect the disk, and type the command "
            "again"
        )
    if path.resolve().is_relative_to(folder):
        raise CourseError(f"{path} is inside the class that it backs up; choose another folder")
    git = InGit.of(course)
    saved = to_save(course, git)
    with new_zip(path, strict_timestamps=False) as out:
        about = {"version": 1, "time": now(), "by": account(), "files": len(files)}
        about |= {"commit": git.commit, "gone": git.gone}
        out.writestr(ABOUT, json.dumps(about))
        for name in saved:
            out.write(course / name, f"{COURSE}/{name}")
        for file in files:
            name = file.relative_to(folder).as_posix()
            with _copied(file) as copy, contextlib.suppress(FileNotFoundError):
                out.write(copy, name)
    settings = [name for name in saved if name.endswith(f"/{SETTINGS}")]
    return Held(len(files), len(settings), git.commit, tuple(sorted({*saved} - {*settings})))


@dataclass(frozen=True)
class Restored:
    """What came back, and what is not as it was when the backup was made."""

    files: int
    course: PutBack
    commit: str  # of the backup
    here: str  # the course's
    gone: tuple[str, ...]  # deleted there, and here again
    again: dict[str, str]  # assignment -> what will be graded again, and why

    def as_lines(self) -> list[str]:
        """Say it in plain words."""
        aside, course = f"autograder/{ASIDE}", self.course
        lines = [f"{counted(self.files, 'file')} of the class restored"]
        if course.settings:
            lines.append(f"deadlines, late rules and limits restored: {some([*course.settings])}")
        if course.files:
            lines.append(f"uncommitted changes restored: {some([*course.files])}")
        if course.replaced:
            lines.append(
                f"replaced (the earlier files are in {aside}/replaced): {some([*course.replaced])}"
            )
        if self.commit != self.here:
            there, here = (one[:8] or "not in git" for one in (self.commit, self.here))
            lines.append(
                f"the course is at commit {here} here, and was at {there} when it was backed up"
            )
        if course.left:
            lines.append(
                f"different here, and not replaced: {some([*course.left])}; the backup's copies "
                f"are in {aside}/course"
            )
        if self.gone:
            lines.append(f"deleted before the backup, but still here: {some([*self.gone])}")
        lines += [f"{name}: {what}" for name, what in self.again.items()]
        if not self.again:
            lines.append("no submission will be graded again; run coursekit grade NAME to finish")
        return lines


def restore(course: Course, path: Path) -> Restored:
    """Put a class back into a course that has none; return what came, and what differs."""
    folder = course / "autograder"
    files = list(_files(folder))
    there = {file.relative_to(folder).parts[0] for file in files if not _is_empty(file, folder)}
    if there:
        raise CourseError(
            f"{folder} already has a class ({', '.join(sorted(there))}); move it away first"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with (
        _opened(Path(path)) as zipped,
        tempfile.TemporaryDirectory(dir=folder, prefix=".restoring-") as waiting,
    ):
        about = _about(Path(path), zipped)
        names = [one.filename for one in _entries(Path(path), zipped)]
        for name in names:
            zipped.extract(name, waiting)
        names = [name for name in names if not name.startswith(f"{COURSE}/")]
        for file in files:
            for end in ("", "-wal", "-shm"):  # the last two are of a database
                file.with_name(f"{file.name}{end}").unlink(missing_ok=True)
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(Path(waiting) / name, folder / name)
        commit = str(about.get("commit", ""))
        came = put_back(course, Path(waiting) / COURSE, commit)
    gone = tuple(name for name in about.get("gone", ()) if (course / str(name)).is_file())
    return Restored(len(names), came, commit, InGit.of(course).commit, gone, graded_again(course))


def graded_again(course: Course) -> dict[str, str]:
    """Return how many verdicts of each assignment do not hold in this course, and why."""
    said = {}
    for folder in sorted((course / "autograder" / "verdicts").glob("*/")):
        folders, count = Folders(course, folder.name), 0
        places = Verdicts(folder).index()
        try:
            masters = masters_of(folders, grade_class.Options().master)
            made = {name: made_of(master, folders) for name, master in masters.items()}
        except (CourseError, OSError) as error:
            said[folder.name] = f"its submissions cannot be graded here ({error})"
            continue
        why: Counter[str] = Counter()
        for (_, notebook), place in places.items():
            master = masters.get(notebook)
            if master is None or place.key != key_of(master, place.submission, folders):
                count += 1
                now_made = made.get(notebook, {})
                why.update(one for one in WHY if place.made_of.get(one) != now_made.get(one))
        if count:
            reasons = " and ".join(WHY[one] for one in WHY if why[one])
            said[folder.name] = f"{counted(count, 'submission')} will be graded again: {reasons}"
    return said


def run_backup(arguments: argparse.Namespace) -> int:
    """The command: `file`, `course`, `quiet`."""
    course, file = arguments.course, arguments.file
    held = backup(course, file)
    record(course, "backup", file=str(file))
    if not arguments.quiet:
        size = file.stat().st_size / 1e6
        print(f"{counted(held.files, 'file')} of the class, {size:.1f} MB, in {file}")
        if held.settings:
            print(f"with the deadlines and late rules of {counted(held.settings, 'assignment')}")
        if held.commit:
            changed = f"and uncommitted changes: {some([*held.changed])}"
            print(
                f"commit {held.commit[:8]}, {changed if held.changed else 'no uncommitted changes'}"
            )
        if not (course / "autograder" / "gradebook.db").is_file():
            print("the gradebook is not a file here; the zip has its copy in autograder/kept/")
    return 0


def run_restore(arguments: argparse.Namespace) -> int:
    """The command: `file`, `course`, `quiet`."""
    restored = restore(arguments.course, arguments.file)
    record(arguments.course, "restore", file=str(arguments.file))
    if not arguments.quiet:
        print("\n".join(restored.as_lines()))
    return 0


def _files(folder: Path) -> Iterator[Path]:
    """Yield what belongs to a class and is not written again, by name."""
    for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
        if entry.name in OURS | AGAIN or entry.name.startswith((".", "__")):
            continue
        for path in [entry] if entry.is_file() else sorted(entry.rglob("*")):
            passing = path.suffix in (".lock", ".tmp") or path.name.endswith(("-wal", "-shm"))
            if path.is_file() and not path.is_symlink() and not passing:
                yield path


def _is_empty(path: Path, folder: Path) -> bool:
    """Return whether a command leaves such a file in a course that has no class: nobody is in it.

    That is the log, a gradebook without people, and what is kept of that.
    """
    place = path.relative_to(folder)
    if place.parts[0] == "kept":
        return all(line.get("of", ["due"])[:1] == ["due"] for line in read_lines(path))
    if place.name != "gradebook.db":
        return place.name == Path(LOG).name
    try:
        address = f"{path.resolve().as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as db:
            return not db.execute("select 1 from student limit 1").fetchone()
    except sqlite3.Error as error:
        return "no such table" in str(error)


@contextlib.contextmanager
def _copied(path: Path) -> Iterator[Path]:
    """Give a file; of SQLite's a copy in which no write is half done."""
    if path.suffix != ".db":
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        try:
            address = f"{path.resolve().as_uri()}?mode=ro"
            with (
                contextlib.closing(sqlite3.connect(address, uri=True)) as source,
                contextlib.closing(sqlite3.connect(copy)) as target,
            ):
                source.backup(target)
        except sqlite3.Error as error:
            raise CourseError(f"{path} cannot be copied ({error})") from error
        yield copy


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as zipped:
            yield zipped
    except OSError as error:
        raise CourseError(f"{path} cannot be read ({error.strerror or error})") from error
    except (zipfile.BadZipFile, EOFError) as error:
        raise CourseError(
            f"{path} is damaged, or not a zip ({error}); nothing was restored"
        ) from error


def _about(path: Path, zipped: zipfile.ZipFile) -> dict[str, Any]:
    """Return what a backup says of itself."""
    if ABOUT not in zipped.namelist():
        raise CourseError(
            f"{path} is not a backup: it lacks {ABOUT}, which coursekit backup writes"
        )
    try:
        about = json.loads(zipped.read(ABOUT))
    except ValueError as error:
        raise CourseError(f"{path} is damaged: {ABOUT} cannot be read ({error})") from error
    return about if isinstance(about, dict) else {}


def _entries(path: Path, zipped: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return what is to be put back; refuse what no backup of ours holds."""
    entries = [one for one in zipped.infolist() if one.filename != ABOUT and not one.is_dir()]
    if sum(one.file_size for one in entries) > MOST:
        raise CourseError(f"{path} would be larger than {MOST >> 30} GB; nothing was restored")
    for one in entries:
        parts = PurePosixPath(one.filename).parts
        bad = parts[:1] == (COURSE,) and not is_saved_path("/".join(parts[1:]))
        if bad or not parts or parts[0] in OURS or ".." in parts or one.filename.startswith("/"):
            raise CourseError(
                f"{path} is not a backup: it contains {one.filename!r}; nothing was restored"
            )
    return entries
