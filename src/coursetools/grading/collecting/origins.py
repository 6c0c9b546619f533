"""Where submissions come from: a folder, the zip of an LMS, nbgrader's exchange.

Each gives files with a way to read them; `layouts` says whose they are. Nothing here writes. Zips
are read member by member with caps on size, number and ratio; names never become paths, so a `../`
in one has nowhere to go.
"""

from __future__ import annotations

import os
import re
import stat
import zipfile
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path, PurePosixPath

from coursekit._base.errors import CourseError
from coursetools.grading.collecting.layouts import (
    Candidate,
    File,
    Refused,
    ignored,
    shown,
    sort_out,
)
from coursetools.grading.records.attempts import SECRET
from coursetools.grading.records.folders import read_plain
from coursetools.text import has_unseen

MEMBERS = 50_000  # in a zip
TOTAL = 8 << 30  # bytes of a whole zip, unpacked
RATIO = 200  # of unpacked to packed, where it is more than a megabyte
AFTER = timedelta(minutes=1)  # from a student's saying when to the file system's having it

Found = list[Candidate | Refused]


def from_folder(folder: Path, name: str) -> Found:
    """Return what is in a folder: `student.ipynb`, `student/…`, or an unpacked LMS zip."""
    if not folder.is_dir():
        raise CourseError(f"there is no folder {folder}")
    refused: Found = []
    files = []
    for here, folders, names in os.walk(folder, followlinks=False):
        base = Path(here)
        for one in sorted(folders):
            if (base / one).is_symlink():
                label = (base / one).relative_to(folder).as_posix()
                refused.append(Refused(shown(label), "is a link"))
        folders[:] = sorted(f for f in folders if not ignored(f))
        for path in (base / one for one in sorted(names) if not ignored(one)):
            inside = PurePosixPath(path.relative_to(folder).as_posix())
            try:
                status = path.lstat()
            except OSError as error:
                why = error.strerror or "cannot be read"
                refused.append(Refused(shown(inside.as_posix()), why))
                continue
            if not stat.S_ISREG(status.st_mode):
                why = "is a link" if path.is_symlink() else "is not a plain file"
                refused.append(Refused(shown(inside.as_posix()), why))
                continue
            modified = datetime.fromtimestamp(status.st_mtime, UTC)
            files.append(File(inside, modified, partial(read_plain, path)))
    return refused + sort_out(files, name, str(folder))


def from_zip(path: Path, name: str) -> Found:
    """Return what is in a zip of Canvas, Moodle or of plain files."""
    if not path.exists():
        raise CourseError(f"there is no file {path}")
    try:
        archive = zipfile.ZipFile(path)  # open as long as somebody may read from it
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise CourseError(f"{path} is not a readable zip ({error}); download it again") from error
    members = archive.infolist()
    if len(members) > MEMBERS:
        raise CourseError(f"{path} has {len(members)} files; more than {MEMBERS} are refused")
    packed = sum(member.compress_size for member in members)
    if packed > path.stat().st_size or sum(m.file_size for m in members) > TOTAL:
        raise CourseError(f"{path} unpacks to far more than a class's work; it was not unpacked")
    refused: Found = []
    files = []
    for member in members:
        why = _refusal(member)
        if why:
            refused.append(Refused(shown(member.filename), why))
        elif not member.is_dir() and member.filename:
            files.append(
                File(
                    PurePosixPath(member.filename),
                    _zip_time(member),
                    partial(_read_member, archive, member),
                )
            )
    return refused + sort_out(files, name, str(path))


def from_exchange(inbound: Path, name: str, check_owner: bool = True) -> Found:
    """Return what students have submitted through nbgrader's exchange: `student+NAME+time`.

    A student's own process makes the folder, and could give it any name. So the owner of the folder
    has to be the student, and the time is believed where the file system has one close to it.
    """
    if not inbound.is_dir():
        raise CourseError(
            f"there is no exchange at {inbound}; set c.Exchange.root in nbgrader_config.py"
        )
    files: Found = []
    for folder in sorted(inbound.iterdir()):
        student, here, rest = folder.name.rpartition(f"+{name}+")
        if here:
            files.append(_handed_over(folder, student, rest, name, check_owner))
    return files


def _handed_over(
    folder: Path, student: str, rest: str, name: str, check_owner: bool
) -> Candidate | Refused:
    label = shown(folder.name)
    if folder.is_symlink() or not folder.is_dir():
        return Refused(label, "is not a folder")
    about = folder.stat()
    owner = _owner(about.st_uid)
    if check_owner and owner not in (None, student):
        return Refused(
            label,
            f"belongs to the account {owner}, not to the student in its name (if all students of "
            "your exchange have one account, set c.ExchangeCollect.check_owner = False)",
        )
    time = parse_time(rest.split("+")[0])
    if time is None:
        return Refused(label, "has no time in its name")
    notebooks = sorted(folder.glob("*.ipynb"))
    path = notebooks[0] if len(notebooks) == 1 else folder / f"{name}.ipynb"
    if path not in notebooks:
        return Refused(label, f"has no {name}.ipynb")
    if path.is_symlink() or not path.is_file():
        return Refused(label, "is a link")
    changed = datetime.fromtimestamp(about.st_ctime, UTC)
    return Candidate(
        label=label,
        who=student,
        inner=PurePosixPath(path.name),
        seen=time,
        time=time if abs(changed - time) <= AFTER else None,
        read=lambda most: read_plain(path, most),
        secret=secret_in(folder),
    )


def secret_in(folder: Path) -> str:
    """Return what `nbgrader submit` has written for the feedback, "" where there is nothing."""
    try:
        data = read_plain(folder / SECRET, 128)
    except OSError:
        return ""
    return data.decode() if re.fullmatch(rb"[0-9a-f]{32,128}", data) else ""


def _owner(number: int) -> str | None:
    """Return the name of an account, None where the system has no accounts to ask."""
    try:
        import pwd
    except ImportError:
        return None
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"number {number}"


def parse_time(text: str) -> datetime | None:
    """Return a time as nbgrader writes it, with its zone; None where there is none."""
    from dateutil import parser

    text = text.strip()
    if not text:
        return None
    try:
        time = parser.parse(text)
    except (ValueError, OverflowError):
        return None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _refusal(member: zipfile.ZipInfo) -> str:
    """Say why a member of a zip is not touched, "" if nothing is wrong with it."""
    name = member.filename
    parts = name.replace("\\", "/").split("/")
    if "\\" in name or name.startswith("/") or re.match(r"[A-Za-z]:", name) or ".." in parts:
        return "has a path that leads outside the zip"
    if has_unseen(name):
        return "has control characters in its name"
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind and kind not in (stat.S_IFREG, stat.S_IFDIR):
        return "is a link or a device"
    if member.flag_bits & 1:
        return "is encrypted"
    if name.lower().endswith((".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar")):
        return "is an archive inside the archive"
    return ""


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes:
    try:
        with archive.open(member) as file:
            data = file.read(most + 1)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise OSError(f"cannot be unpacked ({error})") from error
    except Exception as error:  # zlib.error and those of other compressions
        raise OSError(f"is damaged ({type(error).__name__})") from error
    packs_well = member.file_size > RATIO * max(1, member.compress_size)
    if packs_well and len(data) > 1 << 20 and not data.lstrip()[:1] == b"{":
        raise OSError("is a zip bomb")  # a notebook that prints one line for ever packs as well
    return data


def _zip_time(member: zipfile.ZipInfo) -> datetime:
    """Return the time of a member; zips have no zone, and it is taken as UTC."""
    try:
        return datetime(*member.date_time, tzinfo=UTC)
    except ValueError:
        return datetime(1980, 1, 1, tzinfo=UTC)
