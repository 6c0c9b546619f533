"""The verdicts of an assignment: one file for each notebook of each student.

A file is written beside its place and moved there, so that it is there whole or not at all, whoever
is killed. What cannot be read is graded again. The gradebook, the feedback and the report are made
of these files and can be made again.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursetools.course import write_whole
from coursetools.grading.records.verdict import Verdict


@dataclass(frozen=True)
class Entry:
    """One file: whose verdict, of which notebook, computed from what."""

    student: str
    notebook: str
    key: str  # of the submission, the instructor's notebook, the hidden tests, limits, engine
    submission: str  # hash of the file
    verdict: Verdict
    made_of: dict[str, str] = field(default_factory=dict)  # what else the key is of, one by one


@dataclass(frozen=True)
class Place:
    """Where a verdict is, with what the driver asks about all the time."""

    path: Path
    check: str  # a hash of the file
    key: str
    submission: str
    status: str
    points: float
    seconds: float
    made_of: dict[str, str] = field(default_factory=dict)


class Verdicts:
    """The folder of one assignment. Reading goes on while somebody writes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.damaged: list[Path] = []  # files that the last reading could not use

    def append(self, entry: Entry) -> Place:
        """Write a verdict in the place of an earlier one."""
        for name in (entry.student, entry.notebook):
            if Path(name).name != name or name in ("", ".", ".."):
                raise CourseError(f"{name!r} cannot be the name of a folder")
        path = self.folder / entry.student / f"{entry.notebook}.json"
        data = {**asdict(entry), "verdict": entry.verdict.as_json()}
        content = json.dumps(data, separators=(",", ":")).encode("ascii")
        try:
            write_whole(path, content)
        except OSError as error:
            raise CourseError(
                f"cannot write to {path} ({error.strerror}); what is finished is kept: "
                "make room and run the same command again"
            ) from error
        return _place(path, content, data)

    def index(self) -> dict[tuple[str, str], Place]:
        """Return (student, notebook) -> where their verdict is, by name."""
        self.damaged, places = [], {}
        for path in sorted(self.folder.glob("*/*.json")):
            try:
                content = path.read_bytes()
                data = json.loads(content)
                places[data["student"], data["notebook"]] = _place(path, content, data)
            except FileNotFoundError:  # taken away meanwhile
                continue
            except (ValueError, TypeError, KeyError):
                self.damaged.append(path)
        return places

    def read(self, place: Place) -> Entry:
        """Return the entry at a place of the index."""
        content = place.path.read_bytes()
        if _hash(content) != place.check:
            raise CourseError(f"{place.path} changed while it was read; run again")
        data = json.loads(content)
        return Entry(**{**data, "verdict": Verdict.from_json(data["verdict"])})


def _place(path: Path, content: bytes, data: dict[str, Any]) -> Place:
    verdict = data["verdict"]
    return Place(
        path=path,
        check=_hash(content),
        key=data["key"],
        submission=data["submission"],
        status=verdict["status"],
        points=float(verdict["points"]),
        seconds=float(verdict["seconds"]),
        made_of=data.get("made_of") or {},
    )


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()
