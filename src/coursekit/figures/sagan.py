"""The pictures of "Attention in images": canvases, receptive fields, looks, lines over steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from coursekit.figures import COLOURS, LINES, WIDTH, new_figure
from coursekit.figures.curves import legend_below
from coursekit.figures.diagram import box, canvas, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def game() -> Figure:
    """Draw a generative adversarial network: what goes where, and which gradient changes what."""
    figure, axis = new_figure(width=WIDTH, height=3.9)
    canvas(axis, width=10, top=7.2)
    blue, orange = COLOURS["blue"], COLOURS["orange"]
    box(
        axis,
        1.3,
        6.6,
        "noise z (B, Z)",
        width=2.4,
        height=0.75,
        colour=(COLOURS["grey"], 0.25),
        size=9,
    )
    box(axis, 1.3, 4.9, "generator G", width=2.4, height=0.9, colour=(orange, 0.5), size=10)
    box(axis, 1.3, 3.1, "painted\n(B, 1, 8, 24)", width=2.4, height=1.0, colour="white", size=9)
    box(axis, 4.7, 5.6, "real\n(B, 1, 8, 24)", width=2.4, height=1.0, colour="white", size=9)
    box(axis, 4.7, 3.1, "discriminator D", width=2.6, height=0.9, colour=(blue, 0.35), size=10)
    box(axis, 8.3, 3.1, "D(x), D(G(z))\n(B,)", width=2.5, height=1.0, colour="white", size=9)
    for points in ([(1.3, 6.2), (1.3, 5.4)], [(1.3, 4.4), (1.3, 3.65)], [(2.55, 3.1), (3.35, 3.1)],
                   [(4.7, 5.05), (4.7, 3.6)], [(6.05, 3.1), (7.0, 3.1)]):  # fmt: skip
        line(axis, points, arrow=True)
    line(axis, [(8.3, 2.55), (8.3, 1.7), (4.7, 1.7), (4.7, 2.6)], arrow=True, colour=blue)
    axis.text(6.5, 1.95, "L_D changes D only", ha="center", fontsize=9, color=blue)
    line(axis, [(8.8, 2.55), (8.8, 0.7), (0.05, 0.7), (0.05, 4.9), (0.1, 4.9)], colour=orange)
    line(axis, [(0.0, 4.9), (0.15, 4.9)], arrow=True, colour=orange)
    axis.text(5.0, 0.2, "L_G: back through D into G, changes G only", ha="center", fontsize=9)
    return figure


def drawn_module() -> Figure:
    """Draw SAGAN's attention with its shapes, from a map x to the map y."""
    figure, axis = new_figure(width=WIDTH, height=4.6)
    canvas(axis, width=10, top=9)
    plain, learned = (COLOURS["grey"], 0.25), (COLOURS["sky"], 0.5)
    box(
        axis,
        5.0,
        8.5,
        "map x: C channels at N places",
        width=5.0,
        height=0.75,
        colour=plain,
        size=10,
    )
    for x, text, kind in ((1.7, "f = W_f x", "keys"), (5.0, "g = W_g x", "queries"),
                          (8.3, "h = W_h x", "values")):  # fmt: skip
        line(axis, [(5.0, 8.1), (5.0, 7.75), (x, 7.75), (x, 7.3)], arrow=True)
        box(axis, x, 6.9, text, width=2.5, height=0.75, colour=learned, size=10)
        axis.text(x, 6.25, f"{kind} (N, C/8)", ha="center", fontsize=9)
    for x in (1.7, 5.0):
        line(axis, [(x, 6.05), (x, 5.6), (3.35, 5.6), (3.35, 5.3)], arrow=x == 1.7)
    box(axis, 3.35, 4.9, "products, softmax", width=3.4, height=0.75, colour=plain, size=10)
    axis.text(3.35, 4.25, "β (N, N): each row sums to 1", ha="center", fontsize=9)
    line(axis, [(3.35, 4.05), (3.35, 3.65), (5.6, 3.65), (5.6, 3.4)], arrow=True)
    line(axis, [(8.3, 6.05), (8.3, 3.65), (6.2, 3.65), (6.2, 3.4)], arrow=True)
    box(axis, 5.9, 3.0, "weighted sum (N, C/8)", width=3.8, height=0.75, colour=plain, size=10)
    line(axis, [(5.9, 2.6), (5.9, 2.15)], arrow=True)
    box(
        axis,
        5.9,
        1.75,
        "times W_v, times γ (N, C)",
        width=3.8,
        height=0.75,
        colour=learned,
        size=10,
    )
    line(axis, [(5.9, 1.35), (5.9, 0.85)], arrow=True)
    box(axis, 5.9, 0.5, "+", width=0.7, height=0.6, colour="white", size=11)
    line(
        axis,
        [(2.5, 8.5), (0.15, 8.5), (0.15, 0.5), (5.5, 0.5)],
        arrow=True,
        colour=COLOURS["orange"],
    )
    line(axis, [(6.3, 0.5), (7.0, 0.5)], arrow=True)
    axis.text(7.1, 0.5, "map y, as large as x", va="center", fontsize=9)
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

    A place (row, column) of the coarse map is `scale` pixels wide. Each panel has a scale of its
    own, from 0 (white) to its largest weight.
    """
    figure, axes = new_figure(
        len(looks), 2, width=WIDTH, height=0.2 + 1.05 * len(looks), squeeze=False
    )
    for pair, (name, ((row, column), weights)) in zip(axes, looks.items(), strict=True):
        middle = (scale - 1) / 2
        pair[0].imshow(canvas, cmap="gray_r", vmin=-1, vmax=1)
        pair[1].imshow(weights, cmap="Blues", vmin=0)
        pair[0].plot([scale * column + middle], [scale * row + middle], marker="s",
                     color=COLOURS["vermilion"], markersize=7)  # fmt: skip
        pair[1].plot([column], [row], marker="s", color=COLOURS["vermilion"], markersize=7,
                     fillstyle="none", markeredgewidth=2)  # fmt: skip
        for axis in pair:
            _frame(axis)
        pair[0].set_title(name, loc="left", fontsize=10)
    return figure


def over_steps(
    panels: Mapping[str, Mapping[str, Sequence[Sequence[Mapping[str, float]]]]],
    *,
    floors: Mapping[str, float] | None = None,
) -> Figure:
    """Draw one panel below the other, under each name the lines of arms over the steps.

    A panel maps an arm to the curves of its seeds; a curve has rows with "step" and "value". Arms
    have the same look in all panels. `floors` has a dotted height for some panels.
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
        if name in (floors or {}):
            axis.axhline(floors[name], color=COLOURS["grey"], linestyle=(0, (1, 2)))
        axis.set_title(name, loc="left", fontsize=10)
        axis.tick_params(labelsize=10)
    axes[-1, 0].set_xlabel("step", fontsize=10)
    handles = {h.get_label(): h for axis in axes[:, 0] for h in axis.get_legend_handles_labels()[0]}
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
