"""The pictures of "Attention in images": canvases, receptive fields, looks, lines over steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from coursekit.figures import COLOURS, LINES, WIDTH, new_figure
from coursekit.figures.curves import legend_below

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
            for axis, canvas in zip(axes[line], some, strict=False):
                axis.imshow(canvas, cmap="gray_r", vmin=-1, vmax=1, aspect="equal")
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
