"""What students ask to have looked at again: `autograder/requests.jsonl`.

A request is open until there is an override of its question for its student, or for everybody, that
is younger; `keep` is the override that changes nothing and says why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from coursekit._base.errors import CourseError
from coursetools.course import Course
from coursetools.grading.records.log import add_lines, now, read_lines
from coursetools.grading.records.overrides import Overrides
from coursetools.settings import csv_tables
from coursetools.text import one_line

FILE = "autograder/requests.jsonl"
COLUMNS = ("id", "question", "text")  # of a table of them


@dataclass(frozen=True)
class Request:
    """One of them."""

    assignment: str
    student: str
    question: str  # the name of its graded cell
    text: str
    time: str = ""


def take_requests(
    course: Course, assignment: str, path: Path, known: set[str], cell_of: Callable[[str], str]
) -> tuple[int, list[str]]:
    """Take in a table `id,question,text`; return how many are new, and why others were not taken.

    `known` are the students; `cell_of` returns the name of a question's graded cell. The text goes
    to the end of the line, and needs no quotes.
    """
    before = read_requests(course)
    same = {(one.assignment, one.student, one.question, one.text) for one in before}
    new, refused = [], []
    for where, row in csv_tables.read(path, ",".join(COLUMNS), joins=True).cells(COLUMNS):
        who, text = row.get("id", ""), one_line(row.get("text", ""), 2000)
        try:
            if who not in known:
                raise CourseError(f"{who!r} is not in the class")
            cell = cell_of(row.get("question", ""))
        except CourseError as error:
            refused.append(f"{where}: {error}")
            continue
        if (assignment, who, cell, text) not in same:
            same.add((assignment, who, cell, text))
            new.append(Request(assignment, who, cell, text, now()[:19] + "Z"))
    if new:
        add_lines(course / FILE, [asdict(one) for one in new])
    return len(new), refused


def read_requests(course: Course, assignment: str = "") -> list[Request]:
    """Return the requests about an assignment, or all; none where there is no file."""
    names = [one.name for one in fields(Request)]
    requests = [
        Request(**{name: str(row.get(name, "")) for name in names})
        for row in read_lines(course / FILE)
    ]
    return [one for one in requests if not assignment or one.assignment == assignment]


def open_requests(course: Course, assignment: str) -> list[Request]:
    """Return the requests about an assignment that nobody has answered."""
    overrides = Overrides.read(course, assignment)

    def answered(one: Request) -> bool:
        own, held = overrides.own(one.student), overrides.of(one.student)
        row = own.get(one.question) or held.get(one.question)
        return row is not None and row.time >= one.time

    return [one for one in read_requests(course, assignment) if not answered(one)]
