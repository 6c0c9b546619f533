"""What each student's points were, and what of that has gone out: `autograder/history/NAME.jsonl`.

A line says what a student's points are and what they are made of, and is added when that has
changed; another kind of line says whose points were returned, or went into a platform's table. So
it is known at any time what would change for whom, and how a grade came about.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from coursetools.grading.records.folders import Folders
from coursetools.grading.records.ledger import unlisted
from coursetools.grading.records.log import account, add_lines, now, read_lines
from coursetools.grading.results.outline import Outline, columns, outlines
from coursetools.grading.results.pages import counted, number
from coursetools.grading.results.scores import (
    Handed,
    Student,
    handed_in,
    read_gradebook,
)
from coursetools.grading.results.table import judged_row, row_of
from coursetools.settings.late_rule import rule_of

State = dict[str, Any]  # of one student: points, and what they are made of
TOTAL, PENALTY = "total", "late penalty"


@dataclass(frozen=True)
class Change:
    """Something of a student that is no more what it was."""

    student: str
    what: str  # a question's name, or one of the two above
    before: str
    after: str
    why: str = ""


@dataclass
class Journal:
    """The file of one assignment."""

    folders: Folders
    lines: list[dict[str, Any]]
    now: dict[str, State] = field(default_factory=dict)  # of each student, the last that is known
    out: dict[str, State] = field(default_factory=dict)  # the last that has gone out
    open: dict[str, bool] = field(default_factory=dict)  # who still have time -> has submitted

    @classmethod
    def read(cls, folders: Folders) -> Self:
        """Read it; an empty one where there is none."""
        journal = cls(folders, [])
        for line in read_lines(folders.history):
            journal._take(line)
        return journal

    def look(self, action: str) -> Self:
        """Write down whatever has changed since the last time; `action` is what looks."""
        states, self.open = states_of(self.folders)
        head = {"time": now(), "by": account(), "action": action}
        changed = {who: state for who, state in states.items() if self.now.get(who) != state}
        self._add([{**head, "student": who, "is": state} for who, state in changed.items()])
        return self

    def went_out(self, action: str, students: Iterable[str]) -> None:
        """Write down that the points of these students have gone out."""
        self._add([{"time": now(), "by": account(), "action": action, "out": sorted(students)}])

    def to_return(self, pages: bool = True) -> set[str]:
        """Return whose points go out, with `pages` or in a table alone.

        Of what is open for a student no table has a number, and no page is written of nothing.
        """
        return set(self.now) - {who for who, there in self.open.items() if not (pages and there)}

    def changes(self) -> list[list[Change]]:
        """Return, of each student whose points are not what has gone out, what is different."""
        differences = (
            difference(who, self.out[who], state)
            for who, state in sorted(self.now.items())
            if who in self.out
        )
        return [one for one in differences if one]

    def sentence(self, among: Iterable[str] = ()) -> str:
        """Say in a line how many students change, of those `among` if any are given.

        "" where nothing has been returned.
        """
        if not self.out:
            return ""
        among, name = set(among), self.folders.name
        who = [one[0].student for one in self.changes() if not among or one[0].student in among]
        if not who:
            return "No student's points differ from what was returned last"
        verb = "differs" if len(who) == 1 else "differ"
        steps = sorted(self._step(one) for one in who)
        span = _signed(steps[0]) + (f" to {_signed(steps[-1])}" if steps[0] != steps[-1] else "")
        unit = "point" if steps[0] == steps[-1] and abs(steps[0]) == 1 else "points"
        return (
            f"{counted(len(who), 'student')} {verb} from what was returned last, by {span} {unit}: "
            f"{', '.join(who[:10])}{', …' if len(who) > 10 else ''}; coursekit why {name} shows "
            "them"
        )

    def _step(self, who: str) -> float:
        before, after = self.out[who]["total"], self.now[who]["total"]
        return round((after or 0.0) - (before or 0.0), 2)

    def _add(self, lines: list[dict[str, Any]]) -> None:
        if lines:
            add_lines(self.folders.history, lines)
        for line in lines:
            self._take(line)

    def _take(self, line: dict[str, Any]) -> None:
        self.lines.append(line)
        if isinstance(line.get("is"), dict):
            self.now[line["student"]] = line["is"]
        for who in line.get("out", ()):
            if who in self.now:
                self.out[who] = self.now[who]


def states_of(folders: Folders) -> tuple[dict[str, State], dict[str, bool]]:
    """Return everyone's points and what they are made of, and for whom the assignment is open.

    The points of a submission are those it is worth, also before they count. Students who may have
    submitted anonymously have no points until the submissions are linked to names.
    """
    asked, book, rule = outlines(folders), read_gradebook(folders), rule_of(folders.private)
    handed, left_out = handed_in(folders), unlisted(folders)
    late = str(folders.settings.get("late", ""))
    people = {
        who: book.student(who, handed.get(who))
        for who in book.students.keys() | handed
        if who in handed or not left_out(who)
    }
    states = {
        who: {**_state(asked, people[who], handed.get(who), rule), "rule": late}
        for who in sorted(people)
    }
    return states, {who: one.has_submission for who, one in people.items() if one.open}


def _state(asked: dict[str, Outline], student: Student, handed: Handed | None, rule: Any) -> State:
    made = judged_row if student.has_submission else row_of
    row, cells = made(asked, student, handed, rule), columns(asked)
    score = row.score
    marks = {name: student.mark(book_, part.cell) for name, (book_, part) in cells.items()}
    given = {name: student.override(book_, part.cell) for name, (book_, part) in cells.items()}
    return {
        "status": row.status,
        "points": dict(zip(cells, row.parts)) if score else {},
        "total": score.total if score else None,
        "of": score.points if score else None,
        "penalty": score.penalty if score else None,
        "waits": score.waits if score else None,
        "submitted": _time(student.submitted),
        "due": _time(student.due),
        "late days": student.late_days.here if student.late_days else 0,
        "by hand": {
            name: round((mark.manual or 0.0) + mark.extra, 2)
            for name, mark in marks.items()
            if mark and (mark.manual is not None or mark.extra)
        },
        "set": {name: f"{row.points}: {row.why}" for name, row in given.items() if row},
        "made of": {
            notebook: {"file": place.submission, **place.made_of}
            for notebook, place in (handed.places if handed else {}).items()
        },
    }


def difference(student: str, before: State, after: State) -> list[Change]:
    """Return what changes between two states, the total last; nothing where no points do."""
    names = dict.fromkeys([*before["points"], *after["points"]])
    changes = [
        Change(student, name, _points(old), _points(new), why(before, after, name))
        for name in names
        if (old := before["points"].get(name)) != (new := after["points"].get(name))
    ]
    if (before["penalty"] or 0) != (after["penalty"] or 0):
        old, new = before["penalty"], after["penalty"]
        changes.append(
            Change(student, PENALTY, _points(old), _points(new), _why_late(before, after))
        )
    if (before["total"], before["of"]) != (after["total"], after["of"]):
        changes.append(Change(student, TOTAL, total_of(before), total_of(after)))
    return changes


def why(before: State, after: State, question: str) -> str:
    """Say why a question's points are others."""
    if (before["status"] == "excused") != (after["status"] == "excused"):
        return "excused" if after["status"] == "excused" else "no longer excused"
    for name, reason, gone in (
        ("set", "override, {}", "override removed"),
        ("by hand", "marked by hand", "points by hand removed"),
    ):
        if (new := after[name].get(question)) != before[name].get(question):
            return gone if new is None else reason.format(new)
    old, new = _made_of(before, question), _made_of(after, question)
    for name, reason in (
        ("file", "new submission" if old.get("file") else "submitted"),
        ("assignment", "test changed"),
        ("limits", "limits changed"),
        ("grader", "grader changed"),
    ):
        if old.get(name) != new.get(name):
            return reason
    return "graded again"


def _why_late(before: State, after: State) -> str:
    for name, reason in (
        ("submitted", "a different time of submission"),
        ("due", "an extension, or a different deadline"),
        ("late days", "late days"),
        ("rule", "a different late rule"),
    ):
        if before.get(name) != after.get(name):
            return reason
    return "follows the points"


def _made_of(state: State, question: str) -> dict[str, str]:
    made: dict[str, dict[str, str]] = state["made of"]
    first: dict[str, str] = next(iter(made.values()), {})
    return next((one for name, one in made.items() if question.startswith(f"{name}.")), first)


def total_of(state: State) -> str:
    """Write what a student has in all: 5 of 9."""
    if state["total"] is None:
        return state["status"] if state["status"] in ("excused", "open") else "not graded"
    return f"{number(state['total'])} of {number(state['of'])}"


def as_table(changes: Iterable[list[Change]]) -> str:
    """Write changes as columns for a terminal."""
    head = ("student", "question", "before", "after", "why")
    rows = [
        (one.student, one.what, one.before, one.after, one.why)
        for student in changes
        for one in student
    ]
    widths = [max(len(row[at]) for row in [head, *rows]) for at in range(4)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[4]]).rstrip()
        for row in [head, *rows]
    )


def _points(value: float | None) -> str:
    return "–" if value is None else number(value)


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{number(abs(value))}"


def _time(value: Any) -> str | None:
    return value.isoformat(" ", "seconds") if value is not None else None
