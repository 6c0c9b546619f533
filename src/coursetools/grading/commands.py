"""The grader's commands: their names and options, and in which module each is.

This file is loaded for every `coursekit --help`; what does the work is imported when it is called.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursekit._base.progress import Progress
from coursetools.course import Course

Command = Callable[[argparse.Namespace], int]
Adder = Callable[..., Callable[..., Any]]  # (commands, run, name, text) -> add_argument
FindCourse = Callable[[argparse.Namespace], Course]


def add(commands: Any, adder: Adder, course: FindCourse, count: Callable[[str], int]) -> None:
    """Add the grader's commands to `commands`.

    `adder` adds one with the options that all have; `course` finds the course.
    """

    def inside(module: str, name: str = "run") -> Command:
        """Return the command of a module; it gets the course as `arguments.course`."""

        def run(arguments: argparse.Namespace) -> int:
            arguments.course = course(arguments)
            return getattr(import_module(f"coursetools.{module}"), name)(arguments)

        return run

    def one(run: Command, name: str, text: str) -> Callable[..., Any]:
        """Add a command about one assignment."""
        option = adder(commands, run, name, text)
        option("name", metavar="NAME", help="the assignment")
        return option

    here, changed = "grading.commands", "grading.changes.commands"
    option = adder(commands, inside(here, "collect"), "collect", "take in what students handed in")
    option("name", metavar="NAME", help="the assignment, a01_kernels")
    source = option.__self__.add_mutually_exclusive_group()
    source.add_argument("--from", dest="folder", type=Path, metavar="FOLDER", help="a folder")
    source.add_argument("--zip", type=Path, metavar="FILE", help="a zip of Canvas or Moodle")
    source.add_argument("--exchange", action="store_true", help="nbgrader's exchange")
    text = "take back what the latest collecting added, or of some students what came last"
    source.add_argument("--forget", nargs="*", metavar="STUDENT", help=text)
    text = "take notebooks that are of another assignment, too"
    option("--any", action="store_true", help=text)
    option("--roster", type=Path, metavar="CSV", help="the class list: id, name, email")
    text = "with --roster: whoever is not in the table leaves the class; their work is kept"
    option("--only", action="store_true", help=text)
    how = "how the platform names files: canvas, moodle, nbgrader, plain (found out)"
    option("--layout", choices=("canvas", "moodle", "nbgrader", "plain"), help=how)
    text = "who handed in when: id, time; or Moodle's grading worksheet"
    option("--times", type=Path, metavar="CSV", help=text)
    text = "regrade requests: id, question, text"
    option("--requests", type=Path, metavar="CSV", help=text)
    text = "tables of marks, as the pages of coursekit mark save them; of two markers, both"
    option("--marks", nargs="+", type=Path, metavar="CSV", help=text)
    text = "points by which two markers may differ before a third is asked (1)"
    option("--apart", type=float, default=1.0, metavar="POINTS", help=text)
    text = "with --marks, replace points already given by hand"
    option("--overwrite", action="store_true", help=text)
    which = "the attempt that counts (last)"
    text = "the groups of the class list, for an assignment that was collected with others"
    option("--regroup", action="store_true", help=text)
    option("--attempt", choices=("last", "first"), default="last", help=which)
    option("--json", action="store_true", help="print the result as JSON")

    option = one(inside(here, "grade"), "grade", "grade what was collected")
    option("--workers", type=count, metavar="N", help="processes (one a core)")
    option("--cluster", metavar="ADDRESS", help="a Dask scheduler, in place of processes here")
    option("--require", metavar="LAYERS", help="of the sandbox: grade only if these hold")
    option("--force", action="store_true", help="grade unchanged hand-ins again, too")
    option("--dry-run", action="store_true", help="show what would be graded, and change nothing")
    option("--json", action="store_true", help="print the summary as JSON")

    text = "write a page for each question in words, to mark its answers without names"
    option = one(inside("grading.marking.page"), "mark", text)

    option = one(inside(changed, "feedback"), "feedback", "write a page for each student")
    option("--student", metavar="ID", help="only this one")
    option("--exchange", action="store_true", help="hand the pages out by nbgrader's exchange")
    text = "put them into one zip to be uploaded; canvas gets graded notebooks, plain is ID.html"
    option("--zip", choices=("moodle", "canvas", "plain"), help=text)
    option("--output", type=Path, metavar="FILE", help="where the zip goes (autograder/feedback/)")
    text = "Moodle's grading worksheet, which has the number of each participant"
    option("--worksheet", type=Path, metavar="CSV", help=text)
    option("--workers", type=count, metavar="N", help="processes (2, or 1 on one core)")

    option = one(inside("grading.results.report"), "report", "write the instructor's page")

    text = "write a page about a term: who falls behind, which mistakes come back"
    adder(commands, inside("grading.results.term_page"), "term", text)

    option = adder(commands, inside(changed, "export"), "export", "write the scores as a table")
    option("name", nargs="?", metavar="NAME", help="the assignment")
    option("--all", action="store_true", help="all of a term in one table (csv, canvas)")
    text = (
        "csv (as it is), json, canvas, moodle, worksheet, which is Moodle's for grading offline, "
        "or ags, which is LTI's; scores.schema.json in the package describes json, where null is "
        "what is not known"
    )
    option("--format", default="csv", help=text)
    text = "the table downloaded from Canvas or Moodle, to be filled in"
    option("--into", type=Path, metavar="FILE", help=text)
    option("--output", type=Path, metavar="FILE", help="where (autograder/export/)")
    option("--title", metavar="TEXT", help="the assignment's name in Canvas or Moodle")

    text = "guide a class through an assignment, one step at a time"
    option = one(inside("grading.next_step"), "next", text)

    text = "give students more time, or excuse them"
    option = adder(commands, inside("grading.extend"), "extend", text)
    option("name", nargs="?", metavar="NAME", help="the assignment, or all for every one")
    more = "students, then 48h, 2d, 30min, a time or excused"
    option("words", nargs="*", metavar="STUDENT", help=more)
    option("--why", default="", metavar="TEXT", help="a note for whoever reads the table")
    option("--remove", action="store_true", help="take it back")
    option("--list", action="store_true", help="show who has more time")

    text = "list solutions that are alike, for a human to read"
    option = one(inside("grading.results.similarity"), "similarity", text)
    text = "earlier hand-ins to compare with: a folder of notebooks, or a backup"
    option("--also", action="append", type=Path, metavar="PATH", help=text)

    text = "write an assignment's autograder for Gradescope, with its hidden cases"
    option = one(inside("grading.gradescope"), "gradescope", text)
    option("file", type=Path, metavar="FILE", help="the zip")

    text = "write a question to each student about the answer that they handed in"
    option = one(inside("grading.results.own_code"), "own-code", text)

    _changes(commands, adder, inside, one)
    _exercises(commands, adder, inside)


def _changes(
    commands: Any, adder: Adder, inside: Callable[..., Command], one: Callable[..., Any]
) -> None:
    """Add what changes a grade, or says what changed."""
    text = "override the points of a question, without running it again"
    option = one(inside("grading.changes.override"), "override", text)
    option("question", metavar="QUESTION", help="as the export's columns call it")
    text = "full, drop (does not count), keep (stays, and says why), or points"
    option("points", nargs="?", metavar="full|drop|keep|POINTS", help=text)
    text = "of this one; may be given several times (default: everybody who has handed in)"
    option("--student", action="append", metavar="ID", help=text)
    option("--why", metavar="TEXT", help="what the student reads")
    option("--remove", action="store_true", help="take it back")

    text = "list students whose points differ from those released, and why"
    option = one(inside("grading.changes.commands", "changes"), "changes", text)

    text = "show how a student's grade came about"
    option = one(inside("grading.changes.commands", "history"), "history", text)
    option("student", metavar="STUDENT", help="an id")

    option = adder(commands, inside("grading.changes.log"), "log", "show who changed what")
    option("name", nargs="?", metavar="NAME", help="one assignment (default: all)")

    text = "back a class up into one zip"
    option = adder(commands, inside("grading.changes.keeping", "run_backup"), "backup", text)
    option("file", type=Path, metavar="FILE", help="a new zip")
    text = "restore a class from such a zip, into a course that has none"
    option = adder(commands, inside("grading.changes.keeping", "run_restore"), "restore", text)
    option("file", type=Path, metavar="FILE", help="what coursekit backup wrote")


def _exercises(commands: Any, adder: Adder, inside: Callable[..., Command]) -> None:
    """Add what belongs to the assignments themselves."""
    text = "begin or release assignments, or publish the course"
    below = commands.add_parser("assignment", help=text)
    below.description = "Begins an assignment, and makes what students get."
    assignment = below.add_subparsers(title="commands", metavar="COMMAND", required=True)
    run = inside("questions.publish")
    option = adder(assignment, run, "release", "make the students' notebooks from the sources")
    option("names", nargs="*", metavar="NAME", help="assignments")
    option("--all", action="store_true", help="every one")
    option.__self__.set_defaults(action="release")
    text = "begin an assignment: its questions, hidden cases and notebook, to be filled in"
    option = adder(assignment, run, "new", text)
    option("name", metavar="NAME", help="such as a21_mixing")
    option("questions", nargs="*", metavar="QUESTION", help="what is to be written (first)")
    text = "the chapter that it goes with (default: mixing for a21_mixing)"
    option("--chapter", metavar="NAME", help=text)
    option.__self__.set_defaults(action="new")
    option = adder(
        assignment,
        run,
        "public",
        "write the course that students may see, with a history of its own",
    )
    option("folder", type=Path, metavar="DIR", help="a new folder, or what this wrote before")
    option.__self__.set_defaults(action="public")
    run_due = inside("grading.due")
    option = adder(assignment, run_due, "due", "say or set when an assignment is due")
    option("name", metavar="NAME", help="the assignment")
    option("time", nargs="?", metavar="TIME", help="2026-11-20T12:00, or with a zone +01:00")
    option("--start", metavar="TIME", help="of an exam, which ends when it is due")
    text = "write an assignment for paper, as HTML and PDF"
    option = adder(assignment, inside("assignments.paper"), "paper", text)
    option("name", metavar="NAME", help="the assignment")
    option("--answers", action="store_true", help="with the answers, for whoever marks")
    option("--paper", choices=("a4", "letter"), default="a4", help="its size (a4)")
    text = "write the notebooks with their solutions to notebooks/solutions, after the deadline"
    option = adder(assignment, run, "solutions", text)
    option("names", nargs="+", metavar="NAME", help="assignments")
    option("--early", action="store_true", help="before the deadline, too")
    option.__self__.set_defaults(action="solutions")

    option = adder(commands, inside("questions.audit"), "audit", "check that assignments are sound")
    option("name", nargs="?", metavar="NAME", help="one assignment (default: all)")

    def submit_check(arguments: argparse.Namespace) -> int:
        return import_module("coursekit.check.handin").run(arguments)

    text = "look at a notebook as the grader will"
    option = adder(commands, submit_check, "submit-check", text)
    option("notebook", type=Path, metavar="NOTEBOOK", help="what you are about to hand in")


class Notes(Progress):
    """Says what is worth saying, one line each, where no bar is shown."""

    def note(self, text: str) -> None:
        """Print to standard error."""
        print(text, file=sys.stderr, flush=True)


def collect(arguments: argparse.Namespace) -> int:
    """Take in a class list, submissions, times, marks, or all of them; print how many of each."""
    import json
    from dataclasses import asdict

    from coursetools.grading.collecting import forget, groups, origins, roster, times
    from coursetools.grading.collecting.collect import collect as take_in
    from coursetools.grading.collecting.strays import find_strays
    from coursetools.grading.folders import Folders
    from coursetools.grading.gradebook.database import Database
    from coursetools.settings.of_class import time_zone_of
    from coursetools.text import some

    folders = Folders(arguments.course, arguments.name)
    notebooks = folders.notebooks()  # what does not exist is known before anything is written
    source = arguments.folder or arguments.zip or arguments.exchange
    regroup = arguments.regroup
    tables = (arguments.roster, arguments.times, arguments.requests, arguments.marks)
    if arguments.forget is not None:
        if regroup or any(tables):
            raise CourseError("--forget stands alone; give tables and files afterwards")
        return forget.run(folders, arguments)
    if not (source or regroup or any(tables)):
        raise CourseError(
            "say where from: --from FOLDER, --zip FILE or --exchange, or --roster CSV, "
            "--times CSV, --requests CSV, --marks CSV"
        )
    if source and len(notebooks) > 1:
        raise CourseError(
            f"{folders.name} has {len(notebooks)} notebooks ({', '.join(notebooks)}), and collect "
            f"takes one a student; put them into autograder/submitted/STUDENT/{folders.name}/"
        )
    if arguments.only and not arguments.roster:
        raise CourseError("--only goes with --roster CSV, the list of who is in the class")
    note = Progress().note if arguments.json else Notes().note
    result: dict[str, Any] = {"assignment": folders.name}
    known = []
    if arguments.times:
        zone = time_zone_of(folders.course, times.zone_of(folders.settings.get("due")))
        known = times.read_times(arguments.times, zone)
        if not all(one.zoned for one in known):
            note(f"{arguments.times}: times without a zone were read as {zone}")
    people = roster.read_csv(arguments.roster, note) if arguments.roster else []
    candidates: origins.Found = []
    if arguments.folder:
        candidates = origins.from_folder(arguments.folder, folders.name, arguments.layout)
    elif arguments.zip:
        candidates = origins.from_zip(arguments.zip, folders.name, arguments.layout)
    elif arguments.exchange:
        check = folders.config.get("ExchangeCollect", {}).get("check_owner", True)
        inbound = folders.exchange / "inbound"
        candidates = origins.from_exchange(inbound, folders.name, check is not False)
    strays = find_strays(folders, candidates, arguments.any) if source else {}
    gone = roster.absent(people, roster.class_list(folders), arguments.roster) if people else []
    if people:  # everything was read, and is clear: only now something is written
        database = Database(folders, note)
        roster.save(database, people, gone if arguments.only else ())
        database.close()
        groups.save_groups(folders.course, ((one.id, one.group) for one in people))
        if not regroup and (kept := groups.kept(folders)):
            note(kept)
    named = any(person.anonymous for person in people)
    if source or known or people or regroup:
        listed = roster.class_list(folders, note, people)  # and keeps it
    if people:
        result["class_list"] = len(listed.people)
        result["left" if arguments.only else "not_in_table"] = gone
    if source or known or named or regroup:
        taken = take_in(
            folders, candidates, listed, arguments.attempt, note, known, regroup, strays
        )
        result |= {
            "new": taken.new,
            "known": taken.known,
            "refused": [[refused.label, refused.why] for refused in taken.refused],
            "set_aside": [[refused.label, refused.why] for refused in taken.aside],
            "missing": taken.missing,
            "too_late": taken.too_late,
            "too_early": taken.too_early,
            "not_counted": taken.behind,
            "of_another_assignment": taken.strays,
            "by_name": taken.by_name,
            "time_unknown": taken.unknown,
            "notes": taken.notes,
        }
    if arguments.requests:
        from coursetools.grading.changes.override import collect_requests

        result["requests"], refused = collect_requests(folders, arguments.requests)
        result["requests_refused"] = refused
        for text in refused:
            note(text)
    if arguments.marks:
        from coursetools.grading.marking.collect_marks import collect_marks

        marked = collect_marks(
            folders, arguments.marks, note, apart=arguments.apart, overwrite=arguments.overwrite
        )
        result["marks"] = asdict(marked)
    from coursetools.grading.changes.log import record

    counts = {"class_list": result.get("class_list"), "new": len(result.get("new", ())) or None,
              "left": result.get("left") or None}  # fmt: skip
    files = {"source": str(source) if source and source is not True else None,
             "times": arguments.times and str(arguments.times),
             "requests": result.get("requests"), "regroup": regroup or None,
             "marks": [str(path) for path in arguments.marks or ()] or None}  # fmt: skip
    record(folders.course, "collect", assignment=folders.name, **files, **counts)
    if arguments.json:
        print(json.dumps(result, indent=1, ensure_ascii=False))
        return 0
    if "requests" in result:
        print(f"requests: {result['requests']} new; coursekit report {folders.name} lists them")
    if arguments.marks:
        print("\n".join(marked.as_lines()))
    if "class_list" in result:
        people = result["class_list"]
        print(f"{people} student{'s' * (people != 1)} on the class list")
    if gone and arguments.only:
        print(f"no longer on it, with all their work kept: {some(gone)}")
    elif gone:
        print(
            f"on it, and not in {arguments.roster}: {some(gone)}; if they have left the class: "
            f"coursekit collect {folders.name} --roster {arguments.roster} --only"
        )
    if source or known or named or regroup:
        print("\n".join(taken.as_lines(folders.name, arguments.zip or arguments.folder)))
    return 0


def grade(arguments: argparse.Namespace) -> int:
    """Grade, and print the summary."""
    import json

    from coursekit._base.progress import track
    from coursetools.grading.running.run import Options, grade_class

    asked = (arguments.require or "").replace(",", " ").split()
    options = Options(
        workers=arguments.workers,
        cluster=arguments.cluster,
        require=frozenset(asked),
        force=arguments.force,
        dry_run=arguments.dry_run,
    )
    summary = grade_class(
        arguments.course,
        arguments.name,
        options,
        Progress() if arguments.quiet else Notes(),
        lambda total: track(total, "grading", arguments.quiet),
    )
    facts, changes = summary.as_json(), ""
    if summary.handed_in and not arguments.dry_run:
        from coursetools.grading.changes.commands import graded

        changes = graded(arguments, facts)
    if arguments.json:
        print(json.dumps(facts | {"changes": changes}, indent=1, ensure_ascii=False))
    else:
        print("\n".join([summary.as_table(), *([f"  {changes}"] if changes else [])]))
    return summary.exit_code
