"""The pictures of "DETR": boxes, who answers for whom, and where a detector looks.

All are 5.4 inches wide, so that their words can be read on a telephone. Boxes are corners (x0, y0,
x1, y1) in the units of the axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.figures import COLOURS, LINES, MARKED_LINES, WIDTH, new_figure, panel_grid
from coursekit.figures.curves import legend_below
from coursekit.figures.diagram import box as rounded
from coursekit.figures.diagram import canvas, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from torch import Tensor

    from coursekit.boxes.geometry import Objects

TRUE, FOUND = COLOURS["blue"], COLOURS["vermilion"]
Pairs = Sequence[tuple[int, int]]  # (object, guess)
Span = tuple[float, float, float]  # of a label: from x to x, and the y of its lower edge
LETTER, LINE = 0.042, 0.1  # of a label, in parts of a panel: width of a letter, height


def same_distance(pairs: Sequence[tuple[Tensor, Tensor]], titles: Sequence[str]) -> Figure:
    """Draw a true box (4,) and a guess (4,) in each panel, two panels in a row, with titles."""
    figure, axes = panel_grid(len(pairs), 2, each=2.75)
    for axis, (truth, guess), title in zip(axes, pairs, titles, strict=False):
        _sheet(axis)
        _draw(axis, truth, TRUE)
        _draw(axis, guess, FOUND, dashed=True)
        axis.set_title(title, fontsize=10)
    return figure


def sliding(
    places: Sequence[float], curves: Mapping[str, Sequence[float]], touch: float, *, xlabel: str
) -> Figure:
    """Draw what each curve says while a box slides away; from `touch` on the boxes are apart."""
    figure, axis = new_figure(width=WIDTH, height=3.6)
    for (name, values), look in zip(curves.items(), LINES, strict=False):
        axis.plot(places, values, label=name, linewidth=1.8, **look)
    axis.axvline(touch, color=COLOURS["grey"], linewidth=1)
    axis.text(touch, axis.get_ylim()[1], " apart from here", fontsize=10, va="top")
    axis.set(xlabel=xlabel, ylabel="how good is the box?")
    legend_below(figure)
    return figure


def pairing(
    truth: Tensor, guesses: Tensor, names: Sequence[str], says: Sequence[str],
    pairs: Mapping[str, Pairs],
) -> Figure:  # fmt: skip
    """Draw objects (n, 4) with `names` and guesses (Q, 4) with what each `says`; lines join pairs.

    One panel below the other, one for each way to pair them, under its title.
    """
    figure, axes = new_figure(
        len(pairs), 1, width=WIDTH, height=0.2 + 2.8 * len(pairs), squeeze=False, sharex=True
    )
    for axis, (title, chosen) in zip(axes[:, 0], pairs.items(), strict=True):
        _sheet(axis, (0.0, 1.0), (1.0, 0.0))
        axis.set(aspect="auto", xticks=[0, 0.5, 1], yticks=[0, 0.5, 1], ylabel="y")
        for one, name in zip(truth, names, strict=True):
            _draw(axis, one, TRUE)
            axis.text(one[0], one[1] - 0.02, name, color=TRUE, fontsize=10, va="bottom")
        for number, (one, label) in enumerate(zip(guesses, says, strict=True), 1):
            _draw(axis, one, FOUND, dashed=True)
            x, y, across, down = _corner(one, [*truth, *guesses])
            axis.text(x, y, f"{number}: {label}", color=FOUND, fontsize=10, ha=across, va=down)
        for one, guess in chosen:
            ends = [_centre(truth[one]), _centre(guesses[guess])]
            axis.plot(*zip(*ends), color="black", linewidth=2.2, marker="o", markersize=6)
        axis.set_title(title, loc="left")
    axes[-1, 0].set_xlabel("x")
    return figure


def paths(panels: Mapping[str, np.ndarray], objects: Sequence[float], *, ylabel: str) -> Figure:
    """Draw where queries are, step by step: panels of (steps, Q), and dotted lines at objects."""
    figure, axes = new_figure(
        len(panels), 1, width=WIDTH, height=0.7 + 1.7 * len(panels), squeeze=False, sharex=True
    )
    for axis, (title, places) in zip(axes[:, 0], panels.items(), strict=True):
        for height in objects:
            axis.axhline(height, color=COLOURS["grey"], linestyle=":", linewidth=1.8)
        for number, (one, look) in enumerate(zip(np.asarray(places).T, LINES), 1):
            axis.plot(one, label=f"query {number}", linewidth=1.8, **look)
        axis.set_title(title, loc="left", fontsize=10)
        axis.set(ylim=(0, 1), ylabel=ylabel)
    axes[-1, 0].set_xlabel("step")
    legend_below(figure)
    return figure


def sine_channels(encoding: Tensor, channels: Mapping[str, int]) -> Figure:
    """encoding (h, w, D): draw some of its channels as maps, two in a row, under their titles."""
    figure, axes = panel_grid(len(channels), 2, each=2.45)
    for axis, (title, channel) in zip(axes, channels.items()):
        shown = axis.imshow(encoding[..., channel], cmap="RdBu_r", vmin=-1, vmax=1)
        _bare(axis, title)
    figure.colorbar(shown, ax=axes[1::2], label="value", shrink=0.7)
    return figure


def whole_model(
    picture: Tensor,
    guesses: Sequence[tuple[str, Tensor | None]],
    *,
    grid: tuple[int, int],
    width: int,
    classes: int,
    depth: int,
) -> Figure:
    """Draw a DETR with its shapes, from a picture (3, R, L) in bytes to the guess of each query.

    A guess is what is said and its box, corners in pixels; with "no object" it has none. The map
    has `grid` cells, and encoder and decoder have `depth` layers each.
    """
    rows, columns = picture.shape[1:]
    count, cells = len(guesses), grid[0] * grid[1]
    figure, axis = new_figure(width=WIDTH, height=6.2)
    canvas(axis, width=10, top=11.5)
    tint = {"attention": "#CFE6F5", "network": "#FBE3B5", "said": "#D5EBDD"}
    sines, asked = COLOURS["vermilion"], COLOURS["green"]
    left, right = 1.25, 6.7
    part = partial(rounded, axis, height=0.62, size=10)

    def words(x: float, y: float, text: str, **more: Any) -> None:
        axis.text(x, y, text, fontsize=10, va="center", **more)

    def photograph(x: float, y: float, side: float) -> None:
        extent = (x - side / 2, x + side / 2, y - side / 2, y + side / 2)
        axis.imshow(picture.permute(1, 2, 0), extent=extent, aspect="auto", zorder=3)

    # what the picture becomes, on the left
    photograph(left, 10.4, 2.0)
    words(2.4, 10.4, f"picture\n(3, {rows}, {columns})")
    line(axis, [(left, 9.37), (left, 8.98)], arrow=True)
    part(left, 8.65, "ResNet", width=2.0, colour=tint["network"])
    words(2.4, 8.65, f"to width {width}")
    line(axis, [(left, 8.3), (left, 7.95)], arrow=True)
    for n in range(grid[0] + 1):
        y = 7.9 - 1.5 * n / grid[0]
        axis.plot([left - 0.75, left + 0.75], [y, y], color=COLOURS["grey"], linewidth=0.8)
    for n in range(grid[1] + 1):
        x = left - 0.75 + 1.5 * n / grid[1]
        axis.plot([x, x], [6.4, 7.9], color=COLOURS["grey"], linewidth=0.8)
    words(2.2, 7.15, f"{grid[0]} × {grid[1]} cells\n({cells}, {width})")
    line(axis, [(left, 6.35), (left, 5.27)], arrow=True)
    axis.add_patch(_frame(0.05, 3.35, 4.1, 2.55))
    words(4.05, 6.12, f"encoder, {depth} times", ha="right")
    words(left + 0.15, 5.55, "+ sines to q, k", color=sines)
    for y, text, kind in ((4.9, "self-attention", "attention"), (3.85, "feed-forward", "network")):
        part(left + 0.3, y, text, width=2.7, colour=tint[kind])
    line(axis, [(left, 4.57), (left, 4.2)], arrow=True)
    # the queries, on the right
    words(5.0, 11.2, f"object queries, learned ({count}, {width})", color=asked)
    step = 4.9 / count
    for n in range(count):
        rounded(axis, 5.0 + step * (n + 0.5), 10.65, str(n), width=0.9 * step, height=0.5,
                colour=tint["said"], size=9.7)  # fmt: skip
    words(right, 9.75, f"rows of zeros ({count}, {width})", ha="center")
    line(axis, [(right, 9.5), (right, 8.27)], arrow=True)
    axis.add_patch(_frame(4.85, 4.1, 5.12, 4.85))
    words(9.95, 9.2, f"decoder, {depth} times", ha="right")
    for y, text, kind in (
        (7.9, "self-attention", "attention"),
        (6.4, "cross-attention", "attention"),
        (4.9, "feed-forward", "network"),
    ):
        part(right, y, text, width=2.7, colour=tint[kind])
    words(right + 0.15, 8.55, "+ object queries to q, k", color=asked)
    words(right + 0.15, 7.15, "+ object queries to q", color=asked)
    line(axis, [(right, 7.57), (right, 6.77)], arrow=True)
    line(axis, [(right, 6.07), (right, 5.27)], arrow=True)
    line(axis, [(2.9, 3.85), (4.5, 3.85), (4.5, 6.4), (right - 1.4, 6.4)], arrow=True)
    words(4.95, 5.92, "k, v")
    words(4.95, 5.55, "+ sines to k", color=sines)
    for x, text in (
        (6.1, f"class ({count}, {classes + 1})"),
        (8.7, f"box ({count}, 4)"),
    ):
        line(axis, [(right, 4.55), (right, 3.9), (x, 3.52)], arrow=True)
        part(x, 3.18, text, width=2.45, colour=tint["said"])
        line(axis, [(x, 2.85), (x, 2.5)], arrow=True)
    # what each query guesses, and where
    side = 2.7
    photograph(left + 0.15, 1.4, side)
    for number, (label, one) in enumerate(guesses):
        column, row = divmod(number, -(-count // 2))
        words(5.1 + 2.5 * column, 2.2 - 0.42 * row, f"{number}: {label}")
        if one is None:
            continue
        x0, y0, x1, y1 = (float(end) * side / columns for end in one)
        corner = (left + 0.15 - side / 2 + x0, 1.4 + side / 2 - y1)
        axis.add_patch(_frame(*corner, x1 - x0, y1 - y0, edgecolor=FOUND, linestyle="-",
                              linewidth=1.8, zorder=4))  # fmt: skip
    return figure


def _frame(x: float, y: float, width: float, height: float, **look: Any) -> Any:
    from matplotlib.patches import Rectangle

    dashed = {"edgecolor": COLOURS["grey"], "linestyle": "--"}
    return Rectangle((x, y), width, height, fill=False, **(dashed | look))


def influence(tables: Mapping[str, Tensor], *, xlabel: str, ylabel: str) -> Figure:
    """Draw tables (Q, Q) side by side: which output (row) depends on which input (column)."""
    figure, axes = new_figure(1, len(tables), width=WIDTH, height=3.0, squeeze=False)
    for axis, (title, table) in zip(axes[0], tables.items(), strict=True):
        axis.imshow(table, cmap="Blues", vmin=0, vmax=1.3)
        _bare(axis, title)
        count = len(table)
        axis.set_xticks([n - 0.5 for n in range(1, count)], minor=True)
        axis.set_yticks([n - 0.5 for n in range(1, count)], minor=True)
        axis.grid(which="minor", axis="both", color="white", linewidth=1)
        axis.tick_params(which="minor", length=0)
        axis.set_xlabel(xlabel)
    axes[0, 0].set_ylabel(ylabel)
    return figure


def over_steps(rows: Sequence[Mapping[str, float]], names: Mapping[str, str]) -> Figure:
    """Draw what rows with a "step" say under the keys of `names`, a line for each, over steps."""
    figure, axis = new_figure(width=WIDTH, height=3.4)
    steps = [row["step"] for row in rows]
    for (key, name), look in zip(names.items(), MARKED_LINES, strict=False):
        axis.plot(steps, [row[key] for row in rows], label=name, ms=4, **look)
    axis.set(xlabel="step", ylabel="average precision (%)", ylim=(0, 100))
    legend_below(figure)
    return figure


def moments(
    picture: Tensor, truth: Tensor, stages: Mapping[str, Sequence[tuple[int, Tensor]]]
) -> Figure:
    """Draw one picture (3, R, L) at several stages of a training, three in a row, under titles.

    `truth` (n, 4) are its objects; a stage has for each of them the number of the query that
    answers for it, written on the object, and the box which that query says. Corners in pixels.
    """
    figure, axes = panel_grid(len(stages), 3, each=2.05)
    for axis, (title, answers) in zip(axes, stages.items()):
        _photograph(axis, picture, title)
        for one, (query, guess) in zip(truth, answers, strict=True):
            _draw(axis, one, "white", width=1.5)
            _draw(axis, guess, FOUND, width=2)
            ends = [_centre(one), _centre(guess)]
            axis.plot(*zip(*ends), color="white", linewidth=1)
            _label(axis, *_centre(one), str(query), centred=True)
    return figure


def detections(
    pictures: Sequence[Tensor],
    all_objects: Sequence[Objects],
    names: Sequence[str],
    *,
    truth: Sequence[Objects] = (),
    titles: Sequence[str] = (),
) -> Figure:
    """Draw pictures (3, R, L), two in a row, and the boxes found on them with kind and score.

    True boxes, if any, are thin and white. Corners in pixels.
    """
    figure, axes = panel_grid(len(pictures), 2, each=2.75)
    for n, (axis, picture, objects) in enumerate(zip(axes, pictures, all_objects, strict=False)):
        _photograph(axis, picture, titles[n] if titles else "")
        for one in truth[n].boxes if truth else ():
            _draw(axis, one, "white", width=1.2)
        if objects.scores is None:
            raise ValueError(f"the boxes of picture {n} need scores, which are written on them")
        taken: list[Span] = []
        for label, one, score in zip(objects.labels, objects.boxes, objects.scores, strict=True):
            _draw(axis, one, FOUND)
            word = f"{names[int(label)]} {100 * float(score):.0f}"
            _label(axis, *_room(axis, one, word, taken), word)
    return figure


def precision_recall(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, dots: str = ""
) -> Figure:
    """Draw precision over recall, a line for each name but dots for that called `dots`."""
    figure, axis = new_figure(width=WIDTH, height=3.6)
    lines = iter(LINES)
    for name, (recall, precision) in curves.items():
        if name == dots:
            axis.plot(recall, precision, ".", color="black", ms=4, label=name, zorder=3)
        else:
            axis.plot(recall, precision, linewidth=1.8, label=name, **next(lines))
    axis.set(xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1.05))
    legend_below(figure)
    return figure


def where_it_looks(
    picture: Tensor, looks: Mapping[str, tuple[Tensor, Tensor]], *, points: bool = False
) -> Figure:
    """Draw a picture (3, R, L) in grey under maps of attention (h, w), two in a row, with titles.

    Each map comes with a box, or with `points` with a place (x, y), in pixels. Each panel has a
    scale of its own, from 0 (nothing) to its largest weight.
    """
    figure, axes = panel_grid(len(looks), 2, each=2.8)
    height, width = picture.shape[1:]
    grey = picture.float().mean(dim=0) / 255  # (R, L)
    for axis, (title, (mark, table)) in zip(axes, looks.items()):
        ends = (0, width, height, 0)
        axis.imshow(0.35 + 0.65 * grey, cmap="gray", vmin=0, vmax=1, extent=ends)
        shade = np.asarray(table / table.max())
        axis.imshow(np.ones_like(shade), cmap="Reds", vmin=0, vmax=1.3, alpha=0.9 * shade**0.7,
                    extent=ends, interpolation="nearest")  # fmt: skip
        if points:
            axis.plot(*mark.tolist(), marker="x", color=COLOURS["blue"], ms=9, mew=2.5)
        else:
            _draw(axis, mark, TRUE)
        _bare(axis, title)
    return figure


def by_query(centres: Mapping[int, Tensor]) -> Figure:
    """Draw the centres (k, 2) of all boxes that each query guessed, in parts of the picture."""
    figure, axes = panel_grid(len(centres), 4, each=1.6)
    for axis, (query, places) in zip(axes, centres.items()):
        _sheet(axis)
        axis.scatter(*np.asarray(places).T, s=9, color=COLOURS["blue"], linewidths=0, alpha=0.6)
        axis.set_title(f"query {query}", fontsize=10)
    return figure


def _photograph(axis: Axes, picture: Tensor, title: str) -> None:
    """Draw a picture (3, R, L) in bytes so that pixel edges have whole coordinates."""
    axis.imshow(picture.permute(1, 2, 0), extent=(0, picture.shape[2], picture.shape[1], 0))
    _bare(axis, title)


def _room(axis: Axes, one: Tensor, text: str, taken: list[Span]) -> tuple[float, float]:
    """Return where a label of a box begins: above it, else below it or further on, if it is free.

    `taken` has the labels drawn so far, and gets the new one.
    """
    left, right = axis.get_xlim()
    bottom, top = axis.get_ylim()  # rows are counted from above
    wide, high = LETTER * len(text) * (right - left), LINE * (bottom - top)
    x = min(max(float(one[0]), left), right - wide)
    above, below = max(float(one[1]), top + high), min(float(one[3]) + high, bottom)
    tries = [(x, y) for y in (above, below)] + [(x, above + n * high) for n in (1, 2, 3)]
    for place in tries:
        if all(abs(place[1] - y) >= high or place[0] >= end or start >= place[0] + wide
               for start, end, y in taken):  # fmt: skip
            break
    else:
        place = tries[0]
    taken.append((place[0], place[0] + wide, place[1]))
    return place


def _label(axis: Axes, x: float, y: float, text: str, *, centred: bool = False) -> None:
    """Write on a red ground: in the middle of (x, y), or to the right of and above it."""
    ground = {"facecolor": FOUND, "edgecolor": "none", "pad": 1.0, "alpha": 0.9}
    across, along = ("center", "center") if centred else ("left", "bottom")
    axis.text(
        x, y, text, color="white", fontsize=10, bbox=ground, clip_on=True, ha=across, va=along
    )


def _corner(one: Tensor, others: Sequence[Tensor]) -> tuple[float, float, str, str]:
    """Return where the name of a box stands, below or above it, and how it is aligned there.

    Of the places the one is taken that fewest of the other boxes' edges run through.
    """
    x0, y0, x1, y1 = (float(value) for value in one)
    wide, high = 0.15, 0.09
    places = [
        (x, y, across, down)
        for y, down in ((y1 + 0.02, "top"), (y0 - 0.02, "bottom"))
        for x, across in ((x0, "left"), (x1, "right"))
    ]

    def edges(place: tuple[float, float, str, str]) -> int:
        x, y, across, down = place
        left, top = (x if across == "left" else x - wide), (y if down == "top" else y - high)
        met = 0
        for ends in (other.tolist() for other in others):
            beside = any(left < edge < left + wide for edge in ends[::2])
            beneath = any(top < edge < top + high for edge in ends[1::2])
            met += beside and ends[1] < top + high and top < ends[3]
            met += beneath and ends[0] < left + wide and left < ends[2]
        return met

    return min(places, key=edges)


def _sheet(axis: Axes, x: tuple[float, float] = (0, 1), y: tuple[float, float] = (1, 0)) -> None:
    axis.set(xlim=x, ylim=y, xticks=[], yticks=[], aspect="equal")
    axis.grid(visible=False)
    axis.spines[:].set_visible(True)
    axis.spines[:].set_color("#BBBBBB")


def _bare(axis: Axes, title: str = "") -> None:
    axis.set(xticks=[], yticks=[])
    axis.grid(visible=False)
    axis.set_title(title, fontsize=10)


def _draw(axis: Axes, one: Tensor, colour: str, *, dashed: bool = False, width: float = 2) -> None:
    from matplotlib.patches import Rectangle

    x0, y0, x1, y1 = (float(value) for value in one)
    axis.add_patch(
        Rectangle((x0, y0), x1 - x0, y1 - y0, fill=False, edgecolor=colour, linewidth=width,
                  linestyle="--" if dashed else "-")
    )  # fmt: skip


def _centre(one: Tensor) -> tuple[float, float]:
    x0, y0, x1, y1 = (float(value) for value in one)
    return (x0 + x1) / 2, (y0 + y1) / 2
