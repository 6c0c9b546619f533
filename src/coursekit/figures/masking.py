"""The figures of the chapter "Masking"."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from coursekit._base.style import Look
from coursekit.figures import COLOURS, WIDTH, new_figure
from coursekit.figures.curves import legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Why a pair is allowed, in the order in which `mask_grid` numbers the reasons.
REASONS = (
    ("forbidden", "#EEEEEE"),
    ("window", COLOURS["blue"]),
    ("global", COLOURS["orange"]),
    ("random", COLOURS["green"]),
    ("every pair", COLOURS["grey"]),
)
LOOKS: dict[str, Look] = {
    "dense, readable": {"color": COLOURS["vermilion"], "marker": "s", "linestyle": "--"},
    "dense, fused": {"color": COLOURS["orange"], "marker": "^", "linestyle": "-."},
    "fused, causal": {"color": COLOURS["purple"], "marker": "v", "linestyle": (0, (5, 1, 1, 1))},
    "blocked, local": {"color": COLOURS["blue"], "marker": "o", "linestyle": "-"},
    "blocked, BigBird": {"color": COLOURS["green"], "marker": "D", "linestyle": ":"},
}


def steps(scores: Tensor, mask: Tensor, weights: Tensor) -> Figure:
    """Draw scores (T, S), a mask as the M that is added, and the weights (T, S), with values."""
    figure, axes = new_figure(1, 3, width=WIDTH, height=2.5)
    above = scores - scores.min()  # darker is larger, not farther from 0
    panels = (
        ("scores", [[f"{x:.1f}" for x in row] for row in scores.tolist()], above, "blue"),
        ("mask M", [["0" if x else "−∞" for x in row] for row in mask.tolist()], mask, "grey"),
        ("weights", [[f"{x:.2f}" for x in row] for row in weights.tolist()], weights, "orange"),
    )
    for axis, (title, texts, shades, colour) in zip(axes, panels, strict=True):
        shown = shades.float() / shades.float().max()
        for r, row in enumerate(texts):
            for c, text in enumerate(row):
                shade = (COLOURS[colour], 0.05 + 0.5 * float(shown[r, c]))
                axis.barh(r, 1, left=c, height=1, color=shade, edgecolor="white")
                axis.text(c + 0.5, r, text, ha="center", va="center", fontsize=9)
        axis.set(title=title, xlim=(0, len(texts[0])), ylim=(len(texts) - 0.5, -0.5), xlabel="key")
        axis.set_xticks([])
        axis.set_yticks([])
        axis.set_aspect("equal")
        axis.grid(visible=False)
    axes[0].set_ylabel("query")
    return figure


def window_of_scores(length: int, radius: int) -> Figure:
    """Draw the scores of a window: among all (T, T), and by themselves (T, 2·radius + 1)."""
    figure, axes = new_figure(1, 2, width=WIDTH, height=3.1, width_ratios=[2, 1])
    wide = 2 * radius + 1
    for axis, columns, title in zip(axes, (length, wide), ("masked", "window only")):
        for query in range(length):
            for column in range(columns):
                key = column if columns == length else query - radius + column
                near = abs(query - key) <= radius
                there = 0 <= key < length
                colour: Any = COLOURS["blue"] if near and there else (COLOURS["grey"], 0.25)
                axis.barh(query, 0.9, left=column + 0.05, height=0.9, color=colour)
                if not there:
                    axis.text(column + 0.5, query, "−∞", ha="center", va="center", fontsize=9)
        axis.set(xlim=(0, columns), ylim=(length - 0.5, -0.5), aspect="equal", yticks=[])
        axis.set_title(title)
        axis.grid(visible=False)
    axes[0].set(ylabel="query t", xlabel="key", xticks=[])
    places = [f"t − {radius}", "t", f"t + {radius}"]
    axes[1].set_xticks([0.5, radius + 0.5, wide - 0.5], places)
    axes[1].set_xlabel("key")
    return figure


def mask_grid(masks: Mapping[str, Tensor], *, columns: int = 3, legend: bool = False) -> Figure:
    """Draw masks (T, S) side by side: rows are queries, columns are keys.

    A boolean mask is drawn in one colour. An integer one says why a pair is allowed: 0 forbidden,
    1 window, 2 global, 3 random, 4 no reason needed.
    """
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    rows = math.ceil(len(masks) / columns)
    each = 6.0 / columns
    figure, axes = new_figure(
        rows, columns, height=rows * (each + 0.25) + 0.35 * legend, squeeze=False
    )
    colours = ListedColormap([colour for _, colour in REASONS])
    for axis in axes.flat[len(masks) :]:
        axis.set_visible(False)
    for axis, (name, mask) in zip(axes.flat, masks.items()):
        T, S = mask.shape
        axis.pcolormesh(
            torch.arange(S + 1) - 0.5,
            torch.arange(T + 1) - 0.5,
            mask.long(),
            cmap=colours,
            vmin=0,
            vmax=len(REASONS) - 1,
            edgecolors="white",
            linewidth=0.6 if max(T, S) <= 32 else 0.0,
        )
        axis.invert_yaxis()
        axis.set(title=name, aspect="equal", xticks=[], yticks=[])
        axis.grid(False)
        axis.spines[:].set_visible(False)
    for axis in axes[:, 0]:
        axis.set_ylabel("query")
    for axis in axes[-1]:
        axis.set_xlabel("key")
    if legend:
        present = sorted({int(n) for mask in masks.values() for n in mask.long().unique()} - {0})
        patches = [Patch(color=REASONS[n][1], label=REASONS[n][0]) for n in present]
        figure.legend(
            handles=patches, loc="outside lower center", ncols=len(patches), frameon=False
        )
    return figure


def losses(training: Mapping[str, Sequence[float]], honest: Mapping[str, Tensor]) -> Figure:
    """Draw the training loss by step, and by position the loss when the text ends there."""
    figure, axes = new_figure(1, 2, height=3.3)
    looks = (
        {"color": COLOURS["blue"], "linestyle": "-"},
        {"color": COLOURS["vermilion"], "linestyle": "--"},
    )
    for (name, values), look in zip(training.items(), looks):
        smooth = torch.tensor(values).unfold(0, 10, 1).mean(dim=-1)  # a running mean of ten steps
        axes[0].plot(torch.arange(len(smooth)) + 5, smooth, label=name, **look)
        axes[1].plot(torch.arange(len(honest[name])) + 1, honest[name], label=name, **look)
    axes[0].set(title="in training", xlabel="step", ylabel="loss (nats per character)")
    axes[1].set(title="when the text ends here", xlabel="characters seen")
    for axis in axes:
        axis.set_ylim(bottom=0)
    axes[0].legend(frameon=False)
    return figure


def reach(shares: Mapping[int, Tensor], radius: int) -> Figure:
    """Draw, for stacks of each depth, the part of the gradient from each position.

    `shares` maps a depth to (T,), the output in question being the one in the middle.
    """
    figure, axis = new_figure(height=3.6)
    styles = ("-", "--", "-.", ":")
    for (depth, share), style in zip(shares.items(), styles):
        reached = share > 0
        distance = torch.arange(len(share)) - len(share) // 2
        word = "layer" if depth == 1 else "layers"
        (line,) = axis.plot(
            distance[reached], share[reached], style, label=f"{depth} {word}", clip_on=False
        )
        for edge in (-depth * radius, depth * radius):
            axis.axvline(edge, color=line.get_color(), linewidth=0.8, linestyle=style)
    axis.set(yscale="log", xlabel="distance from the output (positions)")
    axis.set_ylabel("part of the gradient")
    axis.legend(loc="upper right", frameon=False)
    return figure


def cost(
    lengths: Sequence[int],
    seconds: Mapping[str, Sequence[float]],
    kept: Mapping[str, Sequence[float]],
) -> Figure:
    """Draw time and memory against the length, both axes logarithmic."""
    figure, axes = new_figure(1, 2, height=4.2)
    for name in seconds:
        axes[0].plot(lengths, [1e3 * s for s in seconds[name]], label=name, **LOOKS[name])
        axes[1].plot(lengths, [b / 2**20 for b in kept[name]], label=name, **LOOKS[name])
    axes[0].set_ylabel("forward and backward (ms)")
    axes[1].set_ylabel("kept for backward (MiB)")
    for axis in axes:
        axis.set(yscale="log", xlabel="length T (positions)")
        axis.set_xscale("log", base=2)
        axis.set_xticks(list(lengths), [str(length) for length in lengths])
    legend_below(figure)
    return figure
