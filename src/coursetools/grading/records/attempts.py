"""Every submission of a student: `autograder/attempts/STUDENT/NAME/TIME/`.

Each attempt is the notebook as it was submitted, and `attempt.json` with where it came from and
when. What is added later: its time, where a table gives it, and the name of Canvas's file once the
student behind an anonymous id is known.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coursetools.course import write_whole
from coursetools.grading.records.folders import Folders, read_plain

STAMP = "%Y-%m-%dT%H-%M-%SZ"
SECRET = "submission_secret.txt"  # next to a submission from nbgrader's exchange
Attempt = tuple[Path, dict[str, Any]]  # its folder, and what is known about it


def attempts_of(folders: Folders, *students: str) -> list[tuple[Path, dict[str, Any]]]:
    """Return the attempts of a student or a group, the earliest first, with what is known."""
    attempts = []
    paths = (folders.attempts(one).glob("*/attempt.json") for one in students)
    for path in itertools.chain.from_iterable(paths):
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
            if "seen" not in about:  # an old one, with the file's own time in the other's place
                about |= {"seen": about["time"], "time": None}
            attempts.append((path.parent, about | {"seen": datetime.fromisoformat(about["seen"])}))
        except (ValueError, KeyError, OSError, TypeError):
            continue
    return _by_age(attempts)


def _by_age(attempts: list[Attempt]) -> list[Attempt]:
    """Return attempts in order: by times that somebody vouches for, if all have one.

    Else by when they were seen, which is that of the zip: a time in November says nothing about an
    attempt of which it is only known that it was packed in December.
    """
    vouched = all(about["time"] for _, about in attempts)

    def age(attempt: Attempt) -> tuple[datetime, int, str]:
        folder, about = attempt
        when = datetime.fromisoformat(about["time"]) if vouched else about["seen"]
        return when, about.get("again", 0), folder.name

    return sorted(attempts, key=age)


def numbers_of(folders: Folders, students: Iterable[str] | None = None) -> dict[str, str]:
    """Return the platform's number -> the student, of everybody who has submitted."""
    return {
        about["lms"]: student
        for student in (folders.students() if students is None else students)
        for _, about in attempts_of(folders, student)
        if about.get("lms")
    }


def handed_in_by(attempt: Attempt) -> str:
    """Return which student an attempt came from."""
    return attempt[0].parent.parent.name


def submitted_digest(folders: Folders, student: str) -> str:
    """Return the hash of what lies in `submitted/`, as attempts have it; "" where nothing does."""
    path = folders.submitted(student) / f"{folders.name}.ipynb"
    try:
        return hashlib.sha256(read_plain(path, folders.limits.submission_bytes)).hexdigest()
    except OSError:
        return ""


def too_late(folders: Folders, students: Sequence[str], end: datetime | None) -> datetime | None:
    """Return when the first attempt after the `end` came, a student's or a group's; else None."""
    if end is None:
        return None
    late = [about["time"] for _, about in attempts_of(folders, *students) if came_after(about, end)]
    return datetime.fromisoformat(late[0]).replace(microsecond=0) if late else None


def came_after(about: dict[str, Any], end: datetime | None) -> bool:
    """Return whether an attempt is known to have come after the end."""
    return (
        end is not None
        and bool(about["time"])
        and datetime.fromisoformat(about["time"]) > end.replace(tzinfo=UTC)
    )


def keep(folders: Folders, student: str, data: bytes, about: dict[str, Any]) -> bool:
    """Store an attempt and the facts `about` it; return False if it is stored already."""
    digest, time = hashlib.sha256(data).hexdigest(), about["time"]
    before = attempts_of(folders, student)
    last = before[-1][1] if before else {}
    same = last.get("sha256") == digest and about["secret"] in ("", last.get("secret", ""))
    if same and time in (None, last["time"]):
        return False  # the same in a zip that was made anew
    parent = folders.attempts(student)
    stamp, number = datetime.fromisoformat(about["seen"]).strftime(STAMP), 1
    folder = parent / stamp
    while folder.exists():
        if holds(folder / f"{folders.name}.ipynb", data) and (folder / "attempt.json").is_file():
            return False
        if not (folder / "attempt.json").is_file():
            break  # a collection that was interrupted
        number += 1
        folder = parent / f"{stamp}-{number}"
    write_whole(folder / f"{folders.name}.ipynb", data)
    _write_about(folder, {**about, "sha256": digest})
    return True


def enter_time(attempt: Attempt, time: datetime) -> None:
    """Write the time at which an attempt was submitted, as a table gives it."""
    folder, about = attempt
    if about["time"] != time.isoformat():
        about |= {"time": time.isoformat(), "seen": about["seen"].isoformat()}
        _write_about(folder, about)


def enter_name(attempt: Attempt, label: str, number: str) -> None:
    """Write what Canvas calls an anonymous attempt once names are shown, and whose number it is."""
    folder, about = attempt
    named = {"named": label, "lms": number, "lasting": True}
    if about != about | named:
        _write_about(folder, about | named | {"seen": about["seen"].isoformat()})


def _write_about(folder: Path, about: dict[str, Any]) -> None:
    write_whole(folder / "attempt.json", json.dumps(about, indent=1) + "\n")


def holds(path: Path, data: bytes) -> bool:
    """Return whether a file has exactly this content."""
    try:
        return read_plain(path, len(data)) == data
    except OSError:
        return False
