"""`coursekit collect NAME FILE…`: a class list, submissions, times, regrade requests and marks.

What each file is, `recognise` says. All of them are read and checked first; only then is anything
written. Each kind of input has its own function here.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coursekit._base.errors import CourseError
from coursetools.grading.collecting import origins, roster, times, undo
from coursetools.grading.collecting.collect import Collected, collect
from coursetools.grading.collecting.recognise import EXPECTED, Inputs, recognise
from coursetools.grading.collecting.strays import find_strays
from coursetools.grading.collecting.worksheet_numbers import own_rows
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.groups import Groups
from coursetools.grading.records.lock import one_command
from coursetools.grading.records.log import record
from coursetools.notes import Notes
from coursetools.settings.class_settings import time_zone_of
from coursetools.text import some

if TYPE_CHECKING:
    from coursetools.grading.marking.marks_to_points import Checked, Taken

Note = Callable[[str], None]


@dataclass(frozen=True)
class Delivery:
    """The files that the command was given, read and checked."""

    inputs: Inputs
    candidates: origins.Found
    strays: dict[str, str]  # a file of another assignment -> of which
    wrong: str  # why most submissions are of another assignment, taken with --force alone
    times: list[times.HandIn]
    people: list[roster.Person]  # in the class list that was given
    gone: list[str]  # in the gradebook's class list, and not in that one
    marks: Checked | None


@dataclass
class Result:
    """What was taken in of each kind; None where it was not given."""

    assignment: str
    class_list: int | None = None
    collected: Collected | None = None
    requests: int | None = None
    marks: Taken | None = None
    overrode: list[str] = field(default_factory=list)  # what --force was needed for


def run(arguments: argparse.Namespace) -> int:
    """Take in the files, and print how many there are of each; or undo."""
    folders = Folders(arguments.course, arguments.name)
    notebooks = folders.notebooks()  # refuses an assignment that does not exist
    if arguments.undo:
        if arguments.files:
            raise CourseError("--undo takes no files: undo first, then collect them")
        with locked(folders):
            return undo.run(folders, arguments.students)
    if arguments.students:
        raise CourseError(
            "--student needs --undo, which takes back the latest submission of a student"
        )
    if not arguments.files:
        raise CourseError(f"no files to collect; expected {EXPECTED}, or the word exchange")
    inputs = recognise(arguments.files)
    if inputs.has_submissions and len(notebooks) > 1:
        raise CourseError(
            f"{folders.name} has {len(notebooks)} notebooks ({', '.join(notebooks)}), but collect "
            "takes one per student; put the files into "
            f"autograder/submitted/STUDENT/{folders.name}/ yourself"
        )
    print("\n".join(inputs.lines), flush=True)
    note = Notes().note
    with locked(folders):
        delivery = read(folders, inputs, arguments.force, note)
        with one_command(folders, "collect"):
            take(folders, delivery, arguments, note)
    return 0


def locked(folders: Folders) -> AbstractContextManager[None]:
    """Hold the assignment's lock; a course without a class has none, and gets no folder for it."""
    return one_command(folders, "collect") if folders.class_folder.is_dir() else nullcontext()


def take(folders: Folders, delivery: Delivery, arguments: argparse.Namespace, note: Note) -> None:
    """Write what is in the files, and print how much that is."""
    inputs = delivery.inputs
    result = Result(folders.name)
    if delivery.people:
        take_class_list(folders, delivery, arguments.force, note)
    result.class_list, result.collected = take_submissions(folders, delivery, arguments, note)
    if inputs.requests:
        result.requests = take_requests(folders, inputs, note)
    if delivery.marks:
        result.marks = take_marks(folders, delivery.marks, note)
    if arguments.force:
        result.overrode = overridden(delivery, result)
    write_log(folders, delivery, arguments.force, result)
    if lines := as_lines(result, delivery, arguments.force):
        print("\n".join(lines))


def read(folders: Folders, inputs: Inputs, force: bool, note: Note) -> Delivery:
    """Read and check everything, and write nothing; `force` takes what is refused otherwise."""
    name = folders.name
    known = read_times(folders, inputs, note) if inputs.times else []
    people = roster.read_csv(inputs.class_list, note) if inputs.class_list else []
    candidates = find_submissions(folders, inputs)
    strays, wrong = find_strays(folders, candidates) if inputs.has_submissions else ({}, "")
    if wrong and not force:
        raise CourseError(
            f"{wrong}; nothing was stored. Give the submissions of {name}, or add --force to take "
            "these anyway"
        )
    listed = roster.class_list(folders)
    if inputs.times:
        there = roster.ClassList(people, False) if people else listed
        known = own_rows(folders, inputs.times, known, there, candidates, note)
    gone = roster.absent(people, listed, inputs.class_list) if inputs.class_list else []
    marks = None
    if inputs.marks:
        from coursetools.grading.marking.marks_to_points import check_marks

        marks = check_marks(folders, inputs.marks, note, force=force)
    return Delivery(inputs, candidates, strays, wrong, known, people, gone, marks)


def read_times(folders: Folders, inputs: Inputs, note: Note) -> list[times.HandIn]:
    """Read the table of times; those without a zone are in the class's."""
    assert inputs.times is not None
    zone = time_zone_of(folders.course, times.zone_of(folders.settings.get("due")))
    known = times.read_times(inputs.times, zone)
    if not all(one.zoned for one in known):
        note(f"{inputs.times}: times without a time zone were read as {zone}")
    return known


def find_submissions(folders: Folders, inputs: Inputs) -> origins.Found:
    """Return the files in the folder, zip or exchange that submissions come from."""
    source = inputs.submissions
    if source is not None:
        take = origins.from_folder if source.is_dir() else origins.from_zip
        return take(source, folders.name)
    if inputs.exchange:
        check = folders.config.get("ExchangeCollect", {}).get("check_owner", True)
        return origins.from_exchange(folders.exchange / "inbound", folders.name, check is not False)
    return []


def take_class_list(folders: Folders, delivery: Delivery, force: bool, note: Note) -> None:
    """Write the class list into the gradebook; `force` takes those who are not in it off."""
    Groups.of(folders)  # refuses a table of teams for the whole class
    roster.enter(folders, delivery.people, delivery.gone if force else (), note)


def take_submissions(
    folders: Folders, delivery: Delivery, arguments: argparse.Namespace, note: Note
) -> tuple[int | None, Collected | None]:
    """Store submissions and their times; return the length of a new class list, and the result.

    Without new submissions there may still be names for anonymous ids, or teams.
    """
    anything = delivery.inputs.has_submissions or bool(delivery.times)
    named = any(person.anonymous or person.group for person in delivery.people)
    named = named or bool(Groups.of(folders).names)
    if not (anything or delivery.people):
        return None, None
    listed = roster.class_list(folders, note, delivery.people)  # also saves it
    length = len(listed.people) if delivery.people else None
    if not (anything or named):
        return length, None
    collected = collect(
        folders,
        delivery.candidates,
        listed,
        arguments.attempt,
        note,
        delivery.times,
        delivery.strays,
        arguments.force,
    )
    if not anything:  # a class list says nothing about who has submitted nothing
        collected.missing = []
    return length, collected


def take_requests(folders: Folders, inputs: Inputs, note: Note) -> int:
    """Store regrade requests, and note the reasons for refusing others; return how many are new."""
    from coursetools.grading.changes.set_points import collect_requests

    assert inputs.requests is not None
    new, refused = collect_requests(folders, inputs.requests)
    for text in refused:
        note(text)
    return new


def take_marks(folders: Folders, checked: Checked, note: Note) -> Taken:
    """Enter the points from tables of marks."""
    from coursetools.grading.marking.marks_to_points import enter_marks

    return enter_marks(folders, checked, note)


def overridden(delivery: Delivery, result: Result) -> list[str]:
    """Say what --force was needed for."""
    said, name = [delivery.wrong] if delivery.wrong else [], result.assignment
    if delivery.gone:
        said.append(f"taken off the class list (their work is kept): {some(delivery.gone)}")
    if result.collected and result.collected.reformed:
        said.append(
            f"teams changed for {some(result.collected.moved)}; coursekit grade {name} applies the "
            "change"
        )
    if delivery.marks and delivery.marks.replaced:
        said.append(f"replaced points given by hand: {some(delivery.marks.replaced)}")
    return said


def write_log(folders: Folders, delivery: Delivery, force: bool, result: Result) -> None:
    """Add a line about this collection to the class's log."""
    inputs = delivery.inputs
    record(
        folders.course,
        "collect",
        assignment=folders.name,
        source=str(inputs.submissions) if inputs.submissions else None,
        times=str(inputs.times) if inputs.times else None,
        requests=result.requests,
        marks=[str(path) for path in inputs.marks] or None,
        class_list=result.class_list,
        new=len(result.collected.new) or None if result.collected else None,
        left=(delivery.gone if force else None) or None,
    )


def as_lines(result: Result, delivery: Delivery, force: bool) -> list[str]:
    """Return the result as people read it."""
    name, gone, lines = result.assignment, delivery.gone, []
    if result.requests is not None:
        lines.append(f"regrade requests: {result.requests} new; coursekit review {name} lists them")
    if result.marks:
        lines += result.marks.as_lines()
    if result.class_list is not None:
        people = result.class_list
        lines.append(f"{people} student{'s' * (people != 1)} on the class list")
    if gone and not force:
        table = delivery.inputs.class_list
        lines.append(
            f"on the class list, but not in {table}: {some(gone)}; if they have left the class: "
            f"coursekit collect {name} {table} --force"
        )
    if result.collected:
        lines += result.collected.as_lines(name, delivery.inputs.submissions)
    if force:
        lines += [
            f"--force: {said}" for said in result.overrode or ["there was nothing to override"]
        ]
    return lines
