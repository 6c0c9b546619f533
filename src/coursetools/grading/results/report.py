"""The report of `coursekit review NAME`: how a class did, and what its instructor should look at.

First what needs a human, then how the scores lie, which questions were difficult and why, which
mistakes the class shares, and how the run itself went. The words are in `templates/report.html`.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit._base.progress import Progress
from coursetools.course import Course, write_changed
from coursetools.grading.records.folders import Folders
from coursetools.grading.results.class_count import ClassCount, count_class, histogram
from coursetools.grading.results.pages import counted, number, render
from coursetools.grading.results.report_human import Human, link

WORDS = {
    "OK": "everything right",
    "PARTIAL": "partly right",
    "FAIL": "nothing right, or no answer",
    "TIMEOUT": "ran out of time",
    "MEM": "ran out of memory",
    "OUTPUT": "printed too much",
    "CRASH": "the process died",
    "BLOCKED": "stopped by the sandbox",
    "MALFORMED": "no notebook of this assignment",
    "MISSING": "nothing submitted",
    "INTERNAL": "the grader failed, no grade",
}


def write_report(course: Course, name: str, progress: Progress | None = None) -> Path:
    """Write the page; return where it is."""
    path = Folders(course, name).report
    write_changed(path, report_page(count_class(course, name, progress)))
    return path


def report_page(count: ClassCount) -> str:
    """Return the whole page."""
    return render(
        "report.html",
        wide=True,
        title=f"{count.title}: report",
        count=count,
        figures=_figures(count),
        human=Human.of(count),
        histogram=_drawn(count) if count.graded else None,
        misconceptions=_most(count.misconceptions),
        mean_seconds=statistics.fmean(count.seconds) if count.seconds else 0.0,
        layers=_most(count.layers),
        words=WORDS,
        link=lambda student: link(count.name, student),
    )


def _most(counts: dict[Any, int]) -> list[tuple[Any, int]]:
    """Return what was counted, the most frequent first."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _figures(count: ClassCount) -> list[tuple[str, str]]:
    """Return the numbers at the top, and what each is."""
    figures = [
        (f"{count.handed_in:,}", f"of {counted(count.students, 'student')} submitted"),
    ]
    if count.unit == "submission":
        figures.append((f"{count.submissions:,}", f"submissions of {count.submitted:,} students"))
    if count.totals:
        mean, median = statistics.fmean(count.totals), statistics.median(count.totals)
        so_far = ", so far" if count.waiting else ""
        figures += [
            (number(mean), f"mean of {number(count.points)} points{so_far}"),
            (number(median), f"median{so_far}"),
            (f"{count.statuses['OK']:,}", "with all code right"),
        ]
    if count.late:
        figures.append((f"{count.late:,}", f"student{'s' * (count.late != 1)} submitted late"))
    if count.late_days:
        figures.append((f"{count.late_days:,}", "late days spent"))
    if count.open:
        figures.append((f"{len(count.open):,}", "still have time, and are not counted"))
    if count.excused:
        figures.append((f"{len(count.excused):,}", "excused"))
    people = {concern.student for group in count.concerns.values() for concern in group}
    figures.append((f"{len(people):,}", "with something to look at"))
    if count.waiting:
        those = f"{count.unit}{'s' * (count.waiting != 1)}"
        figures.append((f"{count.waiting:,}", f"{those} with a written answer to mark"))
    return figures


@dataclass(frozen=True)
class Drawing:
    """A histogram in the units of its SVG: what is drawn, and the same as rows of numbers."""

    students: int
    points: float
    rows: list[tuple[float, float, int]]  # from, to, students
    lines: list[tuple[float, int]]  # height, students
    bars: list[tuple[float, float, float, float]]  # left, top, width, height
    marks: list[tuple[float, float]]  # below the axis: place, points
    last: float  # points at the right end
    width: int = 720
    height: int = 260
    start: int = 46
    end: int = 712
    floor: int = 216


def _drawn(count: ClassCount) -> Drawing:
    """Draw how the scores lie; while answers wait for a human, those of the tests alone."""
    waits = count.waiting
    values, most = (count.autos, count.auto_points) if waits else (count.totals, count.points)
    rows = histogram(values, most)
    height, step = Drawing.floor - 30, (Drawing.end - Drawing.start) / max(1, len(rows))
    tallest = max((n for _, _, n in rows), default=0) or 1
    bars, marks, every = [], [], max(1, round(len(rows) / 8))
    for at, (start, _, n) in enumerate(rows):
        x, tall = Drawing.start + at * step, n / tallest * height
        bars.append((x + 1, Drawing.floor - tall, max(1, step - 2), tall))
        if at % every == 0 and at < len(rows) - 1:
            marks.append((x, start))
    lines = [(Drawing.floor - share * height, round(share * tallest)) for share in (0, 0.5, 1)]
    return Drawing(len(values), most, rows, lines, bars, marks, rows[-1][1])
