"""`coursekit collect`: what students handed in, into `attempts/`, and the one that counts chosen.

Every attempt is kept under its time. The last in time is put into `submitted/`, from where it is
graded (`--attempt first` takes the first one instead). Collecting the same things again changes
nothing. Whoever is on the class list gets the id from there; others are known by the name on the
file, with the system's number where two people would get the same.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coursekit.grading.folders import Folders, read_plain
from coursekit.grading.origins import Candidate, Found, Refused
from coursekit.grading.roster import Person, bad_id, plain
from coursekit.grading.text import has_unseen
from coursekit.notebooks import write_whole

STAMP = "%Y-%m-%dT%H-%M-%SZ"


@dataclass
class Collected:
    """What came of it."""

    new: list[str] = field(default_factory=list)  # students with a new attempt
    known: int = 0  # attempts that were there already
    refused: list[Refused] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def collect(
    folders: Folders,
    found: Found,
    people: list[Person] | None = None,
    attempt: str = "last",
    note: Callable[[str], None] = lambda text: None,
) -> Collected:
    """Keep every candidate as an attempt, then choose for each student the one that counts."""
    result, names = Collected(), _Names(folders, people or [])
    touched: dict[str, None] = {}
    most = folders.limits.submission_bytes
    for candidate in found:
        if isinstance(candidate, Refused):
            _refuse(result, candidate, note)
            continue
        student, why = names.student(candidate)
        if why:
            _refuse(result, Refused(candidate.label, why), note)
            continue
        try:
            data = candidate.read(most)
        except OSError as error:
            why = str(error.strerror or error)
            _refuse(result, Refused(candidate.label, why), note)
            continue
        if len(data) > most:
            why = f"is larger than {most >> 20} MB"
            _refuse(result, Refused(candidate.label, why), note)
            continue
        if _keep(folders, student, candidate, data):
            result.new.append(student)
        else:
            result.known += 1
        touched[student] = None
    for student in touched:
        choose(folders, student, attempt)
    result.notes = names.notes
    for text in names.notes:
        note(text)
    return result


def attempts_of(folders: Folders, student: str) -> list[tuple[Path, dict[str, Any]]]:
    """Return a student's attempts, the earliest first, each with what is known of it."""
    found = []
    for path in folders.attempts(student).glob("*/attempt.json"):
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
            found.append((path.parent, about | {"time": datetime.fromisoformat(about["time"])}))
        except (ValueError, KeyError, OSError):
            continue
    return sorted(found, key=lambda one: (one[1]["time"], one[1].get("again", 0), one[0].name))


def choose(folders: Folders, student: str, attempt: str = "last") -> None:
    """Put the attempt that counts into `submitted/`, if it is not there."""
    attempts = attempts_of(folders, student)
    if not attempts:
        return
    folder, about = attempts[0 if attempt == "first" else -1]
    data = (folder / f"{folders.name}.ipynb").read_bytes()
    target = folders.submitted(student)
    stamp = about["time"].astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    if not _holds(target / f"{folders.name}.ipynb", data):
        _write_bytes(target / f"{folders.name}.ipynb", data)
    if not _holds(target / "timestamp.txt", stamp.encode()):
        write_whole(target / "timestamp.txt", stamp)


class _Names:
    """From the name on a file to a student's id."""

    def __init__(self, folders: Folders, people: list[Person]) -> None:
        self.folders = folders
        self.ids = {person.id: person.id for person in people}
        self.ids |= {person.lms: person.id for person in people if person.lms}
        self.emails = {person.email.lower(): person.id for person in people if person.email}
        self.by_name: dict[str, set[str]] = {}
        for person in people:
            for name in person.names:
                self.by_name.setdefault(name, set()).add(person.id)
        self.given: dict[str, str] = {}  # id -> the number of who got it in this collection
        self.notes: list[str] = []

    def student(self, candidate: Candidate) -> tuple[str, str]:
        """Return the id, or why there is none."""
        for known in (candidate.lms if candidate.lms_stays else "", candidate.who):
            if known in self.ids:
                return self.ids[known], ""
        if candidate.who.lower() in self.emails:
            return self.emails[candidate.who.lower()], ""
        same = self.by_name.get(plain(candidate.who), set())
        if len(same) == 1:
            return next(iter(same)), ""
        base = _slug(candidate.who)
        if not base or bad_id(base):
            return "", "has a name that cannot be a student's"
        if len(same) > 1:
            self._say(f"several people are called {candidate.who}; their numbers tell them apart")
            return (f"{base}_{candidate.lms}", "") if candidate.lms else ("", "is of which of them")
        return self._unlisted(base, candidate), ""

    def _unlisted(self, base: str, candidate: Candidate) -> str:
        """Return an id that nobody else has: two people may have the same name."""
        if not candidate.lms:
            return base
        before = self.given.get(base)
        if before is None and candidate.lms_stays:
            before = self._number_before(base)
        if before in (None, candidate.lms):
            self.given[base] = candidate.lms
            return base
        self._say(f"two people are called {candidate.who}; one of them is {base}_{candidate.lms}")
        return f"{base}_{candidate.lms}"

    def _number_before(self, student: str) -> str | None:
        numbers = [about.get("lms") for _, about in attempts_of(self.folders, student)]
        return next((number for number in numbers if number), None)

    def _say(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def _keep(folders: Folders, student: str, candidate: Candidate, data: bytes) -> bool:
    """Write an attempt; False if it is there already."""
    digest = hashlib.sha256(data).hexdigest()
    time = candidate.time.astimezone(UTC).replace(microsecond=0)
    parent = folders.attempts(student)
    stamp, number = time.strftime(STAMP), 1
    folder = parent / stamp
    while folder.exists():
        if _holds(folder / f"{folders.name}.ipynb", data) and (folder / "attempt.json").is_file():
            return False
        if not (folder / "attempt.json").is_file():
            break  # a collection that was interrupted
        number += 1
        folder = parent / f"{stamp}-{number}"
    _write_bytes(folder / f"{folders.name}.ipynb", data)
    about = {
        "from": candidate.label,
        "time": time.isoformat(),
        "again": candidate.again,
        "late": candidate.late,
        "lms": candidate.lms,
        "sha256": digest,
    }
    write_whole(folder / "attempt.json", json.dumps(about, indent=1) + "\n")
    return True


def _refuse(result: Collected, refused: Refused, note: Callable[[str], None]) -> None:
    result.refused.append(refused)
    note(f"refused: {refused.label} {refused.why}")


def _slug(name: str) -> str:
    """Return a name as a folder's: letters and digits of any script, spaces as dashes."""
    name = unicodedata.normalize("NFC", name)
    if has_unseen(name):
        return ""
    if any(character in name for character in "$`|;<>\\"):
        return ""
    return re.sub(r"[^\w.@+]+", "-", name).strip("-.")


def _holds(path: Path, data: bytes) -> bool:
    try:
        return read_plain(path, len(data)) == data
    except OSError:
        return False


def _write_bytes(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.tmp")
    unfinished.unlink(missing_ok=True)
    unfinished.write_bytes(data)
    unfinished.replace(path)
