"""Choose the attempt that counts, and copy it into `submitted/`, from where it is graded.

It is the last or first of a student or their group. An attempt after the end of the assignment
counts only where there is no other.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from coursetools.course import write_whole
from coursetools.grading.gradebook.lateness import Lateness
from coursetools.grading.records.attempts import (
    SECRET,
    attempts_of,
    came_after,
    handed_in_by,
    holds,
    submitted_digest,
    too_late,
)
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.ledger import Ledger


def choose(
    folders: Folders,
    student: str,
    attempt: str = "last",
    end: datetime | None = None,
    members: Sequence[str] = (),
) -> dict[str, Any]:
    """Put the attempt that counts into `submitted/`, if it is not there; return what it is.

    It is one of the student's, or of the `members` of their group. One after the `end` (in UTC)
    counts only where there is no other, and then for nothing.
    """
    attempts = attempts_of(folders, *(members or (student,)))
    if not attempts:
        return {}
    attempts = [one for one in attempts if not came_after(one[1], end)] or attempts
    folder, about = attempts[0 if attempt == "first" else -1]
    data = (folder / f"{folders.name}.ipynb").read_bytes()
    target = folders.submitted(student)
    if not holds(target / f"{folders.name}.ipynb", data):
        write_whole(target / f"{folders.name}.ipynb", data)
    time = about["time"] and datetime.fromisoformat(about["time"])
    ours = handed_in_by((folder, about)) == student
    own = [(folder, about)] if ours else attempts_of(folders, student)[-1:]
    secret = own[0][1].get("secret", "") if own else ""  # a student fetches only their own page
    for name, text in (
        ("timestamp.txt", time.strftime("%Y-%m-%d %H:%M:%S UTC") if time else ""),
        (SECRET, secret),
    ):
        if not text:
            (target / name).unlink(missing_ok=True)
        elif not holds(target / name, text.encode()):
            write_whole(target / name, text)
    return about


def choose_again(folders: Folders, lateness: Lateness) -> dict[str, bool]:
    """Choose again, since an end may have moved; return who has an attempt after their end.

    Of each it is said whether an earlier attempt counts. What an instructor has put into
    `submitted/` instead of an attempt stays.
    """
    late: dict[str, bool] = {}
    ledger = Ledger.read(folders)
    before = json.dumps(ledger.students)
    for student in folders.students():
        members = lateness.groups.members(student)
        end, attempts = lateness.end_of(student), attempts_of(folders, *members)
        if end is None or not attempts:
            continue
        if submitted_digest(folders, student) in {about.get("sha256") for _, about in attempts}:
            about = choose(folders, student, ledger.attempt, end, members)
            ledger.about(student, about.get("time"), about.get("late"))
        if too_late(folders, (student,), end):
            late[student] = any(not came_after(about, end) for _, about in attempts)
    if json.dumps(ledger.students) != before:
        ledger.write()
    return late


def after_the_end(students: dict[str, bool]) -> list[str]:
    """Say whose submissions came after the end, by whether an earlier one counts instead."""
    lines = []
    for earlier in (False, True):
        who = sorted(one for one, counts in students.items() if counts is earlier)
        if who:
            came = f"{len(who)} submission{'s' * (len(who) != 1)} came after the end"
            others = ", ".join(who[:10]) + (", …" if len(who) > 10 else "")
            lines.append(
                f"{came}, and an earlier one counts ({others})"
                if earlier
                else f"{came} and there is no earlier one: 0 points ({others})"
            )
    return lines


def left_group(folders: Folders, student: str, members: Sequence[str]) -> bool:
    """Take the hand-in of a group away from who is in it no more, and say whether it was there."""
    was = attempts_of(folders, *members)
    if submitted_digest(folders, student) not in {about.get("sha256") for _, about in was}:
        return False  # nothing is there, or an instructor's
    taken_back(folders, student)
    return True


def taken_back(folders: Folders, student: str) -> None:
    """Empty the folder of what counts; it stays, and says that nothing is there."""
    for name in (f"{folders.name}.ipynb", "timestamp.txt", SECRET):
        (folders.submitted(student) / name).unlink(missing_ok=True)
