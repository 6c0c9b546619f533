"""Who changed what, and when: `autograder/log.jsonl`, a line of JSON for each act.

Lines are only ever added. `coursekit why` prints them.
"""

from __future__ import annotations

import getpass
import json
import os
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursekit.submission.deadline import clock
from coursetools.course import Course
from coursetools.settings.class_settings import zone_of
from coursetools.text import one_line

FILE = "autograder/log.jsonl"


def record(course: Course, action: str, **facts: Any) -> None:
    """Add a line: what was done, now, by the account that runs this, and `facts` about it."""
    known = {name: value for name, value in facts.items() if value not in (None, "")}
    add_lines(course / FILE, [{"time": now(), "by": account(), "action": action, **known}])


def read_log(course: Course, assignment: str = "") -> list[dict[str, Any]]:
    """Return the lines about an assignment, or all, the oldest first."""
    lines = read_lines(course / FILE)
    return [one for one in lines if not assignment or one.get("assignment") == assignment]


def as_lines(course: Course, assignment: str = "") -> list[str]:
    """Return the lines about an assignment, or all, for people."""
    zone = zone_of(course, assignment or None)
    return [as_line(one, zone) for one in read_log(course, assignment)]


def as_line(one: dict[str, Any], zone: tzinfo) -> str:
    """Write a line of the log for people, with its time in `zone`."""
    facts = {name: value for name, value in one.items() if name not in ("time", "by", "action")}
    told = ", ".join(
        str(value) if name == "assignment" else f"{name} {_short(value)}"
        for name, value in facts.items()
    )
    when = time_in(zone, str(one.get("time", "")))
    return f"{when}  {one_line(str(one.get('by', '')), 40)}  {one.get('action')}  {told}"


def time_in(zone: tzinfo, time: str) -> str:
    """Return a time of a file as the clocks in `zone` show it: "2026-11-20 12:00:00 UTC+01:00"."""
    try:
        when = datetime.fromisoformat(time.removesuffix(" UTC"))
    except ValueError:  # the file was edited
        return time[:19]
    return clock(when, zone, "%Y-%m-%d %H:%M:%S")


def now() -> str:
    """Return the time, in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def account() -> str:
    """Return the name of the account that runs this."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may have no name for it
        return str(os.getuid())


def add_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    """Add lines of JSON to a file; where the last one was cut short, behind its end."""
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - 1))
            whole = file.read() in (b"", b"\n")
            file.write((b"" if whole else b"\n") + text.encode("utf-8", "replace"))
    except OSError as error:
        raise CourseError(f"cannot write to {path} ({error.strerror})") from error


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines of such a file, without those that are damaged."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    lines = []
    for line in text.split("\n"):
        try:
            one = json.loads(line)
        except ValueError:
            continue
        if isinstance(one, dict):
            lines.append(one)
    return lines


def _short(value: Any) -> str:
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
