"""Where submissions come from: a folder, the zip of an LMS, nbgrader's exchange.

Each gives candidates: a label for messages, who handed it in, when, and a way to read the bytes.
Nothing here writes. Zips are read member by member with caps on size, number and ratio; names never
become paths, so a `../` in one has nowhere to go.
"""

from __future__ import annotations

import os
import re
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from coursekit.errors import CourseError
from coursekit.grading.folders import read_plain
from coursekit.grading.text import has_unseen

MEMBERS = 50_000  # in a zip
TOTAL = 8 << 30  # bytes of a whole zip, unpacked
RATIO = 200  # of unpacked to packed, where it is more than a megabyte
CANVAS = re.compile(r"(?P<who>[^_]+)_(?P<late>LATE_)?(?P<user>\d+)_(?P<file>\d+)_(?P<name>.+)")
MOODLE = re.compile(r"(?P<who>.+)_(?P<user>\d+)_assignsubmission_(?P<kind>file|onlinetext)_?")
AGAIN = re.compile(r"(?:-(\d{1,3})| ?\((\d{1,3})\))$")  # "name-1", "name (1)": handed in again
IGNORED = {"__MACOSX", ".ipynb_checkpoints", ".DS_Store", "Thumbs.db", "timestamp.txt"}


@dataclass(frozen=True)
class Candidate:
    """One file that somebody handed in, not read yet."""

    label: str  # as the instructor knows it
    who: str  # a name, as it stands there
    lms: str  # the number that the system gives the person, "" if none
    lms_stays: bool  # for one person, in every assignment
    time: datetime
    again: int  # 2 is later than 1 where the times are equal
    late: bool
    read: Callable[[int], bytes] = field(compare=False)


@dataclass(frozen=True)
class Refused:
    """A file that is not taken, and why."""

    label: str
    why: str


Found = Iterator[Candidate | Refused]


def from_folder(folder: Path, name: str) -> Found:
    """Yield what is in a folder: `student.ipynb`, `student/…`, or an unpacked LMS zip."""
    if not folder.is_dir():
        raise CourseError(f"there is no folder {folder}")
    inside: list[tuple[PurePosixPath, Path]] = []
    for here, folders, files in os.walk(folder, followlinks=False):
        base = Path(here)
        for one in sorted(folders):
            if (base / one).is_symlink():
                yield Refused(_shown((base / one).relative_to(folder).as_posix()), "is a link")
        folders[:] = sorted(f for f in folders if not _ignored(f))
        inside += [(_below(base / f, folder), base / f) for f in sorted(files)]
    times: dict[Path, datetime | None] = {}
    for parts, path in _of_assignment(inside, name):
        label = _shown(parts.as_posix())
        try:
            found = path.lstat()
        except OSError as error:
            yield Refused(label, error.strerror or "cannot be read")
            continue
        if not stat.S_ISREG(found.st_mode):
            yield Refused(label, "is a link" if path.is_symlink() else "is not a plain file")
            continue
        if path.parent not in times:
            times[path.parent] = _timestamp(path.parent)
        when = times[path.parent] or datetime.fromtimestamp(found.st_mtime, UTC)
        yield _candidate(parts, name, label, when, lambda most, path=path: read_plain(path, most))


def from_zip(path: Path, name: str) -> Found:
    """Yield what is in a zip of Canvas, Moodle or of plain files."""
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise CourseError(f"{path} is not a zip that can be read ({error})") from error
    with archive:
        members = archive.infolist()
        if len(members) > MEMBERS:
            raise CourseError(f"{path} holds {len(members)} files; more than {MEMBERS} are refused")
        packed = sum(member.compress_size for member in members)
        if packed > path.stat().st_size or sum(m.file_size for m in members) > TOTAL:
            raise CourseError(f"{path} is larger inside than any class's work; it was not unpacked")
        inside: list[tuple[PurePosixPath, zipfile.ZipInfo]] = []
        for member in members:
            why = _refusal(member)
            if why:
                yield Refused(_shown(member.filename), why)
            elif not member.is_dir():
                inside.append((PurePosixPath(member.filename), member))
        stamps = _stamps(archive, inside)
        for parts, member in _of_assignment(inside, name):
            when = stamps.get(parts.parent) or _zip_time(member)
            yield _candidate(
                parts,
                name,
                _shown(member.filename),
                when,
                lambda most, member=member: _read_member(archive, member, most),
            )


def from_exchange(inbound: Path, name: str) -> Found:
    """Yield what students have handed in through nbgrader's exchange: `student+NAME+time`."""
    if not inbound.is_dir():
        raise CourseError(f"there is no exchange at {inbound}; set c.Exchange.root in the settings")
    for folder in sorted(inbound.iterdir()):
        student, found, rest = folder.name.rpartition(f"+{name}+")
        if not found:
            continue
        label = _shown(folder.name)
        if folder.is_symlink() or not folder.is_dir():
            yield Refused(label, "is not a folder")
            continue
        when = parse_time(rest.split("+")[0])
        notebooks = sorted(folder.glob("*.ipynb"))
        path = folder / f"{name}.ipynb"
        path = notebooks[0] if len(notebooks) == 1 else path
        if when is None or path not in notebooks:
            why = "has no time in its name" if when is None else f"has no {name}.ipynb"
            yield Refused(label, why)
        elif path.is_symlink() or not path.is_file():
            yield Refused(label, "is a link")
        else:
            yield Candidate(
                label, student, "", True, when, 0, False, lambda most, p=path: read_plain(p, most)
            )


def parse_time(text: str) -> datetime | None:
    """Return a time as nbgrader writes it, with its zone; None where there is none."""
    from dateutil import parser

    text = text.strip()
    if not text:
        return None
    try:
        found = parser.parse(text)
    except (ValueError, OverflowError):
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _of_assignment(inside: list, name: str) -> Iterator[tuple[PurePosixPath, object]]:
    """Leave out what belongs to others, and a student's further files beside the notebook."""
    groups: dict[tuple[str, ...], list] = {}
    for parts, file in inside:
        if any(_ignored(part) for part in parts.parts):
            continue
        canvas = CANVAS.fullmatch(parts.name)
        mine = (canvas["who"], canvas["user"]) if canvas else (parts.name,)
        alone = canvas or len(parts.parts) == 1
        group = (*parts.parts[:-1], *mine) if alone else parts.parts[:-1]
        groups.setdefault(group, []).append((parts, file))
    for group in groups.values():
        notebooks = [one for one in group if one[0].suffix.lower() == ".ipynb"]
        same = [one for one in notebooks if _title(one[0]) == name]
        yield from same or notebooks or group[:1]


def _title(parts: PurePosixPath) -> str:
    """Return the name of a file without what the system has put around it."""
    canvas = CANVAS.fullmatch(parts.name)
    return AGAIN.sub("", PurePosixPath(canvas["name"]).stem if canvas else parts.stem)


def _candidate(
    parts: PurePosixPath, name: str, label: str, when: datetime, read: Callable[[int], bytes]
) -> Candidate | Refused:
    """Find out from its name and folders who handed a file in."""
    canvas = CANVAS.fullmatch(parts.name)
    if canvas:
        again = AGAIN.search(PurePosixPath(canvas["name"]).stem)
        number = int(again[1] or again[2]) if again else 0
        late = bool(canvas["late"])
        return Candidate(label, canvas["who"], canvas["user"], True, when, number, late, read)
    for part in reversed(parts.parts[:-1]):
        moodle = MOODLE.fullmatch(part)
        if moodle and moodle["kind"] == "onlinetext":
            return Refused(label, "is a text typed into Moodle, not a file")
        if moodle:
            return Candidate(label, moodle["who"], moodle["user"], False, when, 0, False, read)
    if parts.suffix.lower() != ".ipynb":
        return Refused(label, "is not a notebook")
    folders = list(parts.parts[:-1])
    while folders and (folders[-1] == name or parse_stamp(folders[-1])):
        folders.pop()
    if folders and folders != ["submitted"]:
        return Candidate(label, folders[-1], "", True, when, 0, False, read)
    stem = _title(parts)
    again = AGAIN.search(parts.stem)
    number = int(again[1] or again[2]) if again else 0
    for affix in (f"_{name}", f"-{name}", f" {name}"):
        stem = stem.removesuffix(affix)
    for affix in (f"{name}_", f"{name}-", f"{name} "):
        stem = stem.removeprefix(affix)
    if stem == name or not stem:
        return Refused(label, "does not say whose it is; name it student.ipynb")
    return Candidate(label, stem, "", True, when, number, False, read)


def parse_stamp(text: str) -> bool:
    """Say whether the name of a folder is that of an attempt."""
    return bool(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ(-\d+)?", text))


def _refusal(member: zipfile.ZipInfo) -> str:
    """Say why a member of a zip is not touched, "" if nothing is wrong with it."""
    name = member.filename
    parts = name.replace("\\", "/").split("/")
    if "\\" in name or name.startswith("/") or re.match(r"[A-Za-z]:", name) or ".." in parts:
        return "has a path that leads out of the zip"
    if has_unseen(name):
        return "has control characters in its name"
    if any(character in name for character in "$`|;<>"):
        return "has a name that a shell would act upon"
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind and kind not in (stat.S_IFREG, stat.S_IFDIR):
        return "is a link or a device"
    if member.flag_bits & 1:
        return "is encrypted"
    if name.lower().endswith((".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar")):
        return "is an archive in the archive"
    if member.file_size > 1 << 20 and member.file_size > RATIO * max(1, member.compress_size):
        return "is a zip bomb"
    return ""


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes:
    try:
        with archive.open(member) as file:
            return file.read(most + 1)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise OSError(f"cannot be unpacked ({error})") from error
    except Exception as error:  # zlib.error and those of other compressions
        raise OSError(f"is damaged ({type(error).__name__})") from error


def _stamps(archive: zipfile.ZipFile, inside: list) -> dict[PurePosixPath, datetime]:
    """Read nbgrader's `timestamp.txt` files."""
    found = {}
    for parts, member in inside:
        if parts.name == "timestamp.txt" and member.file_size < 200:
            with suppress(OSError):  # a damaged one says no more than none
                text = _read_member(archive, member, 200).decode("utf-8", "replace")
                if (when := parse_time(text)) is not None:
                    found[parts.parent] = when
    return found


def _zip_time(member: zipfile.ZipInfo) -> datetime:
    """Return the time of a member; zips have no zone, and it is taken as UTC."""
    try:
        return datetime(*member.date_time, tzinfo=UTC)
    except ValueError:
        return datetime(1980, 1, 1, tzinfo=UTC)


def _timestamp(folder: Path) -> datetime | None:
    try:
        return parse_time(read_plain(folder / "timestamp.txt", 200).decode("utf-8", "replace"))
    except OSError:
        return None


def _below(path: Path, folder: Path) -> PurePosixPath:
    return PurePosixPath(path.relative_to(folder).as_posix())


def _ignored(part: str) -> bool:
    return part in IGNORED or part.startswith("._")


def _shown(name: str) -> str:
    """Return a name as it may be printed."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in name)[:200]
