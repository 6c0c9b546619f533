"""The pages of feedback, one for each student, ten thousand in a few minutes.

The list of students and their marks is read once; each page's verdict is read from its file by
whoever writes that page, so that memory stays flat. A page that has not changed is not written.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any

from coursekit._base.errors import CourseError
from coursekit._base.nearest import no_such
from coursekit._base.progress import Progress
from coursetools.course import Course, write_changed
from coursetools.grading.records.attempts import too_late
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.ledger import unlisted
from coursetools.grading.records.verdict_files import Verdicts
from coursetools.grading.results.feedback_page import feedback_page
from coursetools.grading.results.outline import Outline, outlines, safe_name
from coursetools.grading.results.scores import (
    Handed,
    Student,
    add_up,
    graded,
    handed_in,
    read_gradebook,
    verdicts_of,
)
from coursetools.jobs.pool import Pool
from coursetools.settings.exam_settings import exam_of
from coursetools.settings.late_rule import LateRule, rule_of

CHUNK = 25  # students that a worker gets at a time

Task = tuple[Student, Handed]


@dataclass(frozen=True)
class Writer:
    """What a worker needs to write pages; plain data, sent to it once."""

    folders: Folders
    outlines: dict[str, Outline]
    rule: LateRule | None
    book: str

    def write(self, student: Student, handed: Handed) -> bool:
        """Write one student's pages; say whether any has changed."""
        verdicts = verdicts_of(Verdicts(self.folders.verdicts), handed)
        total = add_up(self.outlines, student, verdicts, self.rule)
        several = len(self.outlines) > 1
        changed = False
        for notebook, outline in self.outlines.items():
            score = add_up({notebook: outline}, student, verdicts) if several else total
            page = feedback_page(
                outline,
                student,
                verdicts.get(notebook),
                score,
                book=self.book,
                whole=total if several else None,
            )
            changed |= write_changed(self.folders.feedback(student.id) / f"{notebook}.html", page)
        return changed

    def write_all(self, tasks: list[Task]) -> list[tuple[str, bool, str]]:
        """Write the pages of some students; return of each whether it has changed, or why not."""
        done = []
        for student, handed in tasks:
            try:
                done.append((student.id, self.write(student, handed), ""))
            except Exception as error:  # one student's page must not cost the others theirs
                reason = " ".join(str(error).split())[:200]
                done.append((student.id, False, f"{type(error).__name__}: {reason}"))
        return done


@dataclass
class Written:
    """What became of a run."""

    pages: int = 0
    changed: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    written: list[Handed] = field(default_factory=list)


def write_feedback(
    course: Course,
    name: str,
    *,
    students: Sequence[str] = (),
    workers: int = 1,
    progress: Progress | None = None,
) -> Written:
    """Write the pages of everyone, or of some students."""
    folders = Folders(course, name)
    writer = Writer(folders, outlines(folders), rule_of(folders.private), course.book_address)
    tasks = tasks_of(folders, students)
    handed = {who.id: one for who, one in tasks}
    progress = progress or Progress()
    result = Written()
    if workers == 1 or len(tasks) <= CHUNK:
        done = (writer.write_all([task]) for task in tasks)
    else:
        done = _several(writer, tasks, workers)
    with closing(done):  # its processes end before an error goes on
        for who, changed, problem in itertools.chain.from_iterable(done):
            if problem:
                result.failed.append((who, problem))
                progress.note(f"{who}: {problem}")
            else:
                result.pages += 1
                result.changed += changed
                result.written.append(handed[who])
            progress.advance(who)
    return result


def tasks_of(folders: Folders, only: Sequence[str] = ()) -> list[Task]:
    """Return the students who get a page, or those of `only`, with their submissions."""
    exam = exam_of(folders.course, folders.name)
    if exam and not exam.is_over:
        raise exam.wait("no feedback is written")
    book = read_gradebook(folders)
    handed = handed_in(folders)
    if not only:
        graded(folders, handed)  # something is
    names = sorted(set(book.students) | set(handed))
    for who in only:
        if who not in names:
            raise CourseError(no_such("student", who, names, tell=False))
        if _waits(book.student(who, handed.get(who))):
            raise CourseError(f"{who} has submitted nothing yet, and {folders.name} is still open")
    names = sorted(set(only)) or names
    left_out = unlisted(folders)
    tasks = [
        (book.student(who, one), one)
        for who in names
        if safe_name(who) and (who in handed or who in only or not left_out(who))
        for one in [handed.get(who, Handed(who, {}))]
    ]
    tasks = [(student, one) for student, one in tasks if not _waits(student)]
    if book.lateness is not None:
        for student, _ in tasks:
            members = book.lateness.groups.members(student.id)
            when = too_late(folders, members, book.lateness.end_of(student.id))
            student.too_late = when and when.astimezone(UTC).replace(tzinfo=None)
    return tasks


def _waits(student: Student) -> bool:
    """Return whether a student has submitted nothing and still has time to."""
    return student.open and not student.has_submission


def work(writer: Writer, jobs: Iterator[list[Task]]) -> Iterator[Any]:
    """Write pages, in a process of the pool."""
    yield "ready"
    for tasks in jobs:
        yield {"written": writer.write_all(tasks)}


def _several(
    writer: Writer, tasks: list[Task], workers: int
) -> Generator[list[tuple[str, bool, str]], None, None]:
    """Yield what became of each chunk, as `workers` processes finish them."""
    chunks = (tasks[start : start + CHUNK] for start in range(0, len(tasks), CHUNK))
    with Pool(__name__, workers, start=writer, ahead=2) as pool:
        for _, answer in pool.run(chunks):
            if "error" in answer:
                raise CourseError(
                    "a process that writes feedback was killed, perhaps for lack of memory; what "
                    "is written is kept: run the command again"
                )
            yield answer["written"]
