"""`coursekit override NAME QUESTION full|drop|keep|none|POINTS`: points set by an instructor.

Nothing is run again: the row goes into `overrides.csv`, and from there into the gradebook, the
feedback and the tables.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from coursekit._base.errors import CourseError
from coursekit._base.nearest import no_such
from coursekit._base.progress import Progress
from coursetools.course import Course
from coursetools.grading.changes.journal import Journal, total_of
from coursetools.grading.records.attempts import submitted_digest
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.groups import Groups
from coursetools.grading.records.lock import one_command, one_writer
from coursetools.grading.records.log import account, now, record
from coursetools.grading.records.overrides import (
    EVERYBODY,
    FILE,
    Override,
    check_points,
    read_all,
    write_all,
)
from coursetools.grading.records.regrade_requests import take_requests
from coursetools.grading.results.outline import Outline, Part, columns, outlines
from coursetools.grading.results.pages import counted, number
from coursetools.grading.results.scores import read_gradebook
from coursetools.grading.running.grade_class import enter_again
from coursetools.text import has_unseen, one_line, some


def override(
    course: Course,
    name: str,
    question: str,
    points: str | None,
    *,
    students: list[str] | None = None,
    why: str = "",
    progress: Progress | None = None,
) -> Journal:
    """Set what a question is worth, for everybody or for some; `points` None takes that back.

    For a student it holds for the whole team, whose submission it is. Return the journal after it.
    """
    folders = Folders(course, name)
    cell, part = find(outlines(folders), question)
    if students:
        _known(folders, students)
    groups, asked = Groups.of(folders), students or [EVERYBODY]
    who = with_team(folders, groups, students) if students else asked
    why = one_line(why, 500)
    if points is not None:
        try:
            check_points(points, cell, part.points)
        except CourseError as error:
            raise CourseError(f"{error}, or none to remove an override") from error
        if not why:
            raise CourseError(
                "an override needs a reason, which students read in their feedback: --why TEXT"
            )
        if has_unseen(why):
            raise CourseError("--why contains invisible characters")
    with one_command(folders, "override"):
        with one_writer(course / FILE):
            rows = {row.key: row for row in read_all(course)}
            asked = [groups.person(one) for one in asked]
            for one in who:
                key = name, cell, one
                before = [
                    rows.pop((name, cell, of), None) for of in dict.fromkeys((one, groups.key(one)))
                ]
                if points is not None:  # the newest comes last
                    rows[key] = Override(*key, points, why, account(), now()[:19] + "Z")
                elif one in asked and not any(before):
                    of = "everyone" if one == EVERYBODY else one
                    raise CourseError(f"there is no override of {cell} for {of} in {name}")
            write_all(course, list(rows.values()))
        action = "override" if points is not None else "override taken back"
        for one in who:
            of = "everybody" if one == EVERYBODY else one
            record(
                course, action, assignment=name, question=cell, student=of, points=points, why=why
            )
        if any(folders.verdicts.glob("*/*.json")):
            enter_again(course, name, progress)
        return Journal.read(folders).look(action)


def with_team(folders: Folders, groups: Groups, students: list[str]) -> list[str]:
    """Return students and those of their teams who share the submission that counts."""
    who: dict[str, None] = {}
    for one in students:
        file = submitted_digest(folders, groups.key(one))
        members = groups.members(groups.person(one)) if file else ()
        same = [member for member in members if submitted_digest(folders, member) == file]
        who |= dict.fromkeys(map(groups.person, [one, *same]))
    return list(who)


def run(arguments: argparse.Namespace) -> int:
    """The command: `name`, `question`, `points`, `students`, `why`, `course`, `quiet`."""
    course, name = arguments.course, arguments.name
    folders = Folders(course, name)
    points = None if arguments.points == "none" else arguments.points
    before = Journal.read(folders).look("seen").now
    journal = override(
        course,
        name,
        arguments.question,
        points,
        students=arguments.students,
        why=arguments.why or "",
    )
    if arguments.quiet:
        return 0
    cell, part = find(outlines(folders), arguments.question)
    groups = Groups.of(folders)
    students = with_team(folders, groups, arguments.students) if arguments.students else []
    teams = [name for one in students if (name := groups.name(one))]
    who = some(students) if students else "everyone"
    if len(students) > len(arguments.students or ()):
        shared = " and ".join(f"team {name}" for name in dict.fromkeys(teams))
        who = f"{shared}, who share the submission, {some(sorted(students))}"
    what = {
        None: "override removed, graded points count again",
        "full": f"{number(part.points)} of {number(part.points)} points",
        "drop": "does not count",
        "keep": "points stay the same",
    }.get(points, f"{points} of {number(part.points)} points")
    moved = sum(
        (state["total"], state["of"]) != (before[one]["total"], before[one]["of"])
        for one, state in journal.now.items()
        if one in before
    )
    print(f"{cell}, {who}: {what}; this changes the points of {counted(moved, 'student')}")
    book = read_gradebook(folders)
    for one in students if teams else ():
        state, key = journal.now.get(groups.key(one)), groups.key(one)
        if state and key in before:
            name_ = book.student(one).name
            shown = f"{name_} ({one})" if name_ != one else one
            old, new = total_of(before[key]), total_of(state)
            print(
                f"{shown}: {old} before, {new} now" if old != new else f"{shown}: {new}, unchanged"
            )
    if sentence := journal.sentence():
        print(sentence)
    return 0


def find(asked: dict[str, Outline], question: str) -> tuple[str, Part]:
    """Return the question's name in tables, and the part that it is."""
    parts, known = {}, []
    for name, (notebook, part) in columns(asked).items():
        short = part.name or part.cell.removeprefix("test_")
        known.append(short if len(asked) == 1 else name)
        if question in (name, part.cell, short, f"{notebook}.{short}"):
            parts[name] = part
    exact = {name: part for name, part in parts.items() if question in (name, part.cell)}
    parts = exact if len(exact) == 1 else parts
    if not parts:
        raise CourseError(no_such("question", question, known))
    if len(parts) > 1:
        raise CourseError(f"{question!r} could mean {' or '.join(parts)}; use one of these names")
    return next(iter(parts.items()))


def collect_requests(folders: Folders, path: Path) -> tuple[int, list[str]]:
    """Take in what students ask; return how many are new, and why others were not taken."""
    asked = outlines(folders)
    return take_requests(
        folders.course, folders.name, path, _people(folders), lambda text: find(asked, text)[0]
    )


def _people(folders: Folders) -> set[str]:
    return {*read_gradebook(folders).students, *folders.students()}


def _known(folders: Folders, students: list[str]) -> None:
    people = _people(folders)
    for one in students:
        if one not in people:
            raise CourseError(no_such("student", one, sorted(people), tell=False))
