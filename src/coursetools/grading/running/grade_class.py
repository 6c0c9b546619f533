"""`coursekit grade`: what is to be graded, by whom, and how it gets into the gradebook.

Three steps, each of which may be killed at any moment: a verdict goes into its file; from there
into the gradebook and the graded notebook, in batches; the gradebook remembers which verdict it was
made of. The next run does what is missing, and nothing twice.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursekit._base.progress import Progress
from coursetools.course import Course
from coursetools.grading.collecting.choose import after_the_end, choose_again
from coursetools.grading.collecting.team_files import team_lines
from coursetools.grading.gradebook.autograded import as_file, autograded
from coursetools.grading.gradebook.batch_writer import Writer
from coursetools.grading.gradebook.database import WAIT
from coursetools.grading.gradebook.submission_rows import Row
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.groups import Groups
from coursetools.grading.records.lock import one_command
from coursetools.grading.records.overrides import Overrides
from coursetools.grading.records.verdict import Verdict
from coursetools.grading.records.verdict_files import Entry, Place, Verdicts
from coursetools.grading.running.judge_job import ENGINE, MASTER, digest
from coursetools.grading.running.keys import key_of, made_of, masters_of
from coursetools.grading.running.submitted import (
    NO_FILE,
    NOTHING,
    mark_of,
    no_file,
    read,
    stamp_of,
    state_of,
    submitted_file,
    time_of,
    write_if_new,
)
from coursetools.grading.running.summary import Summary, summarise
from coursetools.grading.running.tasks import Outcome, Task, judged
from coursetools.text import some

BATCH = 50  # rows in one transaction
BATCH_SECONDS = 2.0  # at most between a verdict and its row
MOST = 16  # processes that grade at a time
EACH = 1 << 30  # bytes of memory that one of them may need


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to grade; what the command line has no name for is for tests and programs."""

    workers: int | None = None
    cluster: str | None = None
    require: frozenset[str] = frozenset()
    force: bool = False
    dry_run: bool = False
    wait: float = WAIT
    engine: str = ENGINE  # tests put their own in its place
    master: str = MASTER


@dataclass
class Plan:
    """What a run has to do."""

    grade: list[Task] = field(default_factory=list)
    write: list[tuple[str, str]] = field(default_factory=list)  # graded, not in the gradebook
    settled: list[Outcome] = field(default_factory=list)  # nothing there to be judged
    shared: dict[tuple[str, str], list[str]] = field(default_factory=dict)  # of `grade` -> group
    unchanged: int = 0
    entered: int = 0  # of `write`, those that the gradebook has nothing of
    recomputed: int = 0  # of `write`, those that it has something else of


def processes_here() -> int:
    """Return how many processes grade at a time: one per core, as far as the memory goes."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    most = min(allowed or 1, MOST)
    with suppress(ModuleNotFoundError):
        from psutil import virtual_memory

        most = min(most, virtual_memory().available // EACH)
    return max(1, most)


Tracker = Callable[[int], AbstractContextManager[Progress]]


def enter_again(course: Course, name: str, progress: Progress | None = None) -> int:
    """Bring the gradebook in step with verdicts, times, rules and overrides; run nobody.

    Return how many rows were written.
    """
    folders, progress = Folders(course, name), progress or Progress()
    masters = masters_of(folders)
    with one_command(folders, "grade"):
        return _Run(folders, masters, Options(), progress).enter()


def grade_class(
    course: Course,
    name: str,
    options: Options | None = None,
    progress: Progress | None = None,
    tracker: Tracker | None = None,
) -> Summary:
    """Grade what was submitted for assignment `name`, and return what came of it.

    `progress` hears of problems and of each submission that is finished; `tracker(total)` makes
    another one for the grading itself, when it is known how much there is to do.
    """
    options, folders = options or Options(), Folders(course, name)
    progress = progress or Progress()
    masters = masters_of(folders, options.master)
    with nullcontext() if options.dry_run else one_command(folders, "grade"):
        run = _Run(folders, masters, options, progress)
        return run.dry() if options.dry_run else run.all(tracker)


class _Run:
    """One run over one assignment."""

    def __init__(
        self, folders: Folders, masters: dict[str, Any], options: Options, progress: Progress
    ) -> None:
        self.folders, self.masters, self.options = folders, masters, options
        self.progress = progress
        self.store = Verdicts(folders.verdicts)
        self.index = self.store.index()
        self.writer: Writer | None = None
        self.late = ""  # the class's deadline, and what being late costs
        self.overrides = Overrides.read(folders.course, folders.name)
        self.groups = Groups.of(folders)
        self.shared: dict[tuple[str, str], list[str]] = {}  # a task -> who else has the same file
        self.rows: list[Row] = []
        self.last_write = time.monotonic()
        self.graded, self.began = 0, time.monotonic()
        for path in self.store.damaged:
            progress.note(
                f"the stored verdict {path.name} of {path.parent.name} is damaged and is made again"
            )

    def dry(self) -> Summary:
        """Say what would be done; touch nothing."""
        plan = self._plan(None)
        reasons: dict[str, list[str]] = {}
        for task in plan.grade:
            reasons.setdefault(self._reason(task), []).append(task.student)
        for reason, students in reasons.items():
            self.progress.note(f"{reason}: {some(students)}")
        would = len(plan.grade) + len(plan.settled)
        did = {"unchanged": plan.unchanged, "would_grade": would}
        return summarise(self.folders, self.index, None, **did)

    def _reason(self, task: Task) -> str:
        """Say why a submission is to be graded."""
        place = self.index.get((task.student, task.notebook))
        if place is None:
            return "not graded yet"
        if place.submission != state_of(task.path, self.folders):
            return "new submission"
        made = made_of(self.masters[task.notebook], self.folders)
        changed = [name for name in made if place.made_of.get(name) != made[name]]
        return f"{' and '.join(changed)} changed" if changed else "--force"

    def enter(self) -> int:
        """Write what is graded already and not as it should be in the gradebook; grade nothing."""
        writer = self._open()
        try:
            self._work(Plan(write=(write := self._out_of_step(writer))))
            if writer.put_back():
                self._work(Plan(write=self._out_of_step(writer)))
            return len(write)
        finally:
            writer.close()

    def _out_of_step(self, writer: Writer) -> list[tuple[str, str]]:
        """Return what is graded, and not in the gradebook as it should be."""
        marks = writer.marks()
        return [
            (student, notebook)
            for student in self.folders.students()
            for notebook in self.masters
            if (place := self.index.get((student, notebook))) is not None
            and marks.get((student, notebook)) != self._mark(student, place)
        ]

    def _open(self) -> Writer:
        writer = Writer(self.folders, self.masters, self.progress.note, self.options.wait)
        self.writer = writer
        self.late = f"{writer.structure.due} {self.folders.settings.get('late')}"
        return writer

    def _mark(self, student: str, place: Place, stamp: str | None = None) -> str:
        """Return what names a verdict with all that its row in the gradebook is made of."""
        stamp = stamp_of(self.folders, student) if stamp is None else stamp
        return mark_of(place, stamp, f"{self._late(student)}{self.overrides.stamp(student)}")

    def all(self, tracker: Tracker | None = None) -> Summary:
        """Grade and write what is to be graded and written."""
        nobody = not (self.index or any(self.folders.students()))
        if nobody and not self.folders.has_gradebook:  # none is made for nobody
            return summarise(self.folders, self.index, None, unchanged=0)
        writer = self._open()
        try:
            table = writer.lateness.table
            for text in table.astray(writer.students(), self.folders.course.assignments):
                self.progress.note(text)
            if unnamed := table.unreached(self.folders.name, self.groups.anonymous):
                self.progress.note(unnamed)
            for text in self.overrides.astray(writer.students(), writer.structure.questions):
                self.progress.note(text)
            if (rule := writer.lateness.rule) and math.isfinite(rule.end):
                late = choose_again(self.folders, writer.lateness)
                for text in after_the_end(late):
                    self.progress.note(text)
            for text in team_lines(self.folders, self.groups, writer.names(), writer.lateness.zone):
                self.progress.note(text)
            plan = self._plan(writer.marks())
            if tracker is None:
                self._work(plan)
            else:
                before = self.progress
                with tracker(len(plan.grade)) as self.progress:
                    self._work(plan)
                self.progress = before
            if writer.put_back():
                self._work(self._plan(writer.marks()))
            return summarise(
                self.folders,
                self.index,
                writer,
                graded=self.graded,
                unchanged=plan.unchanged,
                entered=plan.entered,
                recomputed=plan.recomputed,
                rewritten=len(plan.write) - plan.entered - plan.recomputed,
                seconds=round(time.monotonic() - self.began, 2),
            )
        finally:
            writer.close()

    def _plan(self, marks: dict[tuple[str, str], str] | None) -> Plan:
        plan = Plan()
        first: dict[tuple[str, ...], str] = {}  # who has a file that others of a team have, too
        for student in self.folders.students():
            stamp = None if marks is None else stamp_of(self.folders, student)
            for notebook in self.masters:
                path = submitted_file(self.folders, student, notebook, len(self.masters))
                who = student, notebook
                place = self.index.get(who)
                state = NOTHING if path is None else state_of(path, self.folders)
                key = key_of(self.masters[notebook], state, self.folders)
                again = self.options.force and state not in NO_FILE
                if place and _holds(place, key) and not again:
                    if marks is None or self._is_written(who, place, stamp, marks):
                        plan.unchanged += 1
                    else:
                        plan.write.append(who)
                        plan.entered += who not in marks
                        mark = self._mark(student, place, stamp)
                        plan.recomputed += marks.get(who, mark) != mark
                elif path is None or state in NO_FILE:
                    verdict = no_file(self.folders.name, state)
                    plan.settled.append(Outcome(Task(student, notebook, Path()), state, verdict))
                elif not self.options.force and (other := self._done(who, key)):
                    verdict = self.store.read(other).verdict
                    plan.settled.append(Outcome(Task(*who, path), state, verdict))
                elif (one := first.setdefault(self._same(who, key), student)) != student:
                    plan.shared.setdefault((one, notebook), []).append(student)
                else:
                    plan.grade.append(Task(student, notebook, path))
        return plan

    def _done(self, who: tuple[str, str], key: str) -> Place | None:
        """Return where the verdict on the same file of another of the group is."""
        student, notebook = who
        places = (self.index.get((one, notebook)) for one in self.groups.members(student))
        return next((place for place in places if place and _holds(place, key)), None)

    def _same(self, who: tuple[str, str], key: str) -> tuple[str, ...]:
        """Return what is the same for those of a group who have one file between them."""
        student, notebook = who
        return self.groups.name(student) or f"/{student}", notebook, key

    def _is_written(
        self, who: tuple[str, str], place: Place, stamp: str | None, marks: dict[Any, str]
    ) -> bool:
        there = (self.folders.autograded(who[0]) / f"{who[1]}.ipynb").is_file()
        return there and marks.get(who) == self._mark(who[0], place, stamp)

    def _late(self, student: str) -> str:
        """Return what a student's penalty depends on."""
        own = self.writer.lateness.facts(student) if self.writer else ""
        return f"{self.late} {own}" if own else self.late

    def _work(self, plan: Plan) -> None:
        self.shared = plan.shared
        try:
            for outcome in plan.settled:
                self._keep(outcome)
                self._say(outcome.task.student, outcome.verdict)
            for who in plan.write:
                self._to_be_written(self.store.read(self.index[who]), self.index[who])
            late: list[Task] = []
            for outcome in self._outcomes(plan.grade):
                if ran_out_of_time(outcome.verdict):
                    task = outcome.task
                    late.append(Task(task.student, task.notebook, task.path))
                else:
                    self._judged(outcome)
            if late:
                self.progress.note(
                    f"{len(late)} ran out of time; running each of them again, alone"
                )
            for outcome in self._outcomes(late, workers=1):
                self._judged(outcome)
            self._write()
        except BaseException:
            # Interrupted, or the disk is full: what is finished is kept as far as that goes.
            with suppress(CourseError, OSError):  # if not now, the next run writes them
                self._write()
            raise

    def _outcomes(self, tasks: list[Task], workers: int | None = None) -> Iterable[Outcome]:
        """Have some tasks done, if there are any."""
        if not tasks:
            return ()
        limits, options = self.folders.limits, self.options
        start = {
            "engine": options.engine,
            "master": options.master,
            "masters": {name: asdict(master) for name, master in self.masters.items()},
            "limits": asdict(limits),
            "require": sorted(options.require),
        }
        if options.cluster:
            from coursetools.grading.running.judge_on_cluster import judged_on_cluster

            return judged_on_cluster(start, tasks, options.cluster)
        workers = workers or options.workers or processes_here()
        return judged(start, tasks, workers, limits.longest)

    def _judged(self, outcome: Outcome) -> None:
        """Keep the verdict on a file for everyone who has that file, and count it once."""
        task, verdict = outcome.task, outcome.verdict
        others = self.shared.pop((task.student, task.notebook), [])
        for student in (task.student, *others):
            self._keep(replace(outcome, task=Task(student, task.notebook, task.path)))
        self._say(", ".join((task.student, *others)), verdict)
        self.progress.advance(f"{task.student} {verdict.points:g}/{verdict.max_points:g}")

    def _keep(self, outcome: Outcome) -> None:
        """Put a verdict into the store, and on the list for the gradebook."""
        task = outcome.task
        who = task.student, task.notebook
        verdict = outcome.verdict
        key = key_of(self.masters[task.notebook], outcome.submission, self.folders)
        made = made_of(self.masters[task.notebook], self.folders)
        entry = Entry(task.student, task.notebook, key, outcome.submission, verdict, made)
        place = self.store.append(entry)
        self.index[who] = place
        self.graded += outcome.submission not in NO_FILE
        self._to_be_written(entry, place, outcome.graded)

    def _say(self, student: str, verdict: Verdict) -> None:
        """Say what needs attention; there is nothing to say about a file that did not come."""
        problem = verdict.status not in ("OK", "PARTIAL", "FAIL", "MISSING")
        if problem or verdict.flags:
            why = verdict.flags[-1] if verdict.flags and not problem else verdict.reason
            self.progress.note(f"{student}: {verdict.status}, {why}")

    def _to_be_written(self, entry: Entry, place: Place, graded: str = "") -> None:
        folder = self.folders.submitted(entry.student)
        stamp = stamp_of(self.folders, entry.student)
        if not self._notebook(entry, stamp, graded):
            self.progress.note(
                f"{entry.student} submitted another file in the meantime; grade again"
            )
            return
        self.rows.append(
            Row(
                student=entry.student,
                notebook=entry.notebook,
                submission=entry.submission,
                mark=self._mark(entry.student, place, stamp),
                timestamp=time_of(stamp, folder, self.progress),
                verdict=entry.verdict,
            )
        )
        late = time.monotonic() - self.last_write > BATCH_SECONDS
        if len(self.rows) >= BATCH or late:
            self._write()

    def _notebook(self, entry: Entry, stamp: str, graded: str) -> bool:
        """Write the graded notebook; False where it cannot be made any more.

        `graded` is its text as the worker made it; "" where that is lost, or nobody made it, and
        it is made of the file, unless that is another one by now.
        """
        folders, student, notebook = self.folders, entry.student, entry.notebook
        if not graded:
            data = b""
            if entry.submission not in NO_FILE:
                path = submitted_file(folders, student, notebook, len(self.masters))
                data = b"" if path is None else read(path, folders)
                if entry.submission and digest(data) != entry.submission:
                    return False
            master = self.masters[notebook]
            graded = as_file(autograded(master, data, entry.verdict, folders.limits))
        folder = folders.autograded(student)
        write_if_new(folder / f"{notebook}.ipynb", graded)
        if stamp:
            write_if_new(folder / "timestamp.txt", stamp)
        return True

    def _write(self) -> None:
        """Put the finished ones into the gradebook; their verdicts are on the disk by now."""
        assert self.writer is not None
        self.writer.write(self.rows)
        self.rows = []
        self.last_write = time.monotonic()


def _holds(place: Place, key: str) -> bool:
    """Return whether a verdict is what would come out again."""
    return place.key == key and place.status != "INTERNAL"


def ran_out_of_time(verdict: Verdict) -> bool:
    """Return whether anything of a submission was stopped by the clock.

    It may have been near its limit, and a busy machine does slow each second of work down a little.
    """
    return any(
        question.status == "TIMEOUT" or any(case.status == "TIMEOUT" for case in question.cases)
        for question in verdict.questions
    )
