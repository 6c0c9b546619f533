"""The pictures of "Swin": windows and their shift, the mask, who hears of whom, and the cost.

All are 5.4 inches wide, so that their words can be read on a telephone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from coursekit.figures import COLOURS, LINES, WIDTH, new_figure
from coursekit.figures.curves import legend_below

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from torch import Tensor

SHADES = (  # of windows, light enough to write on; neighbours differ in lightness too
    "#9ECAE9", "#F5C26B", "#CFE8D5", "#E8A0BF", "#F7F2C4", "#A5D6C8", "#D9D9D9", "#C9B8E8",
    "#F2A58E",
)  # fmt: skip


def shift_steps(side: int, window: int, shift: int) -> Figure:
    """Draw a map's windows, the shifted ones, and the rolled map: three panels, one below another.

    The map has `side` × `side` cells, numbered row by row. A cell keeps its number and, in the last
    two panels, the colour of its shifted window.
    """
    cells = [(r, c) for r in range(side) for c in range(side)]
    homes = sorted({_home(r, c, window, shift) for r, c in cells})
    plain = {(r, c): _home(r, c, window, 0) for r, c in cells}
    numbers = {place: n for n, place in enumerate(sorted(set(plain.values())))}
    panels = {
        "windows": lambda r, c: ((r, c), numbers[plain[r, c]]),
        f"windows shifted by {shift}": lambda r, c: (
            (r, c),
            homes.index(_home(r, c, window, shift)),
        ),
        "the same after the roll: four whole windows": lambda r, c: (
            ((r + shift) % side, (c + shift) % side),
            homes.index(_home((r + shift) % side, (c + shift) % side, window, shift)),
        ),
    }
    figure, axes = new_figure(3, 1, width=WIDTH, height=11.4)
    for number, (axis, (title, look)) in enumerate(zip(axes, panels.items())):
        for r, c in cells:
            (row, column), shade = look(r, c)
            axis.barh(r, 1, left=c, height=1, color=SHADES[shade % len(SHADES)])
            axis.text(c + 0.5, r, str(row * side + column), ha="center", va="center", fontsize=10)
        moved = shift if number == 1 else 0
        _borders(axis, side, range(moved, side, window))
        axis.set_title(title, loc="left")
    return figure


def _home(row: int, column: int, window: int, shift: int) -> tuple[int, int]:
    """Return which window of the shifted grid a cell lies in."""
    return (row - shift) // window, (column - shift) // window


def _borders(axis: Axes, side: int, lines: Sequence[int]) -> None:
    """Draw the windows' borders over a map of cells, and nothing else around it."""
    for n in (0, *lines, side):
        axis.plot([0, side], [n - 0.5, n - 0.5], color="black", linewidth=1.8, clip_on=False)
        axis.plot([n, n], [-0.5, side - 0.5], color="black", linewidth=1.8, clip_on=False)
    axis.set(xlim=(0, side), ylim=(side - 0.5, -0.5), aspect="equal")
    axis.set_axis_off()


def window_masks(allowed: Tensor, regions: Tensor) -> Figure:
    """Draw the mask of each window: who may look (row) at whom (column).

    `allowed` is (W, N, N) boolean, `regions` (W, N) the number of the shifted window of each cell,
    which gives the colour that it has in `shift_steps`.
    """
    from matplotlib.colors import ListedColormap

    figure, axes = new_figure(len(allowed) // 2, 2, width=WIDTH, height=6.2, squeeze=False)
    for n, (axis, mask, region) in enumerate(zip(axes.flat, allowed, regions), 1):
        table = (region[:, None] + 1).where(mask, 0)  # (N, N): 0 is forbidden
        axis.imshow(table, cmap=ListedColormap(["white", *SHADES]), vmin=0, vmax=len(SHADES))
        axis.grid(visible=False)
        axis.set(xticks=[], yticks=[], title=f"window {n}")
    for axis in axes[:, 0]:
        axis.set_ylabel("looks")
    for axis in axes[-1]:
        axis.set_xlabel("is looked at")
    return figure


def heard(rows: Mapping[str, Mapping[str, Tensor]], window: int, place: tuple[int, int]) -> Figure:
    """Draw where a cell's gradient reaches: maps (R, C) of its size (fourth root), row by row.

    Each row has a name and maps with titles. Windows have thin borders; the cell in question,
    `place`, is marked.
    """
    columns = max(map(len, rows.values()))
    figure, axes = new_figure(
        len(rows), columns, width=WIDTH, height=0.3 + 5.0 / columns * len(rows), squeeze=False
    )
    for line, (name, maps) in zip(axes, rows.items(), strict=True):
        for axis in line[len(maps) :]:
            axis.set_axis_off()
        line[0].set_ylabel(name, fontsize=10)
        for axis, (title, one) in zip(line, maps.items()):
            shade = 0.15 + 0.85 * (one / one.max()) ** 0.25  # the faintest is told from none
            axis.imshow(shade.where(one > 0, 0), cmap="Blues", vmin=0, vmax=1)
            axis.plot(place[1], place[0], "o", color=COLOURS["vermilion"], ms=4)
            axis.set_xticks([n - 0.5 for n in range(window, one.shape[1], window)])
            axis.set_yticks([n - 0.5 for n in range(window, one.shape[0], window)])
            axis.tick_params(length=0, labelbottom=False, labelleft=False)
            axis.grid(visible=True, axis="both", color=COLOURS["grey"], linewidth=0.6)
            axis.set_axisbelow(False)
            axis.set_title(title, fontsize=10)
    return figure


def by_side(sides: Sequence[int], lines: Mapping[str, Sequence[float]], *, ylabel: str) -> Figure:
    """Draw a cost over the side of the picture, both axes logarithmic: a line for each model."""
    from matplotlib.ticker import NullLocator

    figure, axis = new_figure(width=WIDTH, height=3.9)
    for (name, values), look, mark in zip(lines.items(), LINES, "os^D", strict=False):
        axis.plot(sides, values, marker=mark, ms=5, label=name, **look)
    axis.set(xscale="log", yscale="log", xlabel="side of the picture (pixels)", ylabel=ylabel)
    axis.set_xticks(sides, [f"{side:,}" for side in sides])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_minor_locator(NullLocator())
    legend_below(figure)
    return figure
