"""The commands around a grade: to make it, to export it, and to show how it came about."""

from __future__ import annotations

import argparse

from coursekit._base.errors import CourseError
from coursekit._base.nearest import no_such
from coursekit._base.progress import Progress, track
from coursetools.grading.changes.journal import Journal, as_table, difference, total_of
from coursetools.grading.records import log
from coursetools.grading.records.attempts import attempts_of, handed_in_by
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.groups import Groups
from coursetools.grading.records.regrade_requests import read_requests
from coursetools.grading.results import export as exporting
from coursetools.grading.results import term
from coursetools.grading.results.pages import number
from coursetools.grading.running import grade_class
from coursetools.grading.running.summary import Summary
from coursetools.notes import Notes
from coursetools.settings.class_settings import zone_of
from coursetools.text import one_line

TOLD = ("question", "points", "is", "extension")  # of a line of the log, in the history of a grade


def grade(arguments: argparse.Namespace) -> int:
    """Grade what was collected, remember the points, and print the summary."""
    asked = (arguments.require or "").replace(",", " ").split()
    options = grade_class.Options(
        cluster=arguments.cluster,
        require=frozenset(asked),
        force=arguments.force,
        dry_run=arguments.dry_run,
    )
    summary = grade_class.grade_class(
        arguments.course,
        arguments.name,
        options,
        Progress() if arguments.quiet else Notes(),
        lambda total: track(total, "grading", arguments.quiet),
    )
    print(summary.as_table())
    if summary.handed_in and not arguments.dry_run and (changes := _graded(arguments, summary)):
        print(f"  {changes}")
    return summary.exit_code


def _graded(arguments: argparse.Namespace, summary: Summary) -> str:
    """Remember a run of the grader; return a line about what would change for whom."""
    course, name = arguments.course, arguments.name
    journal = Journal.read(Folders(course, name)).look("grade")
    did = ("graded", "entered", "recomputed")
    facts = {key: getattr(summary, key) for key in did if getattr(summary, key)}
    if facts:
        log.record(course, "grade", assignment=name, **facts)
    return journal.sentence()


def export(arguments: argparse.Namespace) -> int:
    """Write the table of an assignment or of a term; one made to be uploaded counts as returned."""
    course, name, form = arguments.course, arguments.name, arguments.format or "csv"
    if arguments.all == (name is not None):
        raise CourseError(
            "name an assignment, or use --all for the table of the term (which takes no FILE)"
        )
    if arguments.all:
        if arguments.title:
            raise CourseError("--title needs one assignment, not --all")
        term.print_term(course, form, arguments.output, quiet=arguments.quiet)
        log.record(course, "export", all=True, format=form)
        return 0
    code = exporting.run(arguments)
    if file := arguments.file:
        journal = Journal.read(Folders(course, name)).look("seen")
        journal.went_out("export", journal.to_return(pages=False))
        log.record(course, "export", assignment=name, file=str(file))
    else:
        log.record(course, "export", assignment=name, format=form)
    return code


def why(arguments: argparse.Namespace) -> int:
    """Print how a student's grade came about, or what has changed: `name`, `student`, `course`."""
    course, name = arguments.course, arguments.name
    if name is None:
        print("\n".join(log.as_lines(course)) or "nothing has happened in this class yet")
        return 0
    folders = Folders(course, name)
    lines = log.as_lines(course, name)
    if not lines:
        folders.notebooks()  # refuses an assignment that does not exist
    if arguments.student is not None:
        history(folders, arguments.student)
        return 0
    changes(folders)
    if lines:
        print("\n".join(["", "what was done:", *lines]))
    return 0


def changes(folders: Folders) -> None:
    """Print whose points differ from those that were returned last."""
    journal = Journal.read(folders).look("seen")
    if not journal.out:
        print(f"No feedback or scores of {folders.name} have been returned yet.")
        return
    if differences := journal.changes():
        print(as_table(differences))
    print(journal.sentence().partition(";")[0])


def history(folders: Folders, student: str) -> None:
    """Print how a student's grade came about."""
    who = Groups.of(folders).key(student)
    journal = Journal.read(folders).look("seen")
    if who not in journal.now:
        raise CourseError(no_such("student", student, sorted(journal.now), tell=False))
    zone = zone_of(folders.course, folders.name)
    for time, what, text in sorted(_steps(folders, journal, who), key=lambda step: step[0]):
        print(f"{log.time_in(zone, time)}  {what:<12}  {text}".rstrip())


def _steps(folders: Folders, journal: Journal, student: str) -> list[tuple[str, str, str]]:
    """Return when something happened, what, and what that did to the points."""
    steps = []
    groups = Groups.of(folders)
    for attempt in attempts_of(folders, *groups.members(student)):
        about, of = attempt[1], f", by {handed_in_by(attempt)}, for the team "
        of = f"{of}{groups.name(student)}" if groups.name(student) else ""
        time = str(about["time"] or about["seen"].isoformat())
        known = "" if about["time"] else " (time of the file; time of submission unknown)"
        steps.append((time, "submitted", f"{about.get('from', '')}{of}{known}"))
    before = None
    for line in journal.lines:
        time, action = str(line.get("time")), str(line.get("action"))
        if line.get("student") == student:
            state = line["is"]
            steps.append((time, action, _told(student, before, state)))
            before = state
        elif before is not None and student in line.get("out", ()):
            steps.append((time, action, f"returned: {total_of(before)}"))
    for asked in read_requests(folders.course, folders.name):
        if asked.student == student:
            steps.append((asked.time, "asked", f"{asked.question}: {asked.text}"))
    for one in log.read_log(folders.course):
        here = one.get("assignment") in (folders.name, "all")
        if here and one.get("student") in (student, groups.person(student), "everybody"):
            what = " ".join(one_line(str(one[key]), 80) for key in TOLD if key in one)
            why = f": {one['why']}" if one.get("why") else ""
            steps.append((one["time"], one["action"], f"{what}, by {one['by']}{why}"))
    return steps


def _told(student: str, before: dict | None, state: dict) -> str:
    if before is None:
        parts = ", ".join(
            f"{name} {'–' if value is None else number(value)}"
            for name, value in state["points"].items()
        )
        late = f", {number(state['penalty'])} lost for lateness" if state["penalty"] else ""
        return f"{total_of(state)}: {parts}{late}" if parts else total_of(state)
    moved = [
        f"{one.what} {one.before} → {one.after}{f' ({one.why})' if one.why else ''}"
        for one in difference(student, before, state)
        if one.what != "total"
    ]
    return f"{total_of(state)}: {', '.join(moved)}" if moved else f"{total_of(state)}, as before"
