"""What each file given to `coursekit collect` is: decided by its content, never by its name.

A folder or a zip holds submissions; a table is known by its columns, in the languages in which the
readers know them. A file that is nothing of this is refused: a wrong table entered as another kind
would do harm that is hard to see.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from coursekit._base.errors import CourseError
from coursekit._base.nearest import did_you_mean
from coursetools.grading.collecting import layouts, roster, times, worksheet
from coursetools.grading.collecting.columns import MEANING
from coursetools.grading.records import regrade_requests
from coursetools.settings import csv_tables
from coursetools.text import one_line

EXCHANGE = "exchange"
PLATFORMS = {"canvas": "Canvas", "moodle": "Moodle"}
SPREADSHEETS = ("xl/", "content.xml")  # members of .xlsx and of .ods
OLD_SPREADSHEET = b"\xd0\xcf\x11\xe0"  # how an .xls begins
EXPECTED = (
    "a class list (id, name, email), times (id, time), Moodle's grading worksheet, marks (code, "
    "question, marker, …), regrade requests (id, question, text), or a folder or zip of submissions"
)
MARKS = {"code", "question", "marker"}
OTHERS = {"code", "question"}  # columns that no class list has


@dataclass(frozen=True)
class Inputs:
    """The files by their kinds, and a line about each in the order in which they were given."""

    submissions: Path | None = None
    exchange: bool = False
    class_list: Path | None = None
    times: Path | None = None
    requests: Path | None = None
    marks: tuple[Path, ...] = ()
    lines: tuple[str, ...] = ()

    @property
    def has_submissions(self) -> bool:
        """Whether there is a folder, a zip or the exchange to take submissions from."""
        return self.exchange or self.submissions is not None


def recognise(paths: Iterable[Path]) -> Inputs:
    """Say what each file is; there is at most one of each kind, except marks."""
    kinds: dict[str, list[Path]] = {}
    lines = []
    for path in paths:
        kind, text = _kind(path)
        same = kinds.setdefault(kind, [])
        if same and kind != "marks":
            other = "are both" if same[0] != path else "were given twice:"
            raise CourseError(
                f"{same[0]} and {path} {other} {text.partition(' (')[0]}; collect one of them, "
                "then the other"
            )
        same.append(path)
        lines.append(f"{path}: {text}")
    first = {kind: same[0] for kind, same in kinds.items()}
    source = first.get("submissions")
    exchange = source is not None and _is_exchange(source)
    return Inputs(
        submissions=None if exchange else source,
        exchange=exchange,
        class_list=first.get("class list"),
        times=first.get("times"),
        requests=first.get("requests"),
        marks=tuple(kinds.get("marks", ())),
        lines=tuple(lines),
    )


def _kind(path: Path) -> tuple[str, str]:
    """Return the kind of a file, and the words for it."""
    if _is_exchange(path):
        return "submissions", "submissions (nbgrader's exchange)"
    if path.is_dir():
        return "submissions", _submissions([one.name for one in path.iterdir()])
    if not path.exists():
        raise CourseError(f"there is no file {path}{did_you_mean(path.name, _files_near(path))}")
    if not path.is_file():
        raise CourseError(f"{path} is neither a file nor a folder; expected {EXPECTED}")
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from error
    if start.startswith(OLD_SPREADSHEET):
        raise CourseError(_spreadsheet(path))
    if start.startswith(b"PK") or path.suffix.lower() == ".zip":
        return "submissions", _submissions(_members(path))
    if start.lstrip().startswith(b"{") and path.suffix.lower() == ".ipynb":
        raise CourseError(
            f"{path} is a single notebook; put it into a folder, and collect the folder"
        )
    if b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise CourseError(f"{path} is neither a table nor a zip; expected {EXPECTED}")
    return _table(csv_tables.read(path, "id,name,email", joins=True))


def _is_exchange(path: Path) -> bool:
    """Return whether the word is meant, and not a file or folder that is called so."""
    return str(path) == EXCHANGE and not path.exists()


def _files_near(path: Path) -> Sequence[str]:
    parent = path.parent
    return sorted(one.name for one in parent.iterdir()) if parent.is_dir() else ()


def _members(path: Path) -> list[str]:
    """Return the names in a zip; none where it is damaged, which its reader reports."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError):
        return []
    if any(name.startswith(SPREADSHEETS) for name in names) and not any(
        name.endswith(".ipynb") for name in names
    ):
        raise CourseError(_spreadsheet(path))
    return names


def _spreadsheet(path: Path) -> str:
    return f"{path} is a spreadsheet; save it as CSV, and collect that file"


def _submissions(names: Iterable[str]) -> str:
    """Return the words for submissions, with the platform whose names most of them have."""
    kinds = Counter(
        layouts.kind_of(path) for path in map(PurePosixPath, names)
        if path.parts and not any(map(layouts.ignored, path.parts))
    )  # fmt: skip
    most = PLATFORMS.get(kinds.most_common(1)[0][0], "") if kinds else ""
    return f"submissions ({most})" if most else "submissions"


def _table(table: csv_tables.Table) -> tuple[str, str]:
    """Return the kind of a table by its columns, and the words for it."""
    words = set(table.words())
    meanings = {MEANING.get(word) for word in words}
    if roster.is_canvas(table):
        return _class_list(table)
    if words >= MARKS:
        return "marks", f"marks ({_counted(len(table.rows), 'row')})"
    if set(regrade_requests.COLUMNS) <= words:
        return "requests", f"regrade requests ({_counted(len(table.rows), 'row')})"
    sheet = worksheet.find(table)
    if sheet or worksheet.begins_as_one(table):
        count = worksheet.submissions_in(table, sheet) if sheet else None
        more = "" if count is None else f" (times of {_counted(count, 'submission')})"
        return "times", f"Moodle's grading worksheet{more}"
    if any(map(times.TIME.fullmatch, words)) and meanings & {"id", "email", "lms", "name"}:
        return "times", f"times of submission ({_counted(len(table.rows), 'row')})"
    if "id" in meanings and not words & OTHERS:
        return _class_list(table)
    header = ", ".join(one_line(title, 40) for title in table.header[:12] if title.strip())
    raise CourseError(
        f"{table.path} was not recognised: its columns are {header}; expected {EXPECTED}"
    )


def _class_list(table: csv_tables.Table) -> tuple[str, str]:
    teams = "group" in {MEANING.get(word) for word in table.words()}
    students = _counted(roster.students_in(table), "student")
    return "class list", f"class list{' with teams' * teams} ({students})"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
