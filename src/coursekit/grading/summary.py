"""The table at the end of a run: verdicts, the mean, who needs a human, the time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

from coursekit.grading.folders import Folders
from coursekit.grading.verdict import Status

if TYPE_CHECKING:
    from coursekit.grading.gradebook import Writer
    from coursekit.grading.journal import Place

ORDER = get_args(Status)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What a run did, and how the class stands after it."""

    assignment: str
    counts: dict[str, int]  # by status, of all submissions, and MISSING of the class list
    graded: int  # in this run
    unchanged: int
    mean: float | None  # of the points by the grader, over what could be graded
    needs_human: int
    missing: list[str] = field(default_factory=list)  # on the class list, nothing handed in
    internal: list[str] = field(default_factory=list)  # to be graded again
    seconds: float = 0.0  # of the run
    seconds_each: float | None = None  # of a submission, in its worker
    would_grade: int | None = None  # of a dry run

    @property
    def exit_code(self) -> int:
        """1 as long as somebody has no grade through the grader's own fault."""
        return 1 if self.internal else 0

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return self.__dict__ | {"exit_code": self.exit_code}

    def as_table(self) -> str:
        """Return the lines for a terminal."""
        if self.would_grade is not None:
            return f"{self.assignment}: {self.would_grade} to grade, {self.unchanged} unchanged"
        lines = [f"{self.assignment}"]
        lines += [
            f"  {status:<10}{self.counts[status]:>6}" for status in ORDER if status in self.counts
        ]
        if self.mean is not None:
            lines.append(f"  {'mean':<10}{self.mean:>9.2f} points by the grader")
        if self.needs_human:
            lines.append(f"  {'by hand':<10}{self.needs_human:>6} to be looked at in formgrader")
        each = "" if self.seconds_each is None else f", {self.seconds_each:.3f} s a submission"
        lines.append(
            f"  {self.graded} graded, {self.unchanged} unchanged in {self.seconds:.1f} s{each}"
        )
        if self.internal:
            some = ", ".join(self.internal[:5]) + (" …" if len(self.internal) > 5 else "")
            lines.append(f"  the grader failed for {some}: no grade yet, run the command again")
        return "\n".join(lines)


def summarise(
    folders: Folders,
    index: dict[tuple[str, str], Place],
    writer: Writer | None,
    *,
    graded: int = 0,
    unchanged: int = 0,
    seconds: float = 0.0,
    would: int | None = None,
) -> Summary:
    """Count; `writer` gives the class list and what waits for a human."""
    handed_in = set(folders.students())
    here = {who: place for who, place in index.items() if who[0] in handed_in}
    counts = Counter(place.status for place in here.values())
    missing = sorted(set(writer.students()) - handed_in) if writer else []
    if missing:
        counts["MISSING"] += len(missing)
    judged = [p for p in here.values() if p.status not in ("INTERNAL", "MISSING")]
    return Summary(
        assignment=folders.name,
        counts={status: counts[status] for status in ORDER if counts[status]},
        graded=graded,
        unchanged=unchanged,
        mean=sum(p.points for p in judged) / len(judged) if judged else None,
        needs_human=writer.waiting() if writer else 0,
        missing=missing,
        internal=sorted({who[0] for who, p in here.items() if p.status == "INTERNAL"}),
        seconds=round(seconds, 2),
        seconds_each=sum(p.seconds for p in judged) / len(judged) if judged else None,
        would_grade=would,
    )
