"""`coursekit report NAME`: one page for the instructor about how a class did, and what to look at.

First what needs a human, then how the scores lie, which questions were difficult and why, which
mistakes the class shares, and how the run itself went.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

from coursekit.grading.folders import Folders
from coursekit.grading.results.class_count import ClassCount, PartCount, count_class, histogram
from coursekit.grading.results.pages import counted, document, number, text, write
from coursekit.grading.results.report_human import needs_a_human, student_link
from coursekit.grading.running.journal import Journal
from coursekit.progress import Progress, track

WORDS = {
    "OK": "everything right",
    "PARTIAL": "partly right",
    "FAIL": "nothing right, or no answer",
    "TIMEOUT": "stopped by the clock",
    "MEM": "asked for too much memory",
    "OUTPUT": "printed too much",
    "CRASH": "the process died",
    "BLOCKED": "stopped by the sandbox",
    "MALFORMED": "no notebook",
    "MISSING": "nothing handed in",
    "INTERNAL": "our own fault, no grade",
}


def write_report(root: Path, name: str, progress: Progress | None = None) -> Path:
    """Write the page; return where it is."""
    path = Folders(root, name).report
    write(path, report_page(count_class(root, name, progress)))
    return path


def run(arguments: argparse.Namespace) -> int:
    """The command: `name`, `root`, `quiet`."""
    root = Path(arguments.root)
    total = len(Journal(Folders(root, arguments.name).journal).index())
    with track(total, "report", arguments.quiet) as progress:
        print(write_report(root, arguments.name, progress))
    return 0


def report_page(count: ClassCount) -> str:
    """Return the whole page."""
    parts = [
        f"<h1>{text(count.title)}: how the class did</h1>",
        f'<p class="quiet">{text(count.name)}</p>',
        _figures(count),
        needs_a_human(count),
        _scores(count),
        _questions(count),
        _misconceptions(count),
        _outcomes(count),
        _sandbox(count),
    ]
    return document(f"{count.title}: report", "\n".join(filter(None, parts)), wide=True)


def _figures(count: ClassCount) -> str:
    shown = [
        (f"{count.handed_in:,}", f"of {counted(count.students, 'student')} handed in"),
    ]
    if count.totals:
        mean, median = statistics.fmean(count.totals), statistics.median(count.totals)
        so_far = ", so far" if count.waiting else ""
        shown += [
            (number(mean), f"mean of {number(count.points)} points{so_far}"),
            (number(median), f"median{so_far}"),
            (f"{count.statuses['OK']:,}", "with all code right"),
        ]
    if count.late:
        shown.append((f"{count.late:,}", "handed in late"))
    people = {concern.student for group in count.concerns.values() for concern in group}
    shown.append((f"{len(people):,}", "with something to look at"))
    if count.waiting:
        shown.append((f"{count.waiting:,}", "with an answer in words to mark"))
    boxes = "".join(f"<div><b>{value}</b><span>{label}</span></div>" for value, label in shown)
    return f'<div class="figures">{boxes}</div>'


def _scores(count: ClassCount) -> str:
    if not count.graded:
        return ""
    whole = not count.waiting
    values, most = (count.totals, count.points) if whole else (count.autos, count.auto_points)
    note = "" if whole else " Only what is graded automatically: answers in words still wait."
    bars = histogram(values, most)
    return (
        f"<h2>How the scores lie</h2><p>{counted(len(values), 'student')}, "
        f"{number(most)} points in all.{note}</p>{_drawn(bars)}{_told(bars)}"
    )


def _drawn(bars: list[tuple[float, float, int]]) -> str:
    """Draw the histogram."""
    width, height, left, bottom, top = 720, 260, 46, 44, 30
    tallest = max((n for _, _, n in bars), default=0) or 1
    step = (width - left - 8) / max(1, len(bars))
    made = []
    for share in (0, 0.5, 1):
        y = height - bottom - share * (height - bottom - top)
        value = round(share * tallest)
        made.append(
            f'<line x1="{left}" x2="{width - 8}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{value:,}</text>'
        )
    every = max(1, round(len(bars) / 8))
    for position, (start, _, n) in enumerate(bars):
        tall = n / tallest * (height - bottom - top)
        x = left + position * step
        made.append(
            f'<rect class="bar" x="{x + 1:.1f}" y="{height - bottom - tall:.1f}" '
            f'width="{max(1, step - 2):.1f}" height="{tall:.1f}"/>'
        )
        if position % every == 0 and position < len(bars) - 1:
            made.append(f'<text x="{x:.1f}" y="{height - bottom + 17}">{number(start)}</text>')
    made.append(
        f'<text x="{width - 8}" y="{height - bottom + 17}" text-anchor="end">'
        f"{number(bars[-1][1])}</text>"
        f'<text x="{(left + width) / 2:.0f}" y="{height - 6}" text-anchor="middle">points</text>'
        f'<text x="0" y="13">students</text>'
    )
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-label="Histogram of the scores; its numbers are in the table below">'
        f"{''.join(made)}</svg>"
    )


def _told(bars: list[tuple[float, float, int]]) -> str:
    rows = "".join(
        f'<tr><td class="n">{number(start)} to {number(end)}</td><td class="n">{n:,}</td></tr>'
        for start, end, n in bars
    )
    return (
        "<details><summary>The same as numbers</summary><table><thead><tr>"
        '<th class="n">points</th><th class="n">students</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></details>"
    )


def _questions(count: ClassCount) -> str:
    rows = "".join(_question(one) for one in count.parts.values())
    return (
        "<h2>Question by question</h2><p>The mean is the share of the points that the class got. "
        "The last number is how well the question tells strong from weak submissions: its "
        "correlation with the rest of the score. Near 0, or below, look at the question itself."
        '</p><div class="scroll"><table><thead><tr><th>question</th><th class="n">points</th>'
        '<th class="n">mean</th><th class="n">all right</th><th class="n">nothing</th>'
        '<th>fails most often</th><th class="n">tells apart</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _question(one: PartCount) -> str:
    if one.waiting:
        middle = f'<td class="n" colspan="3">{counted(one.waiting, "answer")} to mark</td>'
    elif one.mean is None:
        middle = '<td class="n" colspan="3">–</td>'
    else:
        full = sum(1 for share in one.shares if share > 0.999)
        none = sum(1 for share in one.shares if share < 0.001)
        middle = "".join(
            f'<td class="n">{_percent(value)}</td>'
            for value in (one.mean, full / len(one.shares), none / len(one.shares))
        )
    hardest = ""
    if one.hardest and one.hardest[2] > 0:
        says, hidden, share = one.hardest
        hardest = f"{text(says)}{' (hidden)' if hidden else ''}, {_percent(share)}"
    apart = "–" if one.discrimination is None else f"{one.discrimination:.2f}".replace("-", "−")
    words = " (in words)" if one.part.written else ""
    return (
        f'<tr><td>{text(one.part.title)}{words}</td><td class="n">{number(one.part.points)}</td>'
        f'{middle}<td>{hardest}</td><td class="n">{apart}</td></tr>'
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _misconceptions(count: ClassCount) -> str:
    if not count.misconceptions:
        return ""
    graded = max(1, count.graded)
    rows = "".join(
        f'<tr><td class="n">{n:,}</td><td class="n">{_percent(n / graded)}</td>'
        f"<td>{text(title)}</td><td><strong>{text(what)}</strong><br>{text(hint)}</td></tr>"
        for (title, what, hint), n in sorted(
            count.misconceptions.items(), key=lambda item: (-item[1], item[0])
        )
    )
    return (
        "<h2>What the class has misunderstood</h2><p>Answers that equal a known wrong answer on "
        'every check, and the hint that these students were given.</p><div class="scroll"><table>'
        '<thead><tr><th class="n">students</th><th class="n">share</th><th>question</th>'
        f"<th>mistake</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _outcomes(count: ClassCount) -> str:
    order = list(WORDS)
    statuses = sorted(count.statuses.items(), key=lambda item: order.index(item[0]))
    rows = "".join(
        f'<tr><td>{status}</td><td>{WORDS[status]}</td><td class="n">{n:,}</td></tr>'
        for status, n in statuses
        if n
    )
    slow = "".join(
        f'<tr><td>{student_link(count.name, student)}</td><td>{status}</td><td class="n">'
        f"{seconds:.2f} s</td></tr>"
        for seconds, student, status in count.slowest
    )
    total, mean = sum(count.seconds), statistics.fmean(count.seconds)
    memory = f"; the largest needed {count.peak / 1e6:,.0f} MB" if count.peak else ""
    return (
        f'<h2>Outcomes and time</h2><div class="scroll"><table><thead><tr><th>verdict</th><th>'
        f'means</th><th class="n">students</th></tr></thead><tbody>{rows}</tbody></table></div>'
        f"<p>{total:,.1f} s of grading in all, {1000 * mean:,.0f} ms a student{memory}.</p>"
        "<details><summary>The slowest</summary><table><thead><tr><th>student</th><th>verdict</th>"
        f'<th class="n">time</th></tr></thead><tbody>{slow}</tbody></table></details>'
    )


def _sandbox(count: ClassCount) -> str:
    ran = sum(count.guarantees.values())
    if not ran:
        return ""
    weak = count.guarantees["in the student's process"]
    if weak:
        said = (
            f'<div class="wrong"><p><strong>{counted(weak, "submission")} of {ran:,} '
            "judged in the student's own process.</strong> This assignment has its tests "
            "as plain asserts, and they run beside the student's code. That is weaker: code that "
            "sets out to cheat can read or change such tests. Look at suspicious full marks "
            "yourself.</p></div>"
        )
    else:
        said = (
            "<p>Every submission was judged elsewhere: the student's process only answered calls, "
            "the tests and the comparison were in another one.</p>"
        )
    rows = "".join(
        f'<tr><td>{text(layer)}</td><td class="n">{n:,} of {ran:,}</td></tr>'
        for layer, n in sorted(count.layers.items(), key=lambda item: (-item[1], item[0]))
    )
    layers = (
        "<table><thead><tr><th>layer of the sandbox</th><th class=n>held for</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
        if rows
        else '<div class="wrong"><p>No layer of the sandbox held.</p></div>'
    )
    return f"<h2>How safely it ran</h2>{said}{layers}"
