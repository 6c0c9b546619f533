"""What a late hand-in costs: a share of the score for each day begun, after some grace.

An assignment's own rule is `[late]` in its `assignment.toml`: `rate`, `grace_hours`, `most`. The
deadline is `due` there, and goes before one that was set in formgrader. For nbgrader's own commands
both are applied by the plugin in `late_plugin`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from coursekit._base.errors import CourseError
from coursetools.assignments.settings import settings_of

DAY = 86400.0


@dataclass(frozen=True, kw_only=True)
class LateRule:
    """`rate` of the score is lost for each day begun after the grace, up to `most` of it."""

    rate: float = 0.0
    grace_hours: float = 0.0
    most: float = 1.0

    def __post_init__(self) -> None:
        for name in ("rate", "grace_hours", "most"):
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not math.isfinite(value) or value < 0:
                raise CourseError(f"[late] {name} is {value!r}; it should be a number from 0")
        if self.rate > 1 or self.most > 1:
            raise CourseError("[late] rate and most are shares of the score, from 0 to 1")

    def penalty(self, score: float, seconds_late: float) -> float:
        """Return the points that are lost; never more than there are."""
        after = seconds_late - self.grace_hours * 3600
        if after <= 0 or score <= 0:
            return 0.0
        share = min(self.most, self.rate * math.ceil(after / DAY))
        return round(score * share, 2)


def replaced(name: str, before: datetime, due: datetime) -> str:
    """Say that the file's deadline takes the place of the gradebook's, which is another."""
    return (
        f"{name}: the gradebook had the deadline {before} UTC, assignment.toml says {due} UTC and "
        "counts; to set it in formgrader, remove due from assignment.toml"
    )


def rule_of(folder: Path) -> LateRule | None:
    """Return the rule in an assignment's `assignment.toml`, or None where it has none."""
    table = settings_of(folder).get("late")
    if table is None:
        return None
    path = Path(folder) / "assignment.toml"
    unknown = set(table) - {"rate", "grace_hours", "most"} if isinstance(table, dict) else {"late"}
    if unknown:
        raise CourseError(
            f"{path}: [late] knows rate, grace_hours and most, and not {', '.join(sorted(unknown))}"
        )
    try:
        return LateRule(**table)
    except CourseError as error:
        raise CourseError(f"{path}: {error}") from error
