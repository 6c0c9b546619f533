"""Who falls behind in a term: a rule that is short enough to stand on the page that names them.

An assignment that was hard for everybody makes nobody fall behind: a student's share of the points
is compared with the class's mean, and that with how far from it the student was before.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

LAST = 2  # assignments in a row; the sentences below say "two"
FAR = 0.2  # of an assignment's points

RULE = (
    "A student is listed if, in each of their last two closed assignments, they submitted nothing "
    f"or came {100 * FAR:.0f} percentage points or more below their usual. Their usual is their "
    "mean distance from the class's mean over all earlier assignments that they submitted, so an "
    "assignment that was hard for everybody lists nobody. Assignments from which they are excused, "
    "or for which they still have time, do not count here."
)

State = Literal["submitted", "missing", "open", "excused", "not graded"]


@dataclass(frozen=True, slots=True)
class Step:
    """One student at one assignment."""

    state: State
    share: float | None = None  # of the points; None where nothing counts yet, or is known
    late_days: int = 0
    more_time: Literal["", "given", "used"] = ""


def behind(way: Sequence[Step], means: Sequence[float]) -> str:
    """Return why a student falls behind, "" for who does not; `means` are the class's shares."""
    over = [pair for pair in zip(way, means) if pair[0].state in ("submitted", "missing")]
    last, before = over[-LAST:], over[:-LAST]
    if len(last) < LAST or all(step.state == "missing" for step, _ in over):
        return ""
    usual = [(step.share or 0.0) - mean for step, mean in before if step.state == "submitted"]
    if all(step.state == "missing" for step, _ in last):
        return "the last two not submitted"
    for step, mean in last:
        low = usual and (step.share or 0.0) - mean <= statistics.fmean(usual) - FAR + 1e-9
        if step.state == "submitted" and not low:
            return ""
    if any(step.state == "missing" for step, _ in last):
        return "one not submitted, the other far below their usual"
    return "the last two far below their usual"


def never(way: Sequence[Step]) -> bool:
    """Return whether a student has submitted nothing in the whole term, though it was due."""
    over = [step.state for step in way if step.state not in ("open", "excused")]
    return bool(over) and set(over) == {"missing"}
