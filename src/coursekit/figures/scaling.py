"""The figures of the chapter "Scaling"."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from coursekit._base.style import Look
from coursekit.figures import COLOURS, WIDTH, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# One look for each way to score, the same in every picture of the chapter.
LOOKS: dict[str, Look] = {
    "no factor": {"color": COLOURS["vermilion"], "marker": "s", "linestyle": "--"},
    "1/√d": {"color": COLOURS["blue"], "marker": "o", "linestyle": "-"},
    "small start": {"color": COLOURS["orange"], "marker": "^", "linestyle": "-."},
    "1/d": {"color": COLOURS["purple"], "marker": "v", "linestyle": (0, (5, 1, 1, 1, 1, 1))},
    "additive": {"color": COLOURS["green"], "marker": "D", "linestyle": ":"},
}


def two_rows(scores: Tensor, factor: float) -> Figure:
    """Draw one row of scores (S,) and its softmax, as they are above and times `factor` below."""
    figure, axes = new_figure(2, 2, width=WIDTH, height=4.2, sharex=True)
    most = 1.15 * float(scores.abs().max())
    for (left, right), values, name in zip(axes, (scores, factor * scores), ("q·k", "q·k / √d")):
        places = range(1, len(scores) + 1)
        left.bar(places, values, color=COLOURS["blue"])
        left.set(ylabel=name, ylim=(-most, most))
        right.bar(places, values.softmax(dim=-1), color=COLOURS["orange"])
        right.set(ylim=(0, 1.05), ylabel="weight")
        left.axhline(0, color="black", linewidth=0.8)
    axes[0, 0].set_title("scores (S,)", fontsize=11)
    axes[0, 1].set_title("softmax: weights (S,)", fontsize=11)
    for axis in axes[1]:
        axis.set_xlabel("key")
    return figure


def histograms(products: Mapping[int, Tensor]) -> Figure:
    """Draw the dot products of each width, as they are and divided by √width.

    `products` maps a width d to samples (M,) of q · k; the smooth lines are normal densities.
    """
    figure, axes = new_figure(1, 2, height=3.3)
    looks = ((COLOURS["blue"], "-"), (COLOURS["orange"], "--"), (COLOURS["vermilion"], ":"))
    for (width, sample), (colour, style) in zip(products.items(), looks):
        for axis, values, edge in (
            (axes[0], sample, 70.0),
            (axes[1], sample / math.sqrt(width), 4.5),
        ):
            count, edges = torch.histogram(values, bins=61, range=(-edge, edge), density=True)
            axis.stairs(count, edges, fill=True, color=colour, alpha=0.22)
            axis.stairs(count, edges, color=colour, linestyle=style, linewidth=1.8)
            axis.plot([], [], color=colour, linestyle=style, label=f"d = {width}")
    x = torch.linspace(-4.5, 4.5, 200)
    axes[1].plot(x, (-x.square() / 2).exp() / math.sqrt(2 * math.pi), color="black", linewidth=1)
    axes[0].set(title="q · k", xlabel="score", ylabel="density")
    axes[1].set(title="q · k / √d", xlabel="score")
    axes[0].legend(frameon=False)
    return figure


def saturation(
    widths: Sequence[int],
    largest: Mapping[str, Sequence[float]],
    bits: Mapping[str, Sequence[float]],
) -> Figure:
    """Draw the largest weight and the entropy of fresh attention against the width."""
    figure, axes = new_figure(1, 2, height=3.3)
    for name in largest:
        axes[0].plot(widths, largest[name], label=name, **LOOKS[name])
        axes[1].plot(widths, bits[name], **LOOKS[name])
    axes[0].set(ylim=(0, 1), ylabel="largest weight of a row")
    axes[1].set(ylim=(0, 4.2), ylabel="entropy of a row (bits)")
    axes[0].legend(loc="center right", frameon=False)
    for axis in axes:
        _width_axis(axis, widths)
    return figure


def gradient(
    widths: Sequence[int],
    median: Mapping[str, Sequence[float]],
    mean: Mapping[str, Sequence[float]],
) -> Figure:
    """Draw the median and the mean length of the gradient that reaches a query."""
    figure, axes = new_figure(1, 2, height=3.3, sharey=True)
    for axis, values, title in (
        (axes[0], median, "median query"),
        (axes[1], mean, "mean over queries"),
    ):
        for name in values:
            axis.plot(widths, values[name], label=name, **LOOKS[name])
        axis.set(title=title, yscale="log")
        _width_axis(axis, widths)
    axes[0].set_ylabel("gradient at the query")
    axes[1].legend(loc="lower left", frameon=False)
    return figure


def temperature(temperatures: Tensor, weights: Tensor) -> Figure:
    """Draw how the weights (temperatures, S) of one row change with the temperature."""
    figure, axis = new_figure(height=3.4)
    styles = ("-", "--", "-.", ":", (0, (5, 1)))
    for key, style in zip(weights.argsort(dim=-1, descending=True)[0].tolist(), styles):
        axis.plot(temperatures, weights[:, key], linestyle=style, label=f"key {key}")
    axis.axvline(1, color=COLOURS["grey"], linewidth=1)
    axis.set(xscale="log", xlabel="temperature τ", ylabel="weight", ylim=(-0.03, 1.03))
    axis.legend(loc="center right", frameon=False)
    return figure


def training(
    widths: Sequence[int],
    accuracy: Mapping[str, Tensor],
    spread: Mapping[str, tuple[Tensor, Tensor]],
) -> Figure:
    """Draw what networks learned with each way to score.

    `accuracy` maps a name to (widths, networks), each network a small mark and their mean a line;
    `spread` maps a name to the scores' spread before and after training, each (widths,).
    """
    figure, axes = new_figure(1, 2, height=3.6)
    for shift, (name, values) in enumerate(accuracy.items()):
        look = LOOKS[name]
        places = torch.tensor(widths) * 2 ** ((shift - (len(accuracy) - 1) / 2) / 7)
        axes[0].plot(places, 100 * values.mean(dim=1), label=name, **look)
        for network in values.T:
            axes[0].plot(
                places, 100 * network, look["marker"], color=look["color"], markersize=3, alpha=0.5
            )
    for name, (before, after) in spread.items():
        look = {**LOOKS[name], "linestyle": "-"}
        axes[1].plot(widths, after, label=f"{name}, trained", **look)
        axes[1].plot(
            widths, before, label=f"{name}, fresh", **{**look, "linestyle": ":"}, fillstyle="none"
        )
    axes[0].set(ylim=(0, 104), ylabel="correct answers (%)")
    axes[1].set(yscale="log", ylabel="standard deviation of scores")
    axes[0].legend(loc="lower left", fontsize=10, frameon=False)
    axes[1].legend(loc="upper left", fontsize=10, frameon=False)
    for axis in axes:
        _width_axis(axis, widths)
    return figure


def _width_axis(axis: Any, widths: Sequence[int]) -> None:
    axis.set_xscale("log", base=2)
    axis.set_xticks(list(widths), [str(width) for width in widths])
    axis.set_xlabel("width d of queries and keys")
