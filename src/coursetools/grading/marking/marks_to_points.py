"""`coursekit collect NAME MARKS…`: the marks of one marker or several become points.

The points are the median of what the markers gave: one mark alone, the mean of two, the middle one
of three. Where two differ by more than a point, the answer waits for a third mark. The rows of all
tables are taken, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean, median, pvariance

from coursekit._base.errors import CourseError
from coursetools.grading.changes.journal import Journal
from coursetools.grading.gradebook.enter_points import Given, enter_by_hand
from coursetools.grading.gradebook.replaced_points import Of
from coursetools.grading.marking.answers import InWords, in_words
from coursetools.grading.marking.marks_csv import Mark, Marks, read_marks
from coursetools.grading.records.folders import Folders
from coursetools.grading.results.pages import counted, number
from coursetools.grading.results.scores import read_gradebook
from coursetools.grading.running.grade_class import enter_again
from coursetools.questions.rubric import Item
from coursetools.text import harmless_markdown

APART = 1.0  # points by which two markers may differ without a third


@dataclass(frozen=True)
class Taken:
    """What has become of the tables."""

    marked: int  # students' answers that have points now
    known: int  # that had the same before
    distinct: int  # texts among the marked ones: the same one from several students is read once
    students: int  # who wrote them
    lines: list[str]  # what is to be said of them
    changes: str  # against what went out last

    def as_lines(self) -> list[str]:
        """Say it to people."""
        same = f", {self.known} already had these points" if self.known else ""
        shared = f"{counted(self.distinct, 'distinct answer')} marked, covering "
        marked = f"{counted(self.marked, 'answer')} marked"
        if self.distinct < self.marked:
            marked = f"{shared}{counted(self.students, 'student')}"
        marked += same
        return [*self.lines, marked, *([self.changes] if self.changes else [])]


@dataclass(frozen=True)
class Checked:
    """Tables of marks that can be entered; nothing is written yet."""

    asked: list[InWords]
    new: dict[Of, Given]  # what the gradebook does not have
    total: int  # answers with points in the tables
    lines: list[str]
    replaced: list[str]  # other points by hand, which `force` replaces


def check_marks(
    folders: Folders, paths: Iterable[Path], note: Callable[[str], None], *, force: bool = False
) -> Checked:
    """Read all tables; where a row is not clear, say so and refuse all of them.

    Points by hand that are there and differ are replaced only by `force`.
    """
    asked = in_words(folders)
    marks, wrong = read_marks(paths, asked)
    lines = []
    given: dict[Of, Given] = {}
    for one in asked:
        lines += agreed(one, marks)
        for answer in one.answers:
            by_all = marks.get((one.name, answer.code), [])
            if not by_all:
                continue
            mark = counted_mark(one, by_all)
            if mark.points is None:
                lines.append(f"{one.name} {answer.code} waits for a third mark: {told(by_all)}")
            given |= {(who, one.notebook, one.part.cell): mark for who in answer.students}
    total = sum(mark.points is not None for mark in given.values())
    new, differ = _new(folders, asked, given)
    if not force:
        wrong += [
            f"{name} already has {before} by hand, but in this table {here}; add --force to use "
            "the table's"
            for name, (before, here) in differ.items()
        ]
    if wrong:
        for text in wrong:
            note(text)
        raise CourseError(f"no marks were stored: fix the {counted(len(wrong), 'row')} above")
    replaced = [f"{name}: {before}, now {here}" for name, (before, here) in differ.items()]
    return Checked(asked, new, total, lines, replaced)


def enter_marks(folders: Folders, checked: Checked, note: Callable[[str], None]) -> Taken:
    """Enter the points of tables that were checked."""
    if checked.new:
        enter_by_hand(folders, checked.new, note)
        enter_again(folders.course, folders.name)
    journal = Journal.read(folders).look("marked")
    new = [of for of, mark in checked.new.items() if mark.points is not None]
    codes = {
        (who, one.notebook, one.part.cell): (one.name, answer.code)
        for one in checked.asked
        for answer in one.answers
        for who in answer.students
    }
    return Taken(
        len(new), checked.total - len(new), len({codes[of] for of in new}),
        len({of[0] for of in new}), checked.lines, journal.sentence(),
    )  # fmt: skip


def counted_mark(asked: InWords, by_all: list[Mark]) -> Given:
    """Return what counts of the marks of an answer, without points where a third is asked for."""
    by = ", ".join(mark.marker for mark in by_all)
    if len(by_all) == 2 and spread(by_all) > APART:
        return Given(None, "", by)
    points = round(median(mark.points for mark in by_all), 2)
    return Given(points, remark(asked, by_all, points), by)


def _new(
    folders: Folders, asked: list[InWords], given: dict[Of, Given]
) -> tuple[dict[Of, Given], dict[str, tuple[str, str]]]:
    """Return what is not in the gradebook yet, and of each other mark that is: before, and now."""
    book, new = read_gradebook(folders), {}
    differ: dict[str, tuple[str, str]] = {}
    names = {
        (who, one.notebook, one.part.cell): f"{one.name} {answer.code}"
        for one in asked
        for answer in one.answers
        for who in answer.students
    }
    for of, mark in given.items():
        student, notebook, cell = of
        there = book.student(student).mark(notebook, cell)
        if there is None:
            raise CourseError(
                f"{names[of]} is not in the gradebook; run coursekit grade {folders.name} first"
            )
        manual = None if there.waits else there.manual
        if (manual, there.comment) == (mark.points, mark.comment) or manual is mark.points is None:
            continue
        new[of] = mark
        if manual is not None:
            here = "a third mark is needed" if mark.points is None else number(mark.points)
            here = "another comment" if mark.points == manual else here
            differ.setdefault(names[of], (_points(manual), here))  # once for all who share it
    return new, differ


def agreed(asked: InWords, marks: Marks) -> list[str]:
    """Say of each two markers how far they agree about a question."""
    by_marker: dict[str, dict[str, float]] = {}
    for (question, code), by_all in marks.items():
        for mark in by_all if question == asked.name else ():
            by_marker.setdefault(mark.marker, {})[code] = mark.points
    lines = []
    for one, other in combinations(sorted(by_marker), 2):
        both = sorted(by_marker[one].keys() & by_marker[other].keys())
        if not both:
            continue
        first, second = ([by_marker[who][code] for code in both] for who in (one, other))
        alike = fmean(a == b for a, b in zip(first, second))
        kappa = weighted_kappa(first, second)
        lines.append(
            f"{asked.name}, {one} and {other}: {counted(len(both), 'answer')}, "
            f"{100 * alike:.0f} % alike, {one} {fmean(first) - fmean(second):+.2f} points on "
            f"average, weighted kappa {'–' if kappa is None else f'{kappa:.2f}'}"
        )
    return lines


def weighted_kappa(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Cohen's kappa of two markers, in which a difference counts by its square.

    1 is the same points everywhere, 0 no more agreement than by chance: than if each had given
    their own points to answers drawn by lot; None where nobody told answers apart.
    """
    seen = fmean((one - other) ** 2 for one, other in zip(first, second))
    # The mean square of the difference of two that are drawn by lot.
    chance = pvariance(first) + pvariance(second) + (fmean(first) - fmean(second)) ** 2
    return 1 - seen / chance if chance else None


def spread(by_all: list[Mark]) -> float:
    """Return how far the marks of an answer are apart."""
    points = [mark.points for mark in by_all]
    return max(points) - min(points)


def told(by_all: list[Mark]) -> str:
    """Say who gave how many points."""
    return ", ".join(f"{mark.marker} {number(mark.points)}" for mark in by_all)


def remark(asked: InWords, by_all: list[Mark], points: float) -> str:
    """Return what the student reads: what was looked for and found, and the markers' comments."""
    parts = []
    if lines := [line for item in asked.rubric.items if (line := _line(item, by_all))]:
        parts += ["What we looked for:", "\n".join(lines)]
    if len(by_all) > 1:
        which = "mean" if len(by_all) == 2 else "median"
        parts.append(f"{len(by_all)} people have read this answer; the {which} counts.")
    elif parts and asked.rubric.points(list(by_all[0].items), asked.part.points) != points:
        parts.append(f"As a whole it was given {_points(points)}.")
    parts += dict.fromkeys(mark.comment for mark in by_all if mark.comment)
    return harmless_markdown("\n\n".join(parts))


def _line(item: Item, by_all: list[Mark]) -> str:
    gave = sum(item.name in mark.items for mark in by_all)
    if item.points < 0 and not gave:
        return ""
    sign = "–" if not gave else "✓" if item.points > 0 else "✗"
    some = f", found by {gave} of {len(by_all)} readers" if 0 < gave < len(by_all) else ""
    return f"- {sign} {item.says} ({_points(item.points)}{some})"


def _points(value: float) -> str:
    return f"{number(value)} {'point' if value == 1 else 'points'}"
