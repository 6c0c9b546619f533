"""Every verdict, one line each, in a file that survives whatever happens to the grader.

A line is JSON: `{"check": "…", "student": …, "notebook": …, "key": …, "submission": …, "verdict":
{…}}`. `check` is a hash of all that follows it, so that a half-written or damaged line is known and
skipped. Lines are only ever added; the last good one of a student counts. The gradebook, the
feedback and the report are made of this file and can be made again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursetools.grading.verdict import Verdict

SYNC_EVERY = 20  # lines; a killed grader loses none of them, a power cut at most these


@dataclass(frozen=True)
class Entry:
    """One line: whose verdict, of which file, computed from what."""

    student: str
    notebook: str
    key: str  # of the submission, the instructor's notebook, the hidden tests, limits, engine
    submission: str  # hash of the file
    verdict: Verdict


@dataclass(frozen=True)
class Place:
    """Where the last line of a student is, with what the driver asks about all the time."""

    offset: int
    length: int
    check: str
    key: str
    submission: str
    status: str
    points: float
    seconds: float


class Journal:
    """The file of one assignment. Reading goes on while somebody writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged: list[int] = []  # line numbers that the last reading skipped
        self.lines = 0  # that the last reading saw
        self._file: Any = None
        self._unsynced = 0

    def append(self, entry: Entry) -> Place:
        """Add one line; it is safe from a kill at once, from a power cut after `sync`."""
        file = self._open()
        body = _body(entry)
        check = _check(body)
        line = b'{"check": "' + check.encode() + b'", ' + body[1:] + b"\n"
        offset = file.seek(0, os.SEEK_END)
        try:
            rest = memoryview(line)
            while rest:  # an unbuffered file may take a part, and refuse the next
                rest = rest[file.write(rest) :]
        except OSError as error:
            self._forget_after(offset)
            raise CourseError(
                f"cannot write to {self.path} ({error.strerror}); what is finished is kept: "
                "make room and run the same command again"
            ) from error
        self._unsynced += 1
        if self._unsynced >= SYNC_EVERY:
            self.sync()
        return _place(offset, len(line), check, entry)

    def sync(self) -> None:
        """Wait until everything that was added is on the disk."""
        if self._file is not None and self._unsynced:
            os.fsync(self._file.fileno())
            self._unsynced = 0

    def close(self) -> None:
        """Sync and let go of the file."""
        if self._file is not None:
            self.sync()
            self._file.close()
            self._file = None

    def index(self) -> dict[tuple[str, str], Place]:
        """Return (student, notebook) -> the place of the last good line, in the file's order."""
        found: dict[tuple[str, str], Place] = {}
        for offset, line, data in self._lines():
            verdict = data["verdict"]
            place = Place(
                offset=offset,
                length=len(line),
                check=data["check"],
                key=data["key"],
                submission=data["submission"],
                status=verdict["status"],
                points=float(verdict["points"]),
                seconds=float(verdict["seconds"]),
            )
            found[data["student"], data["notebook"]] = place
        return found

    def read(self, place: Place) -> Entry:
        """Return the entry at a place of the index."""
        with self.path.open("rb") as file:
            file.seek(place.offset)
            data = _parse(file.read(place.length))
        if data is None or data["check"] != place.check:
            raise CourseError(f"{self.path} changed while it was read; run again")
        return _entry(data)

    def compact(self) -> None:
        """Write the file again without the lines that count no more."""
        index = self.index()
        self.close()
        unfinished = self.path.with_suffix(f".{os.getpid()}.tmp")
        try:
            with self.path.open("rb") as old, unfinished.open("wb") as new:
                for place in index.values():
                    old.seek(place.offset)
                    new.write(old.read(place.length))
                new.flush()
                os.fsync(new.fileno())
            os.replace(unfinished, self.path)
        finally:
            unfinished.unlink(missing_ok=True)

    def _lines(self) -> Iterator[tuple[int, bytes, dict[str, Any]]]:
        """Yield offset, text and content of each good line; note the others."""
        self.damaged, self.lines = [], 0
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            return
        with file:
            offset = 0
            for number, line in enumerate(file, 1):
                self.lines = number
                data = _parse(line)
                if data is not None:
                    yield offset, line, data
                elif line.strip():
                    self.damaged.append(number)
                offset += len(line)

    def _open(self) -> Any:
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("ab+", buffering=0)
            end = self._file.seek(0, os.SEEK_END)
            if end:
                self._file.seek(end - 1)
                if self._file.read(1) != b"\n":  # a line that was never finished
                    self._file.write(b"\n")
        return self._file

    def _forget_after(self, offset: int) -> None:
        """Cut off the part of a line that a full disk let through."""
        try:
            os.ftruncate(self._file.fileno(), offset)
        except OSError:  # then it stays as a damaged line, which readers skip
            self._file.close()
            self._file = None


def _body(entry: Entry) -> bytes:
    data = {
        "student": entry.student,
        "notebook": entry.notebook,
        "key": entry.key,
        "submission": entry.submission,
        "verdict": entry.verdict.as_json(),
    }
    return json.dumps(data, separators=(",", ":")).encode("ascii")


def _check(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=8).hexdigest()


def _parse(line: bytes) -> dict[str, Any] | None:
    """Return the content of a line if it is whole and its check fits."""
    start = b'{"check": "'
    if not (line.startswith(start) and line.endswith(b"}\n")):
        return None
    head = len(start)
    check, between, rest = line[head : head + 16], line[head + 16 : head + 19], line[head + 19 : -1]
    if between != b'", ' or _check(b"{" + rest) != check.decode("ascii", "replace"):
        return None
    return json.loads(line)


def _place(offset: int, length: int, check: str, entry: Entry) -> Place:
    verdict = entry.verdict
    return Place(
        offset=offset,
        length=length,
        check=check,
        key=entry.key,
        submission=entry.submission,
        status=verdict.status,
        points=verdict.points,
        seconds=verdict.seconds,
    )


def _entry(data: dict[str, Any]) -> Entry:
    return Entry(
        student=data["student"],
        notebook=data["notebook"],
        key=data["key"],
        submission=data["submission"],
        verdict=Verdict.from_json(data["verdict"]),
    )
