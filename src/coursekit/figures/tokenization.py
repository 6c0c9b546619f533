"""The pictures of the chapter "Tokenization"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from coursekit.figures import COLOURS, MARKED_LINES, WIDTH, new_figure
from coursekit.figures.diagram import box, canvas, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Span = tuple[int, int]

FILLS = ("#CFE6F5", "#FBE3B5")  # two light fills in turn, so that neighbours can be told apart


def way(text: str, tokens: Sequence[str], ids: Sequence[int]) -> Figure:
    """Draw the way of a text into a model: its tokens, their numbers, and a row for each number."""
    figure, axis = new_figure(width=WIDTH, height=3.3)
    canvas(axis, width=10, top=6)
    axis.text(0.1, 5.5, f"“{text}”", fontsize=11, va="center")
    step = 7.0 / len(tokens)
    for place, (token, number) in enumerate(zip(tokens, ids, strict=True)):
        x = 0.1 + step * (place + 0.5)
        for above, below in ((5.1, 4.75), (3.85, 3.5), (2.75, 2.4)):
            line(axis, [(x, above), (x, below)], arrow=True)
        box(axis, x, 4.3, token, width=0.92 * step, height=0.75, colour=COLOURS["sky"], size=9)
        axis.text(x, 3.13, str(number), ha="center", va="center", fontsize=10)
        for cell in range(5):
            axis.barh(2.15 - 0.36 * cell, 0.5, left=x - 0.25, height=0.36,
                      color=(COLOURS["orange"], 0.25 + 0.15 * ((number >> cell) % 4)),
                      edgecolor="white")  # fmt: skip
    for y, words in ((4.3, "T tokens"), (3.13, "T numbers, 0 … V − 1"), (1.45, "T rows (T, d)")):
        axis.text(7.3, y, words, fontsize=9, va="center")
    return figure


def pieces(text: str, rows: Mapping[str, Sequence[Span]]) -> Figure:
    """Draw one text once for each row, with a box around every token.

    `rows[name]` holds the tokens' spans in `text`. A letter is at the same place in all rows,
    so that cuts can be compared. A space inside a box belongs to that token.
    """
    figure, axis = new_figure(height=0.42 * len(rows) + 0.5)
    for row, spans in enumerate(rows.values()):
        _boxes(axis, text, spans, row)
    axis.set_yticks(range(len(rows)), [f"{name} ({len(spans)})" for name, spans in rows.items()])
    axis.set_xlim(-0.5, len(text) + 0.5)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    _bare(axis)
    axis.set_xlabel("one letter a column; the number of tokens in brackets")
    return figure


def merge_step(
    words: Mapping[tuple[str, ...], int],
    counts: Mapping[tuple[str, str], int],
    best: tuple[str, str] | None,
    mark: str = "</w>",
) -> Figure:
    """Draw words as boxes of their tokens, and beside them how often each pair of tokens occurs.

    `words` holds each word's tokens and its count, `counts` the most frequent pairs, `best` the
    one that is joined next. A dot stands for the mark at the end of a word.
    """
    figure, (left, right) = new_figure(
        1, 2, height=0.36 * max(len(words), len(counts)) + 1.0, width_ratios=(3, 2)
    )
    longest = 0
    for row, tokens in enumerate(words):
        shown = [token.replace(mark, "·") for token in tokens]
        ends = [sum(map(len, shown[: i + 1])) for i in range(len(shown))]
        spans = [(end - len(token), end) for end, token in zip(ends, shown, strict=True)]
        _boxes(left, "".join(shown), spans, row, wide=1.0)
        longest = max(longest, ends[-1])
    left.set_yticks(range(len(words)), [f"{count} ×" for count in words.values()])
    left.set_xlim(-0.3, longest + 0.3)
    left.set_ylim(len(words) - 0.4, -0.6)
    _bare(left)
    left.set_xlabel("words, cut into tokens (· ends a word)")

    names = ["  ".join(pair).replace(mark, "·") for pair in counts]
    colours = [COLOURS["vermilion" if pair == best else "sky"] for pair in counts]
    bars = right.barh(range(len(counts)), list(counts.values()), color=colours)
    for bar, pair in zip(bars, counts, strict=True):
        bar.set_hatch("//" if pair == best else "")
        bar.set_edgecolor("white")
    right.set_yticks(range(len(counts)), names, family="monospace")
    right.invert_yaxis()
    right.set_xlim(0, 10)
    right.set_xticks(range(0, 11, 2))
    right.grid(axis="x")
    right.grid(False, axis="y")
    right.set_xlabel("pairs in the ten words")
    return figure


def foreign(
    per_word: Mapping[str, Mapping[str, float]], attention: Mapping[str, Mapping[str, float]]
) -> Figure:
    """Draw tokens a word and attention FLOPs: a group for each language, a bar a vocabulary.

    `per_word[vocabulary][language]` is a number of tokens, `attention` likewise a multiple of what
    the language's own vocabulary needs.
    """
    figure, axes = new_figure(1, 2, height=3.5)
    names = ("tokens for each word", "attention FLOPs (own = 1)")
    for axis, table, name in zip(axes, (per_word, attention), names, strict=True):
        for place, (vocabulary, hatch, colour) in enumerate(
            zip(table, ("", "//", ".."), ("blue", "orange", "green"), strict=True)
        ):
            heights = list(table[vocabulary].values())
            at = [language + 0.27 * (place - 1) for language in range(len(heights))]
            bars = axis.bar(
                at, heights, 0.25, color=COLOURS[colour], hatch=hatch, edgecolor="white"
            )
            axis.bar_label(bars, fmt="%.2f", fontsize=10)
            if axis is axes[0]:
                bars.set_label(f"vocabulary: {vocabulary}")
        axis.set_xticks(range(len(heights)), [f"{language} text" for language in table[vocabulary]])
        axis.set_ylabel(name)
        axis.margins(y=0.1)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, handlelength=1.2)
    return figure


def scripts(rows: Mapping[str, Mapping[str, int]]) -> Figure:
    """Draw one sentence in many languages: characters, bytes and tokens, `rows[language][unit]`."""
    figure, axis = new_figure(height=0.5 * len(rows) + 1.2)
    marks = (("o", "blue", 7, True), ("s", "orange", 12, False), ("D", "vermilion", 6, True))
    for row, numbers in enumerate(rows.values()):
        axis.plot(
            [min(numbers.values()), max(numbers.values())], [row, row], color="#CCCCCC", zorder=1
        )
        for (mark, colour, size, filled), (unit, number) in zip(
            marks, numbers.items(), strict=True
        ):
            axis.plot(
                number,
                row,
                mark,
                color=COLOURS[colour],
                markersize=size,
                markerfacecolor=COLOURS[colour] if filled else "none",
                markeredgewidth=2,
                label=unit if row == 0 else None,
            )
    axis.set_yticks(range(len(rows)), list(rows))
    axis.invert_yaxis()
    axis.set_xlim(left=0)
    axis.grid(axis="x")
    axis.grid(False, axis="y")
    axis.set_xlabel("how many in the same sentence")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure


def two_costs(
    sizes: Sequence[int], tokens: Sequence[float], parts: Mapping[str, Sequence[float]]
) -> Figure:
    """Draw tokens for each verse, and what a verse costs, part by part, over vocabulary sizes."""
    figure, (left, right) = new_figure(1, 2, height=3.4)
    left.plot(sizes, tokens, **MARKED_LINES[0])
    left.set_ylabel("tokens for each verse")
    left.set_ylim(bottom=0)
    total = [sum(column) for column in zip(*parts.values(), strict=True)]
    for style, (name, values) in zip(MARKED_LINES[1:], parts.items(), strict=False):
        right.plot(sizes, [value / 1e6 for value in values], label=name, markersize=5, **style)
    right.plot(
        sizes, [value / 1e6 for value in total], label="sum", markersize=5, **MARKED_LINES[0]
    )
    cheapest = min(range(len(sizes)), key=total.__getitem__)
    right.plot(sizes[cheapest], total[cheapest] / 1e6, "*", color=COLOURS["blue"], markersize=15)
    right.set_ylabel("million FLOPs for each verse")
    right.set_ylim(bottom=0)
    right.legend(frameon=False, fontsize=10)
    for axis in (left, right):
        _sizes(axis, sizes)
    return figure


def best_sizes(
    sizes: Sequence[int], totals: Mapping[str, Sequence[float]], bits: Mapping[str, Sequence[float]]
) -> Figure:
    """Draw total costs over their minimum, and the bits for a character, over vocabulary sizes."""
    figure, (left, right) = new_figure(1, 2, height=3.6)
    for style, (name, total) in zip(MARKED_LINES, totals.items(), strict=False):
        least = min(total)
        left.plot(sizes, [value / least for value in total], label=name, markersize=5, **style)
        left.plot(sizes[total.index(least)], 1, "*", color=style["color"], markersize=15)
    left.set_ylabel("FLOPs for each verse (least = 1)")
    for style, (name, curve) in zip(MARKED_LINES, bits.items(), strict=False):
        right.plot(sizes, curve, label=name, markersize=5, **style)
    right.set_ylabel("bits for each character")
    for axis in (left, right):
        _sizes(axis, sizes)
        axis.legend(frameon=False, fontsize=10)
    return figure


def _boxes(axis: Axes, text: str, spans: Sequence[Span], row: int, wide: float = 1.0) -> None:
    """Write `text` letter by letter in line `row`, and draw a box around each span."""
    from matplotlib.patches import FancyBboxPatch

    for number, (start, end) in enumerate(spans):
        axis.add_patch(
            FancyBboxPatch(
                (start * wide + 0.06, row - 0.36),
                (end - start) * wide - 0.12,
                0.72,
                boxstyle="round,pad=0,rounding_size=0.2",
                facecolor=FILLS[number % 2],
                edgecolor=COLOURS["grey"],
                linewidth=0.8,
                mutation_aspect=0.6,
                in_layout=False,  # boxes lie inside the axes; hundreds of them slow the layout
            )
        )
    for place, letter in enumerate(text):
        axis.text(
            (place + 0.5) * wide,
            row,
            letter,
            family="monospace",
            ha="center",
            va="center",
            color="black",
            in_layout=False,
        )


def _bare(axis: Axes) -> None:
    axis.grid(False)
    axis.set_xticks([])
    axis.tick_params(left=False)
    for side in ("left", "bottom"):
        axis.spines[side].set_visible(False)


def _sizes(axis: Axes, sizes: Sequence[int]) -> None:
    """Give an axis the sizes of vocabularies, each twice the one before."""
    axis.set_xscale("log", base=2)
    axis.set_xticks(list(sizes), [f"{size:,}" for size in sizes], rotation=45, ha="right")
    axis.minorticks_off()
    axis.set_xlabel("vocabulary (tokens)")
