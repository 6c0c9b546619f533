"""Of `coursekit settings`: more time for some students, or for one in every assignment.

Extensions are in `autograder/extensions.csv`, so they are valid before anything is submitted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo

from coursekit._base.errors import CourseError
from coursekit._base.nearest import no_such
from coursekit.submission.deadline import spelled
from coursetools.course import Course
from coursetools.grading.collecting.identify import Names
from coursetools.grading.collecting.roster import bad_id, class_list
from coursetools.grading.collecting.times import HandIn
from coursetools.grading.gradebook.lateness import lateness_of, read_lateness, write_extensions
from coursetools.grading.records import log
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.groups import Groups
from coursetools.grading.records.lock import one_writer
from coursetools.settings.class_settings import time_zone_of
from coursetools.settings.extensions import (
    ALL,
    EXCUSED,
    FILE,
    Extensions,
    Line,
    check_line,
    read_extension,
)

Note = Callable[[str], None]


def extend(
    course: Course,
    name: str,
    students: list[str],
    what: str,
    *,
    why: str = "",
    note: Note = lambda text: None,
) -> list[str]:
    """Grant an extension to students, all or none; return what is to be said of each."""
    folders = _folders(course, name)
    people = _people(folders, students, note)
    due, zone = _deadline(folders, name)
    extension = read_extension(what, zone)
    if name != ALL and extension != EXCUSED:
        if due is None:
            raise CourseError(
                f"{name} has no deadline to extend; set one first: coursekit settings {name} --due "
                "TIME"
            )
        if isinstance(extension, datetime) and extension <= due:
            raise CourseError(
                f"{spelled(extension)} is not later than the deadline of {name}, {spelled(due)}"
            )
    new = [check_line(Line(who, name, extension, " ".join(why.split()))) for who in people]
    with one_writer(course / FILE):
        table = Extensions.read(course)
        table.put(new)
        table.write()
    for who in people:
        log.record(course, "settings", assignment=name, student=who, extension=what, why=why)
    _into_gradebook(course, name)
    said = [_said(line, due) for line in new]
    if name != ALL and extension != EXCUSED:
        said += _for_teams(Groups.of(folders), people)
    return [*said, *_graded_again(course, name, people)]


def take_back(
    course: Course, name: str, students: list[str], note: Note = lambda text: None
) -> list[str]:
    """Take lines out of the table, all or none; return what is to be said."""
    folders = _folders(course, name)
    with one_writer(course / FILE):
        table = Extensions.read(course)
        people = [
            who if (who, name) in table.lines else _people(folders, [who], lambda text: None)[0]
            for who in students
        ]
        for who in people:
            if table.lines.pop((who, name), None) is None:
                raise CourseError(f"{who} has no extension for {name} in {FILE}")
        table.write()
    for who in people:
        log.record(course, "settings", assignment=name, student=who, extension="taken back")
    _into_gradebook(course, name)
    return [f"{who}, {name}: taken back" for who in people] + _graded_again(course, name, people)


def listed(course: Course, name: str | None = None) -> list[str]:
    """Return a line for each extension, of one assignment or of all."""
    lines = [
        _said(line, _deadline(Folders(course, line.assignment), line.assignment)[0])
        for line in Extensions.read(course).lines.values()
        if name in (None, line.assignment) or (line.assignment == ALL and name)
    ]
    return lines or ["no extensions"]


def _folders(course: Course, name: str) -> Folders:
    folders = Folders(course, name)
    if name != ALL:
        folders.notebooks()  # what does not exist is known before anything is written
    return folders


def _people(folders: Folders, students: list[str], note: Note) -> list[str]:
    """Return the ids of students, who may be named by their platform's number or their address."""
    people = class_list(folders, note)
    names, chosen = Names(folders, people), []
    for who in students:
        student, _ = names.row(HandIn("", id=who, number=who, email=who))
        if not student and people.open and not bad_id(who):
            note(f"there is no class list yet, so {who} was not checked")
            student = who
        if not student:
            known = sorted(person.id for person in people.people)
            raise CourseError(no_such("student", who, known, tell=False))
        chosen.append(student)
    return chosen


def _deadline(folders: Folders, name: str) -> tuple[datetime | None, tzinfo]:
    """Return the class's deadline, and the zone in which a time is read."""
    if name == ALL:
        return None, time_zone_of(folders.course)
    lateness = read_lateness(folders)
    due = lateness.due and lateness.due.replace(tzinfo=UTC).astimezone(lateness.zone)
    return due, time_zone_of(folders.course, due.tzinfo if due else None)


def _said(line: Line, due: datetime | None) -> str:
    if due is not None and isinstance(line.extension, datetime):
        line = replace(line, extension=line.extension.astimezone(due.tzinfo))
    if due is None or not isinstance(line.extension, timedelta):
        return str(line)
    return f"{line}, until {spelled(due + line.extension)}"


def _for_teams(groups: Groups, people: list[str]) -> list[str]:
    """Say for whom else an extension holds: a team has the latest deadline of its members."""
    teams = dict.fromkeys(groups.name(one) for one in people)
    return [
        f"this applies to the whole team {team}: "
        f"{', '.join(map(groups.person, groups.teams[team]))}"
        for team in teams
        if team in groups.teams
    ]


def _graded_again(course: Course, name: str, people: list[str]) -> list[str]:
    """Say that the gradebook's penalties and the attempts that count are from before."""
    if name == ALL or not any(Folders(course, name).submitted(who).is_dir() for who in people):
        return []
    return [f"there are submissions already; run coursekit grade {name} to apply this to them"]


def _into_gradebook(course: Course, name: str) -> None:
    """Copy the table into the gradebook, if there is one, for formgrader to show."""
    folders = Folders(course, name)
    if not folders.has_gradebook:
        return
    from sqlalchemy import select

    from coursetools.grading.gradebook.database import Database

    database = Database(folders)

    def work() -> None:
        from nbgrader import api

        table = api.Assignment.__table__
        with database.writing.begin() as connection:
            known = connection.execute(select(table.c.id, table.c.name)).all()
            for row in known:
                if name in (ALL, row.name):
                    write_extensions(connection, row.id, lateness_of(course, row.name, connection))

    try:
        database.patiently(work)
    finally:
        database.close()
