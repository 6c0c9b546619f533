"""What `coursekit collect` could not take, and what is known of hand-in times: one file each.

The report and the export read it; everything else of a collection lies beside the attempts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coursetools.course import write_whole
from coursetools.grading.records.folders import Folders


@dataclass
class Ledger:
    """The account of all collections of an assignment."""

    path: Path
    left: dict[str, str] = field(default_factory=dict)  # a file that was not taken -> why
    claims: dict[str, list[str]] = field(default_factory=dict)  # file -> [student, whom it names]
    students: dict[str, dict[str, Any]] = field(default_factory=dict)  # "time", and "late" or None
    anonymous: dict[str, str] = field(default_factory=dict)  # Canvas's id -> the student, or ""
    attempt: str = "last"  # or "first": which counts
    groups: dict[str, str] = field(default_factory=dict)  # student -> team, in this assignment

    @classmethod
    def read(cls, folders: Folders) -> Ledger:
        """Read it; an empty one where there is none."""
        return cls.at(folders.ledger)

    @classmethod
    def at(cls, path: Path) -> Ledger:
        """Read the one in a file."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            left, claims, students = (dict(data[key]) for key in ("left", "claims", "students"))
            anonymous, groups = (dict(data.get(key, {})) for key in ("anonymous", "groups"))
            attempt = data.get("attempt", "last")
            return cls(path, left, claims, students, anonymous, attempt, groups)
        except (OSError, ValueError, KeyError, TypeError):
            return cls(path)

    def write(self) -> None:
        """Write it."""
        data: dict[str, Any] = {"left": self.left, "claims": self.claims}
        data |= {"students": self.students, "attempt": self.attempt}
        if self.anonymous:
            data["anonymous"] = self.anonymous
        if self.groups:
            data["groups"] = self.groups
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
        write_whole(self.path, text.encode("utf-8", "replace").decode())

    def taken(self, label: str, student: str, claim: str) -> None:
        """Note that a file was taken."""
        self.left.pop(label, None)
        self.claims.pop(label, None)
        if claim:
            self.claims[label] = [student, claim]

    def refused(self, label: str, why: str) -> None:
        """Note that a file was not taken."""
        self.left[label] = why

    def about(self, student: str, time: str | None, late: bool | None) -> None:
        """Note what is known of the time of the attempt that counts."""
        self.students[student] = {"time": time, "late": late}

    def unknown(self) -> list[str]:
        """Return who submitted at a time that nobody has said."""
        return sorted(one for one, about in self.students.items() if not about.get("time"))

    def late(self) -> list[str]:
        """Return whom the platform calls late without saying by how much."""
        return sorted(one for one in self.unknown() if self.students[one].get("late"))

    def name(self, named: Iterable[tuple[str, str]]) -> None:
        """Note who stands behind anonymous ids; "" where that is not known."""
        for number, student in named:
            self.anonymous[number] = student or self.anonymous.get(number, "")

    def nameless(self) -> list[str]:
        """Return who submitted anonymously and has not been named since."""
        return sorted(number for number, student in self.anonymous.items() if not student)


def time_unknown(count: int) -> str:
    """Say for how many students the time of submission is unknown, and what follows."""
    students = "1 student" if count == 1 else f"{count:,} students"
    return f"time of submission unknown for {students}, so no late penalty for them"


def unlinked(name: str, count: int) -> str:
    """Say how many anonymous submissions have no name yet."""
    if count == 1:
        return f"{name}: 1 anonymous submission is not linked to a name yet"
    return f"{name}: {count} anonymous submissions are not linked to a name yet"


def unlisted(folders: Folders) -> Callable[[str], bool]:
    """Return of whom it cannot be said that nothing was submitted, if nothing was under the id.

    Whoever submitted anonymously did, and may be anybody until all of them are named. And an
    anonymous id of another assignment is nobody here.
    """
    own = Ledger.read(folders)
    hidden = {
        student
        for number, student in own.anonymous.items()
        if student and folders.submitted(number).is_dir()
    }
    for path in own.path.parent.glob("*.json"):
        hidden |= set(Ledger.at(path).anonymous)
    anybody = bool(own.nameless())
    return lambda student: anybody or student in hidden
