"""Pictures of many runs that differ in their seed: how far apart they end, what the best is worth.

Shares come in as numbers from 0 to 1, and are drawn in %. All pictures are 5.4 inches wide, so that
their words can be read on a telephone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from coursekit.figures import COLOURS, LINES, WIDTH, new_figure
from coursekit.figures.curves import legend_below, rows_of_seeds

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def seed_rows(
    panels: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    xlabel: str,
    ylabel: str = "",
    sharex: bool = False,
) -> Figure:
    """Draw a row for each way of training, with a dot for each seed and a bar at their mean.

    `panels` maps a title to its rows, and each row to one share a seed. Each panel has a range of
    its own, unless its shares are to be compared with those of the others (`sharex`).
    """
    rows = list(next(iter(panels.values())))
    height = len(panels) * (0.3 * len(rows) + 1.0) + 0.3
    figure, axes = new_figure(
        len(panels), 1, width=WIDTH, height=height, squeeze=False, sharex=sharex
    )
    for axis, (title, values) in zip(axes[:, 0], panels.items()):
        rows_of_seeds(axis, {name: [100 * value for value in values[name]] for name in rows})
        axis.set_title(title, loc="left")
        axis.set_xlabel(xlabel)
    if ylabel:
        figure.supylabel(ylabel, fontsize=11)
    legend_below(figure)
    return figure


def best_of(curves: Mapping[str, Sequence[float]], *, ylabel: str) -> Figure:
    """Draw what may be expected of the best of 1, 2, … runs, a line for each recipe."""
    figure, axis = new_figure(width=WIDTH, height=3.4)
    for (label, scores), look in zip(curves.items(), LINES, strict=False):
        axis.plot(range(1, len(scores) + 1), [100 * share for share in scores], label=label,
                  marker="o", ms=3.5, **look)  # fmt: skip
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set(xlabel="runs, of which the best is kept", ylabel=ylabel)
    legend_below(figure)
    return figure


def stopped(
    curves: Sequence[Sequence[float]], lasted: Sequence[int], best: int, *, ylabel: str
) -> Figure:
    """Draw validation scores of all runs, part by part, each as long as it lasted.

    What to show comes from `stop_early`: how many parts each run was given, and which one is kept.
    """
    figure, axis = new_figure(width=WIDTH, height=3.4)
    for run, (curve, parts) in enumerate(zip(curves, lasted, strict=True)):
        shares = [100 * share for share in curve[:parts]]
        look = {"color": COLOURS["grey"], "linewidth": 0.9, "ms": 3}
        if run == best:
            look = {"color": COLOURS["vermilion"], "linewidth": 2.6, "ms": 5, "zorder": 3,
                    "label": "the run that is kept"}  # fmt: skip
        axis.plot(range(1, parts + 1), shares, marker="o", **look)
    axis.set_xticks(range(1, len(curves[0]) + 1))
    axis.set(xlabel="parts of the training", ylabel=ylabel)
    legend_below(figure)
    return figure
