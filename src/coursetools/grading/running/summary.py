"""The table at the end of a run: verdicts, the mean, who needs a human, the time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

from coursetools.grading.gradebook.standing import Standing, standing_of
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.groups import Groups
from coursetools.grading.records.ledger import Ledger, time_unknown, unlisted
from coursetools.grading.records.verdict import Status, status_of

if TYPE_CHECKING:
    from coursetools.grading.gradebook.batch_writer import Writer
    from coursetools.grading.records.verdict_files import Place

ORDER = get_args(Status)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What a run did, and how many of the class are done after it."""

    assignment: str
    counts: dict[str, int]  # submissions by status; MISSING are students of the class list
    graded: int = 0  # in this run
    unchanged: int
    entered: int = 0  # graded by an earlier run that ended before the gradebook had it
    rewritten: int = 0  # whose graded notebook was gone
    recomputed: int = 0  # not run again: times, the deadline, the late rule or an override changed
    mean: float | None  # of the points by the grader, over the submissions that could be graded
    needs_human: int
    missing: list[str] = field(default_factory=list)  # nothing submitted, and it is closed for them
    open: list[str] = field(default_factory=list)  # nothing submitted, and there is still time
    internal: list[str] = field(default_factory=list)  # to be graded again
    seconds: float = 0.0  # of the run
    seconds_each: float | None = None  # of a submission, in its worker
    would_grade: int | None = None  # of a dry run
    handed_in: int = 0  # students of whom something is there
    students: int = 0  # of those, with a file that was graded
    submissions: int = 0  # these files; a team has one
    time_unknown: int = 0  # of those, where that could cost something

    @property
    def exit_code(self) -> int:
        """1 as long as somebody has no grade through the grader's own fault."""
        return 1 if self.internal else 0

    @property
    def done(self) -> str:
        """What became of everything that was submitted, in one line that adds up."""
        parts = [f"{self.graded} graded"]
        if self.entered:
            parts.append(f"{self.entered} graded by an interrupted run and now entered")
        if self.recomputed:
            what = "times, deadline, late rule or an override changed"
            parts.append(f"{self.recomputed} recomputed without a rerun ({what})")
        if self.rewritten:
            plural = "s" * (self.rewritten != 1)
            parts.append(f"{self.rewritten} graded notebook{plural} written again")
        return ", ".join([*parts, f"{self.unchanged} unchanged"])

    def as_table(self) -> str:
        """Return the lines for a terminal."""
        if not self.handed_in:
            return nobody(self.assignment)
        if self.would_grade is not None:
            return f"{self.assignment}: {self.would_grade} to grade, {self.unchanged} unchanged"
        shared = f": {self.submissions} submissions of {self.students} students"
        head = shared if self.submissions < self.students else ""
        lines = [f"{self.assignment}{head}"]
        lines += [
            f"  {status:<10}{self.counts[status]:>6}" for status in ORDER if status in self.counts
        ]
        if self.open:
            lines.append(f"  {'open':<10}{len(self.open):>6} can still submit")
        if self.mean is not None:
            lines.append(f"  {'mean':<10}{self.mean:>9.2f} points by the grader")
        if self.needs_human:
            lines.append(
                f"  {'by hand':<10}{self.needs_human:>6} to look at; "
                f"coursekit review {self.assignment} lists them"
            )
        each = "" if self.seconds_each is None else f", {self.seconds_each:.3f} s a student"
        lines.append(f"  {self.done} in {self.seconds:.1f} s{each}")
        if self.time_unknown:
            lines.append(
                f"  {time_unknown(self.time_unknown)}; to add times: coursekit collect "
                f"{self.assignment} FILE"
            )
        if self.internal:
            some = ", ".join(self.internal[:5]) + (" …" if len(self.internal) > 5 else "")
            lines.append(
                f"  the grader itself failed for {some}, who have no grade yet: run the command "
                "again"
            )
        return "\n".join(lines)


def nobody(name: str) -> str:
    """Return what to say where nothing was submitted yet."""
    return (
        f"{name}: no submissions yet; collect a zip or folder of them with coursekit collect "
        f"{name} FILE"
    )


def summarise(
    folders: Folders,
    index: dict[tuple[str, str], Place],
    writer: Writer | None,
    **did: Any,
) -> Summary:
    """Count the verdicts of students who submitted, and ask who waits for a human.

    What the run itself `did` is passed on, by the names that a `Summary` has for it.
    """
    handed_in = set(folders.students())
    by_student: dict[str, list[Place]] = {}
    for (student, _), place in index.items():
        if student in handed_in:
            by_student.setdefault(student, []).append(place)
    statuses = {who: status_of(p.status for p in places) for who, places in by_student.items()}
    files = {
        who: tuple(sorted(place.submission for place in places))
        for who, places in by_student.items()
        if statuses[who] != "MISSING"
    }
    groups = Groups.of(folders)
    once = groups.once(files)
    counts = Counter(statuses[who] for who in by_student if who in once or who not in files)
    left_out = unlisted(folders)
    others = sorted(set(writer.students()) - handed_in - writer.listed()[1]) if writer else []
    standing = {who: _standing(writer, who) for who in others if writer and not left_out(who)}
    missing = [who for who, one in standing.items() if one.state == "missing"]
    counts["MISSING"] += len(missing)
    judged = [places for who, places in by_student.items()
              if who in once and statuses[who] != "INTERNAL"]  # fmt: skip
    waiting = writer.waiting() if writer else set()
    due = {"due", "late"} & set(folders.settings)
    points = sum(place.points for places in judged for place in places)
    ran = sum(place.seconds for places in judged for place in places)
    return Summary(
        assignment=folders.name,
        counts={status: counts[status] for status in ORDER if counts[status]},
        mean=points / len(judged) if judged else None,
        needs_human=len(groups.once({who: files.get(who) for who in waiting})),
        missing=missing,
        open=[who for who, one in standing.items() if one.state == "open"],
        internal=sorted(who for who, status in statuses.items() if status == "INTERNAL"),
        seconds_each=ran / len(judged) if judged else None,
        handed_in=len(handed_in),
        students=len(files),
        submissions=len(once),
        time_unknown=len(set(Ledger.read(folders).unknown()) & handed_in) if due else 0,
        **did,
    )


def _standing(writer: Writer, student: str) -> Standing:
    """Return the standing of a student who has submitted nothing, where others have."""
    return standing_of(
        writer.lateness, student, submitted=False, came=None, begun=True, now=datetime.now(UTC)
    )
