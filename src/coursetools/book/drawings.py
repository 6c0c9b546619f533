"""Pictures that need no notebook, as SVG: what a translator looked at, the way, ratios of times.

They are drawn in the colours of the page, so that they can be read in both themes, and at the size
of a telephone. Nothing in them is typed: weights come from a training's record, places from the
tables of the way, ratios from the benchmarks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

HUES = (212, 24, 145, 330, 48, 265, 190, 0)  # in turns, for the words that are read
LINE, MARGIN = 30, 16  # between two words, and above the first


def whole_words(pieces: Sequence[str]) -> list[list[int]]:
    """Return the numbers of the pieces of each word; a space at the front begins a new one."""
    groups: list[list[int]] = []
    for number, piece in enumerate(pieces):
        if number == 0 or piece.startswith(" "):
            groups.append([])
        groups[-1].append(number)
    return groups


def by_words(
    weights: Sequence[Sequence[float]], written: list[list[int]], read: list[list[int]]
) -> list[list[float]]:
    """Return weights between words: a sum over the pieces read, a mean over those written.

    Each row of `weights` sums to 1, and so does each row of the result.
    """
    return [
        [sum(weights[t][s] for t in word for s in other) / len(word) for other in read]
        for word in written
    ]


def most_alike(maps: Sequence[list[list[float]]], pattern: list[list[float]]) -> int:
    """Return the number of the map whose largest weights are most often where `pattern` has its.

    Of two that are equally like it, it is the first.
    """

    def largest(map_: list[list[float]]) -> list[int]:
        return [max(range(len(row)), key=row.__getitem__) for row in map_]

    aim = largest(pattern)
    alike = [sum(a == b for a, b in zip(largest(m), aim, strict=True)) for m in maps]
    return alike.index(max(alike))


def attention_lines(
    read: Sequence[str], written: Sequence[str], weights: list[list[float]], *, describe: str
) -> str:
    """Return a picture of `weights`, a row for each word written: a line for each weight.

    A line is as wide as its weight, and has the colour of the word that is looked at. Weights below
    0.03 are left out. Whoever points at a word that was written sees its lines alone.
    """
    height = 2 * MARGIN + LINE * (max(len(read), len(written)) - 1)
    left = _places(len(read), height)
    right = _places(len(written), height)
    parts = [
        f'<svg class="attention-lines" viewBox="0 0 400 {height}" role="img" '
        f'aria-label="{escape(describe)}">'
    ]
    parts += [
        f'<text x="112" y="{y:.0f}" text-anchor="end">{escape(word)}</text>'
        for word, y in zip(read, left, strict=True)
    ]
    for word, row, y in zip(written, weights, right, strict=True):
        lines = "".join(
            f'<path d="M122 {start:.0f} C190 {start:.0f} 210 {y:.0f} 278 {y:.0f}" '
            f'stroke="hsl({HUES[s % len(HUES)]} 75% 50%)" stroke-width="{10 * weight:.1f}"/>'
            for s, (start, weight) in enumerate(zip(left, row, strict=True))
            if weight >= 0.03
        )
        parts.append(f'<g>{lines}<text x="288" y="{y:.0f}">{escape(word)}</text></g>')
    return "".join([*parts, "</svg>"])


def way_lines(
    rows: Sequence[str | None], needs: dict[str, list[str]], routes: Sequence[Sequence[str]]
) -> str:
    """Return the lines beside a list of chapters: what needs what, and each route with its stops.

    `rows` has the chapters from above, and None where a row of the list is no chapter. A row is
    48 units high and the picture 120 wide; the style sheet says how high that is on the page.
    Lines of routes are numbered from 1 in their classes.
    """
    middle = {stem: 48 * place + 24 for place, stem in enumerate(rows) if stem}
    parts = [
        f'<svg class="way-lines" viewBox="0 0 120 {48 * len(rows)}" aria-hidden="true" '
        f'style="--rows: {len(rows)}">'
    ]
    left = {  # of a chapter's first stop
        stem: next(64 + 14 * n - 8 for n, stops in enumerate(routes, start=1) if stem in stops)
        for stem in middle
    }
    for stem, needed in needs.items():
        for need in needed:
            above, below = middle[need], middle[stem]
            out = 70 - min(90, 10 + (below - above) / 7)
            parts.append(
                f'<path class="need to-{stem}" d="M{left[need]} {above} '
                f'C{out:.0f} {above} {out:.0f} {below} {left[stem]} {below}"/>'
            )
    for number, stops in enumerate(routes, start=1):
        x = 64 + 14 * number
        first, last = middle[stops[0]], middle[stops[-1]]
        parts.append(f'<g class="route route-{number}"><path d="M{x} {first} V{last}"/>')
        parts += [f'<circle cx="{x}" cy="{middle[stem]}" r="5"/>' for stem in stops]
        parts.append("</g>")
    return "".join([*parts, "</svg>"])


def ratio_lines(rows: Sequence[tuple[str, str, float]], *, describe: str) -> str:
    """Return a picture of ratios: rows of a group, a name and a ratio, on a logarithmic axis.

    From the line at 1 a bar leads to each ratio, to the right if it is larger.
    """
    low = min(0.8, *(ratio for *_, ratio in rows))
    high = max(1.25, *(ratio for *_, ratio in rows))
    left, right = 215, 355

    def place(ratio: float) -> float:
        return left + (right - left) * math.log(ratio / low) / math.log(high / low)

    lines, y, group = [], 30, None
    for of, name, ratio in rows:
        if of != group:
            group, y = of, y + 6
            lines.append(f'<text class="group" x="0" y="{y}">{escape(of)}</text>')
            y += 18
        start, length = min(place(1), place(ratio)), abs(place(ratio) - place(1))
        lines.append(
            f'<text x="10" y="{y}">{escape(name)}</text>'
            f'<rect class="{"slower" if ratio > 1 else "faster"}" x="{start:.1f}" y="{y - 5}" '
            f'width="{length:.1f}" height="10"/>'
            f'<text x="{max(place(1), place(ratio)) + 5:.1f}" y="{y}">{ratio:.2f}</text>'
        )
        y += 18
    one = place(1)
    return (
        f'<svg class="ratio-lines" viewBox="0 0 400 {y}" role="img" '
        f'aria-label="{escape(describe)}">'
        f'<text x="{one:.1f}" y="8" text-anchor="middle">as fast as ours</text>'
        f'<path d="M{one:.1f} 18 V{y - 8}"/>{"".join(lines)}</svg>'
    )


def _places(count: int, height: int) -> list[float]:
    """Return the heights of `count` words, evenly from the top to the bottom."""
    step = (height - 2 * MARGIN) / max(count - 1, 1)
    return [MARGIN + step * number for number in range(count)]
