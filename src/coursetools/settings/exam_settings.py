"""An exam: an assignment with `[exam]` in its `assignment.toml`; it ends at `due`.

    due = 2026-12-14T11:00:00+01:00

    [exam]
    start = 2026-12-14T09:00:00+01:00
    allowed = "The book and your own notes."
    practice = false

It is over when nobody has time left, extensions included. Until then students get its notebook
alone, in which `check` knows nothing; what `check` would know, the page and the feedback wait.
Afterwards it is an assignment for practice, unless `practice` is false: then all but the feedback
stays private.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from coursekit._base.errors import CourseError
from coursekit.submission.deadline import spelled
from coursetools.course import Course
from coursetools.settings.assignment_settings import due_of, settings_of
from coursetools.settings.class_settings import checked
from coursetools.settings.extensions import Extensions


@dataclass(frozen=True)
class Exam:
    """When an exam begins and ends, and what is allowed in it."""

    name: str
    start: datetime  # with its zone, as it is written
    end: datetime  # of the class
    over: datetime  # of whoever has the most time
    allowed: str
    practice: bool  # once it is over

    @property
    def is_private(self) -> bool:
        """Whether nothing of it may be public."""
        return not (self.practice and self.is_over)

    @property
    def is_over(self) -> bool:
        """Whether nobody has time left."""
        return datetime.now(UTC) > self.over

    def __str__(self) -> str:
        """Return it as a person reads it."""
        return f"{self.name} is an exam from {spelled(self.start)} to {spelled(self.end)}"

    def wait(self, what: str) -> CourseError:
        """Return the error of something that is to wait until it is over."""
        if self.is_over:
            return CourseError(f"{self.name} is an exam with practice = false: {what}")
        longest = " (the longest extension)" if self.over > self.end else ""
        return CourseError(
            f"{self.name} is an exam until {spelled(self.over)}{longest}: {what} before it is over"
        )


def exam_of(course: Course, name: str) -> Exam | None:
    """Return the exam that an assignment is, None where it is none."""
    private = course.private(name)
    settings = settings_of(private)
    if "exam" not in settings:
        return None
    path = private / "assignment.toml"
    table = checked(path, "exam", settings["exam"], ("start", "allowed", "practice"))
    due = due_of(private)
    if due is None:
        raise CourseError(
            f"{path} has [exam], but no due, its end; set it with coursekit settings {name} --due "
            "TIME"
        )
    start, end = table.get("start"), settings["due"]
    if not isinstance(start, datetime) or start.tzinfo is None:
        raise CourseError(
            f"{path}: [exam] start should be a time with its zone, such as {end.isoformat()}"
        )
    if start >= end:
        raise CourseError(f"{path}: the exam starts at {start} and ends at {end}, which is earlier")
    extensions = Extensions.read(course)
    more = [extensions.after(student, name, due) for student, _ in extensions.lines]
    over = end + max(filter(None, more), default=end - end)
    practice = table.get("practice", True)
    if not isinstance(practice, bool):
        raise CourseError(f"{path}: [exam] practice should be true or false, found {practice!r}")
    return Exam(name, start, end, over, " ".join(str(table.get("allowed", "")).split()), practice)


def private_exam(course: Course, name: str) -> Exam | None:
    """Return the exam that an assignment is while nothing of it may be public, else None."""
    exam = exam_of(course, name)
    return exam if exam and exam.is_private else None


def private_exams(course: Course) -> list[Exam]:
    """Return the exams of a course of which nothing may be public."""
    return [exam for name in course.assignments if (exam := private_exam(course, name))]
