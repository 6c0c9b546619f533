"""The pictures of "Swin": the pyramid, windows and their shift, the mask, who hears of whom, costs.

All are 5.4 inches wide, so that their words can be read on a telephone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING

from coursekit.figures import COLOURS, MARKED_LINES, WIDTH, new_figure
from coursekit.figures.curves import legend_below, name_rows
from coursekit.figures.diagram import box, canvas, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle
    from torch import Tensor

SHADES = (  # of windows, light enough to write on; neighbours differ in lightness too
    "#9ECAE9", "#F5C26B", "#CFE8D5", "#E8A0BF", "#F7F2C4", "#A5D6C8", "#D9D9D9", "#C9B8E8",
    "#F2A58E",
)  # fmt: skip


def pyramid(
    image: int, patch: int, width: int, depths: Sequence[int], window: int, classes: int
) -> Figure:
    """Draw a whole Swin from the picture down to the scores, with the shapes of all maps.

    All maps are drawn as large as the picture that they cover, with the borders of their windows
    and the cells of one window.
    """
    rows = len(depths) + 1
    pitch, size, tall = 1.06, 0.8, 1.06 * len(depths) + 1.66
    figure, axis = new_figure(width=WIDTH, height=tall)
    canvas(axis, width=WIDTH, top=tall)
    left, texts, blocks = 0.1, 1.1, 4.35
    middles = [tall - 0.5 - pitch * n for n in range(rows)]
    for stage, y in enumerate(middles):
        low, x = y - size / 2, left + size / 2
        cells = image // patch // 2 ** max(stage - 1, 0)
        wide = width * 2 ** max(stage - 1, 0)
        axis.add_patch(_square(left, low, size, SHADES[4] if stage else SHADES[0]))
        if stage:
            side = size * window / cells
            axis.add_patch(_square(left, low + size - side, side, SHADES[1]))
            for n in range(1, window):
                for points in (
                    [(left + side * n / window, low + size - side), (0, side)],
                    [(left, low + size - side * n / window), (side, 0)],
                ):
                    (x0, y0), (dx, dy) = points
                    axis.plot([x0, x0 + dx], [y0, y0 + dy], color="black", linewidth=0.3, zorder=4)
            for n in range(cells // window + 1):
                for points in (
                    [(left + side * n, low), (0, size)],
                    [(left, low + side * n), (size, 0)],
                ):
                    (x0, y0), (dx, dy) = points
                    axis.plot([x0, x0 + dx], [y0, y0 + dy], color="black", linewidth=1, zorder=5)
            count = (cells // window) ** 2
            axis.text(texts, y + 0.13, f"{cells} × {cells} × {wide}", fontsize=11, va="center",
                      weight="bold")  # fmt: skip
            axis.text(texts, y - 0.13, f"{count} window{'s' * (count > 1)}", va="center")
            whole = "windows never shifted" if count == 1 else "every 2nd one shifted"
            box(axis, blocks, y, f"{depths[stage - 1]} blocks\n{whole}", width=1.8, height=0.5,
                colour=SHADES[0], size=9.7)  # fmt: skip
            line(axis, [(texts + 1.45, y), (blocks - 0.93, y)], arrow=True)
        else:  # a meadow below the sun
            axis.fill_between([left, left + size], low, low + 0.3, color=SHADES[2], zorder=4)
            axis.plot(left + 0.55, y + 0.15, "o", ms=13, color=SHADES[1], zorder=4)
            axis.text(texts, y, f"picture {image} × {image} × 3", fontsize=11, va="center",
                      weight="bold")  # fmt: skip
        if stage == 0:
            step = f"patches of {patch} × {patch} pixels: {3 * patch**2} numbers to {wide}"
        elif stage < rows - 1:
            step = f"merge 2 × 2 cells: {4 * wide:,} numbers to {2 * wide}"
        else:
            step = f"norm, mean of {cells**2} cells, linear: {classes:,} scores"
        line(axis, [(x, low), (x, low - pitch + size)], arrow=True)
        axis.text(texts, low - (pitch - size) / 2, step, va="center", color=COLOURS["blue"])
    return figure


def _square(x: float, y: float, side: float, colour: str) -> Rectangle:
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), side, side, facecolor=colour, edgecolor="black", zorder=3)


def shift_steps(side: int, window: int, shift: int) -> Figure:
    """Draw a map's windows, the shifted ones, and the rolled map: three panels in a row.

    The map has `side` × `side` cells, numbered row by row. A cell keeps its number and, in the last
    two panels, the colour of its shifted window.
    """
    cells = [(r, c) for r in range(side) for c in range(side)]
    homes = sorted({_home(r, c, window, shift) for r, c in cells})
    plain = {(r, c): _home(r, c, window, 0) for r, c in cells}
    numbers = {place: n for n, place in enumerate(sorted(set(plain.values())))}
    panels = {
        "windows": lambda r, c: ((r, c), numbers[plain[r, c]]),
        f"shifted by {shift}": lambda r, c: (
            (r, c),
            homes.index(_home(r, c, window, shift)),
        ),
        "after the roll": lambda r, c: (
            ((r + shift) % side, (c + shift) % side),
            homes.index(_home((r + shift) % side, (c + shift) % side, window, shift)),
        ),
    }
    figure, axes = new_figure(1, 3, width=WIDTH, height=2.1)
    for number, (axis, (title, look)) in enumerate(zip(axes, panels.items())):
        for r, c in cells:
            (row, column), shade = look(r, c)
            axis.barh(r, 1, left=c, height=1, color=SHADES[shade % len(SHADES)])
            axis.text(c + 0.5, r, str(row * side + column), ha="center", va="center", fontsize=9.7)
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
        axis.plot([0, side], [n - 0.5, n - 0.5], color="black", linewidth=1.5, clip_on=False)
        axis.plot([n, n], [-0.5, side - 0.5], color="black", linewidth=1.5, clip_on=False)
    axis.set(xlim=(0, side), ylim=(side - 0.5, -0.5), aspect="equal")
    axis.set_axis_off()


def window_masks(allowed: Tensor, regions: Tensor) -> Figure:
    """Draw the mask of each window: which query (row) may look at which key (column).

    `allowed` is (W, N, N) boolean, `regions` (W, N) the number of the shifted window of each cell,
    which gives the colour that it has in `shift_steps`.
    """
    from matplotlib.colors import ListedColormap

    figure, axes = new_figure(1, len(allowed), width=WIDTH, height=1.8, squeeze=False)
    for n, (axis, mask, region) in enumerate(zip(axes.flat, allowed, regions), 1):
        table = (region[:, None] + 1).where(mask, 0)  # (N, N): 0 is forbidden
        axis.imshow(table, cmap=ListedColormap(["white", *SHADES]), vmin=0, vmax=len(SHADES))
        axis.grid(visible=False)
        axis.set(xticks=[], yticks=[], title=f"window {n}")
    for axis in axes[:, 0]:
        axis.set_ylabel("query")
    for axis in axes[-1]:
        axis.set_xlabel("key")
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
    for row, (name, maps) in zip(axes, rows.items(), strict=True):
        for axis in row[len(maps) :]:
            axis.set_axis_off()
        row[0].set_ylabel(name, fontsize=10)
        for axis, (title, one) in zip(row, maps.items()):
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


def per_pixel(sides: Sequence[int], panels: Mapping[str, Mapping[str, Sequence[float]]]) -> Figure:
    """Draw costs for each pixel over the side of the picture: a panel for each kind of cost.

    `panels` maps the name of a vertical axis to its lines, one value for each side.
    """
    figure, axes = new_figure(len(panels), 1, width=WIDTH, height=1.95 * len(panels) + 0.6,
                              squeeze=False, sharex=True)  # fmt: skip
    for axis, (ylabel, lines) in zip(axes[:, 0], panels.items()):
        for (name, values), look in zip(lines.items(), MARKED_LINES, strict=False):
            axis.plot(sides, values, ms=5, label=name, **look)
        most = max(value for values in lines.values() for value in values)
        axis.set(ylabel=ylabel, ylim=(0, 1.1 * most))
        axis.set_xticks(sides)
    axes[-1, 0].set_xlabel("side of the picture (pixels)")
    legend_below(figure)
    return figure


def scores(rows: Mapping[str, Mapping[str, Sequence[float]]], *, xlabel: str) -> Figure:
    """Draw a row for each network and a panel for each question: a ring a seed, a bar the mean.

    `rows` maps networks to questions to one score for each seed, in %.
    """
    questions = list(next(iter(rows.values())))
    most = max(score for values in rows.values() for seeds in values.values() for score in seeds)
    figure, axes = new_figure(1, len(questions), width=WIDTH, height=0.36 * len(rows) + 1.1,
                              squeeze=False, sharex=True, sharey=True)  # fmt: skip
    for axis, question in zip(axes[0], questions):
        for y, values in enumerate(rows.values()):
            middle = mean(values[question])
            axis.plot([middle, middle], [y - 0.3, y + 0.3], color=COLOURS["blue"], linewidth=3)
            axis.plot(values[question], [y] * len(values[question]), "o", ms=7, mfc="none",
                      mec="black")  # fmt: skip
        axis.set(title=question, xlabel=xlabel, xlim=(0, 1.15 * most))
        name_rows(axis, rows, lines=False)
    return figure


def shared_keys(side: int, window: int) -> Figure:
    """Draw four ways to give a cell window² keys: what it looks at, and what is loaded with it.

    The map has `side` × `side` cells. Dark is the query, coloured are its keys; framed are the
    queries that share the loaded cells, which are coloured or light.
    """
    half, middle = window // 2, side // 2
    first = middle - middle % window
    own = range(first, first + window)  # the query's window
    query = (first + 1, first + 2)
    reach = range(first - half, first + window + half)  # what the queries of a window need together
    flat = query[0] * side + query[1]

    def near(r: int, c: int) -> bool:
        return max(abs(r - query[0]), abs(c - query[1])) <= half

    count, together = window**2, (window + 2 * half) ** 2
    ways = {  # title -> is a cell looked at, is it loaded besides, which queries share it, words
        "shifted\nwindows": (
            lambda r, c: r in own and c in own, lambda r, c: False, own,
            f"{count} queries\nshare {count} keys",
        ),
        "sliding,\ngathered": (near, lambda r, c: False, None, f"1 query,\n{count} keys"),
        "sliding,\nin blocks": (
            near, lambda r, c: r in reach and c in reach, own,
            f"{count} queries\nshare {together} keys",
        ),
        "sliding\nin a row": (
            lambda r, c: abs(r * side + c - flat) <= count // 2, lambda r, c: False, None,
            f"1 query,\n{count} keys",
        ),
    }  # fmt: skip
    figure, axes = new_figure(1, len(ways), width=WIDTH, height=2.3)
    for axis, (name, (looks, loaded, group, words)) in zip(axes, ways.items()):
        for r in range(side):
            for c in range(side):
                colour = SHADES[0] if looks(r, c) else SHADES[4] if loaded(r, c) else "white"
                colour = COLOURS["blue"] if (r, c) == query else colour
                axis.barh(r, 1, left=c, height=1, color=colour, edgecolor="#BBBBBB", linewidth=0.4)
        if group:
            low, high = group[0], group[-1] + 1
            axis.plot([low, high, high, low, low], [low - 0.5, low - 0.5, high - 0.5, high - 0.5,
                      low - 0.5], color="black", linewidth=1.5)  # fmt: skip
        axis.set(
            xlim=(0, side),
            ylim=(side - 0.5, -0.5),
            aspect="equal",
            title=name,
            xticks=[],
            yticks=[],
        )
        axis.set_xlabel(words)
        axis.spines[:].set_visible(False)
    return figure
