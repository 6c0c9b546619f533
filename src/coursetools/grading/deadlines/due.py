"""`coursekit assignment due`: when an assignment is due, said or set in its `assignment.toml`."""

from __future__ import annotations

import argparse
import re
import tomllib
from datetime import datetime
from pathlib import Path

from coursekit._base.errors import CourseError
from coursekit.submission import deadline
from coursekit.submission.deadline import spelled
from coursetools.assignments.settings import due_of, settings_of
from coursetools.course import Course, write_whole
from coursetools.grading.changes import log
from coursetools.grading.class_settings import time_zone_of
from coursetools.grading.folders import Folders

LINE = re.compile(r"^due[ \t]*=[ \t]*[^#\n]*?(?=[ \t]*\r?(#|$))", re.MULTILINE)


def run(arguments: argparse.Namespace) -> int:
    """The command: `name`, `time`, `course`, `quiet`."""
    course, name = arguments.course, arguments.name
    private = Folders(course, name).private
    Folders(course, name).notebooks()  # what does not exist is known before anything is written
    if arguments.time is None:
        due_of(private)  # which complains of a due without a zone
        due = settings_of(private).get("due")
        print(f"{name} is due {spelled(due)}" if due else f"{name} has no deadline of its own")
        return 0
    due = set_due(course, name, arguments.time)
    if not arguments.quiet:
        print(f"{name} is due {spelled(due)}")
        print(f"coursekit assignment release {name} tells the students")
    return 0


def set_due(course: Course, name: str, text: str) -> datetime:
    """Write the deadline into an assignment's file, the rest of which stays as it is."""
    private = course.private(name)
    due, before = read_time(course, text), settings_of(private)
    path = Path(private) / "assignment.toml"
    old = path.read_bytes().decode() if path.is_file() else ""  # line ends as they are
    line = f"due = {due.isoformat()}"
    if "due" in before:
        new = LINE.sub(line, old, count=1)
    else:
        new = f"{line}\n" + (f"\n{old}" if old.startswith("[") else old)
    try:
        same = tomllib.loads(new) == before | {"due": due}
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise CourseError(f"{path} writes due in an unusual way; put there yourself: {line}")
    write_whole(path, new)
    log.record(course, "due", assignment=name, due=due.isoformat())
    return due


def read_time(course: Course, text: str) -> datetime:
    """Return a time; one without a zone is in the class's, else in UTC."""
    try:
        when = deadline.read_time(text, time_zone_of(course))
    except ValueError:
        raise CourseError(
            f"{text[:60]!r} is no time; write 2026-11-20T12:00 or 2026-11-20T12:00+01:00"
        ) from None
    return datetime.fromisoformat(when.isoformat())  # with an offset in place of a zone's rules
