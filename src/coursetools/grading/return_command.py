"""`coursekit return NAME [FILE] --to PLATFORM`: feedback and scores, back to the students.

Writes the pages, packs them for the platform, fills the scores into the platform's own table, and
remembers what went out. Without a platform it only writes the pages, to look at.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from coursekit._base.errors import CourseError
from coursekit._base.progress import track
from coursetools.course import write_changed
from coursetools.grading.changes.journal import Journal
from coursetools.grading.collecting.roster import class_list
from coursetools.grading.collecting.times import HandIn, read_times
from coursetools.grading.collecting.worksheet_numbers import own_rows
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.groups import Groups
from coursetools.grading.records.log import record
from coursetools.grading.results.export import as_file, output_name, read_table, remarks, unmarked
from coursetools.grading.results.feedback import Task, Written, tasks_of, write_feedback
from coursetools.grading.results.feedback_zip import zip_feedback
from coursetools.grading.results.formats import FILES, form_of
from coursetools.grading.results.outline import outlines
from coursetools.grading.results.pages import counted
from coursetools.grading.results.release_feedback import release
from coursetools.grading.results.scores import IN_TIME, Handed, Student
from coursetools.grading.results.table import Table
from coursetools.settings.late_rule import rule_of
from coursetools.text import some

FORMS = {"moodle": "worksheet", "canvas": "canvas", "exchange": "csv", "plain": "csv"}
PLATFORMS = tuple(FORMS)  # in the order in which they are proposed


def run(arguments: argparse.Namespace) -> int:
    """Return the work of a class, or write the pages to look at."""
    folders = Folders(arguments.course, arguments.name)
    folders.notebooks()  # refuses an assignment that does not exist
    check_options(arguments)
    students = [Groups.of(folders).key(one) for one in arguments.students]
    tasks = tasks_of(folders, students)
    if arguments.to is None:
        say(arguments, before(Journal.read(folders).look("seen"), students))
        pages = write_pages(folders, arguments, len(tasks), students)
        say_where(folders, arguments, pages)
    else:
        pages = give_back(folders, arguments, tasks, students)
    if pages.failed:
        raise CourseError(
            f"{counted(len(pages.failed), 'page')} could not be written, first that of "
            f"{pages.failed[0][0]} ({pages.failed[0][1]})"
        )
    return 0


def give_back(
    folders: Folders, arguments: argparse.Namespace, tasks: list[Task], students: Sequence[str]
) -> Written:
    """Write and pack the pages, write the scores, and remember whose work has gone out.

    Whatever may be refused is, before anything is written.
    """
    table = of_students(read_table(folders.course, folders.name), folders, students)
    override = check_marked(table, arguments)
    scores = fill(folders, table, arguments)
    journal = Journal.read(folders).look("seen")
    say(arguments, before(journal, students))
    say(arguments, override)
    pages = write_pages(folders, arguments, len(tasks), students)
    pack(folders, arguments, tasks, pages)
    hand_over_scores(folders, arguments, table, scores)
    failed = {who for who, _ in pages.failed}
    journal.went_out("return", (set(students) or journal.to_return()) - failed)
    record(
        folders.course,
        "return",
        assignment=folders.name,
        to=arguments.to,
        students=students or None,
        file=arguments.file and str(arguments.file),
        force=arguments.force or None,
    )
    return pages


def check_options(arguments: argparse.Namespace) -> None:
    """Refuse what does not go together, and a file that is not the platform's."""
    platform, path, title = arguments.to, arguments.file, arguments.title
    given = {"FILE": path, "--title": title, "--output": arguments.output}
    if platform is None and any(given.values()):
        names = " and ".join(name for name, value in given.items() if value)
        raise CourseError(
            f"{names} {'needs' if sum(map(bool, given.values())) == 1 else 'need'} --to "
            f"{', '.join(PLATFORMS[:-1])} or {PLATFORMS[-1]}; without --to the pages are only "
            "written for you to look at"
        )
    if platform == "moodle" and path is None:
        raise CourseError(
            "--to moodle needs Moodle's grading worksheet, which has the participant numbers "
            f"(in Moodle: Download grading worksheet): coursekit return {arguments.name} FILE "
            "--to moodle"
        )
    if platform in ("exchange", "plain") and path is not None:
        raise CourseError(f"--to {platform} writes a new table and takes no FILE; leave {path} out")
    if title and not (platform == "canvas" and path):
        raise CourseError(
            "--title names a column of Canvas's gradebook, so it needs that file: FILE --to canvas "
            "--title TEXT"
        )
    if path is not None and (form := form_of(path)) != FORMS[platform]:
        raise CourseError(f"{path} is {FILES[form]}, but --to {platform} needs "
                          f"{FILES[FORMS[platform]]}")  # fmt: skip
    if arguments.output and arguments.output.exists() and not arguments.output.is_dir():
        raise CourseError(f"{arguments.output} is a file; --output names a folder")


def of_students(table: Table, folders: Folders, students: Sequence[str]) -> Table:
    """Return a table in which only these students have scores; all where none are named."""
    if not students:
        return table
    chosen = {Groups.of(folders).person(one) for one in students}
    rows = [
        row
        if row.student.id in chosen
        else replace(row, student=replace(row.student, standing=IN_TIME), score=None)
        for row in table.rows
    ]
    return replace(table, rows=tuple(rows))


def check_marked(table: Table, arguments: argparse.Namespace) -> str:
    """Refuse to return work whose written answers are not marked; or say what --force overrides."""
    waiting = unmarked(table)
    if not waiting:
        return ""
    what = f"the written answers of {counted(len(waiting), 'student')} are not marked yet"
    names = f"{', '.join(waiting[:10])}{', …' if len(waiting) > 10 else ''}"
    if arguments.force:
        return f"--force: {what} ({names}); returned without these points"
    raise CourseError(
        f"{what} ({names}); mark them first (coursekit mark {table.name}), or add --force to "
        "return the work without these points"
    )


def fill(folders: Folders, table: Table, arguments: argparse.Namespace) -> tuple[str, list[str]]:
    """Return the text of the table of scores, and notes on it; no text for Canvas without FILE."""
    form, path = FORMS[arguments.to], arguments.file
    if path is not None:
        return as_file(folders, table, form, arguments.title or "", path)
    if form == "csv":
        return as_file(folders, listed(table, folders, arguments.students), form)
    when = (
        "once Canvas shows the names and you have collected the zip with names"
        if table.nameless
        else "to return them"
    )
    return "", [
        f"the zip has no scores: {when}, export the gradebook from Canvas, then coursekit return "
        f"{table.name} gradebook.csv --to canvas"
    ]


def listed(table: Table, folders: Folders, students: Sequence[str]) -> Table:
    """Return a table with the rows of these students; all where none are named."""
    chosen = {Groups.of(folders).person(one) for one in students}
    rows = (row for row in table.rows if not chosen or row.student.id in chosen)
    return replace(table, rows=tuple(rows))


def before(journal: Journal, students: Sequence[str]) -> str:
    """Say what differs from what was returned last."""
    everyone, name = set(students) or journal.to_return(), journal.folders.name
    new = sorted(everyone - set(journal.out))
    if not journal.out:
        pages = "the page is new" if len(new) == 1 else f"all {len(new)} pages are new"
        return f"No feedback or scores of {name} have been returned before; {pages}."
    more = f"; new: {some(new)}" if new else ""
    return f"{journal.sentence(students)}{more}."


def write_pages(
    folders: Folders, arguments: argparse.Namespace, total: int, students: Sequence[str]
) -> Written:
    """Write the pages, in two processes where there are two cores."""
    with track(total, "feedback", arguments.quiet) as bar:
        return write_feedback(
            folders.course,
            folders.name,
            students=students,
            workers=min(2, os.cpu_count() or 1),
            progress=bar,
        )


def say_where(folders: Folders, arguments: argparse.Namespace, pages: Written) -> None:
    """Say where the pages are, and that they have not been returned."""
    place = folders.class_folder / "feedback"
    if len(pages.written) == 1 and arguments.students:
        place = folders.feedback(pages.written[0].student)
    if arguments.quiet:
        print(place)
        return
    print(
        f"pages of {counted(pages.pages, 'student')} to look at, {pages.changed:,} changed, in "
        f"{place}; nothing has been returned: to return them, add --to "
        f"{', '.join(PLATFORMS[:-1])} or {PLATFORMS[-1]}"
    )
    if newer := [one.student for one in pages.written if one.newer]:
        print(f"submitted but not graded yet: {some(newer)}; run coursekit grade {folders.name}, "
              "then this again")  # fmt: skip


def pack(
    folders: Folders, arguments: argparse.Namespace, tasks: list[Task], pages: Written
) -> None:
    """Put the pages into the platform's zip, or into nbgrader's exchange."""
    if arguments.to == "exchange":
        released = release(folders, pages.written)
        say(arguments, "\n".join(released.as_lines(folders)))
        return
    failed = {who for who, _ in pages.failed}
    tasks = [task for task in tasks if task[0].id not in failed]
    if not arguments.students:  # and those whose work was collected since, to be named
        known = {student.id for student, _ in tasks} | failed
        tasks += [(Student(w), Handed(w, {})) for w in folders.students() if w not in known]
    file = f"{folders.name}-{arguments.to}.zip"
    zipped = zip_feedback(
        folders,
        outlines(folders),
        tasks,
        arguments.to,
        rule=rule_of(folders.private),
        output=(arguments.output or folders.class_folder / "feedback") / file,
        worksheet=participants(folders, arguments.file) if arguments.to == "moodle" else (),
    )
    print(zipped.path if arguments.quiet else "\n".join(zipped.as_lines(folders.name)))


def participants(folders: Folders, path: Path) -> list[HandIn]:
    """Return the lines of Moodle's worksheet; what contradicts was named when it was filled in."""
    return own_rows(folders, path, read_times(path), class_list(folders))


def hand_over_scores(
    folders: Folders,
    arguments: argparse.Namespace,
    table: Table,
    scores: tuple[str, list[str]],
) -> None:
    """Write the table of scores, and print where it is and what its reader should know."""
    text, notes = scores
    if text:
        path = (arguments.output or folders.export) / output_name(folders.name, FORMS[arguments.to])
        write_changed(path, text)
        print(path)
    if arguments.quiet:
        return
    chosen = listed(table, folders, arguments.students)
    for sentence in [*(remarks(chosen) if text else ()), *notes]:
        print(sentence, file=sys.stderr)


def say(arguments: argparse.Namespace, text: str) -> None:
    """Print a text if there is one, unless only results are asked for."""
    if text and not arguments.quiet:
        print(text)
