"""Of `coursekit settings`: a deadline, written into an assignment's `assignment.toml`.

With a start, too, it is an exam.
"""

from __future__ import annotations

import re
import tomllib
from datetime import datetime
from pathlib import Path

from coursekit._base.errors import CourseError
from coursekit.submission import deadline
from coursekit.submission.deadline import spelled
from coursetools.course import Course, write_whole
from coursetools.grading.records import log
from coursetools.settings.assignment_settings import settings_of
from coursetools.settings.class_settings import time_zone_of
from coursetools.settings.exam_settings import exam_of

VALUE = r"[ \t]*=[ \t]*[^#\n]*?(?=[ \t]*\r?(#|$))"


def set_due(course: Course, name: str, text: str, start: str | None = None) -> datetime:
    """Write the deadline into an assignment's file, and of an exam the start; the rest stays."""
    private = course.private(name)
    due, before = read_time(course, text), settings_of(private)
    path = Path(private) / "assignment.toml"
    old = path.read_bytes().decode() if path.is_file() else ""  # line ends as they are
    line, wanted = f"due = {due.isoformat()}", before | {"due": due}
    if "due" in before:
        new = re.sub(f"^due{VALUE}", line, old, count=1, flags=re.MULTILINE)
    else:
        new = f"{line}\n" + (f"\n{old}" if old.startswith("[") else old)
    if not isinstance(before.get("exam", {}), dict):
        exam_of(course, name)  # which says so
    exam = dict(before.get("exam", {}))
    if start:
        exam["start"] = read_time(course, start)
    begins = exam.get("start")
    if isinstance(begins, datetime) and begins.tzinfo and begins >= due:
        raise CourseError(
            f"the exam must start before it ends: start {spelled(begins)}, end {spelled(due)}"
        )
    if start:
        first, wanted = f"start = {exam['start'].isoformat()}", wanted | {"exam": exam}
        if "start" in before.get("exam", {}):
            new = re.sub(f"^start{VALUE}", first, new, count=1, flags=re.MULTILINE)
        elif "exam" in before:
            new = new.replace("[exam]", f"[exam]\n{first}", 1)
        else:
            new = f"{new.rstrip()}\n\n[exam]\n{first}\n"
        line = f"{line} [exam] {first}"
    try:
        same = tomllib.loads(new) == wanted
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise CourseError(f"{path} cannot be changed automatically; edit it yourself: {line}")
    write_whole(path, new)
    log.record(course, "settings", assignment=name, due=due.isoformat(), start=start)
    return due


def read_time(course: Course, text: str) -> datetime:
    """Return a time; one without a zone is in the class's, else in UTC."""
    try:
        when = deadline.read_time(text, time_zone_of(course))
    except ValueError:
        raise CourseError(
            f"{text[:60]!r} is not a time; write 2026-11-20T12:00 or 2026-11-20T12:00+01:00"
        ) from None
    return datetime.fromisoformat(when.isoformat())  # with an offset in place of a zone's rules
