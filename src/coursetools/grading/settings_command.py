"""`coursekit settings NAME`: the deadline of an assignment, its exam, and who has more time.

Without options it shows what is set. The deadline is in the assignment's `assignment.toml`, and
extensions are in `autograder/extensions.csv`; both may be edited there as well.
"""

from __future__ import annotations

import argparse
import sys

from coursekit._base.errors import CourseError
from coursekit.submission.deadline import spelled
from coursetools.course import Course
from coursetools.grading.due import set_due
from coursetools.grading.extend import extend, listed, take_back
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.groups import Groups
from coursetools.settings.assignment_settings import due_of, settings_of
from coursetools.settings.class_settings import zone_of
from coursetools.settings.exam_settings import exam_of
from coursetools.settings.extensions import ALL


def run(arguments: argparse.Namespace) -> int:
    """Set what the options name, or show what is set."""
    course, due = arguments.course, arguments.due
    name = name_in(arguments)
    check_options(arguments)
    if name != ALL:
        Folders(course, name).notebooks()  # refuses an assignment that does not exist
    said = []
    if due:
        set_due(course, name, due, arguments.start)
        said = [
            *deadline(course, name),
            f"run coursekit assignment release {name} to show it to students",
        ]
    if arguments.extend:
        said += change_time(course, name, arguments)
    if not (due or arguments.extend):
        print("\n".join(shown(course, name)))
    elif not arguments.quiet:
        print("\n".join(said))
    return 0


def name_in(arguments: argparse.Namespace) -> str:
    """Return the assignment, or `ALL`."""
    if arguments.all == (arguments.name is not None):
        raise CourseError("name an assignment, or use --all for all assignments")
    return ALL if arguments.all else arguments.name


def check_options(arguments: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    if arguments.all and (arguments.due or arguments.start):
        raise CourseError("--due and --start need one assignment; name it instead of --all")
    if arguments.start and not arguments.due:
        raise CourseError("an exam also needs an end: --start TIME --due TIME")
    if bool(arguments.extend) != bool(arguments.students):
        raise CourseError(
            "--extend and --student go together: --extend 48h --student ID (or 2d, 30min, a time, "
            "excused; none takes it back)"
        )
    if arguments.why and not arguments.extend:
        raise CourseError("--why gives the reason for an extension, so it needs --extend")


def change_time(course: Course, name: str, arguments: argparse.Namespace) -> list[str]:
    """Give students more time, excuse them, or take that back; return what is to be said."""

    def note(text: str) -> None:
        print(text, file=sys.stderr)

    if arguments.extend == "none":
        return take_back(course, name, arguments.students, note)
    return extend(course, name, arguments.students, arguments.extend, why=arguments.why, note=note)


def deadline(course: Course, name: str) -> list[str]:
    """Say when an assignment is due, or when its exam is."""
    due_of(course.private(name))  # refuses a deadline without a zone
    due, exam = settings_of(course.private(name)).get("due"), exam_of(course, name)
    if exam:
        return [str(exam)]
    if due is None:
        return [f"{name} has no deadline"]
    return [f"{name} is due {spelled(due.astimezone(zone_of(course, name)))}"]


def shown(course: Course, name: str) -> list[str]:
    """Return all that is set for an assignment, or who has more time in any."""
    if name == ALL:
        return listed(course)
    teams = Groups.of(Folders(course, name)).sentence
    return [*deadline(course, name), *([teams] if teams else []), *listed(course, name)]
