"""Whose a file is: read from what the learning platform has written, never from what a student has.

A platform names the outermost part of a path (Canvas the front of the file's name, Moodle the first
folder); everything behind that comes from the student. So a whole delivery has one layout, the
outermost part alone decides, and a further name inside a student's own upload is a claim that is
reported and not believed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath

from coursekit._base.errors import CourseError
from coursetools.text import one_line

# Canvas: name, LATE, the person's number, the file's number; then the student's own name for it.
# It takes _digits_ out of people's names, so the first pair of numbers is its own.
CANVAS = re.compile(
    r"(?P<who>.+?)_(?P<late>LATE_|late_)?(?P<user>\d+)_(?P<file>\d+)_(?P<name>.+)", re.DOTALL
)
# Under anonymous marking: no name, and a number of the person in this assignment alone. The file's
# number is the one that it has with names. Canvas's versions put LATE in different positions.
ANONYMOUS = re.compile(
    r"(?P<late>LATE_)?anon_(?P<later>LATE_)?(?P<user>[A-Za-z0-9]+)_(?P<last>LATE_)?(?P<file>\d+)_"
    r"(?P<name>.+)",
    re.DOTALL,
)
# Moodle puts spaces in the place of underscores in people's names.
MOODLE = re.compile(
    r"(?P<who>[^_]+)_(?P<user>\d+)_assignsubmission_(?P<kind>file|onlinetext)(?:_(?P<name>.*))?",
    re.DOTALL,
)
AGAIN = re.compile(r"(?:-(\d{1,3})| ?\((\d{1,3})\))$")  # "name-1", "name (1)": submitted again
COPY = re.compile(r" ?\((\d{1,3})\)$")  # "-1" may be the end of an id
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ(-\d+)?")
STRAYS = 10  # a tenth of a delivery, or one file, may be named otherwise
IGNORED = {"__MACOSX", ".ipynb_checkpoints", ".DS_Store", "Thumbs.db", "timestamp.txt"}
LAYOUTS = {
    "canvas": "as Canvas names files",
    "moodle": "as Moodle names folders or files",
    "nbgrader": "as nbgrader names folders (submitted/STUDENT/ASSIGNMENT/)",
    "plain": "as STUDENT.ipynb or STUDENT/…",
}


@dataclass(frozen=True)
class File:
    """A file of a delivery, not read yet."""

    path: PurePosixPath
    seen: datetime  # the file's own time: it tells attempts apart, and not when one was submitted
    read: Callable[[int], bytes] = field(compare=False)


@dataclass(frozen=True, kw_only=True)
class Owner:
    """Whose a file is, as its path says."""

    who: str  # a name or an id, as the platform or the instructor has written it
    inner: PurePosixPath  # what the student has named
    lms: str = ""  # the number that the platform gives the person
    order: int = 0  # what the platform, or a copy's number, says comes later
    file: str = ""  # Canvas's number of the file, which stays when names are hidden or shown
    late: bool | None = None  # as the platform says; None where it says nothing
    whole: str = ""  # `who` with all that may have been put around it: an id may look like that
    or_else: tuple[str, str] = ("", "")  # name and number, if the file's name can be read so too
    anonymous: bool = False  # `who` is a number, too


@dataclass(frozen=True, kw_only=True)
class Candidate(Owner):
    """One file that somebody submitted, not read yet."""

    label: str  # as the instructor knows it
    seen: datetime
    read: Callable[[int], bytes] = field(compare=False)
    lms_stays: bool = True  # for one person, in every assignment
    time: datetime | None = None  # of handing in, where it can be believed
    claim: tuple[str, str] = ("", "")  # somebody else whom a name inside the upload names
    secret: str = ""  # by which its feedback is found in nbgrader's exchange


@dataclass(frozen=True)
class Refused:
    """A file that is not taken, and why."""

    label: str
    why: str
    renumbered: bool = False  # for it carries another number than its student is known by


def canvas_name(name: str) -> re.Match[str] | None:
    """Return the parts of a name that Canvas gave: of the person, of the file, the student's."""
    return ANONYMOUS.fullmatch(name) or CANVAS.fullmatch(name)


def sort_out(
    files: Sequence[File], name: str, where: str = "the delivery"
) -> list[Candidate | Refused]:
    """Find out who handed each file in; leave out a student's further files beside the notebook."""
    files = [f for f in files if f.path.parts and not any(map(ignored, f.path.parts))]
    layout = _layout_of(files, name, where)
    results: list[Candidate | Refused] = []
    groups: dict[tuple[str, str, str], list[tuple[Owner, File]]] = {}
    for file in files:
        owner, kind = _OWNER[layout](file.path, name), kind_of(file.path)
        if layout == "plain" != kind:  # which takes any name for a student's
            owner = f"is named {LAYOUTS[kind]}, unlike the others; collect it separately"
        if isinstance(owner, str):
            results.append(Refused(shown(file.path.as_posix()), owner))
        elif owner is not None:
            top = file.path.parts[0] if layout == "plain" else ""
            groups.setdefault((owner.who, owner.lms, top), []).append((owner, file))
    for group in groups.values():
        for owner, file in _notebooks(group, name):
            results.append(
                Candidate(
                    **vars(owner),
                    label=shown(file.path.as_posix()),
                    seen=file.seen,
                    read=file.read,
                    lms_stays=layout != "moodle" and not owner.anonymous,
                    claim=_claim(owner),
                )
            )
    return results


def ignored(part: str) -> bool:
    """Return whether a file or folder is what systems leave lying about."""
    return part in IGNORED or part.startswith("._")


def shown(name: str) -> str:
    """Return a name as it may be printed."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in name)[:200]


def plain_name(name: str) -> str:
    """Return a person's name without what platforms change: case, blanks and punctuation."""
    import unicodedata

    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
    return "".join(c for c in folded if c.isalnum() or unicodedata.category(c)[0] == "M")


def _layout_of(files: Sequence[File], name: str, where: str) -> str:
    """Return the one layout of a delivery; a mixture is for the instructor to decide about.

    It is none where few files stray: what is not named as the others are is refused, one by one.
    """
    kinds: dict[str, list[str]] = {}
    for file in files:
        kind = kind_of(file.path)
        if kind != "plain" or file.path.suffix.lower() == ".ipynb":
            kinds.setdefault(kind, []).append(shown(file.path.as_posix()))
    if set(kinds) == {"plain"}:
        if all(len(file.path.parts) > 2 and file.path.parts[1] == name for file in files):
            return "nbgrader"
        tops = {file.path.parts[0] for file in files}
        below = [PurePosixPath(*f.path.parts[1:]) for f in files if len(f.path.parts) > 1]
        if len(tops) == 1 and any(kind_of(path) != "plain" for path in below):
            raise CourseError(
                f"everything in {where} is in one folder, {shown(tops.pop())}; collect that "
                f"folder, or, if it belongs to a student, rename its notebook to {name}.ipynb"
            )
    most, *others = sorted(kinds, key=lambda kind: -len(kinds[kind])) or ["plain"]
    strays, few = sum(len(kinds[kind]) for kind in others), len(kinds.get(most, ())) // STRAYS
    if strays > max(1, few) or (strays and len(kinds[most]) <= 2):
        reasons = "; ".join(
            f"{len(paths)} {LAYOUTS[kind]} ({one_line(paths[0], 100)})"
            for kind, paths in sorted(kinds.items(), key=lambda item: -len(item[1]))
        )
        raise CourseError(
            f"{where} has files named in different ways, so it is not clear whose they are: "
            f"{reasons}. Put each kind into a separate folder, and collect one folder at a time"
        )
    return most


def kind_of(path: PurePosixPath) -> str:
    """Return as which layout names files a path is."""
    top, alone = path.parts[0], len(path.parts) == 1
    moodle = MOODLE.fullmatch(top)
    if moodle and (alone or not moodle["name"]):
        return "moodle"
    if alone and canvas_name(top):
        return "canvas"
    return "nbgrader" if top == "submitted" and not alone else "plain"


def _canvas(path: PurePosixPath, name: str) -> Owner | str | None:
    match = canvas_name(path.name)
    if len(path.parts) > 1 or not match:
        return "is not named as Canvas names submissions"
    inner = PurePosixPath(match["name"])
    if match.re is ANONYMOUS:
        late = any(match[where] for where in ("late", "later", "last"))
        who, number = match["user"], match["file"]
        return Owner(
            who=who, inner=inner, lms=who, order=int(number), file=number, late=late, anonymous=True
        )
    # Somebody called "kim_5" with the number 12 gives kim_5_12_3456_…, and so do kim, 5, file 12
    # and a file called "3456_…". Files are numbered higher than people, and without leading zeros.
    next_number = re.match(r"([1-9]\d*)_.", inner.name, re.DOTALL)
    twice = next_number and not match["late"] and int(next_number[1]) > int(match["file"])
    return Owner(
        who=match["who"],
        inner=inner,
        lms=match["user"],
        order=int(match["file"]),
        file=match["file"],
        late=bool(match["late"]),
        or_else=(f"{match['who']}_{match['user']}", match["file"]) if twice else ("", ""),
    )


def _moodle(path: PurePosixPath, name: str) -> Owner | str | None:
    match, alone = MOODLE.fullmatch(path.parts[0]), len(path.parts) == 1
    if not match or bool(match["name"]) != alone:
        return "is not named as Moodle names submissions"
    if match["kind"] == "onlinetext":
        return "is a text typed into Moodle, not a file"
    inner = PurePosixPath(match["name"] if alone else PurePosixPath(*path.parts[1:]))
    return Owner(who=match["who"], inner=inner, lms=match["user"], order=_again(inner))


def _nbgrader(path: PurePosixPath, name: str) -> Owner | str | None:
    parts = path.parts[1:] if path.parts[0] == "submitted" else path.parts
    if len(parts) < 3:
        return "is not in a folder STUDENT/ASSIGNMENT/"
    if parts[1] != name:
        return None  # another assignment's
    below = parts[3:] if STAMP.fullmatch(parts[2]) and len(parts) > 3 else parts[2:]
    inner = PurePosixPath(*below)
    return Owner(who=parts[0], inner=inner, order=_again(inner))


def _plain(path: PurePosixPath, name: str) -> Owner | str | None:
    if len(path.parts) > 1:
        inner = PurePosixPath(*path.parts[1:])
        return Owner(who=path.parts[0], inner=inner, order=_again(inner))
    if path.suffix.lower() != ".ipynb":
        return "is not a notebook"
    copy = COPY.search(path.stem)
    stem = COPY.sub("", path.stem)
    for affix in (f"_{name}", f"-{name}", f" {name}"):
        stem = stem.removesuffix(affix)
    for affix in (f"{name}_", f"{name}-", f"{name} "):
        stem = stem.removeprefix(affix)
    if stem == name or not stem:
        return "does not name a student; rename it to STUDENT.ipynb"
    return Owner(
        who=stem, inner=PurePosixPath(f"{name}.ipynb"), order=int(copy[1]) if copy else 0,
        whole=path.stem,
    )  # fmt: skip


_OWNER = {"canvas": _canvas, "moodle": _moodle, "nbgrader": _nbgrader, "plain": _plain}


def _again(inner: PurePosixPath) -> int:
    again = AGAIN.search(inner.stem)
    return int(again[1] or again[2]) if again else 0


def _notebooks(group: list[tuple[Owner, File]], name: str) -> list[tuple[Owner, File]]:
    """Return which of a student's files is the notebook; where none is, one to say so about."""
    notebooks = [one for one in group if one[0].inner.suffix.lower() == ".ipynb"]
    same = [one for one in notebooks if AGAIN.sub("", one[0].inner.stem) == name]
    chosen = same or notebooks or group[:1]
    depth = min(len(owner.inner.parts) for owner, _ in chosen)
    return [one for one in chosen if len(one[0].inner.parts) == depth]


def _claim(owner: Owner) -> tuple[str, str]:
    """Return whom a name inside somebody's upload names as a platform would, if anybody else."""
    for part in owner.inner.parts:
        match = MOODLE.fullmatch(part) or CANVAS.fullmatch(part)
        if match and plain_name(match["who"]) != plain_name(owner.who):
            return shown(match["who"]), match["user"]
    return "", ""
