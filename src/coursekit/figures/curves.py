"""What many pictures have: rows with names, seeds and their mean, legends, levels."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING

from coursekit._base.style import Look
from coursekit.figures import COLOURS

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def name_rows(axis: Axes, names: Collection[str], *, lines: bool = True) -> None:
    """Name the rows 0, 1, … of an axis from above, with or without lines along them."""
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.grid(axis="x")
    axis.grid(visible=lines, axis="y")


def rows_of_seeds(axis: Axes, rows: Mapping[str, Sequence[float]]) -> None:
    """Draw a row for each name, with a ring for each seed and a bar at their mean."""
    for row, values in enumerate(rows.values()):
        bar, ring = ("", "") if row else ("mean of seeds", "one seed")
        axis.plot(mean(values), row, "|k", ms=17, mew=2.5, label=bar)
        look: Look = {"mfc": "none", "mec": COLOURS["blue"], "ms": 6}
        axis.plot(values, [row] * len(values), "o", label=ring, **look)
    name_rows(axis, rows)
    axis.margins(x=0.08)


def legend_below(figure: Figure, *handles: Artist) -> None:
    """Put a legend below the axes, in as many columns as there is room for.

    It has the labels of the first axes, or those of `handles`.
    """
    marks = handles or figure.axes[0].get_legend_handles_labels()[0]
    labels = [str(mark.get_label()) for mark in marks]
    room = 12 * figure.get_figwidth()  # letters, a mark being as wide as six
    columns = min(len(labels), max(1, int(room / (max(map(len, labels)) + 6))))
    figure.legend(
        marks, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=10
    )


def name_lines(figure: Figure, axis: Axes, lines: Mapping[str, float]) -> None:
    """Draw dashed levels across an axis that has its curves, and their names right of the curves.

    The axis is widened until the names fit; where levels lie close, names move apart.
    """
    names = sorted(lines, key=lambda name: lines[name])
    first, last = axis.dataLim.intervalx
    axis.set_ylim(0, 1.08 * max([axis.dataLim.intervaly[1], *lines.values()]))
    if not names:
        return
    texts = [axis.text(first, 0, name, va="center", fontsize=10) for name in names]
    figure.draw_without_rendering()  # the size of a text is known only then
    room = axis.get_window_extent()
    sizes = [text.get_window_extent() for text in texts]
    part = max(size.width for size in sizes) / room.width + 0.08
    gap = max(size.height for size in sizes) / room.height * axis.get_ylim()[1] * 1.2
    wide = ((last - first) or 1.0) / (1 - part - 0.04)
    axis.set_xlim(first - 0.04 * wide, last + part * wide)
    axis.set_xticks([tick for tick in axis.get_xticks() if first <= tick <= last])
    heights: list[float] = []
    for name in names:
        heights.append(max([lines[name], gap / 2, *(height + gap for height in heights[-1:])]))
    for back in range(len(names)):  # what was pushed out at the top comes down
        top = axis.get_ylim()[1] - gap * (back + 0.5)
        heights[-1 - back] = min(heights[-1 - back], top)
    for name, text, height in zip(names, texts, heights):
        level, edge = lines[name], last + 0.06 * wide
        look: Look = {"color": "#555555", "linewidth": 1}
        axis.plot([first, last], [level] * 2, linestyle=(0, (5, 3)), gid="level", **look)
        axis.plot([last, edge], [level, height], linestyle="-", **look)
        text.set_position((edge + 0.01 * wide, height))
