"""What `coursekit collect` could not take, and what is known of hand-in times: one file each.

The report and the export read it; everything else of a collection lies beside the attempts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coursetools.course import write_whole
from coursetools.grading.folders import Folders


@dataclass
class Ledger:
    """The account of all collections of an assignment."""

    path: Path
    left: dict[str, str] = field(default_factory=dict)  # a file that was not taken -> why
    claims: dict[str, list[str]] = field(default_factory=dict)  # file -> [student, whom it names]
    students: dict[str, dict[str, Any]] = field(default_factory=dict)  # "time", and "late" or None
    attempt: str = "last"  # or "first": which counts

    @classmethod
    def read(cls, folders: Folders) -> Ledger:
        """Read it; an empty one where there is none."""
        path = folders.ledger
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            left, claims, students = (dict(data[key]) for key in ("left", "claims", "students"))
            return cls(path, left, claims, students, data.get("attempt", "last"))
        except (OSError, ValueError, KeyError, TypeError):
            return cls(path)

    def write(self) -> None:
        """Write it."""
        data = {"left": self.left, "claims": self.claims, "students": self.students}
        data |= {"attempt": self.attempt}
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
        """Return who handed in at a time that nobody has said."""
        return sorted(one for one, about in self.students.items() if not about.get("time"))

    def late(self) -> list[str]:
        """Return whom the platform calls late without saying by how much."""
        return sorted(one for one in self.unknown() if self.students[one].get("late"))
