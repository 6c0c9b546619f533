"""The pictures of "GPT" on scale: loss over compute with its law, and the ladder to today's block.

Both are 5.4 inches wide and stack what others put side by side, so that their words can be read on
a telephone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING

from coursekit.figures import COLOURS, WIDTH, new_figure
from coursekit.figures.curves import legend_below, name_rows, rows_of_seeds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from coursekit.analysis.laws import Frontier, Interval, PowerLaw

Curve = Sequence[tuple[float, float]]  # compute and loss, point by point
MARKS = ("o", "s", "D", "^")


def loss_by_compute(
    curves: Mapping[str, Sequence[Curve]],
    edge: Frontier,
    law: PowerLaw,
    interval: Interval,
    *,
    xlabel: str,
    ylabel: str,
) -> Figure:
    """Draw every curve thin, the frontier's points, and the law through them with its interval.

    `curves` maps the name of a size to its runs, from the smallest, drawn lightest, to the largest.
    The band holds the lines of all exponents of the `interval` that pass through the frontier's
    middle. Both axes are logarithmic.
    """
    import torch
    from matplotlib.ticker import FixedLocator, NullLocator

    figure, axis = new_figure(width=WIDTH, height=4.9)
    for number, (name, runs) in enumerate(curves.items()):
        colour = _shade(number, len(curves))
        for seed, run in enumerate(runs):
            x, y = zip(*run)
            axis.plot(x, y, color=colour, linewidth=1, label="" if seed else name, gid="curve")
    axis.plot(edge.compute, edge.loss, "o", ms=3.5, color=COLOURS["black"], label="frontier")
    first, last = edge.compute.min().log(), edge.compute.max().log()
    along = torch.linspace(first, last, 50, dtype=torch.float64)
    u, v = edge.compute.log().mean(), edge.loss.log().mean()
    low, high = ((v + exponent * (along - u)).exp() for exponent in interval)
    axis.fill_between(along.exp(), low, high, color=COLOURS["orange"], alpha=0.35, linewidth=0,
                      label=f"{interval.low:.3f} to {interval.high:.3f}")  # fmt: skip
    axis.plot(along.exp(), law.at(along.exp()), "--", color=COLOURS["vermilion"], linewidth=2,
              label=f"exponent {law.exponent:.3f}")  # fmt: skip
    axis.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    bottom, top = axis.get_ylim()
    step = 0.5 if top / bottom < 3 else 1.0
    ticks = [step * n for n in range(1, 100) if bottom <= step * n <= top]
    axis.yaxis.set_major_locator(FixedLocator(ticks))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_formatter("{x:g}")
    legend_below(figure)
    return figure


def ladder(
    losses: Mapping[str, Sequence[float]],
    times: Mapping[str, Mapping[str, float]] | None = None,
    *,
    xlabel: str,
    first: str,
) -> Figure:
    """Draw a row for each rung: its loss with each seed, and below what it takes in time.

    `losses` maps a rung to one loss a seed; a grey line is at the mean of the first rung. `times`
    maps the name of some work to the time of each rung, the first rung's being 1; without it
    there is one panel. `first` is what the first rung is called there.
    """
    rows = list(losses)
    panels = 2 if times else 1
    height = panels * (0.3 * len(rows) + 1.0) + 0.4 * panels
    figure, axes = new_figure(panels, 1, width=WIDTH, height=height, squeeze=False)
    axis = axes[0, 0]
    axis.axvline(mean(losses[rows[0]]), color=COLOURS["grey"], linewidth=1)
    rows_of_seeds(axis, losses)
    axis.set(xlabel=xlabel)
    colours = [COLOURS[name] for name in ("vermilion", "green", "purple", "sky")]
    for (work, values), mark, colour in zip((times or {}).items(), MARKS, colours, strict=False):
        axes[1, 0].plot([values[name] for name in rows], range(len(rows)), mark, color=colour, ms=6,
                        label=work)  # fmt: skip
    if times:
        axes[1, 0].axvline(1.0, color=COLOURS["grey"], linewidth=1)
        axes[1, 0].set(xlabel=f"time, {first} = 1")
        name_rows(axes[1, 0], rows)
        axes[1, 0].margins(x=0.08)
    handles = [mark for panel in axes[:, 0] for mark in panel.get_legend_handles_labels()[0]]
    legend_below(figure, *handles)
    return figure


def _shade(number: int, count: int) -> str:
    """Return a blue, from light for the first of `count` to dark for the last."""
    from matplotlib.colors import to_hex, to_rgb

    part = number / max(count - 1, 1)
    light, dark = (to_rgb(colour) for colour in ("#9ECBEA", "#08306B"))
    red, green, blue = (a + part * (b - a) for a, b in zip(light, dark))
    return to_hex((red, green, blue))
