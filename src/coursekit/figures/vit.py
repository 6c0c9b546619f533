"""The pictures of "ViT": patches, lines by pictures read, filters, similarities, looks.

All are 5.4 inches wide at most, so that their words can be read on a telephone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING, Any, TypeVar

from coursekit.figures import COLOURS, LINES, WIDTH, new_figure, panel_grid
from coursekit.figures.curves import legend_below
from coursekit.figures.diagram import box, canvas, line

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from torch import Tensor

MARKS = ("o", "s", "D", "^")
Number = TypeVar("Number", int, float)


def rearranged(pairs: Sequence[tuple[Tensor, Tensor]], names: Sequence[str], cut: int) -> Figure:
    """Draw pictures above what the rule makes of them, with the lines along which they are cut.

    Each of `pairs` is a grey picture (R, L) and the same rearranged; pieces have `cut` pixels a
    side.
    """
    figure, axes = new_figure(2, len(pairs), width=WIDTH, height=2.9, squeeze=False)
    for column, (pair, name) in enumerate(zip(pairs, names, strict=True)):
        for axis, picture in zip(axes[:, column], pair):
            _picture(axis, picture, vmin=float(pair[0].min()), vmax=float(pair[0].max()))
            rows, columns = picture.shape
            axis.set_xticks([n - 0.5 for n in range(cut, columns, cut)], minor=True)
            axis.set_yticks([n - 0.5 for n in range(cut, rows, cut)], minor=True)
            axis.grid(which="minor", axis="both", color=COLOURS["sky"], linewidth=0.5)
            axis.tick_params(which="minor", length=0)
        axes[0, column].set_title(name, fontsize=10)
    for axis, row in zip(axes[:, 0], ("as it is", "rearranged")):
        axis.set_ylabel(row, fontsize=10)
    return figure


def whole_model(
    picture: Tensor, answer: Mapping[str, float], *, patch: int, width: int, depth: int
) -> Figure:
    """Draw a ViT with its shapes, from a grey picture (R, L) at the top to the shares of classes.

    `answer` has what the model says of this very picture, each class with its share.
    """
    rows, columns = (side // patch for side in picture.shape)
    count = rows * columns
    shown = [count // 2 + n for n in range(-2, 3)]  # patches from the middle, where something is
    figure, axis = new_figure(width=WIDTH, height=6.0)
    canvas(axis, width=10, top=11.2)
    low, high = float(picture.min()), float(picture.max())
    xs = [1.0, 2.1, 3.2, 4.3, 5.4, 6.5]  # the class token, and the five patches that are shown

    def shape(y: float, text: str) -> None:
        axis.text(7.35, y, text, va="center", fontsize=10)

    def picture_at(x: float, y: float, side: float, pixels: Tensor) -> None:
        extent = (x - side / 2, x + side / 2, y - side / 2, y + side / 2)
        axis.imshow(
            pixels, cmap="gray", vmin=low, vmax=high, extent=extent, aspect="auto", zorder=3
        )

    picture_at(4.3, 10.1, 2.0, picture)
    for cut in range(1, columns):
        at = 3.3 + 2.0 * cut / columns
        axis.plot([at, at], [9.1, 11.1], color=COLOURS["sky"], linewidth=0.6, zorder=4)
    for cut in range(1, rows):
        at = 9.1 + 2.0 * cut / rows
        axis.plot([3.3, 5.3], [at, at], color=COLOURS["sky"], linewidth=0.6, zorder=4)
    shape(10.1, f"picture\n(1, {picture.shape[0]}, {picture.shape[1]})")
    line(axis, [(4.3, 9.05), (4.3, 8.65)], arrow=True)
    shape(8.2, f"{count} patches as rows\n({count}, {patch * patch})")
    shape(6.7, f"times E, class token,\nplus positions\n({1 + count}, {width})")
    for x, number in zip(xs[1:], shown):
        top, left = number // columns * patch, number % columns * patch
        picture_at(x, 8.2, 0.8, picture[top : top + patch, left : left + patch])
        line(axis, [(x, 7.75), (x, 7.2)], arrow=True)
        box(axis, x, 6.9, "", width=0.8, height=0.5, colour=COLOURS["sky"])
        axis.text(x, 6.35, f"+ p{number + 1}", ha="center", va="center", fontsize=9)
        line(axis, [(x, 6.1), (x, 5.75)], arrow=True)
    axis.text(4.85, 7.5, "E", ha="center", va="center", fontsize=11)
    box(axis, xs[0], 6.9, "class", width=0.95, height=0.5, colour=COLOURS["orange"], size=9)
    axis.text(xs[0], 6.35, "+ p0", ha="center", va="center", fontsize=9)
    line(axis, [(xs[0], 6.1), (xs[0], 5.75)], arrow=True)
    box(axis, 3.75, 4.75, "", width=6.7, height=1.9, colour=(COLOURS["grey"], 0.25))
    for y, text in ((5.2, "LN, attention: each sees all;  + what came in"),
                    (4.3, "LN, feed-forward, each alone;  + what came in")):  # fmt: skip
        box(axis, 3.75, y, text, width=6.3, height=0.7, colour="white", size=9)
    shape(4.75, f"{depth} blocks, then LN\n({1 + count}, {width})")
    for x in xs:
        line(axis, [(x, 3.8), (x, 3.4)], arrow=True)
        colour = COLOURS["orange"] if x == xs[0] else "white"
        box(axis, x, 3.15, "", width=0.8, height=0.4, colour=colour, edge="black")
    axis.text(3.9, 2.75, "these are not read", fontsize=9, va="center")
    line(axis, [(xs[0], 2.9), (xs[0], 2.45)], arrow=True)
    box(axis, xs[0], 2.2, "head", width=0.95, height=0.5, colour=COLOURS["green"], size=9)
    line(axis, [(xs[0] + 0.5, 2.2), (2.3, 2.2)], arrow=True)
    shape(3.15, f"row 0: ({width},)")
    shape(1.3, f"a share for each class\n({len(answer)},)")
    best = sorted(answer, key=lambda name: -answer[name])[:4]
    for place, name in enumerate(best):
        y = 2.2 - 0.55 * place
        axis.barh(y, 2.2 * answer[name], left=4.4, height=0.38, color=COLOURS["blue"], zorder=3)
        axis.text(4.3, y, name, ha="right", va="center", fontsize=9)
        axis.text(
            4.5 + 2.2 * answer[name], y, f"{100 * answer[name]:.0f}%", va="center", fontsize=9
        )
    return figure


def reading_order(grid: tuple[int, int], pixels: int) -> Figure:
    """Draw a small picture's numbers on the left and the rows that `patchify` makes on the right.

    The picture has `grid` pixels of one channel, numbered row by row; patches have `pixels` a side
    and a colour each.
    """
    import torch

    from coursekit.models.patches import patchify

    rows, columns = grid
    number = torch.arange(rows * columns).view(rows, columns)
    cut = patchify(number[None, None].float(), pixels)[0].long()  # (N, P·P)
    shades = (COLOURS["sky"], COLOURS["orange"], COLOURS["green"], COLOURS["purple"])
    home = {int(n): patch for patch, row in enumerate(cut) for n in row}
    figure, (left, right) = new_figure(1, 2, width=WIDTH, height=2.6)
    for axis, table, title in ((left, number, "the picture"), (right, cut, "its patches")):
        for r, row in enumerate(table.tolist()):
            for c, n in enumerate(row):
                colour = shades[home[n] % len(shades)]
                axis.barh(r, 1, left=c, height=1, color=colour, edgecolor="white")
                axis.text(c + 0.5, r, str(n), ha="center", va="center", fontsize=11)
        axis.set(title=title, xlim=(0, table.shape[1]), ylim=(len(table) - 0.5, -0.5))
        axis.set_axis_off()
        axis.set_aspect("equal")
    return figure


def by_pictures(
    lines: Mapping[str, Mapping[int, Sequence[float]]], *, ylabel: str = "test pictures right (%)"
) -> Figure:
    """Draw a line for each model: its mean over seeds by the number of pictures, a mark a seed.

    `lines` maps a name to {pictures: one share a seed}; shares are drawn in %, the axis of pictures
    is logarithmic.
    """
    from matplotlib.ticker import FixedLocator, NullLocator

    figure, axis = new_figure(width=WIDTH, height=3.9)
    _means_and_seeds(axis, lines)
    sizes = sorted({size for line in lines.values() for size in line})
    axis.set(xscale="log", xlabel="training pictures", ylabel=ylabel)
    axis.xaxis.set_major_locator(FixedLocator(sizes))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_formatter("{x:,.0f}")
    legend_below(figure)
    return figure


def by_operations(lines: Mapping[str, Mapping[float, Sequence[float]]]) -> Figure:
    """Draw accuracy by the operations of a whole training, in 10^12, on a logarithmic axis.

    `lines` maps a name to {operations: one share a seed}.
    """
    from matplotlib.ticker import NullLocator

    figure, axis = new_figure(width=WIDTH, height=3.9)
    _means_and_seeds(axis, lines)
    axis.set(xscale="log", xlabel="operations of the training (10¹²)",
             ylabel="test pictures right (%)")  # fmt: skip
    axis.set_xticks([0.25, 0.5, 1, 2, 4], ["0.25", "0.5", "1", "2", "4"])
    axis.xaxis.set_minor_locator(NullLocator())
    legend_below(figure)
    return figure


def _means_and_seeds(axis: Any, lines: Mapping[str, Mapping[Number, Sequence[float]]]) -> None:
    """Draw a line through the means of each name, and a mark for each seed, shares in %."""
    for (name, points), look, mark in zip(lines.items(), LINES, MARKS, strict=False):
        at = sorted(points)
        axis.plot(at, [100 * mean(points[x]) for x in at], **look)
        axis.plot([], [], label=name, marker=mark, ms=5, mfc="none", **look)  # for the legend
        for x in at:
            axis.plot([x] * len(points[x]), [100 * share for share in points[x]], mark, ms=5,
                      mfc="none", mec=look["color"])  # fmt: skip


def filters(components: Tensor, shares: Tensor) -> Figure:
    """Draw the principal components of the patch filters (count, P, P), each with its share in %.

    All have one scale, symmetric about 0.
    """
    figure, axes = panel_grid(len(components), 7, each=0.98)
    most = float(components.abs().max())
    for axis, one, share in zip(axes, components, shares):
        _picture(axis, one, cmap="RdBu_r", vmin=-most, vmax=most)
        axis.set_title(f"{100 * float(share):.1f}%", fontsize=10, pad=3)
    return figure


def place_maps(maps: Tensor) -> Figure:
    """Draw the similarity of places (h, w, h, w): in row r and column c the map of that patch."""
    height, columns = maps.shape[:2]
    figure, axes = new_figure(height, columns, width=WIDTH, height=5.6, squeeze=False)
    for row in range(height):
        for column in range(columns):
            axis = axes[row, column]
            shown = _picture(axis, maps[row, column], cmap="viridis", vmin=-1, vmax=1)
    figure.set_layout_engine("constrained", w_pad=0.01, h_pad=0.01)
    bar = figure.colorbar(
        shown, ax=axes, orientation="horizontal", shrink=0.7, aspect=30,
        label="cosine of two positions",
    )  # fmt: skip
    bar.set_ticks([-1, 0, 1])
    figure.supylabel("row of the patch", fontsize=11)
    figure.suptitle("column of the patch", fontsize=11)
    return figure


def distances(layers: Sequence[Sequence[float]], even: float, *, fresh: Any = ()) -> Figure:
    """Draw how far each head looks, in pixels, by layer; dotted: attention to all patches alike.

    `fresh` are the distances in a model that was not trained, drawn as crosses.
    """
    figure, axis = new_figure(width=WIDTH, height=3.6)
    for depth, heads in enumerate(layers, start=1):
        axis.plot([depth] * len(heads), heads, "o", ms=7, mfc="none", mew=1.5,
                  mec=COLOURS["blue"], label="" if depth > 1 else "a head")  # fmt: skip
    for depth, heads in enumerate(fresh, start=1):
        axis.plot([depth + 0.12] * len(heads), heads, "x", ms=6, color=COLOURS["grey"],
                  label="" if depth > 1 else "before the training")  # fmt: skip
    axis.axhline(even, color=COLOURS["black"], linestyle=(0, (1, 2)), label="all patches alike")
    axis.xaxis.get_major_locator().set_params(integer=True)
    most = max(even, *(one for heads in (*layers, *fresh) for one in heads))
    axis.set(xlabel="layer", ylabel="mean distance (pixels)", ylim=(0, 1.1 * most))
    axis.set_xlim(0.6, len(layers) + 0.4)
    legend_below(figure)
    return figure


def looks(pictures: Tensor, maps: Sequence[tuple[str, Tensor]], titles: Sequence[str]) -> Figure:
    """Draw pictures (K, R, L), and below each the maps (K, h, w) that are given with a name.

    All maps of a row have one scale, from 0.
    """
    rows = 1 + len(maps)
    figure, axes = new_figure(rows, len(pictures), width=WIDTH, height=1.2 * rows, squeeze=False)
    for axis, picture, title in zip(axes[0], pictures, titles, strict=True):
        _picture(axis, picture)
        axis.set_title(title, fontsize=10)
    for row, (name, table) in zip(axes[1:], maps):
        for axis, one in zip(row, table, strict=True):
            _picture(axis, one, cmap="viridis", vmin=0, vmax=float(table.max()))
        row[0].set_ylabel(name, fontsize=10)
    return figure


def _picture(axis: Any, picture: Tensor, *, cmap: str = "gray", **options: Any) -> Any:
    """Draw an array of numbers without ticks."""
    shown = axis.imshow(picture, cmap=cmap, **options)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.grid(visible=False)
    return shown
