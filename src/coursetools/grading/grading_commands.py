"""The grader's commands: their names and options, and in which module each is.

This file is loaded for every `coursekit --help`; what does the work is imported when it is called.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

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

    history = "grading.changes.grade_history"
    text = "take in submissions, and the tables about them"
    option = one(inside("grading.collect_command"), "collect", text)
    text = (
        "a folder or zip of submissions, or the word exchange (nbgrader's); a class list, with a "
        "column group for teams; Moodle's grading worksheet or times; marks; regrade requests: "
        "each is recognised by its content"
    )
    option("files", nargs="*", type=Path, metavar="FILE", help=text)
    option("--undo", action="store_true", help="take back what the latest collect added")
    text = "with --undo: take back the latest submission of these students only"
    option(
        "--student",
        nargs="+",
        action="extend",
        metavar="ID",
        default=[],
        dest="students",
        help=text,
    )
    which = "the submission that counts (default: last)"
    option("--attempt", choices=("last", "first"), default="last", help=which)
    text = (
        "go ahead where collect would stop or change nothing: take notebooks of another "
        "assignment, replace points given by hand, take students off the class list who are not in "
        "the new one, change the teams of a collected assignment"
    )
    option("--force", action="store_true", help=text)

    option = one(inside(history, "grade"), "grade", "grade what was collected")
    option("--force", action="store_true", help="also grade unchanged submissions again")
    option("--dry-run", action="store_true", help="show what would be graded, and change nothing")
    option("--cluster", metavar="ADDRESS", help="grade on this Dask scheduler")
    option("--require", metavar="LAYERS", help="of the sandbox: grade only if these hold")

    text = "write a page for each written question, to mark its answers without names"
    option = one(inside("grading.marking.page"), "mark", text)

    text = "write the pages to read first: the report, similar answers, questions about own code"
    option = one(inside("grading.results.review"), "review", text)
    text = "earlier submissions to compare with: folders of notebooks, or backups"
    option("earlier", nargs="*", type=Path, metavar="EARLIER", help=text)

    text = "return feedback and scores to the students"
    option = one(inside("grading.return_command"), "return", text)
    text = "the table to fill in: Moodle's grading worksheet, or the gradebook that Canvas exports"
    option("file", nargs="?", type=Path, metavar="FILE", help=text)
    text = "pack for this platform, and remember what went out (default: write pages to look at)"
    option("--to", choices=("moodle", "canvas", "exchange", "plain"), help=text)
    text = "return the work of these students only"
    option("--student", nargs="+", action="extend", default=[], metavar="ID", dest="students",
           help=text)  # fmt: skip
    option("--title", metavar="TEXT", help="the assignment's name in Canvas")
    text = "folder of the zip and the table (autograder/feedback/, autograder/export/)"
    option("--output", type=Path, metavar="PATH", help=text)
    text = "return work without the points of written answers that are not marked yet"
    option("--force", action="store_true", help=text)

    text = "write a page about a term (who falls behind, common mistakes) and the table of totals"
    adder(commands, inside("grading.results.term_page"), "term", text)

    text = "write the scores as a table, for programs or to look at"
    option = adder(commands, inside(history, "export"), "export", text)
    option("name", nargs="?", metavar="NAME", help="the assignment")
    text = "the table to fill in, from Canvas or Moodle; this counts as returned"
    option("file", nargs="?", type=Path, metavar="FILE", help=text)
    option("--all", action="store_true", help="all of a term in one table (csv, canvas)")
    text = (
        "csv (default), json, canvas, moodle, or ags, which is LTI's; scores.schema.json in the "
        "package describes json, where null means unknown"
    )
    option("--format", help=text)
    option("--output", type=Path, metavar="PATH", help="where (autograder/export/)")
    option("--title", metavar="TEXT", help="the assignment's name in Canvas or Moodle")

    text = "guide a class through an assignment, one step at a time"
    option = one(inside("grading.next_step"), "next", text)

    text = "show or set a deadline, an exam, and who has more time"
    option = adder(commands, inside("grading.settings_command"), "settings", text)
    option("name", nargs="?", metavar="NAME", help="the assignment")
    option("--all", action="store_true", help="every assignment, instead of NAME")
    text = "the deadline: 2026-11-20T12:00, or with a zone +01:00"
    option("--due", metavar="TIME", help=text)
    option("--start", metavar="TIME", help="of an exam, which ends when it is due")
    text = "more time for students: 48h, 2d, 30min, a time, or excused; none takes it back"
    option("--extend", metavar="TIME", help=text)
    option(
        "--student", nargs="+", action="extend", metavar="ID", dest="students", help="who gets it"
    )
    option("--why", default="", metavar="TEXT", help="a note for those who read the table")

    text = "write an assignment's autograder for Gradescope, with its hidden cases"
    option = one(inside("grading.gradescope"), "gradescope", text)
    option("file", type=Path, metavar="FILE", help="the zip")

    _changes(commands, adder, inside, one)
    _exercises(commands, adder, inside)


def _changes(
    commands: Any, adder: Adder, inside: Callable[..., Command], one: Callable[..., Any]
) -> None:
    """Add what changes a grade, or says what changed."""
    text = "override the points of a question, without running it again"
    option = one(inside("grading.changes.set_points"), "override", text)
    option("question", metavar="QUESTION", help="as the export's columns call it")
    text = "full, drop (does not count), keep (stays, and says why), points, or none to take back"
    option("points", metavar="full|drop|keep|none|POINTS", help=text)
    text = "of these students (default: everyone who has submitted)"
    option("--student", nargs="+", action="extend", metavar="ID", dest="students", help=text)
    option("--why", metavar="TEXT", help="what the student reads")

    text = "show how a grade came about, or what has changed since points went out"
    option = adder(commands, inside("grading.changes.grade_history", "why"), "why", text)
    option("name", nargs="?", metavar="NAME", help="one assignment (default: all that was done)")
    option("student", nargs="?", metavar="STUDENT", help="how their grade came about")

    text = "back a class up into one zip"
    option = adder(commands, inside("grading.changes.class_backup", "run_backup"), "backup", text)
    option("file", type=Path, metavar="FILE", help="a new zip")
    text = "restore a class from such a zip, into a course that has none"
    option = adder(commands, inside("grading.changes.class_backup", "run_restore"), "restore", text)
    option("file", type=Path, metavar="FILE", help="what coursekit backup wrote")


def _exercises(commands: Any, adder: Adder, inside: Callable[..., Command]) -> None:
    """Add what belongs to the assignments themselves."""
    text = "start or release assignments, or publish the course"
    below = commands.add_parser("assignment", help=text)
    below.description = "Starts an assignment, and makes what students get."
    assignment = below.add_subparsers(title="commands", metavar="COMMAND", required=True)
    run = inside("questions.publish")
    option = adder(assignment, run, "release", "make the students' notebooks from the sources")
    option("names", nargs="*", metavar="NAME", help="assignments")
    option("--all", action="store_true", help="every one")
    assignment.choices["release"].set_defaults(action="release")
    text = "start an assignment: its questions, hidden cases and notebook, to be filled in"
    option = adder(assignment, run, "new", text)
    option("name", metavar="NAME", help="such as a21_mixing")
    option("questions", nargs="*", metavar="QUESTION", help="what is to be written (first)")
    assignment.choices["new"].set_defaults(action="new")
    text = "the chapter that it goes with (default: mixing for a21_mixing)"
    option("--chapter", metavar="NAME", help=text)
    option = adder(
        assignment,
        run,
        "public",
        "write the course that students may see, with a history of its own",
    )
    option("folder", type=Path, metavar="DIR", help="a new folder, or what this wrote before")
    assignment.choices["public"].set_defaults(action="public")
    text = "write an assignment for paper, as HTML and PDF"
    option = adder(assignment, inside("assignments.paper"), "paper", text)
    option("name", metavar="NAME", help="the assignment")
    option("--answers", action="store_true", help="with the answers, for the marker")
    option("--paper", choices=("a4", "letter"), default="a4", help="its size (a4)")
    text = "write the notebooks with their solutions to notebooks/solutions, after the deadline"
    option = adder(assignment, run, "solutions", text)
    option("names", nargs="+", metavar="NAME", help="assignments")
    option("--force", action="store_true", help="write them even before the deadline")
    assignment.choices["solutions"].set_defaults(action="solutions")

    option = adder(commands, inside("questions.audit"), "audit", "check that assignments are sound")
    option("name", nargs="?", metavar="NAME", help="one assignment (default: all)")

    def check(arguments: argparse.Namespace) -> int:
        return import_module("coursekit.check.handin").run(arguments)

    text = "look at a notebook as the grader will"
    option = adder(commands, check, "check", text)
    option("notebook", type=Path, metavar="NOTEBOOK", help="what you are about to submit")
