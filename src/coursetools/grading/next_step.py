"""`coursekit next NAME`: from the class list to the tables for the platform, a step at a time.

Where a class stands is read from its folders each time. So this can be left at any point and taken
up again, and a step that was done alone counts as done. Each step is one of the other commands,
shown as it would be typed. Where nobody can answer, it says where the class stands and stops.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from coursekit._base.errors import CourseError
from coursekit.submission.deadline import spelled
from coursetools.course import Course
from coursetools.grading.changes.journal import Journal
from coursetools.grading.collecting.recognise import EXCHANGE
from coursetools.grading.collecting.roster import class_list
from coursetools.grading.gradebook.lateness import read_lateness
from coursetools.grading.gradebook.standing import Standing, standing_of
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.ledger import Ledger
from coursetools.grading.results.export import read_table, unmarked
from coursetools.grading.results.pages import counted
from coursetools.grading.running.grade_class import Options, grade_class
from coursetools.settings.exam_settings import exam_of
from coursetools.text import some

Words = list[str]  # a command without `coursekit`
Run = Callable[[Words], int]
Ask = Callable[[str], str]
LEAVE = ("q", "quit")


@dataclass(frozen=True)
class Stand:
    """Where a class stands with one assignment, read when it is asked for."""

    folders: Folders

    @cached_property
    def listed(self) -> list[str]:
        """The ids on the class list; none where no list was given."""
        known = class_list(self.folders)
        return [] if known.open else [person.id for person in known.people]

    @cached_property
    def handed_in(self) -> list[str]:
        """Who has submitted."""
        return list(self.folders.students())

    @cached_property
    def without(self) -> dict[str, Standing]:
        """The standing of each student on the class list who has submitted nothing."""
        lateness, now = read_lateness(self.folders), datetime.now(UTC)
        return {
            one: standing_of(
                lateness, one, submitted=False, came=None, begun=bool(self.handed_in), now=now
            )
            for one in sorted(set(self.listed) - set(self.handed_in))
        }

    @cached_property
    def to_grade(self) -> int:
        """How many notebooks `grade` would judge."""
        options = Options(dry_run=True)
        return grade_class(self.folders.course, self.folders.name, options).would_grade or 0

    @cached_property
    def waiting(self) -> list[str]:
        """Whose answers in words nobody has marked yet."""
        if not any(self.folders.verdicts.glob("*/*.json")):
            return []
        return unmarked(read_table(self.folders.course, self.folders.name))

    @property
    def unknown(self) -> int:
        """How many submitted at a time that nobody has said."""
        return len(set(Ledger.read(self.folders).unknown()) & set(self.handed_in))

    @property
    def pages(self) -> int:
        """How many students have pages of feedback."""
        return sum(self.folders.feedback(one).is_dir() for one in self.handed_in)

    @property
    def returned(self) -> int:
        """To how many students something has been returned."""
        return len(Journal.read(self.folders).out)


@dataclass(frozen=True)
class Step:
    """Where the class stands, what is asked (nothing: it is done), and the command of an answer."""

    state: str
    question: str = ""
    command: Callable[[str], Words] | None = None
    usual: str = ""  # the answer of somebody who only presses Enter; none: the step is left out
    due: str = ""  # the command, where it has to be done before what follows makes sense


def steps(name: str, stand: Callable[[], Stand]) -> Iterator[Step]:
    """Yield the steps in order; `stand` is asked anew for each, for the last one has changed it."""
    yield _class_list(name, stand())
    yield _deadline(name, stand())
    yield _hand_ins(name, stand())
    yield _times(name, stand())
    yield _grades(name, stand())
    if not stand().handed_in:
        return
    now, before = stand(), None
    while now.waiting != before:  # marks of some leave others; who goes on without changes nothing
        yield _words(now)
        now, before = stand(), now.waiting
    yield _report(name, stand())
    yield _return(name, stand())


def _class_list(name: str, stand: Stand) -> Step:
    if stand.listed:
        return Step(f"class list: {counted(len(stand.listed), 'student')}")
    return Step(
        "class list: none yet",
        "the class list, a CSV with id, name, email",
        lambda answer: ["collect", name, *_files(answer)],
    )


def _deadline(name: str, stand: Stand) -> Step:
    lateness = read_lateness(stand.folders)
    if lateness.due is not None:
        due = lateness.due.replace(tzinfo=UTC).astimezone(lateness.zone)
        return Step(f"due {spelled(due)}")
    return Step(
        "no deadline, so no submission is late",
        "the deadline, such as 2026-11-20T12:00",
        lambda time: ["settings", name, "--due", time],
    )


def _hand_ins(name: str, stand: Stand) -> Step:
    missing = [who for who, one in stand.without.items() if one.state == "missing"]
    open_for = [who for who, one in stand.without.items() if one.state == "open"]
    state = f"submitted: {counted(len(stand.handed_in), 'student')}"
    if stand.handed_in and missing:
        state += f"; nothing from {some(missing)}"
    if stand.handed_in and open_for:
        state += f"; still open for {some(open_for)}"
    return Step(
        state,
        "Canvas's zip; Moodle's zip and its grading worksheet (times, students with the same "
        "name); a folder; or the word exchange",
        lambda answer: ["collect", name, *_files(answer)],
        due="" if stand.handed_in else f"collect {name} FILE",
    )


def _files(answer: str) -> Words:
    """Return the files of an answer; collect recognises what each of them is."""
    files = [answer] if Path(answer.strip("'\"")).exists() else shlex.split(answer)
    return [one if one == EXCHANGE else _file(one) for one in files]


def _times(name: str, stand: Stand) -> Step:
    lateness = read_lateness(stand.folders)
    if lateness.due is None:
        return Step("times of submission: not needed without a deadline")
    if not stand.unknown:
        return Step("times of submission: all known")
    return Step(
        f"times of submission: unknown for {counted(stand.unknown, 'student')}, so no late "
        "penalty for them",
        "a table of times (id, time), or Moodle's grading worksheet",
        lambda answer: ["collect", name, *_files(answer)],
    )


def _grades(name: str, stand: Stand) -> Step:
    if not stand.handed_in:
        return Step("to be graded: nothing yet")
    if not stand.to_grade:
        state, question = "graded: all submissions", "grade again, to apply new times"
    else:
        state, question = f"to be graded: {counted(stand.to_grade, 'notebook')}", "grade them now"
    due = f"grade {name}" if stand.to_grade else ""
    return Step(state, f"{question}? y or n", _yes(["grade", name]), "y", due)


def _words(stand: Stand) -> Step:
    if not stand.waiting:
        return Step("written answers: all marked")
    name = stand.folders.name

    def command(answer: str) -> Words:
        return [] if answer in ("y", "yes") else ["collect", name, *_files(answer)]

    return Step(
        f"written answers: not marked yet for {some(stand.waiting)}; coursekit mark {name} writes "
        "the pages to mark them on",
        "the table of marks saved from these pages, or y to continue without these points",
        command,
        due=f"mark {name}",
    )


def _report(name: str, stand: Stand) -> Step:
    there = "written before" if stand.folders.report.is_file() else "not written yet"
    return Step(
        f"report: {there}", "write the report about the class? y or n", _yes(["review", name]), "y"
    )


def _return(name: str, stand: Stand) -> Step:
    exam = exam_of(stand.folders.course, name)
    if exam and not exam.is_over:
        return Step(f"feedback: {exam.wait('none is written')}")

    def command(answer: str) -> Words:
        if answer in ("y", "yes"):
            return ["return", name]
        words = ["return", name, *_platform(answer)]
        return [*words, "--force"] if stand.waiting else words  # they said to go on without

    done = f"returned to {counted(stand.returned, 'student')}" if stand.returned else "not returned"
    return Step(
        f"feedback: {stand.pages} of {counted(len(stand.handed_in), 'student')} have a page; "
        f"{done}",
        "return feedback and scores: moodle Grades.csv, canvas gradebook.csv, plain or exchange; "
        "or y to only write the pages and look at them",
        command,
        "y",
        due=f"return {name}" if stand.pages < len(stand.handed_in) else "",
    )


def _platform(answer: str) -> Words:
    """Return the words of a platform, and of the file that it needs."""
    platform, _, rest = answer.strip().partition(" ")
    path = _file(rest.strip()) if rest.strip() else ""
    if platform in (("moodle", "canvas") if path else ("canvas", "plain", "exchange")):
        return [*([path] if path else []), "--to", platform]
    raise CourseError(
        f"{answer!r} is not a possible answer; expected moodle and its grading worksheet, canvas "
        "and its gradebook, plain or exchange"
    )


def _yes(words: Words) -> Callable[[str], Words]:
    def command(answer: str) -> Words:
        if answer not in ("y", "yes"):
            raise CourseError(f"{answer!r} is not a possible answer; expected y or n")
        return words

    return command


def _file(answer: str) -> str:
    path = Path(answer.strip("'\"")).expanduser()
    if not path.exists():
        raise CourseError(f"there is no file {path}")
    return str(path)


# --- The walk ---


def walk(folders: Folders, ask: Ask, run: Run) -> int:
    """Go through the steps; return the code of the command that failed, or 0."""
    for step in steps(folders.name, lambda: Stand(folders)):
        print(f"\n{step.state[0].upper()}{step.state[1:]}.", flush=True)
        if step.command is None:
            continue
        words = _answer(step, ask)
        if words is None:
            return _left(folders.name, 0)
        if not words:
            continue
        print(f"$ coursekit {shlex.join(words)}", flush=True)
        code = run(words)
        if code:
            return _left(folders.name, code)
    print(f"\nDone. You can run coursekit next {folders.name} again at any time.")
    return 0


def _answer(step: Step, ask: Ask) -> Words | None:
    """Ask until an answer makes a command; none where the step is left out, None to leave."""
    assert step.command is not None
    enter = step.usual or ("leave" if step.due else "continue without")
    while True:
        try:
            answer = ask(f"  {step.question} (Enter: {enter}; q: leave) ").strip() or step.usual
        except EOFError:
            return None
        if answer in LEAVE or (not answer and step.due):
            return None
        if answer in ("", "n", "no"):
            return []
        try:
            return step.command(answer)
        except CourseError as error:
            print(f"  {error}", flush=True)


def _left(name: str, code: int) -> int:
    print(f"\nStopped. coursekit next {name} continues from here.")
    return code


def show(folders: Folders) -> None:
    """Print where the class stands, and the command of the first step that has to be done."""
    all_steps = list(steps(folders.name, lambda: Stand(folders)))
    for step in all_steps:
        print(step.state)
    due = next((step.due for step in all_steps if step.due), f"return {folders.name}")
    print(f"next: coursekit {due}")


def _command(course: Course) -> Run:
    """Return what runs a command as somebody would who types it, and waits for its end."""

    def run(words: Words) -> int:
        line = [sys.executable, "-m", "coursetools.cli", *words, "--root", str(course.root)]
        with subprocess.Popen(line) as process:
            try:
                return process.wait()
            except KeyboardInterrupt:
                process.wait()  # it hears of Ctrl-C as well, and keeps what is finished
                return 130

    return run


def run(arguments: argparse.Namespace) -> int:
    """The command: `name`, `course`."""
    folders = Folders(arguments.course, arguments.name)
    folders.notebooks()
    if not sys.stdin.isatty():
        show(folders)
        return 0
    return walk(folders, input, _command(arguments.course))
