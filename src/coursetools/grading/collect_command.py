"""`coursekit collect NAME`: a class list, submissions, times, regrade requests and marks.

All inputs are read and checked first; only then is anything written. Each kind of input has its
own function here.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from coursekit._base.errors import CourseError
from coursekit._base.progress import Progress
from coursetools.grading.collecting import forget, origins, roster, times
from coursetools.grading.collecting.collect import Collected, collect
from coursetools.grading.collecting.strays import find_strays
from coursetools.grading.collecting.worksheet_numbers import own_rows
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.groups import Groups
from coursetools.grading.records.log import record
from coursetools.notes import Notes
from coursetools.settings.class_settings import time_zone_of
from coursetools.text import some

if TYPE_CHECKING:
    from coursetools.grading.marking.marks_to_points import Taken

Note = Callable[[str], None]


@dataclass(frozen=True)
class Delivery:
    """The submissions and tables that the command was given, read and checked."""

    candidates: origins.Found
    strays: dict[str, str]  # a file of another assignment -> of which
    times: list[times.HandIn]
    people: list[roster.Person]  # of the table of --roster
    gone: list[str]  # on the class list, and not in that table


@dataclass
class Result:
    """What was taken in of each kind; None where it was not given."""

    assignment: str
    class_list: int | None = None
    collected: Collected | None = None
    requests: int | None = None
    requests_refused: list[str] | None = None
    marks: Taken | None = None


def run(arguments: argparse.Namespace) -> int:
    """Take in what the options name, and print how many there are of each."""
    folders = Folders(arguments.course, arguments.name)
    notebooks = folders.notebooks()  # refuses an assignment that does not exist
    check_options(arguments, notebooks)
    if arguments.forget is not None:
        return forget.run(folders, arguments)
    note = Progress().note if arguments.json else Notes().note
    delivery = read(folders, arguments, note)
    result = Result(folders.name)
    if delivery.people:
        take_class_list(folders, delivery, arguments, note)
    result.class_list, result.collected = take_submissions(folders, delivery, arguments, note)
    if arguments.requests:
        result.requests, result.requests_refused = take_requests(folders, arguments, note)
    if arguments.marks:
        result.marks = take_marks(folders, arguments, note)
    write_log(folders, delivery, arguments, result)
    if arguments.json:
        facts = as_json(result, delivery, arguments)
        print(json.dumps(facts, indent=1, ensure_ascii=False))
    elif lines := as_lines(result, delivery, arguments):
        print("\n".join(lines))
    return 0


def check_options(arguments: argparse.Namespace, notebooks: list[str]) -> None:
    """Refuse options that contradict each other, or that name no input."""
    name, source = arguments.name, source_of(arguments)
    tables = (arguments.roster, arguments.times, arguments.requests, arguments.marks)
    others = any(tables)
    if arguments.forget is not None:
        if others:
            raise CourseError("--forget stands alone; give tables and files afterwards")
        return
    if not (source or others):
        raise CourseError(
            "say where from: --from FOLDER, --zip FILE or --exchange, or --roster CSV, "
            "--times CSV, --requests CSV, --marks CSV"
        )
    if source and len(notebooks) > 1:
        raise CourseError(
            f"{name} has {len(notebooks)} notebooks ({', '.join(notebooks)}), and collect "
            f"takes one a student; put them into autograder/submitted/STUDENT/{name}/"
        )
    if arguments.only and not arguments.roster:
        raise CourseError("--only goes with --roster CSV, the list of who is in the class")


def source_of(arguments: argparse.Namespace) -> Any:
    """Return the folder or zip that submissions come from, True for nbgrader's exchange."""
    return arguments.folder or arguments.zip or arguments.exchange


def read(folders: Folders, arguments: argparse.Namespace, note: Note) -> Delivery:
    """Read submissions, times and the class list, and write nothing."""
    known = read_times(folders, arguments, note) if arguments.times else []
    people = roster.read_csv(arguments.roster, note) if arguments.roster else []
    candidates = find_submissions(folders, arguments)
    source = source_of(arguments)
    strays = find_strays(folders, candidates, arguments.any) if source else {}
    if known:
        listed = roster.ClassList(people, False) if people else roster.class_list(folders)
        known = own_rows(folders, arguments.times, known, listed, candidates, note)
    gone = roster.absent(people, roster.class_list(folders), arguments.roster) if people else []
    return Delivery(candidates, strays, known, people, gone)


def read_times(folders: Folders, arguments: argparse.Namespace, note: Note) -> list[times.HandIn]:
    """Read the table of --times; times without a zone are in the class's."""
    zone = time_zone_of(folders.course, times.zone_of(folders.settings.get("due")))
    known = times.read_times(arguments.times, zone)
    if not all(one.zoned for one in known):
        note(f"{arguments.times}: times without a zone were read as {zone}")
    return known


def find_submissions(folders: Folders, arguments: argparse.Namespace) -> origins.Found:
    """Return the files in the folder, zip or exchange that submissions come from."""
    if arguments.folder:
        return origins.from_folder(arguments.folder, folders.name, arguments.layout)
    if arguments.zip:
        return origins.from_zip(arguments.zip, folders.name, arguments.layout)
    if arguments.exchange:
        check = folders.config.get("ExchangeCollect", {}).get("check_owner", True)
        return origins.from_exchange(folders.exchange / "inbound", folders.name, check is not False)
    return []


def take_class_list(
    folders: Folders, delivery: Delivery, arguments: argparse.Namespace, note: Note
) -> None:
    """Write the class list into the gradebook."""
    Groups.of(folders)  # refuses a table of teams for the whole class
    roster.enter(folders, delivery.people, delivery.gone if arguments.only else (), note)


def take_submissions(
    folders: Folders, delivery: Delivery, arguments: argparse.Namespace, note: Note
) -> tuple[int | None, Collected | None]:
    """Store submissions and their times; return the length of a new class list, and the result.

    Without new submissions there may still be names for anonymous ids, or teams.
    """
    anything = bool(source_of(arguments) or delivery.times)
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
    )
    if not anything:  # a class list says nothing about who has submitted nothing
        collected.missing = []
    return length, collected


def take_requests(
    folders: Folders, arguments: argparse.Namespace, note: Note
) -> tuple[int, list[str]]:
    """Store regrade requests; return how many are new, and the reasons for refusing others."""
    from coursetools.grading.changes.set_points import collect_requests

    new, refused = collect_requests(folders, arguments.requests)
    for text in refused:
        note(text)
    return new, refused


def take_marks(folders: Folders, arguments: argparse.Namespace, note: Note) -> Taken:
    """Enter the points from tables of marks."""
    from coursetools.grading.marking.marks_to_points import collect_marks

    return collect_marks(
        folders, arguments.marks, note, apart=arguments.apart, overwrite=arguments.overwrite
    )


def write_log(
    folders: Folders, delivery: Delivery, arguments: argparse.Namespace, result: Result
) -> None:
    """Add a line about this collection to the class's log."""
    source = arguments.folder or arguments.zip
    record(
        folders.course,
        "collect",
        assignment=folders.name,
        source=str(source) if source else None,
        times=arguments.times and str(arguments.times),
        requests=result.requests,
        marks=[str(path) for path in arguments.marks or ()] or None,
        class_list=result.class_list,
        new=len(result.collected.new) or None if result.collected else None,
        left=(delivery.gone if arguments.only else None) or None,
    )


def as_json(result: Result, delivery: Delivery, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the result as --json prints it."""
    facts: dict[str, Any] = {"assignment": result.assignment}
    if result.class_list is not None:
        facts["class_list"] = result.class_list
        facts["left" if arguments.only else "not_in_table"] = delivery.gone
    if result.collected:
        facts |= result.collected.as_json()
    if result.requests is not None:
        facts |= {"requests": result.requests, "requests_refused": result.requests_refused}
    if result.marks:
        facts["marks"] = asdict(result.marks)
    return facts


def as_lines(result: Result, delivery: Delivery, arguments: argparse.Namespace) -> list[str]:
    """Return the result as people read it."""
    name, gone, lines = result.assignment, delivery.gone, []
    if result.requests is not None:
        lines.append(f"requests: {result.requests} new; coursekit review {name} lists them")
    if result.marks:
        lines += result.marks.as_lines()
    if result.class_list is not None:
        people = result.class_list
        lines.append(f"{people} student{'s' * (people != 1)} on the class list")
    if gone and arguments.only:
        lines.append(f"no longer on it, with all their work kept: {some(gone)}")
    elif gone:
        lines.append(
            f"on it, and not in {arguments.roster}: {some(gone)}; if they have left the class: "
            f"coursekit collect {name} --roster {arguments.roster} --only"
        )
    if result.collected:
        lines += result.collected.as_lines(name, arguments.zip or arguments.folder)
    return lines
