"""Decide whether an assignment is open, excused, missing, late or in time for a student, now.

Every table, total and report asks here, and so do `grade` and `next`. What is open has no number
yet, for anyone: not for a student who has submitted nothing, nor for a submission that is graded
before the deadline and may still be replaced.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from coursetools.grading.gradebook.lateness import Lateness
from coursetools.settings.late_rule import DAY, HOUR

State = Literal["open", "excused", "missing", "late", "in time"]


@dataclass(frozen=True, slots=True)
class Standing:
    """A student's state in one assignment."""

    state: State
    until: datetime | None = None  # of an open one, in the class's zone; None without a deadline

    @property
    def counts(self) -> bool:
        """Whether the assignment enters the student's totals."""
        return self.state not in ("open", "excused")


def standing_of(
    lateness: Lateness,
    student: str,
    *,
    submitted: bool,
    came: datetime | None,
    begun: bool,
    now: datetime,
) -> Standing:
    """Return a student's standing at the time `now`, which has its zone.

    `submitted` says whether there is a submission of theirs, `came` when it came (UTC, None where
    that is unknown). Without a deadline an assignment is open until it has `begun`: anything of it
    was submitted or graded, by anyone.
    """
    if lateness.excused(student):
        return Standing("excused")
    end = open_until(lateness, student, submitted)
    if end is None:
        if not begun:
            return Standing("open")
    elif now <= (end := end.replace(tzinfo=UTC)):
        return Standing("open", end.astimezone(lateness.zone))
    if not submitted:
        return Standing("missing")
    return Standing("late" if lateness.seconds(student, came) > 0 else "in time")


def open_until(lateness: Lateness, student: str, submitted: bool) -> datetime | None:
    """Return until when an assignment is open for a student (UTC), None without a deadline.

    That is the student's own deadline, extension included. A student who has submitted nothing
    also has the time that would cost nothing: the hours of grace, and the late days that are left.
    """
    due, rule, days = lateness.due_of(student), lateness.rule, 0
    if due is None or submitted or rule is None:
        return due
    if (spent := lateness.spent(student, 0.0)) is not None and lateness.late_days is not None:
        days = max(0, min(spent.left, lateness.late_days.most))
    return due + timedelta(seconds=min(rule.end, rule.grace_hours * HOUR + days * DAY))
