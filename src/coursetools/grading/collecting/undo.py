"""`coursekit collect NAME --undo`: what the latest collecting has added is taken back.

Each attempt says with which collecting it came. What is taken back is put into
`autograder/forgotten/`, and counts for nothing there; an attempt from before counts again.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from coursekit._base.errors import CourseError
from coursekit._base.nearest import did_you_mean
from coursetools.grading.collecting.choose import choose, taken_back
from coursetools.grading.gradebook.lateness import read_lateness
from coursetools.grading.records.attempts import (
    Attempt,
    attempts_of,
    handed_in_by,
    submitted_digest,
)
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.ledger import Ledger
from coursetools.grading.records.log import record
from coursetools.text import some


def undo(folders: Folders, students: Sequence[str] = ()) -> list[Attempt]:
    """Take back what the latest collecting added, or of each of some students their latest.

    Return the attempts that were taken back, as they were.
    """
    gone = _latest(folders, students)
    lateness, ledger = read_lateness(folders), Ledger.read(folders)
    who = sorted({one for attempt in gone
                  for one in lateness.groups.members(handed_in_by(attempt))}
                 | {handed_in_by(attempt) for attempt in gone})  # fmt: skip
    held = {
        one: submitted_digest(folders, one)
        in {about.get("sha256") for _, about in attempts_of(folders, *lateness.groups.members(one))}
        for one in who
    }  # else an instructor has put another file there, which stays
    for folder, about in gone:
        student = folder.parent.parent.name
        target = folders.class_folder / "forgotten" / student / folders.name / folder.name
        while target.exists():
            target = target.with_name(f"{target.name}-again")
        target.parent.mkdir(parents=True, exist_ok=True)
        folder.rename(target)
        with suppress(OSError):  # there is more in them
            folder.parent.rmdir()
            folder.parent.parent.rmdir()
        ledger.claims.pop(str(about.get("from")), None)
        if not attempts_of(folders, student):
            ledger.anonymous.pop(student, None)
    for one in who:
        members, end = lateness.groups.members(one), lateness.end_of(one)
        if attempts_of(folders, *members):
            if held[one]:
                about = choose(folders, one, ledger.attempt, end, members)
                ledger.about(one, about.get("time"), about.get("late"))
            continue
        ledger.students.pop(one, None)
        if held[one]:
            taken_back(folders, one)
            if not (folders.verdicts / one).is_dir():  # never graded: as if nothing had come
                with suppress(OSError):  # an instructor's file is there
                    folders.submitted(one).rmdir()
    ledger.write()
    return gone


def _latest(folders: Folders, students: Sequence[str]) -> list[Attempt]:
    """Return the attempts that the latest collecting added, or of each of the students their."""
    if students:
        by_student = {one: attempts_of(folders, one) for one in students}
        if nothing := [one for one, attempts in by_student.items() if not attempts]:
            root = folders.class_folder / "attempts"
            people = sorted(os.listdir(root)) if root.is_dir() else []
            near = "" if nothing[0] in people else did_you_mean(nothing[0], people)
            raise CourseError(
                f"nothing was collected for {folders.name} from {some(nothing)}{near}"
            )
    else:
        root = folders.class_folder / "attempts"
        names = sorted(os.listdir(root)) if root.is_dir() else []
        by_student = {"": [one for name in names for one in attempts_of(folders, name)]}
        if not by_student[""]:
            raise CourseError(
                f"nothing was collected for {folders.name}, so there is nothing to take back"
            )
    gone = []
    for attempts in by_student.values():
        latest = max(_collected(attempt) for attempt in attempts)
        if not latest:
            raise CourseError(
                "these submissions were collected by an older version, which did not record what "
                "came together; put the file that should count into autograder/submitted/ yourself"
            )
        gone += [attempt for attempt in attempts if _collected(attempt) == latest]
    return gone


def _collected(attempt: Attempt) -> str:
    return str(attempt[1].get("collected", ""))


def run(folders: Folders, students: Sequence[str]) -> int:
    """Undo, write it into the log and print what was taken back."""
    gone = undo(folders, list(dict.fromkeys(students)))
    for attempt in gone:
        facts = {"student": handed_in_by(attempt), "file": attempt[1].get("from")}
        record(folders.course, "taken back", assignment=folders.name, **facts)
    who = sorted({handed_in_by(attempt) for attempt in gone})
    now = [one for one in who if attempts_of(folders, one)]
    print(f"{folders.name}: took back the latest submission of {some(who)}; the files are in "
          "autograder/forgotten")  # fmt: skip
    if now:
        print(f"an earlier submission counts again: {some(now)}")
    if any((folders.verdicts / one).is_dir() for one in who):
        print(f"to update the points: coursekit grade {folders.name}")
    return 0
