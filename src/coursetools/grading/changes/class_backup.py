"""`coursekit backup FILE.zip` and `coursekit restore FILE.zip`: all that a class consists of.

That is everything below `autograder/` but what git has and what is written again from the rest:
graded notebooks, pages, reports, tables. The gradebook is copied as a whole even while formgrader
is at work on it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from coursekit._base.errors import CourseError
from coursetools.course import Course, new_zip
from coursetools.grading.records.log import FILE as LOG
from coursetools.grading.records.log import account, now, read_lines, record
from coursetools.grading.results.pages import counted

OURS = {"README.md", "nbgrader_config.py", "jupyterhub_config.py", "demo"}  # git has them
# written again from the rest
AGAIN = {"autograded", "feedback", "report", "export", "marking", "own_code"}
ABOUT = "coursekit-backup.json"
MOST = 64 << 30  # bytes that a backup may hold when it is unpacked


def backup(course: Course, path: Path) -> int:
    """Write the class of a course into a new zip; return how many files it holds."""
    path, folder = Path(path), course / "autograder"
    files = list(_files(folder))
    if not files:
        raise CourseError(f"there is no class in {folder}")
    if path.exists():
        raise CourseError(f"{path} already exists and is not overwritten; choose another name")
    if not path.resolve().parent.is_dir():
        raise CourseError(
            f"there is no folder {path.parent}, and none is made: plug in the disk, or make the "
            "folder, and type the command again"
        )
    if path.resolve().is_relative_to(folder):
        raise CourseError(f"{path} is inside the class to be backed up; choose another folder")
    with new_zip(path, strict_timestamps=False) as out:
        about = {"version": 1, "time": now(), "by": account(), "files": len(files)}
        out.writestr(ABOUT, json.dumps(about))
        for file in files:
            name = file.relative_to(folder).as_posix()
            with _copied(file) as copy, contextlib.suppress(FileNotFoundError):
                out.write(copy, name)
    return len(files)


def restore(course: Course, path: Path) -> int:
    """Put a class back into a course that has none; return how many files came."""
    folder = course / "autograder"
    files = list(_files(folder))
    there = {file.relative_to(folder).parts[0] for file in files if not _is_empty(file, folder)}
    if there:
        raise CourseError(
            f"{folder} holds a class already ({', '.join(sorted(there))}); move these away first"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with (
        _opened(Path(path)) as zipped,
        tempfile.TemporaryDirectory(dir=folder, prefix=".restoring-") as waiting,
    ):
        names = [one.filename for one in _entries(Path(path), zipped)]
        for name in names:
            zipped.extract(name, waiting)
        for file in files:
            for end in ("", "-wal", "-shm"):  # the last two are of a database
                file.with_name(f"{file.name}{end}").unlink(missing_ok=True)
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(Path(waiting) / name, folder / name)
    return len(names)


def run_backup(arguments: argparse.Namespace) -> int:
    """The command: `file`, `course`, `quiet`."""
    course, file = arguments.course, arguments.file
    count = backup(course, file)
    record(course, "backup", file=str(file))
    if not arguments.quiet:
        size = file.stat().st_size / 1e6
        print(f"{counted(count, 'file')} of the class, {size:.1f} MB, in {file}")
        if not (course / "autograder" / "gradebook.db").is_file():
            print("the gradebook is not a file here; the zip has the copy in autograder/kept/")
    return 0


def run_restore(arguments: argparse.Namespace) -> int:
    """The command: `file`, `course`, `quiet`."""
    count = restore(arguments.course, arguments.file)
    record(arguments.course, "restore", file=str(arguments.file))
    if not arguments.quiet:
        print(f"{counted(count, 'file')} of the class restored; coursekit grade NAME does the rest")
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
            f"{path} is damaged, or not a zip ({error}); nothing was put back"
        ) from error


def _entries(path: Path, zipped: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return what is to be put back; refuse what no backup of ours holds."""
    if ABOUT not in zipped.namelist():
        raise CourseError(
            f"{path} is not a backup: it lacks {ABOUT}, which coursekit backup writes"
        )
    entries = [one for one in zipped.infolist() if one.filename != ABOUT and not one.is_dir()]
    if sum(one.file_size for one in entries) > MOST:
        raise CourseError(f"{path} would be larger than {MOST >> 30} GB; nothing was restored")
    for one in entries:
        parts = PurePosixPath(one.filename).parts
        if not parts or parts[0] in OURS or ".." in parts or one.filename.startswith("/"):
            raise CourseError(
                f"{path} holds {one.filename!r}, as no backup does; nothing was restored"
            )
    return entries
