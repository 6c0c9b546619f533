"""`coursekit term`: one page about a term, and the table of totals.

Who falls behind, how each assignment went, which misconceptions come back, which questions are
too hard, late days, and every student's way. The words are in `templates/term.html`.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from coursekit._base.progress import Progress, track
from coursetools.course import Course, write_changed
from coursetools.grading.records.folders import Folders
from coursetools.grading.results.falling_behind import RULE, Step
from coursetools.grading.results.pages import counted, render
from coursetools.grading.results.report_human import MOST_ROWS, link
from coursetools.grading.results.term import TermRules, assignments_of, print_term
from coursetools.grading.results.term_count import BLURRED, HARD, TermCount, count_term

SHOWN = {"missing": "–", "open": "open", "excused": "EX", "not graded": "?"}
MOST_QUESTIONS = 30
MOST_MISTAKES = 30


def write_term(course: Course, progress: Progress | None = None) -> Path:
    """Write the page; return where it is."""
    path = course / "autograder" / "report" / "term.html"
    count = count_term(course, progress)
    names = [one.name for one in count.glances]
    reports = [name for name in names if Folders(course, name).report.is_file()]
    write_changed(path, term_page(count, reports))
    return path


def run(arguments: argparse.Namespace) -> int:
    """The command: `course`, `quiet`."""
    course = arguments.course
    names, _ = assignments_of(course, TermRules.of(course))
    handed = sum(sum(1 for _ in Folders(course, name).verdicts.glob("*")) for name in names)
    with track(handed, "term", arguments.quiet) as progress:
        print(write_term(course, progress))
    print_term(course, quiet=arguments.quiet)
    return 0


def term_page(count: TermCount, reports: Sequence[str] = ()) -> str:
    """Return the whole page; it leads to those assignments' own that have one."""
    behind, never = count.behind, count.never
    return render(
        "term.html",
        wide=True,
        title="A term at a glance",
        count=count,
        reports=reports,
        figures=_figures(count, len(behind), len(never)),
        behind=behind,
        never=never,
        rule=RULE,
        hard=HARD,
        blurred=BLURRED,
        questions=count.questions[:MOST_QUESTIONS],
        mistakes=count.mistakes[:MOST_MISTAKES],
        more={i: _more_time(count, i) for i in range(len(count.glances))},
        used_up=_used_up(count),
        everybody=list(count.ways)[:MOST_ROWS],
        most=MOST_ROWS,
        any_more=any(step.more_time for way in count.ways.values() for step in way),
        bars=bars,
        cell=cell,
        box=box,
        columns=[(short(one.name), True) for one in count.glances],
        short=short,
        link=link,
    )


def short(name: str) -> str:
    """Return what stands above a column: a01 for a01_kernels."""
    return name.split("_")[0]


def cell(step: Step) -> str:
    """Return what stands in a student's row for one assignment: percent, or why there is none."""
    if step.state != "submitted" or step.share is None:
        return SHOWN[step.state]
    return f"{100 * step.share:.0f}"


def bars(way: list[Step]) -> list[tuple[int, float, str]]:
    """Return a student's way as bars: place, height from 0 to 20, and the kind of bar."""
    drawn = []
    for at, step in enumerate(way):
        if step.state == "missing":
            drawn.append((7 * at, 2.0, "gap"))
        elif step.state == "submitted":
            drawn.append((7 * at, max(1.0, 20 * min(1.0, step.share or 0.0)), "bar"))
    return drawn


def box(shares: tuple[float, ...], width: int = 160) -> list[float]:
    """Return where the quartiles of an assignment, with both ends, lie on a line from 0 to 100%."""
    return [round(2 + (width - 4) * min(1.0, max(0.0, share)), 1) for share in shares]


def _figures(count: TermCount, behind: int, never: int) -> list[tuple[str, str]]:
    figures = [
        (f"{len(count.ways):,}", "students" if len(count.ways) != 1 else "student"),
        (f"{len(count.glances):,}", counted(len(count.glances), "assignment").split(" ")[1]),
        (f"{behind:,}", "fall behind" if behind != 1 else "falls behind"),
    ]
    if never:
        figures.append((f"{never:,}", "never submitted anything"))
    if count.late_days is not None:
        spent = sum(one.late_days for one in count.glances)
        figures.append((f"{spent:,}", "late days spent" if spent != 1 else "late day spent"))
    used = sum(step.more_time == "used" for way in count.ways.values() for step in way)
    given = sum(bool(step.more_time) for way in count.ways.values() for step in way)
    if given:
        figures.append((f"{used:,}", f"of {counted(given, 'extension')} used"))
    return figures


def _more_time(count: TermCount, at: int) -> Counter[str]:
    """Return to how many students more time was given for an assignment, and who used it."""
    return Counter(way[at].more_time for way in count.ways.values() if way[at].more_time)


def _used_up(count: TermCount) -> list[str]:
    """Return who has no late day left."""
    if count.late_days is None or not count.late_days.budget:
        return []
    return [who for who in count.ways if count.spent(who) >= count.late_days.budget]
