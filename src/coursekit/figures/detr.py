"""The pictures of "DETR": boxes, who answers for whom, and where a detector looks.

All are 5.4 inches wide, so that their words can be read on a telephone. Boxes are corners (x0, y0,
x1, y1) in the units of the axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.figures import COLOURS, LINES, WIDTH, new_figure
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
    rows = -(-len(pairs) // 2)
    figure, axes = new_figure(rows, 2, width=WIDTH, height=2.75 * rows, squeeze=False)
    for axis in axes.flat[len(pairs) :]:
        axis.set_axis_off()
    for axis, (truth, guess), title in zip(axes.flat, pairs, titles, strict=False):
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
    truth: Tensor, guesses: Tensor, names: Sequence[str], pairs: Mapping[str, Pairs]
) -> Figure:
    """Draw objects (n, 4) with `names` and guesses (Q, 4) with numbers from 1; lines join pairs.

    One panel below the other, one for each way to pair them, under its title.
    """
    figure, axes = new_figure(
        len(pairs), 1, width=WIDTH, height=0.3 + 2.9 * len(pairs), squeeze=False
    )
    for axis, (title, chosen) in zip(axes[:, 0], pairs.items(), strict=True):
        _sheet(axis, (0.0, 1.0), (0.98, 0.02))
        axis.set_aspect("auto")
        for one, name in zip(truth, names, strict=True):
            _draw(axis, one, TRUE)
            axis.text(one[0], one[1] - 0.02, name, color=TRUE, fontsize=10, va="bottom")
        for number, one in enumerate(guesses, 1):
            _draw(axis, one, FOUND, dashed=True)
            axis.text(one[2] - 0.012, one[3] - 0.02, str(number), color=FOUND, fontsize=11,
                      ha="right", va="bottom", fontweight="bold", zorder=4,
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})  # fmt: skip
        for one, guess in chosen:
            ends = [_centre(truth[one]), _centre(guesses[guess])]
            axis.plot(*zip(*ends), color="black", linewidth=2.2, marker="o", markersize=6)
        axis.set_title(title, loc="left")
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
    rows = -(-len(channels) // 2)
    figure, axes = new_figure(rows, 2, width=WIDTH, height=2.45 * rows, squeeze=False)
    for axis, (title, channel) in zip(axes.flat, channels.items()):
        shown = axis.imshow(encoding[..., channel], cmap="RdBu_r", vmin=-1, vmax=1)
        _bare(axis, title)
    figure.colorbar(shown, ax=list(axes[:, 1]), label="value", shrink=0.7)
    return figure


def drawn() -> Figure:
    """Draw DETR in detail: encoder and decoder, and where positions and queries are added."""
    figure, axis = new_figure(width=WIDTH, height=7.2)
    canvas(axis, width=10, top=13.7)
    tint = {"plain": "#E3E3E3", "attention": "#CFE6F5", "network": "#FBE3B5", "said": "#D5EBDD"}
    left, right = 2.3, 7.5
    wide = {"width": 4.0, "height": 0.85, "size": 10}
    short = {"width": 2.3, "height": 0.85, "size": 10}
    for x, height, half in ((left, 4.6, 2.25), (right, 6.4, 2.45)):
        axis.add_patch(_frame(x - half, 5.0, 2 * half, height))
        axis.text(x + 2.1, 5.0 + height - 0.2, "6 times", ha="right", va="top", fontsize=10)
    for y, text, kind in (
        (0.6, "picture: 3 × H × W", "plain"),
        (1.95, "ResNet", "network"),
        (3.3, "1 × 1 convolution", "network"),
        (6.3, "self-attention", "attention"),
        (8.3, "feed-forward network", "network"),
    ):
        rounded(axis, left, y, text, colour=tint[kind], **wide)
    for y, text, kind in (
        (3.3, "Q vectors of zeros", "plain"),
        (6.3, "self-attention", "attention"),
        (8.3, "cross-attention", "attention"),
        (10.1, "feed-forward network", "network"),
    ):
        rounded(axis, right, y, text, colour=tint[kind], **wide)
    for x, text in ((right - 1.25, "class"), (right + 1.25, "box")):
        rounded(axis, x, 13.1, text, colour=tint["said"], **short)
        line(axis, [(right, 11.8), (x, 12.65)], arrow=True)
    for x, ys in (
        (left, (1.03, 1.5, 2.4, 2.85, 3.75, 5.85, 6.75, 7.85)),
        (right, (3.75, 5.85, 6.75, 7.85, 8.75, 9.65)),
    ):
        for start, end in zip(ys[::2], ys[1::2]):
            line(axis, [(x, start), (x, end)], arrow=True)
    line(axis, [(right, 10.55), (right, 11.8)])
    # what is added to queries (q) and keys (k) is beside the arrow that it joins
    sines, asked = COLOURS["vermilion"], COLOURS["green"]
    axis.text(left + 0.2, 4.4, "cells of width D", fontsize=10, va="center")
    for x, y, text, colour in (
        (left, 5.42, "+ sines to q, k", sines),
        (right, 5.42, "+ queries to q, k", asked),
        (right, 7.3, "+ queries to q", asked),
    ):
        axis.text(x + 0.15, y, text, color=colour, fontsize=10, va="center")
    line(axis, [(left, 8.75), (left, 10.2), (4.9, 10.2), (4.9, 8.3), (5.48, 8.3)], arrow=True)
    axis.text(left, 10.4, "k, v; + sines to k", color=sines, fontsize=10, ha="center")
    return figure


def _frame(x: float, y: float, width: float, height: float) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), width, height, fill=False, edgecolor=COLOURS["grey"], linestyle="--")


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
    for (key, name), look, mark in zip(names.items(), LINES, "os^D", strict=False):
        axis.plot(steps, [row[key] for row in rows], label=name, marker=mark, ms=4, **look)
    axis.set(xlabel="step", ylabel="average precision", ylim=(0, 1))
    legend_below(figure)
    return figure


def moments(
    picture: Tensor, truth: Tensor, stages: Mapping[str, Sequence[tuple[int, Tensor]]]
) -> Figure:
    """Draw one picture (3, R, L) at several stages of a training, three in a row, under titles.

    `truth` (n, 4) are its objects; a stage has for each of them the number of the query that
    answers for it, written on the object, and the box which that query says. Corners in pixels.
    """
    rows = -(-len(stages) // 3)
    figure, axes = new_figure(rows, 3, width=WIDTH, height=2.05 * rows, squeeze=False)
    for axis in axes.flat[len(stages) :]:
        axis.set_axis_off()
    for axis, (title, answers) in zip(axes.flat, stages.items()):
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
    found: Sequence[Objects],
    names: Sequence[str],
    *,
    truth: Sequence[Objects] = (),
    titles: Sequence[str] = (),
) -> Figure:
    """Draw pictures (3, R, L), two in a row, and the boxes found on them with kind and score.

    True boxes, if any, are thin and white. Corners in pixels.
    """
    rows = -(-len(pictures) // 2)
    figure, axes = new_figure(rows, 2, width=WIDTH, height=2.75 * rows, squeeze=False)
    for axis in axes.flat[len(pictures) :]:
        axis.set_axis_off()
    for n, (axis, picture, objects) in enumerate(zip(axes.flat, pictures, found, strict=False)):
        _photograph(axis, picture, titles[n] if titles else "")
        for one in truth[n].boxes if truth else ():
            _draw(axis, one, "white", width=1.2)
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
            axis.plot(recall, precision, ".", color=COLOURS["grey"], ms=5, label=name)
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
    rows = -(-len(looks) // 2)
    figure, axes = new_figure(rows, 2, width=WIDTH, height=2.8 * rows, squeeze=False)
    height, width = picture.shape[1:]
    grey = picture.float().mean(dim=0) / 255  # (R, L)
    for axis in axes.flat[len(looks) :]:
        axis.set_axis_off()
    for axis, (title, (mark, table)) in zip(axes.flat, looks.items()):
        ends = (0, width, height, 0)
        axis.imshow(0.35 + 0.65 * grey, cmap="gray", vmin=0, vmax=1, extent=ends)
        table = np.asarray(table / table.max())
        axis.imshow(np.ones_like(table), cmap="Reds", vmin=0, vmax=1.3, alpha=0.85 * table,
                    extent=ends, interpolation="nearest")  # fmt: skip
        if points:
            axis.plot(*mark.tolist(), marker="x", color=COLOURS["blue"], ms=9, mew=2.5)
        else:
            _draw(axis, mark, TRUE)
        _bare(axis, title)
    return figure


def by_query(
    centres: Mapping[int, Tensor], sides: Mapping[int, Tensor], limits: Sequence[float]
) -> Figure:
    """Draw the centres (k, 2) of all boxes that each query said, in parts of the picture.

    `sides` (k,) gives the colour: below the first of the two `limits`, between them, above.
    """
    rows = -(-len(centres) // 3)
    figure, axes = new_figure(rows, 3, width=WIDTH, height=0.5 + 1.85 * rows, squeeze=False)
    looks = (("small", "green", "o"), ("medium", "blue", "s"), ("large", "vermilion", "^"))
    for axis in axes.flat[len(centres) :]:
        axis.set_axis_off()
    for axis, query in zip(axes.flat, centres):
        _sheet(axis)
        group = np.digitize(np.asarray(sides[query]), limits)  # (k,)
        for number, (name, colour, mark) in enumerate(looks):
            some = np.asarray(centres[query])[group == number]
            axis.scatter(some[:, 0], some[:, 1], s=14, marker=mark, color=COLOURS[colour],
                         label=name, linewidths=0, alpha=0.8)  # fmt: skip
        axis.set_title(f"query {query}", fontsize=10)
    legend_below(figure)
    for handle in figure.legends[0].legend_handles:
        handle.set_sizes([45])
        handle.set_alpha(1)
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
    place = {"ha": "center" if centred else "left", "va": "center" if centred else "bottom"}
    axis.text(x, y, text, color="white", fontsize=10, bbox=ground, clip_on=True, **place)


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
