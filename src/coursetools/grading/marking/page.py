"""`coursekit mark NAME`: a page for each question in words, to mark all its answers without names.

The pages work as files, without a network, and whoever marks saves a table from them that
`coursekit collect NAME FILE` takes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from coursekit._base.errors import CourseError
from coursetools.course import write_changed
from coursetools.grading.marking.answers import InWords, alike, in_words
from coursetools.grading.records.folders import Folders
from coursetools.grading.results.pages import counted, render


def marking_page(assignment: str, asked: InWords) -> str:
    """Return the page."""
    return render(
        "marking.html",
        wide=True,
        title=f"{assignment}: {asked.part.title}",
        assignment=assignment,
        asked=asked,
        groups=alike(asked.answers),
    )


def run(arguments: argparse.Namespace) -> int:
    """The command: `name`, `course`, `quiet`."""
    folders = Folders(arguments.course, arguments.name)
    asked = in_words(folders)
    if not asked:
        raise CourseError(f"{folders.name} has no written questions to mark")
    for one in asked:
        path = folders.marking / f"{one.name}.html"
        write_changed(path, marking_page(folders.name, one))
        if not arguments.quiet:
            print(f"{one.name}: {_count(one)}, {_rubric(folders, one)}")
        print(path)
    return 0


def _count(one: InWords) -> str:
    students = sum(len(answer.students) for answer in one.answers)
    count = counted(students, "answer")
    return count if students == len(one.answers) else f"{count}, {len(one.answers)} different"


def _rubric(folders: Folders, one: InWords) -> str:
    if one.rubric.items:
        return f"rubric of {counted(len(one.rubric.items), 'item')}"
    place = folders.course.relative(Path(folders.private, f"{one.name}.toml"))
    return f"no rubric ({place})"
