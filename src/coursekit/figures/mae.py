"""The pictures of "DeiT and MAE": hidden and painted patches, painters by ratio, labels, teachers.

All are 5.4 inches wide, so that their words can be read on a telephone. Pictures come in as tensors
of pixels between −1 (black) and 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit._base.style import Look
from coursekit.figures import COLOURS, WIDTH, new_figure
from coursekit.figures.curves import legend_below
from coursekit.figures.diagram import box, canvas, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from torch import Tensor

HIDDEN = "#F4DDB0"  # the colour of a hidden patch, which no grey picture has
STROKES: tuple[Look, ...] = (
    {"color": COLOURS["blue"], "linestyle": "-", "marker": "o"},
    {"color": COLOURS["vermilion"], "linestyle": "--", "marker": "s"},
    {"color": COLOURS["green"], "linestyle": "-.", "marker": "^"},
    {"color": COLOURS["purple"], "linestyle": ":", "marker": "D"},
    {"color": COLOURS["black"], "linestyle": (0, (1, 1)), "marker": "v"},
    {"color": COLOURS["orange"], "linestyle": (0, (5, 1)), "marker": "P"},
)


def asymmetric(
    picture: Tensor, hidden: Tensor, painted: Tensor, *, patch: int, width: int, narrow: int
) -> Figure:
    """Draw a masked autoencoder with its shapes: a grey picture (R, L), which patches are hidden.

    `hidden` is (N,), row by row; `painted` (R, L) is what the decoder says.
    """
    figure, axis = new_figure(width=WIDTH, height=6.4)
    canvas(axis, width=10, top=12.2)
    low, high = float(picture.min()), float(picture.max())
    columns = picture.shape[1] // patch
    seen = int((~hidden).sum())

    def show_at(x: float, y: float, pixels: Tensor, mask: Tensor | None = None) -> None:
        extent = (x - 1, x + 1, y - 1, y + 1)
        shades: Any = {"cmap": "gray", "vmin": low, "vmax": high, "aspect": "auto", "zorder": 3}
        axis.imshow(pixels, extent=extent, **shades)
        side = 2 / columns
        for number in [] if mask is None else mask.nonzero()[:, 0].tolist():
            row, column = divmod(number, columns)
            axis.barh(y + 1 - side * (row + 0.5), side, left=x - 1 + side * column, height=side,
                      color=HIDDEN, zorder=4)  # fmt: skip

    def step(y: float, text: str, high: float, wide: float, colour: Any) -> None:
        box(axis, 3.0, y, text, width=wide, height=high, colour=colour, size=10)

    def shape(y: float, text: str) -> None:
        axis.text(6.3, y, text, fontsize=10, va="center")

    show_at(1.6, 11.1, picture)
    show_at(4.4, 11.1, picture, hidden)
    line(axis, [(2.65, 11.1), (3.35, 11.1)], arrow=True)
    shape(11.1, f"{len(hidden)} patches, {seen} stay\n({len(hidden)}, {patch * patch})")
    for top, bottom in (
        (10.0, 9.55),
        (8.85, 8.45),
        (6.75, 6.35),
        (5.65, 5.25),
        (4.45, 4.05),
        (3.0, 2.6),
    ):
        line(axis, [(3.0, top), (3.0, bottom)], arrow=True)
    step(9.2, "visible patches times E, + positions", 0.7, 5.4, (COLOURS["sky"], 0.4))
    shape(9.2, f"({1 + seen}, {width}), class token first")
    step(7.6, "encoder", 1.7, 5.4, (COLOURS["blue"], 0.45))
    shape(7.6, f"({1 + seen}, {width})")
    step(6.0, "narrower", 0.7, 3.0, (COLOURS["grey"], 0.3))
    shape(6.0, f"({1 + seen}, {narrow})")
    step(4.85, "each in its place, mask tokens elsewhere", 0.8, 5.6, (COLOURS["orange"], 0.45))
    shape(4.85, f"({1 + len(hidden)}, {narrow}), + positions")
    step(3.5, "decoder", 1.0, 3.4, (COLOURS["blue"], 0.25))
    shape(3.5, f"({1 + len(hidden)}, {narrow})")
    show_at(3.0, 1.5, painted)
    shape(
        1.5,
        f"pixels of each patch\n({len(hidden)}, {patch * patch}); the loss\nasks for hidden ones",
    )
    return figure


def two_tokens() -> Figure:
    """Draw DeiT: the patches between a class token and a distillation token, and their heads."""
    figure, axis = new_figure(width=WIDTH, height=3.2)
    canvas(axis, width=10, bottom=0.7, top=6.6)
    xs = [0.9, 2.1, 3.3, 4.5, 5.7, 7.2]
    names = ["class", "patch", "patch", "…", "patch", "distillation"]
    orange, green = (COLOURS["orange"], 0.7), (COLOURS["green"], 0.6)
    for x, name in zip(xs, names):
        colour: Any = {"class": orange, "distillation": green}.get(name, (COLOURS["sky"], 0.5))
        wide = 1.7 if name == "distillation" else 1.1
        box(axis, x, 6.0, name, width=wide, height=0.7, colour=colour, size=9.7)
        line(axis, [(x, 5.6), (x, 5.1)], arrow=True)
        if name in ("class", "distillation"):
            line(axis, [(x, 3.7), (x, 3.2)], arrow=True)
    axis.text(8.2, 6.0, "(2 + N, D)", fontsize=10, va="center")
    box(axis, 4.2, 4.4, "the blocks of a ViT", width=7.7, height=1.3, colour=(COLOURS["grey"], 0.3))
    heads = ((0.9, "learns the label", orange), (7.2, "learns what the\nteacher says", green))
    for x, told, colour in heads:
        box(axis, x, 2.8, "head", width=1.2, height=0.7, colour=colour, size=10)
        line(axis, [(x, 2.4), (x, 1.9), (4.05, 1.9), (4.05, 1.4)], arrow=x == 0.9)
        side, away = ("left", 0.75) if x == 0.9 else ("right", -0.75)
        axis.text(x + away, 2.8, told, fontsize=9.7, ha=side, va="center")
    axis.text(4.05, 1.0, "after training: mean of both scores (V,)", ha="center", fontsize=10)
    return figure


def gallery(rows: Mapping[str, Sequence[Tensor]], titles: Sequence[str] = ()) -> Figure:
    """Draw a row of pictures (28, 28) for each name; pixels that are NaN are hidden.

    `titles`, if any, are above the columns.
    """
    columns = len(next(iter(rows.values())))
    if any(len(pictures) != columns for pictures in rows.values()):
        raise ValueError(f"every row must have {columns} pictures, as the first has")
    if titles and len(titles) != columns:
        raise ValueError(f"there must be {columns} titles, one a column, found {len(titles)}")
    side = (WIDTH - 1.25) / columns
    figure, axes = new_figure(
        len(rows), columns, width=WIDTH, height=side * len(rows) + 0.35, squeeze=False
    )
    for panels, (name, pictures) in zip(axes, rows.items(), strict=True):
        for axis, picture in zip(panels, pictures, strict=True):
            _picture(axis, picture)
        panels[0].set_ylabel(name, rotation=0, ha="right", va="center", fontsize=10)
    for axis, title in zip(axes[0], titles):
        axis.set_title(title, fontsize=10)
    return figure


def _picture(axis: Axes, picture: Tensor) -> None:
    values = np.ma.masked_invalid(picture.detach().cpu().numpy())
    axis.set_facecolor(HIDDEN)
    axis.imshow(values, cmap="gray", vmin=-1, vmax=1, interpolation="nearest")
    axis.set(xticks=[], yticks=[])
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)


def shuffled(noise: Sequence[float], keep: Sequence[int], restore: Sequence[int]) -> Figure:
    """Draw how noise chooses the visible patches: patches in order, shuffled, and put back.

    `noise` and `restore` have a number for each patch, `keep` the visible patches.
    """
    N, K = len(noise), len(keep)
    if len(restore) != N or sorted(restore) != list(range(N)):
        raise ValueError(f"restore must be a permutation of {N} places, found {list(restore)}")
    order = sorted(range(N), key=lambda patch: restore[patch])  # who is at each place
    figure, axis = new_figure(width=WIDTH, height=2.9)
    canvas(axis, width=N + 2.6, bottom=-5.3, top=0.6)
    lines = {
        "patch": [str(patch) for patch in range(N)],
        "noise": [f"{value:.2f}" for value in noise],
        "shuffle": [str(patch) for patch in order],
        "restore": [str(place) for place in restore],
    }
    seen = {"patch": set(keep), "noise": set(keep), "shuffle": set(range(K)), "restore": set(keep)}
    for row, (name, words) in enumerate(lines.items()):
        y = -1.3 * row
        axis.text(2.3, y, name, ha="right", va="center", fontsize=10)
        for place, word in enumerate(words):
            colour = "#CFE6F5" if place in seen[name] else HIDDEN
            axis.barh(y, 0.92, left=2.54 + place, height=0.9, color=colour)
            axis.text(3 + place, y, word, ha="center", va="center", fontsize=10)
    axis.text(2.54, -4.9, "blue: visible, sand: hidden", fontsize=10, va="center")
    return figure


def by_ratio(
    curves: Mapping[str, Mapping[float, float]], *, ylabel: str, trained: float | None = None
) -> Figure:
    """Draw the error of each painter by the share of hidden patches (0 to 1).

    A dotted line is at the share `trained` that the autoencoder was trained with.
    """
    figure, axis = new_figure(width=WIDTH, height=4.6)
    for (name, curve), look in zip(curves.items(), STROKES, strict=False):
        ratios = sorted(curve)
        axis.plot([100 * r for r in ratios], [curve[r] for r in ratios], label=name, ms=5, **look)
    if trained is not None:
        axis.axvline(100 * trained, color=COLOURS["grey"], linestyle=":", linewidth=1)
    every = sorted({ratio for curve in curves.values() for ratio in curve})
    axis.set_xticks([100 * ratio for ratio in every])
    axis.set(xlabel="hidden patches (%)", ylabel=ylabel, ylim=(0, None))
    legend_below(figure)
    return figure


def by_labels(curves: Mapping[str, Mapping[int, Sequence[float]]]) -> Figure:
    """Draw accuracies by the number of labels: a line through the means, a dot for each seed."""
    figure, axis = new_figure(width=WIDTH, height=4.8)
    for (name, curve), look in zip(curves.items(), STROKES, strict=False):
        counts = sorted(curve)
        axis.plot(counts, [100 * mean(curve[c]) for c in counts], label=name, ms=5, **look)
        for count in counts:
            seeds = curve[count]
            axis.plot([count] * len(seeds), [100 * s for s in seeds], "o", mfc="none", ms=4,
                      mec=look["color"], gid="seeds")  # fmt: skip
    every = sorted({count for curve in curves.values() for count in curve})
    axis.set_xscale("log")
    axis.set_xticks(every, [f"{count:,}" for count in every])
    axis.minorticks_off()
    axis.set(xlabel="labels", ylabel="pictures classified correctly (%)")
    legend_below(figure)
    return figure


def warmed(shares: Mapping[str, Sequence[float]], names: Sequence[str]) -> Figure:
    """Draw the teacher's shares of the classes at several temperatures, a panel below the other."""
    figure, axes = new_figure(
        len(shares), 1, width=WIDTH, height=1.35 * len(shares) + 0.9, sharex=True, squeeze=False
    )
    for axis, (title, values) in zip(axes[:, 0], shares.items(), strict=True):
        axis.bar(range(len(values)), [100 * value for value in values], color=COLOURS["sky"])
        axis.set_title(title, loc="left", fontsize=10)
        axis.set(ylim=(0, 100), yticks=[0, 50, 100])
    axes[-1, 0].set_xticks(range(len(names)), names, rotation=45, ha="right", fontsize=10)
    figure.supylabel("share (%)", fontsize=10)
    return figure
