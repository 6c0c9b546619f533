"""`coursekit export NAME`: the scores as a table, for people, for Canvas, for Moodle.

Everybody in the class list has a row. A student who submitted nothing gets 0 once the assignment is
closed for them; while it is open, and where a notebook is not graded, there is no number at all.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from coursekit._base.errors import CourseError
from coursekit._base.nearest import no_such
from coursekit.submission.deadline import spelled
from coursetools.course import Course, write_changed
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.ledger import Ledger, time_unknown, unlinked, unlisted
from coursetools.grading.results.fill_template import Filling
from coursetools.grading.results.formats import FILES, FORMATS, form_of
from coursetools.grading.results.outline import columns, outlines
from coursetools.grading.results.pages import counted, number
from coursetools.grading.results.scores import (
    Book,
    Student,
    handed_in,
    maximum,
    read_gradebook,
)
from coursetools.grading.results.table import OPEN, UNGRADED, Row, Table, row_of
from coursetools.settings.late_rule import rule_of
from coursetools.text import some


def read_table(course: Course, name: str, now: datetime | None = None) -> Table:
    """Collect everybody's scores from the gradebook, and from the verdicts how they came about.

    `now` decides for whom the assignment is still open; the clock's without one.
    """
    folders = Folders(course, name)
    asked = outlines(folders)
    book = read_gradebook(folders, now)
    handed = handed_in(folders)
    if not book.students and not handed:
        raise CourseError(
            f"there are no students to export: grade first (coursekit grade {name}), or collect "
            f"the class list (coursekit collect {name} FILE)"
        )
    rule, ledger = rule_of(folders.private), Ledger.read(folders)
    rows = []
    for who in _everybody(folders, book, set(handed)):
        one = handed.get(who)
        row = row_of(asked, book.student(who, one), one, rule)
        if row.score and row.status in ("MALFORMED", "MISSING"):
            # nbgrader asks a human, but there is no answer
            row = replace(row, score=replace(row.score, waits=0.0))
        rows.append(row)
    rows = _named(rows, book, ledger)
    points = maximum(asked, book)
    others = [row.student.id for row in rows if row.score and row.score.points != points]
    rows = [replace(row, score=row.score and row.score.out_of(points)) for row in rows]
    notes = [
        f"of {some(others)} a question was dropped: their points are scaled to {number(points)}, "
        "as a table has one maximum for all"
    ]
    title = next(iter(asked.values())).title if len(asked) == 1 else name
    deadline = book.due is not None or "due" in folders.settings
    return Table(
        name, title, tuple(columns(asked)), points, tuple(rows), tuple(notes if others else ()),
        has_deadline=deadline, nameless=tuple(ledger.nameless()), absent=book.absent,
    )  # fmt: skip


def export(
    course: Course,
    name: str,
    form: str = "csv",
    *,
    output: Path | None = None,
    title: str = "",
    into: Path | None = None,
) -> tuple[Path, Table]:
    """Write the table; return where it is and what is in it."""
    folders = Folders(course, name)
    check(form, into)
    table = read_table(course, name)
    content, notes = as_file(folders, table, form, title, into)
    output = output or folders.export / output_name(name, form)
    write_changed(output, content)
    return output, replace(table, notes=(*table.notes, *notes))


def check(form: str, into: Path | None) -> None:
    """Say what is wrong with a format, or with filling it in."""
    if form not in FORMATS:
        raise CourseError(no_such("format", form, FORMATS))
    how = FORMATS[form]
    if how.write is None and into is None:
        raise CourseError(
            f"a {form} can only be filled in: download it from Moodle (Download grading "
            "worksheet), then coursekit export NAME FILE"
        )
    if how.fill is None and into is not None:
        those = " and ".join(FILES.values())
        raise CourseError(f"only {those} can be filled in; {form} is written as a new file")


def as_file(
    folders: Folders, table: Table, form: str, title: str = "", into: Path | None = None
) -> tuple[str, list[str]]:
    """Return a table's text in a format, and what its reader should know of that."""
    check(form, into)
    how = FORMATS[form]
    if into is not None:
        assert how.fill is not None
        filling = Filling(folders, {row.student.id: row for row in table.rows}, into, how.begins)
        return how.fill(filling, table, title or table.title), filling.notes
    assert how.write is not None
    return how.write(table, title), how.notes(table, title)


def output_name(name: str, form: str) -> str:
    """Return what the file of a table is called."""
    suffix = "" if form in ("csv", "json") else f"-{form}"
    return f"{name}{suffix}.{FORMATS[form].ending}"


def run(arguments: argparse.Namespace) -> int:
    """The command: `name`, `file`, `format`, `output`, `title`, `root`, `quiet`."""
    file = arguments.file
    if file and arguments.format:
        raise CourseError(
            f"the format of {file} is recognised from its content; leave --format out"
        )
    path, table = export(
        arguments.course,
        arguments.name,
        form_of(file) if file else arguments.format or "csv",
        output=arguments.output,
        title=arguments.title or "",
        into=file,
    )
    print(path)
    if not arguments.quiet:
        for sentence in remarks(table):
            print(sentence, file=sys.stderr)
    return 0


def remarks(table: Table) -> list[str]:
    """Say what a reader of the table should know before it goes anywhere."""
    absent = [row for row in table.rows if row.status == "MISSING"]
    by_hand = [row.student.id for row in absent if row.score and row.score.total]
    missing = len(absent) - len(by_hand)
    excused = sum(row.student.excused for row in table.rows)
    failed = [row.student.id for row in table.rows if row.status == "INTERNAL"]
    waiting = len(unmarked(table))
    sentences = [counted(len(table.rows), "student"), *still_open(table)]
    if missing:
        sentences.append(f"{counted(missing, 'student')} submitted nothing and got 0")
    if by_hand:
        sentences.append(f"submitted nothing, with points set by hand: {some(by_hand)}")
    if excused:
        sentences.append(f"{counted(excused, 'student')} excused, without a score")
    if failed:
        names = ", ".join(failed[:5]) + (", …" if len(failed) > 5 else "")
        sentences.append(
            f"{counted(len(failed), 'student')} could not be graded and got no score ({names}): "
            f"run coursekit grade {table.name}"
        )
    sentences += not_graded(table)
    if waiting:
        sentences.append(
            f"{counted(waiting, 'student')} with written answers that are not marked yet; the "
            "table lacks these points"
        )
    unknown = sum(row.student.submitted is None and row.score is not None
                  and row.status != "MISSING" for row in table.rows)  # fmt: skip
    if unknown and table.has_deadline:
        sentences.append(
            f"{time_unknown(unknown)}; to add times: coursekit collect {table.name} FILE, then "
            "grade again"
        )
    if table.nameless:
        sentences.append(
            f"{unlinked(table.name, len(table.nameless))}, so it is unknown who submitted nothing; "
            "once Canvas shows the names, download the zip again and collect it: coursekit collect "
            f"{table.name} FILE"
        )
    return [*sentences, *table.notes]


def unmarked(table: Table) -> list[str]:
    """Return the students whose written answers count and are not marked yet."""
    return [row.student.id for row in table.rows if row.score and row.score.waits]


def still_open(table: Table) -> list[str]:
    """Say for how many students the assignment is open, and until when; [] where it is closed."""
    those = [row.student for row in table.rows if row.status == OPEN]
    if not those:
        return []
    ends = [one.standing.until for one in those if one.standing.until is not None]
    why = f"until {spelled(max(ends))}" if ends else "no deadline, nothing submitted"
    return [f"still open for {counted(len(those), 'student')}, so without a score ({why})"]


def not_graded(table: Table) -> list[str]:
    """Say who has submitted something that is not graded yet."""
    ungraded = [row.student.id for row in table.rows if row.status == UNGRADED]
    newer = [row.student.id for row in table.rows if row.student.newer and row.score]
    command, sentences = f"run coursekit grade {table.name}", []
    if ungraded:
        sentences.append(
            f"submitted but not graded yet, so without a score: {some(ungraded)}; {command}"
        )
    if newer:
        sentences.append(f"submitted again since the score in the table: {some(newer)}; {command}")
    return sentences


def _everybody(folders: Folders, book: Book, handed: set[str]) -> list[str]:
    """Return who has a row: whoever submitted, and of whom it is clear that they did not."""
    left_out = unlisted(folders)
    here = handed | {who for who, one in book.students.items() if one.marks is not None}
    return sorted(here | {who for who in book.students if not left_out(who)})


def _named(rows: list[Row], book: Book, ledger: Ledger) -> list[Row]:
    """Return the rows with people in the place of anonymous ids, where these have names."""
    named = []
    for row in rows:
        who = ledger.anonymous.get(row.student.id) or row.student.id
        real = book.students.get(who) or Student(who)
        student = replace(
            row.student, id=real.id, first=real.first, last=real.last, email=real.email,
            lms=real.lms,
        )  # fmt: skip
        named.append(replace(row, student=student))
    return sorted(named, key=lambda row: row.student.id)
