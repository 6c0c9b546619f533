"""Late days: a budget for the whole course, `[late_days]` in `autograder/class.toml`.

They are spent without being asked for, in the order of the deadlines. A day that is spent makes a
hand-in a day less late. No more are spent on an assignment than help, and none after its end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from coursetools.course import Course
from coursetools.settings.class_settings import FILE, table_of, whole
from coursetools.settings.late_rule import DAY, LateRule


@dataclass(frozen=True)
class LateDays:
    """How many a student has in all, and may spend on one assignment."""

    budget: int
    most: int

    @classmethod
    def of(cls, course: Course) -> Self | None:
        """Return what the class's settings say, None where there are no late days."""
        table = table_of(course, "late_days", ("budget", "most"))
        if table is None:
            return None
        path = course / FILE
        budget = whole(path, "[late_days] budget", table.get("budget"))
        return cls(budget, whole(path, "[late_days] most", table.get("most", budget)))


@dataclass(frozen=True, slots=True)
class Spent:
    """A student's late days at one assignment, in the order of the deadlines."""

    here: int
    left: int  # after it
    budget: int


def days_spent(rule: LateRule | None, seconds_late: float, available: int) -> int:
    """Return the fewest days with which the least is lost."""
    if rule is None or seconds_late > rule.end:
        return 0
    needed = min(available, int(seconds_late // DAY) + 1)
    return min(range(needed + 1), key=lambda days: (rule.share(seconds_late - days * DAY), days))
