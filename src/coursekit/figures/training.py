"""Draw the figures of the chapter "Training practice"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from coursekit.figures import COLOURS, LINES, WIDTH, new_figure
from coursekit.figures.diagram import box, canvas, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PARTS = {"gradient": "size of the gradients", "update": "size of the weight updates"}


def one_step() -> Figure:
    """Draw one training step, from a batch in micro-batches to new weights."""
    figure, axis = new_figure(width=WIDTH, height=4.6)
    canvas(axis, width=10, top=9)
    steps = (
        ("a batch, in micro-batches", "read one after the other", COLOURS["sky"]),
        ("sum of the losses, tokens", "divided once, by all tokens", COLOURS["sky"]),
        ("gradient g", "one number for each weight", COLOURS["grey"]),
        ("clipped: |g| at most c", "one factor for all", COLOURS["orange"]),
        ("means m of g, v of g²", "kept from step to step", COLOURS["orange"]),
        ("m̂ / (√v̂ + ε)", "about 1 in size, whatever g was", COLOURS["orange"]),
        ("times the learning rate", "rises first, then falls", COLOURS["green"]),
        ("new weights", "now and then validated and saved", COLOURS["grey"]),
    )
    for place, (text, about, colour) in enumerate(steps):
        y = 8.5 - 1.13 * place
        box(axis, 2.7, y, text, width=4.9, height=0.72, colour=(colour, 0.45), size=10)
        axis.text(5.5, y, about, fontsize=9, va="center")
        if place:
            line(axis, [(2.7, y + 0.77), (2.7, y + 0.36)], arrow=True)
    return figure


def valley(curvatures: tuple[float, float], paths: Mapping[str, Tensor]) -> Figure:
    """Draw walks (steps + 1, 2) through ½(a x² + b y²), and below how long their steps are."""
    figure, (left, *right) = new_figure(1 + len(paths), 1, width=5.4, height=3.4 * (1 + len(paths)))
    points = torch.cat([*paths.values()])
    reach = 1.15 * float(points.abs().max())
    axis = torch.linspace(-reach, reach, 200)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    height = 0.5 * (curvatures[0] * x**2 + curvatures[1] * y**2)
    levels = [float(height.max()) * 4.0**-k for k in range(9, -1, -1)]
    left.set_ylim(-reach, reach)
    left.contour(x, y, height, levels=levels, colors=COLOURS["grey"], linewidths=0.6)
    for style, mark, (name, path) in zip(LINES, "os^", paths.items()):
        left.plot(*path.T, **style, marker=mark, markersize=3, linewidth=1, label=name)
    left.plot(0, 0, "+", color=COLOURS["black"], markersize=12)
    left.set(xlabel="first weight", ylabel="second weight", aspect="equal")
    left.grid(False)
    for panel, (name, path) in zip(right, paths.items()):
        lengths = path.diff(dim=0).abs()  # (steps, 2)
        for style, column, which in zip(LINES[2:], range(2), ("first", "second")):
            steps = range(1, len(lengths) + 1)
            panel.plot(steps, lengths[:, column], **style, label=f"{which} weight")
        panel.set(title=name, xlabel="step", yscale="log", ylim=(1e-4, 10))
    for panel in right:
        panel.set_ylabel("length of the step")
    right[0].legend(frameon=False, loc="upper right", fontsize=10)
    left.legend(frameon=False, loc="lower right", fontsize=10)
    return figure


def lines(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    x: str,
    y: str,
    logarithmic: str = "",
    marks: Mapping[str, float] | None = None,
    floors: Mapping[str, float] | None = None,
    height: float = 3.2,
) -> Figure:
    """Draw `name -> (places, values)`; `logarithmic` names axes.

    `marks` are places with a name, `floors` heights with a name.
    """
    figure, axes = new_figure(height=height)
    for style, (name, (places, values)) in zip(LINES, curves.items()):
        axes.plot(places, values, **style, label=name, linewidth=1.8)
    axes.set(xlabel=x, ylabel=y)
    if "x" in logarithmic:
        axes.set_xscale("log")
    if "y" in logarithmic:
        axes.set_yscale("log")
    for name, place in (marks or {}).items():
        axes.axvline(place, color=COLOURS["grey"], linestyle=(0, (1, 2)))
        axes.annotate(
            name,
            (place, 1),
            (4, -2),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            va="top",
            color=COLOURS["grey"],
        )
    for name, value in (floors or {}).items():
        axes.axhline(value, color=COLOURS["grey"], linestyle=(0, (1, 2)))
        axes.annotate(
            name,
            (1, value),
            (0, 3),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            ha="right",
            color=COLOURS["grey"],
        )
    axes.legend(frameon=False)
    return figure


def trust(steps: Sequence[int], bands: Tensor, factors: Mapping[str, Sequence[float]]) -> Figure:
    """Draw quantiles (steps, 3) of what Adam multiplies with, and factors of the rate by step."""
    figure, (left, right) = new_figure(1, 2, height=3.3)
    left.fill_between(
        steps,
        bands[:, 0],
        bands[:, 2],
        color=COLOURS["sky"],
        alpha=0.4,
        label="90% of them",
    )
    left.plot(steps, bands[:, 1], color=COLOURS["blue"], label="median")
    left.axhline(1, color=COLOURS["black"], linestyle=":", label="what it should be")
    left.set(xlabel="gradients seen", ylabel="1 / √v̂", xscale="log", yscale="log")
    left.set_yticks([0.5, 1, 2, 5, 10], ["0.5", "1", "2", "5", "10"])
    left.minorticks_off()
    for style, (name, values) in zip(LINES, factors.items()):
        right.plot(range(1, len(values) + 1), values, **style, label=name)
    right.set(xlabel="step", ylabel="factor of the learning rate", ylim=(-0.03, 1.5))
    right.set_yticks([0, 0.25, 0.5, 0.75, 1])
    for panel in (left, right):
        panel.legend(frameon=False, fontsize=10, loc="upper right")
    return figure


def ridges(
    histograms: Mapping[str, Sequence[Mapping[str, Any]]],
    edges: Sequence[float],
    parts: Mapping[str, str] = PARTS,
    *,
    low: float,
    high: float,
) -> Figure:
    """Draw histograms of log10 |value| by step as ridges, one above the other, the first on top.

    `histograms[name]` are rows {"of": step, part: share in each bin}; a panel for each name and
    part. All ridges of a column have one scale.
    """
    figure, axes = new_figure(
        len(histograms), len(parts), height=3.0 * len(histograms), sharex=True, squeeze=False
    )
    edge = torch.tensor(edges)
    middle = ((edge[1:] + edge[:-1]) / 2).tolist()
    for column, (part, label) in enumerate(parts.items()):
        tallest = max(max(row[part]) for rows in histograms.values() for row in rows)
        for axis, (name, rows) in zip(axes[:, column], histograms.items()):
            _ridge(axis, middle, rows, part, tallest)
            axis.set_title(name)
            axis.set_xlim(low, high)
        axes[-1, column].set_xlabel(label)
        ticks = range(int(low) + (int(low) % 2), int(high) + 1, 2)
        axes[-1, column].set_xticks([*ticks], [f"$10^{{{tick}}}$" for tick in ticks])
    for axis in axes[:, 0]:
        axis.set_ylabel("at step")
    return figure


def _ridge(
    axis: Axes,
    middle: Sequence[float],
    rows: Sequence[Mapping[str, Any]],
    part: str,
    tallest: float,
) -> None:
    for place, row in enumerate(rows):
        base = -float(place)
        top = base + 1.6 * torch.tensor(row[part]) / tallest
        late = place / max(len(rows) - 1, 1)
        colour = COLOURS["vermilion"] if late < 0.5 else COLOURS["blue"]
        axis.fill_between(middle, base, top, color=colour, alpha=0.45, zorder=place, linewidth=0)
        axis.plot(middle, top, color=colour, linewidth=1.2, zorder=place + 0.5)
    axis.set_yticks([-float(place) for place in range(len(rows))], [row["of"] for row in rows])
    axis.grid(True, axis="x")


def with_marks(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    marks: Mapping[str, tuple[float, float]],
    *,
    x: str,
    y: str,
) -> Figure:
    """Draw curves by name, and named points on them."""
    figure = lines(curves, x=x, y=y)
    axes = figure.axes[0]
    for symbol, (name, point) in zip("ov", marks.items()):
        axes.plot(
            *point,
            symbol,
            color=COLOURS["black"],
            markersize=9,
            fillstyle="none",
            markeredgewidth=2,
            label=name,
        )
    axes.legend(frameon=False)
    return figure
