"""Notebooks of another assignment: a wrong zip looks like the right one, and its cells do not.

A cell's grade id says of which assignment it is. A notebook with none of the assignment's own cells
and with those of another is a stray. One stray is a student's mistake, and is taken and named; if
most of a delivery are strays, it is the instructor's, and only `--force` takes them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from coursekit._base.errors import CourseError
from coursekit.submission import parsing, regions
from coursetools.course import Course
from coursetools.grading.collecting.layouts import Candidate, Refused
from coursetools.grading.records.folders import Folders

WRITTEN = re.compile(rb'"grade_id"\s*:\s*"([^"\\]+)"')  # not in a text, whose quotes have slashes


def find_strays(
    folders: Folders, found: Iterable[Candidate | Refused]
) -> tuple[dict[str, str], str]:
    """Return the label of each stray and its assignment, and why the delivery is a wrong one.

    The reason is "" for a right one. A file that is not a notebook, or has lost its cells' names,
    is no evidence either way. One in which a name of the assignment appears is not parsed, and so
    a right delivery is only read.
    """
    ids = {name: _grade_ids(folders.course, name) for name in folders.course.assignments}
    own = ids.pop(folders.name, set())
    if not own:
        return {}, ""
    quick = {one.encode() for one in own}
    strays: dict[str, str] = {}
    right = 0
    for one in found:
        if not isinstance(one, Candidate):
            continue
        try:
            data = one.read(folders.limits.submission_bytes)
            known = quick.intersection(WRITTEN.findall(data))
            there = own if known else regions.grade_ids(parsing.read(data, folders.limits)["cells"])
        except (OSError, parsing.Malformed):
            continue
        of = max(ids, key=lambda name: len(ids[name] & there), default="")
        if there & own:
            right += 1
        elif of and ids[of] & there:
            strays[one.label] = of
    for of, count in Counter(strays.values()).most_common(1):
        if count > 1 and 2 * count > right + len(strays):
            all_files = right + len(strays)
            return strays, f"{count} of {all_files} notebooks belong to {of}, not to {folders.name}"
    return strays, ""


def _grade_ids(course: Course, name: str) -> set[str]:
    """Return the names of an assignment's cells; none where its notebook cannot be read."""
    names: set[str] = set()
    for path in course.source(name).glob("*.ipynb"):
        try:
            notebook = parsing.master(path.read_text(encoding="utf-8"))
            names |= regions.grade_ids(notebook["cells"])
        except (CourseError, OSError, UnicodeDecodeError):
            continue
    return names
