"""The pictures of "Attention in images": canvases, receptive fields, looks, lines over steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from coursekit.figures import COLOURS, LINES, WIDTH, new_figure
from coursekit.figures.curves import legend_below, name_rows
from coursekit.figures.diagram import box, canvas, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def game(real: Tensor, painted: Tensor, numbers: tuple[float, float]) -> Figure:
    """Draw a generative adversarial network, with the canvases (R, L) and losses of an example.

    `numbers` are D(x) and D(G(z)). Full lines go forward; dashed ones are the two gradients.
    """
    figure, axis = new_figure(width=WIDTH, height=4.4)
    canvas(axis, width=10, bottom=0.3, top=8.6)
    blue, orange = COLOURS["blue"], COLOURS["vermilion"]
    first, second = numbers
    asked, wanted = max(0.0, 1 - first) + max(0.0, 1 + second), -second

    noise = torch.randn(2, 12, generator=torch.Generator().manual_seed(1))
    _picture_at(axis, 1.75, 8.1, noise, width=1.8, height=0.5, vmin=-2, vmax=2)
    axis.text(2.8, 8.1, "noise $z$:\n(B, 2, 32)", fontsize=9.7, va="center")
    box(axis, 1.75, 6.3, "generator $G$,\nwith attention", width=3.0, height=1.0,
        colour=(COLOURS["orange"], 0.5), size=10)  # fmt: skip
    _picture_at(axis, 1.75, 4.1, painted, width=3.0, height=1.0)
    axis.text(0.2, 3.25, "painted: (B, 1, 8, 24)", fontsize=9.7, va="center")
    _picture_at(axis, 5.6, 7.1, real, width=3.0, height=1.0)
    axis.text(7.25, 7.1, "real:\n(B, 1, 8, 24)", fontsize=9.7, va="center")
    box(axis, 5.6, 4.1, "discriminator $D$", width=2.9, height=1.0,
        colour=(COLOURS["sky"], 0.45), size=10)  # fmt: skip
    label = f"$D(x) = {first:g}$\n$D(G(z)) = {second:g}$"
    box(axis, 8.75, 4.1, label, width=2.35, height=1.3, colour="white", size=9.7)
    for points in ([(1.75, 7.8), (1.75, 6.85)], [(1.45, 5.75), (1.45, 4.65)],
                   [(3.3, 4.3), (4.1, 4.3)], [(5.6, 6.55), (5.6, 4.65)],
                   [(7.1, 4.3), (7.55, 4.3)]):  # fmt: skip
        line(axis, points, arrow=True)

    box(axis, 6.3, 2.1, f"$L_D = {asked:g}$", width=2.3, height=0.75, colour="white", edge=blue,
        size=10)  # fmt: skip
    box(axis, 8.9, 2.1, f"$L_G = {wanted:g}$", width=2.0, height=0.75, colour="white",
        edge=orange, size=10)  # fmt: skip
    line(axis, [(8.0, 3.4), (8.0, 2.9), (6.9, 2.9), (6.9, 2.55)], arrow=True)
    line(axis, [(8.9, 3.4), (8.9, 2.55)], arrow=True)
    _dashed(axis, [(5.7, 2.55), (5.7, 3.55)], blue)
    _dashed(axis, [(9.3, 2.55), (9.3, 3.4)], orange)
    for points in ([(7.55, 3.85), (7.1, 3.85)], [(4.1, 3.85), (3.3, 3.85)],
                   [(2.1, 4.65), (2.1, 5.75)]):  # fmt: skip
        _dashed(axis, points, orange)
    axis.text(0.2, 1.1, "dashed blue: the gradient of $L_D$ changes $D$ only", fontsize=9.7,
              color=blue)  # fmt: skip
    axis.text(0.2, 0.5, "dashed orange: that of $L_G$ runs through $D$, changes $G$ only",
              fontsize=9.7, color=orange)  # fmt: skip
    return figure


def _picture_at(
    axis: Axes, x: float, y: float, pixels: Tensor, *, width: float, height: float,
    vmin: float = -1, vmax: float = 1,
) -> None:  # fmt: skip
    """Put grey pixels (R, L) on a sheet, (x, y) in their middle, with a thin frame."""
    half, tall = width / 2, height / 2
    extent = (x - half, x + half, y - tall, y + tall)
    axis.imshow(pixels, cmap="gray_r", vmin=vmin, vmax=vmax, extent=extent, aspect="auto",
                zorder=3)  # fmt: skip
    left, right, low, high = extent
    frame = [(left, low), (right, low), (right, high), (left, high), (left, low)]
    axis.plot(*zip(*frame), color=COLOURS["grey"], linewidth=0.8, zorder=4)


def _dashed(axis: Axes, points: Sequence[tuple[float, float]], colour: str) -> None:
    """Draw the way of a gradient, with a head at its end."""
    head = {"arrowstyle": "-|>", "color": colour, "linestyle": (0, (3, 2)), "linewidth": 1.5}
    axis.annotate("", points[-1], points[0], arrowprops={**head, "shrinkA": 0, "shrinkB": 0})


def drawn_module(looks: Tensor, place: tuple[int, int], *, channels: int) -> Figure:
    """Draw SAGAN's attention with its shapes, from a map x to the map y.

    `looks` (r, l) are the weights with which one place (row, column) looks at all of them.
    """
    figure, axis = new_figure(width=WIDTH, height=5.4)
    canvas(axis, width=10, top=10.6)
    plain, learned = (COLOURS["grey"], 0.25), (COLOURS["sky"], 0.5)
    rows, columns = looks.shape
    N, narrow = rows * columns, channels // 8

    def grid(x: float, y: float, values: Tensor) -> None:
        _picture_at(axis, x, y, values, width=2.7, height=0.9, vmin=0, vmax=1)
        for step in range(1, columns):
            at = x - 1.35 + 2.7 * step / columns
            axis.plot([at, at], [y - 0.45, y + 0.45], color="#CCCCCC", linewidth=0.5, zorder=4)
        for step in range(1, rows):
            at = y - 0.45 + 0.9 * step / rows
            axis.plot([x - 1.35, x + 1.35], [at, at], color="#CCCCCC", linewidth=0.5, zorder=4)
        row, column = place
        axis.plot(x - 1.35 + 2.7 * (column + 0.5) / columns, y + 0.45 - 0.9 * (row + 0.5) / rows,
                  marker="s", color=COLOURS["vermilion"], markersize=6, fillstyle="none",
                  markeredgewidth=1.8, zorder=5)  # fmt: skip

    grid(5.0, 9.9, torch.zeros(rows, columns))
    axis.text(6.6, 9.9, f"map $x$: $N$ = {N} places,\n$C$ = {channels} channels each",
              fontsize=9.7, va="center")  # fmt: skip
    for x, text, kind in ((1.85, "$W_g$", "queries $g$"), (5.0, "$W_f$", "keys $f$"),
                          (8.3, "$W_h$", "values $h$")):  # fmt: skip
        line(axis, [(5.0, 9.4), (5.0, 9.0), (x, 9.0), (x, 8.55)], arrow=True)
        box(axis, x, 8.15, f"times {text}", width=2.4, height=0.75, colour=learned, size=10)
        axis.text(x, 7.5, f"{kind}: ({N}, {narrow})", ha="center", va="center", fontsize=9.7)
        line(axis, [(x, 7.2), (x, 6.75 if x < 8 else 3.75)], arrow=False)
    line(axis, [(1.85, 6.75), (3.4, 6.75), (3.4, 6.3)], arrow=True)
    line(axis, [(5.0, 6.75), (3.4, 6.75)])
    box(axis, 3.4, 5.9, "products, softmax", width=3.4, height=0.75, colour=plain, size=10)
    axis.text(0.65, 5.23, f"weights β: ({N}, {N}); row $j$, as a map:", fontsize=9.7, va="center")
    grid(3.4, 4.45, looks)
    line(axis, [(3.4, 3.95), (3.4, 3.4)], arrow=True)
    line(axis, [(8.3, 3.75), (8.3, 2.95), (5.7, 2.95)], arrow=True)
    box(axis, 3.4, 2.95, f"weighted sum: ({N}, {narrow})", width=4.6, height=0.75, colour=plain,
        size=10)  # fmt: skip
    line(axis, [(3.4, 2.55), (3.4, 2.1)], arrow=True)
    box(axis, 3.4, 1.7, f"times $W_v$, times γ: ({N}, {channels})", width=4.6, height=0.75,
        colour=learned, size=10)  # fmt: skip
    line(axis, [(3.4, 1.3), (3.4, 0.85)], arrow=True)
    box(axis, 3.4, 0.5, "+", width=0.7, height=0.65, colour="white", size=11)
    line(axis, [(3.6, 9.9), (0.2, 9.9), (0.2, 0.5), (3.0, 0.5)], arrow=True,
         colour=COLOURS["orange"])  # fmt: skip
    line(axis, [(3.8, 0.5), (4.7, 0.5)], arrow=True)
    axis.text(4.85, 0.5, "map $y$, as large as $x$", va="center", fontsize=9.7)
    return figure


def networks(columns: Mapping[str, Sequence[tuple[str, str]]], marked: str) -> Figure:
    """Draw networks side by side, from above: under each name its layers and the shapes behind.

    A step is (what is done, the shape then); a first step without a name is what goes in. The box
    that says `marked` has a colour of its own.
    """
    deepest = max(map(len, columns.values()))
    figure, axis = new_figure(width=WIDTH, height=0.78 * deepest + 0.35)
    canvas(axis, width=10, top=deepest + 0.5)
    for number, (name, steps) in enumerate(columns.items()):
        x = (2 * number + 1) * 10 / (2 * len(columns))
        axis.text(x, deepest + 0.25, name, ha="center", va="center", fontsize=10.5, weight="bold")
        for depth, (text, shape) in enumerate(steps):
            y = deepest - 0.2 - depth
            if text:
                colour = (COLOURS["orange"], 0.5) if text == marked else (COLOURS["sky"], 0.4)
                box(axis, x, y + 0.2, text, width=4.6, height=0.44, colour=colour, size=9.7)
            axis.text(x, y - 0.19, shape, ha="center", va="center", fontsize=9.7,
                      color=COLOURS["grey"])  # fmt: skip
            if depth:
                line(axis, [(x, y + 0.66), (x, y + 0.43)], arrow=True)
    return figure


def agreement(
    rows: Mapping[str, Sequence[tuple[float, float]]], *, xlabel: str = "% of the canvases"
) -> Figure:
    """Draw for each seed of each row how often ends are alike, and would be by chance, 0 to 1."""
    figure, axis = new_figure(width=WIDTH, height=0.7 * len(rows) + 1.1)
    for at, pairs in enumerate(rows.values()):
        for seed, (alike, chance) in enumerate(pairs):
            y = at + 0.3 * (seed - (len(pairs) - 1) / 2)
            first = at == seed == 0
            axis.plot([100 * chance, 100 * alike], [y, y], color=COLOURS["blue"], linewidth=2.2)
            axis.plot(100 * chance, y, "o", mfc="white", mec=COLOURS["vermilion"], mew=1.8,
                      markersize=10, label="by chance, with the painted kinds" if first else "",
                      linestyle="none")  # fmt: skip
            axis.plot(100 * alike, y, "o", color=COLOURS["blue"], markersize=6,
                      label="both ends alike" if first else "", linestyle="none")  # fmt: skip
    name_rows(axis, rows)
    axis.set_xlim(0, 104)
    axis.set_xlabel(xlabel, fontsize=10)
    axis.tick_params(labelsize=10)
    legend_below(figure)
    return figure


def _frame(axis: Axes) -> None:
    """Put a thin frame around a picture, and nothing else."""
    axis.grid(False)
    axis.set(xticks=[], yticks=[])
    axis.spines[:].set(visible=True, color="#BBBBBB", linewidth=0.8)


def canvas_rows(rows: Mapping[str, Tensor], *, columns: int = 4) -> Figure:
    """Draw canvases (N, R, L), values −1 (white) to 1 (black): under each name one row of them.

    A name may have more than `columns` of them; then they fill several rows.
    """
    parts = {name: some.split(columns) for name, some in rows.items()}
    lines = sum(map(len, parts.values()))
    tall = [2 if n == 0 else 1 for part in parts.values() for n, _ in enumerate(part)]
    figure, axes = new_figure(
        lines, columns, width=WIDTH, height=0.5 * sum(tall) + 0.1, squeeze=False,
        gridspec_kw={"height_ratios": [1] * lines},
    )  # fmt: skip
    line = 0
    for name, part in parts.items():
        for number, some in enumerate(part):
            for axis in axes[line, len(some) :]:
                axis.set_visible(False)
            for axis, painted in zip(axes[line], some, strict=False):
                axis.imshow(painted, cmap="gray_r", vmin=-1, vmax=1, aspect="equal")
                _frame(axis)
            if number == 0:
                axes[line, 0].set_title(" ", fontsize=10)  # the room; a long name must not widen
                words = axes[line, 0].text(0, 1.08, name, fontsize=10, va="bottom",
                                           transform=axes[line, 0].transAxes)  # fmt: skip
                words.set_in_layout(False)
            line += 1
    return figure


def fields(seen: Mapping[str, tuple[Tensor, tuple[int, int]]]) -> Figure:
    """Draw what a place (row, column) sees: under each name the pixels, bool (R, L)."""
    figure, axes = new_figure(
        len(seen), 1, width=WIDTH, height=0.35 + 1.5 * len(seen), squeeze=False
    )
    for axis, (name, (mask, (row, column))) in zip(axes[:, 0], seen.items(), strict=True):
        R, L = mask.shape
        axis.pcolormesh(torch.arange(L + 1) - 0.5, torch.arange(R + 1) - 0.5, mask.float(), vmin=0,
                        cmap="Blues", vmax=1.6, edgecolors="white", linewidth=0.6)  # fmt: skip
        axis.plot([column], [row], marker="o", color=COLOURS["vermilion"], markersize=7)
        axis.set_aspect("equal")
        axis.invert_yaxis()
        axis.grid(False)
        axis.set_title(name, loc="left", fontsize=10)
        axis.set_yticks([])
        axis.tick_params(labelsize=10)
    axes[-1, 0].set_xlabel("column", fontsize=10)
    return figure


def where_it_looks(
    canvas: Tensor, looks: Mapping[str, tuple[tuple[int, int], Tensor]], *, scale: int = 2
) -> Figure:
    """Draw a canvas (R, L), and for each name a place of the coarse map and its weights (r, l).

    A place (row, column) of the coarse map is `scale` pixels wide. All panels have one scale, from
    0 (white) to the largest weight of all.
    """
    figure, axes = new_figure(
        len(looks), 2, width=WIDTH, height=0.65 + 1.05 * len(looks), squeeze=False
    )
    top = max(weights.max().item() for _, weights in looks.values())
    middle = (scale - 1) / 2
    for pair, (name, ((row, column), weights)) in zip(axes, looks.items(), strict=True):
        pair[0].imshow(canvas, cmap="gray_r", vmin=-1, vmax=1)
        shades = pair[1].imshow(100 * weights, cmap="Blues", vmin=0, vmax=100 * top)
        pair[0].plot([scale * column + middle], [scale * row + middle], marker="s",
                     color=COLOURS["vermilion"], markersize=7)  # fmt: skip
        pair[1].plot([column], [row], marker="s", color=COLOURS["vermilion"], markersize=7,
                     fillstyle="none", markeredgewidth=2)  # fmt: skip
        for axis in pair:
            _frame(axis)
        pair[0].set_title(name, loc="left", fontsize=10)
    bar = figure.colorbar(
        shades, ax=axes[:, 1], label="weight (%)", location="bottom", aspect=25, pad=0.02
    )
    bar.ax.tick_params(labelsize=10)
    return figure


def over_steps(
    panels: Mapping[str, Mapping[str, Sequence[Sequence[Mapping[str, float]]]]],
    *,
    floors: Mapping[str, float] | None = None,
) -> Figure:
    """Draw one panel below the other, under each name the lines of arms over the steps.

    A panel maps an arm to the curves of its seeds; a curve has rows with "step" and "value". Arms
    have the same look in all panels, which begin at 0 or below. `floors` has a dotted height for
    some panels.
    """
    figure, axes = new_figure(
        len(panels), 1, width=WIDTH, height=0.8 + 1.75 * len(panels), squeeze=False, sharex=True
    )
    arms = dict.fromkeys(arm for panel in panels.values() for arm in panel)
    looks = dict(zip(arms, LINES, strict=False))
    if len(arms) > len(LINES):
        raise ValueError(f"at most {len(LINES)} arms can be told apart, found {len(arms)}")
    for axis, (name, panel) in zip(axes[:, 0], panels.items(), strict=True):
        for arm, seeds in panel.items():
            for number, rows in enumerate(seeds):
                axis.plot([row["step"] for row in rows], [row["value"] for row in rows],
                          label=None if number else arm, **looks[arm])  # fmt: skip
        if floors is not None and name in floors:
            axis.axhline(floors[name], color=COLOURS["grey"], linestyle=(0, (1, 2)))
        axis.set_title(name, loc="left", fontsize=10)
        axis.set_ylim(bottom=min(0.0, axis.get_ylim()[0]))
        axis.tick_params(labelsize=10)
    axes[-1, 0].set_xlabel("step", fontsize=10)
    named = [axis for axis in axes[:, 0] if len(axis.get_legend_handles_labels()[0]) > 1]
    handles = {h.get_label(): h for axis in named for h in axis.get_legend_handles_labels()[0]}
    if handles:  # a panel with one line says in its title what it is
        legend_below(figure, *handles.values())
    return figure


def by_count(lines: Mapping[str, tuple[Sequence[int], Sequence[float]]], *, ylabel: str) -> Figure:
    """Draw distances over the number of pictures, both axes logarithmic: counts and values."""
    figure, axis = new_figure(width=WIDTH, height=3.0)
    for (name, (counts, values)), look in zip(lines.items(), LINES, strict=False):
        axis.plot(counts, values, marker="o", label=name, **look)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("pictures in each set", fontsize=10)
    axis.set_ylabel(ylabel, fontsize=10)
    axis.tick_params(labelsize=10)
    legend_below(figure)
    return figure
