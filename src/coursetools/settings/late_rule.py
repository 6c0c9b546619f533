"""What a late hand-in costs: `[late]` in an assignment's `assignment.toml`.

Either `rate`, the share of the score that each day begun takes, up to `most`; or `steps` of credit,
such as 0.8 up to 24 hours. `grace_hours` cost nothing. After the end (`end_hours`, or the last
step) a hand-in does not count. All hours run from the student's own deadline, extension included.

An exam has its end at the deadline, or after `grace_hours`, unless `[late]` says more.

The deadline is `due` in the same file, and goes before one that was set in formgrader. For
nbgrader's own commands both are applied by the plugin in `late_plugin`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursekit.submission.deadline import spelled
from coursetools.settings.assignment_settings import settings_of
from coursetools.settings.class_settings import checked

HOUR, DAY = 3600.0, 86400.0


@dataclass(frozen=True, kw_only=True)
class LateRule:
    """The share of the score that is lost, by how late a hand-in is."""

    rate: float = 0.0
    grace_hours: float = 0.0
    most: float = 1.0
    steps: tuple[tuple[float, float], ...] = ()  # (hours, credit up to there)
    end_hours: float = math.inf

    def __post_init__(self) -> None:
        for name in ("rate", "grace_hours", "most", "end_hours"):
            value = getattr(self, name)
            if not _number(value) or (math.isinf(value) and name != "end_hours"):
                raise CourseError(f"[late] {name} is {value!r}; it should be a number from 0")
        if self.rate > 1 or self.most > 1:
            raise CourseError("[late] rate and most are shares of the score, from 0 to 1")
        object.__setattr__(self, "steps", _steps(self.steps))
        if self.steps and self.rate:
            raise CourseError("[late] has both rate and steps; keep one of them")

    @property
    def end(self) -> float:
        """After how many seconds a hand-in does not count any more."""
        last = self.steps[-1][0] if self.steps else math.inf
        return HOUR * max(self.grace_hours, min(self.end_hours, last))

    def share(self, seconds_late: float) -> float:
        """Return the share of the score that is lost; it never falls when the lateness grows."""
        if seconds_late <= self.grace_hours * HOUR:
            return 0.0
        if seconds_late > self.end:
            return 1.0
        if self.steps:
            credits = (credit for hours, credit in self.steps if seconds_late <= hours * HOUR)
            return 1.0 - next(credits)
        return min(self.most, self.rate * math.ceil((seconds_late - self.grace_hours * HOUR) / DAY))

    def penalty(self, score: float, seconds_late: float) -> float:
        """Return the points that are lost; never more than there are."""
        return round(score * self.share(seconds_late), 2) if score > 0 else 0.0


def _number(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and not math.isnan(value) and value >= 0


def _steps(steps: Any) -> tuple[tuple[float, float], ...]:
    """Return the steps as pairs; hours that do not rise or credit that does are refused."""
    form = "[late] steps should be a list such as [{hours = 24, credit = 0.8}]"
    if not isinstance(steps, list | tuple):
        raise CourseError(f"{form}, found {steps!r}")
    pairs: list[tuple[float, float]] = []
    for step in steps:
        if isinstance(step, dict) and set(step) == {"hours", "credit"}:
            step = step["hours"], step["credit"]
        if not isinstance(step, tuple) or not all(map(_number, step)) or step[1] > 1:
            raise CourseError(f"{form}, hours from 0 and credit from 0 to 1, found {step!r}")
        if pairs and (step[0] <= pairs[-1][0] or step[1] > pairs[-1][1]):
            raise CourseError(
                "[late] steps: hours must rise and credit must fall from each step to the next"
            )
        pairs.append(step)
    return tuple(pairs)


def replaced(name: str, due: datetime, zone: tzinfo) -> str:
    """Say that the file's deadline (UTC) takes the place of another one in the gradebook."""
    when = spelled(due.replace(tzinfo=UTC).astimezone(zone))
    return f"{name}: deadline moved to {when}, as assignment.toml says"


def rule_of(folder: Path) -> LateRule | None:
    """Return the rule in an assignment's `assignment.toml`, or None where it has none."""
    settings = settings_of(folder)
    table, exam = settings.get("late"), "exam" in settings
    if table is None and not exam:
        return None
    path, known = Path(folder) / "assignment.toml", tuple(LateRule.__dataclass_fields__)
    table = checked(path, "late", {} if table is None else table, known)
    if exam and not {"rate", "steps", "end_hours"} & set(table):
        table = {"end_hours": 0.0, **table}
    try:
        return LateRule(**table)
    except CourseError as error:
        raise CourseError(f"{path}: {error}") from error
