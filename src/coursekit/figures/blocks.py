"""The figures of the chapter "Blocks"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from coursekit._base.style import Look
from coursekit.figures import COLOURS, WIDTH, new_figure
from coursekit.figures.diagram import box, canvas, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# One look for each placement of the norm, the same in every figure of the chapter.
PLACEMENTS: dict[str, Look] = {
    "post": {"color": COLOURS["vermilion"], "marker": "s", "linestyle": "-", "label": "Post-LN"},
    "pre": {"color": COLOURS["blue"], "marker": "o", "linestyle": "-", "label": "Pre-LN"},
    "normformer": {
        "color": COLOURS["green"],
        "marker": "^",
        "linestyle": "--",
        "label": "NormFormer",
    },
    "dlcl": {"color": COLOURS["purple"], "marker": "D", "linestyle": ":", "label": "DLCL"},
}
# And one for each training run: full lines have no warm-up.
ARMS: dict[str, Look] = {
    "Post-LN": {"color": COLOURS["vermilion"], "linestyle": "-", "marker": "s"},
    "Post-LN, warm-up": {"color": COLOURS["vermilion"], "linestyle": "--", "marker": "D"},
    "Post-LN, low rate": {"color": COLOURS["grey"], "linestyle": ":", "marker": "^"},
    "Pre-LN": {"color": COLOURS["blue"], "linestyle": "-", "marker": "o"},
    "Pre-LN, warm-up": {"color": COLOURS["sky"], "linestyle": "--", "marker": "v"},
}
SEQUENCE: list[Look] = [
    {"color": COLOURS["vermilion"], "marker": "s", "linestyle": "-"},
    {"color": COLOURS["orange"], "marker": "^", "linestyle": "--"},
    {"color": COLOURS["green"], "marker": "D", "linestyle": ":"},
    {"color": COLOURS["blue"], "marker": "o", "linestyle": "-."},
]


def influence(maps: Mapping[str, Tensor], *, sentences: int = 1) -> Figure:
    """Draw which token depends on which: rows of a map (T, T) are outputs, columns inputs.

    With `sentences` above 1 the T tokens are that many sentences one after the other, and lines
    are between them.
    """
    figure, axes = new_figure(1, len(maps), width=3.0 * len(maps), height=3.4, squeeze=False)
    for axis, (name, values) in zip(axes[0], maps.items()):
        size = len(values)
        axis.imshow(values / values.max(), vmin=0, vmax=1, cmap="Blues")
        axis.set(title=name, xlabel="input token", xticks=[0, size - 1], yticks=[0, size - 1])
        axis.set_xticklabels(["1", f"{size}"])
        axis.set_yticklabels(["1", f"{size}"])
        axis.grid(visible=False)
        for border in range(1, sentences):
            at = border * size / sentences - 0.5
            axis.axhline(at, color=COLOURS["vermilion"], linewidth=1.2)
            axis.axvline(at, color=COLOURS["vermilion"], linewidth=1.2)
    axes[0][0].set_ylabel("output token")
    return figure


def work(lengths: Sequence[int], work: Mapping[str, Sequence[float]], meet: float) -> Figure:
    """Draw the FLOPs for each token against the length, and mark where two lines meet."""
    figure, axis = new_figure(height=3.4)
    for (name, values), look in zip(work.items(), SEQUENCE):
        axis.plot(lengths, values, label=name, **look)
    axis.axvline(meet, color=COLOURS["grey"], linewidth=1)
    axis.text(meet, axis.get_ylim()[1], f" T = {meet:.0f}", va="top", color=COLOURS["grey"])
    axis.set_xscale("log", base=2)
    axis.set(xlabel="length T (tokens)", ylabel="FLOPs per token (millions)")
    axis.set_xticks(list(lengths), [f"{length}" for length in lengths])
    axis.legend(frameon=False)
    return figure


def gelu(x: Tensor, curves: Mapping[str, Tensor]) -> Figure:
    """Draw activations against x, as Hendrycks and Gimpel do in their Figure 1."""
    figure, axis = new_figure(height=3.6)
    looks = (
        {"color": COLOURS["blue"], "linestyle": "-"},
        {"color": COLOURS["vermilion"], "linestyle": "--"},
        {"color": COLOURS["green"], "linestyle": ":"},
    )
    axis.axhline(0, color=COLOURS["grey"], linewidth=0.8)
    axis.axvline(0, color=COLOURS["grey"], linewidth=0.8)
    for (name, values), look in zip(curves.items(), looks):
        axis.plot(x, values, label=name, **look)
    axis.set(xlabel="x", ylabel="activation")
    axis.legend(frameon=False)
    return figure


def gelu_errors(x: Tensor, errors: Mapping[str, Tensor]) -> Figure:
    """Draw how far each approximation lies from the exact GELU, on a logarithmic axis."""
    figure, axis = new_figure(height=3.2)
    for (name, values), look in zip(errors.items(), (SEQUENCE[3], SEQUENCE[0])):
        worst = values.abs().argmax()
        axis.plot(x, values.abs(), color=look["color"], linestyle=look["linestyle"], label=name)
        axis.plot(x[worst], values[worst].abs(), color=look["color"], marker=look["marker"])
    axis.set_yscale("log")
    axis.set(ylim=(1e-7, 1e-1), xlabel="x", ylabel="error of x Φ(x)")
    axis.legend(frameon=False, loc="lower center", ncols=2, bbox_to_anchor=(0.5, 1.0))
    return figure


def coins(
    x: Tensor, means: Mapping[int, Tensor], exact: Tensor, errors: Mapping[int, float]
) -> Figure:
    """Draw the mean of n random gates and GELU, and the error of the mean against n."""
    figure, axes = new_figure(1, 2, height=3.4)
    looks: tuple[Look, ...] = (
        {"color": COLOURS["sky"], "linestyle": "none", "marker": "."},
        {"color": COLOURS["orange"], "linestyle": "-", "linewidth": 1.2},
        {"color": COLOURS["vermilion"], "linestyle": "-", "linewidth": 1.5},
    )
    for (count, values), look in zip(means.items(), looks):
        axes[0].plot(x, values, label=f"{count} toss{'es' if count > 1 else ''}", **look)
    axes[0].plot(x, exact, color="black", linestyle="--", linewidth=1.2, label="GELU")
    axes[0].set(xlabel="x", ylabel="mean of x · coin")
    axes[0].legend(frameon=False)
    counts = torch.tensor(list(errors), dtype=torch.float64)
    axes[1].loglog(counts, list(errors.values()), marker="o", color=COLOURS["blue"], label="error")
    guide = errors[int(counts[0])] * (counts[0] / counts).sqrt()
    axes[1].loglog(counts, guide, color="black", linestyle=":", label="1/√n")
    axes[1].set(xlabel="tosses n", ylabel="root mean square error")
    axes[1].legend(frameon=False)
    return figure


def one_block() -> Figure:
    """Draw one Post-LN block with the shapes of its tensors."""
    figure, axis = new_figure(width=WIDTH, height=5.2)
    canvas(axis, width=10, top=10)
    plain, half = (COLOURS["grey"], 0.25), (COLOURS["sky"], 0.5)
    x, orange = 3.4, COLOURS["orange"]

    def step(y: float, text: str, colour: Any = plain, width: float = 4.2) -> None:
        box(axis, x, y, text, width=width, height=0.72, colour=colour, size=10)

    def shape(y: float, text: str, about: str = "") -> None:
        axis.text(6.4, y + (0.2 if about else 0), text, fontsize=10, va="center")
        axis.text(6.4, y - 0.28, about, fontsize=9, va="center")

    def frame(start: float, end: float) -> None:
        line(
            axis, [(x, start), (0.6, start), (0.6, end), (x - 0.3, end)], arrow=True, colour=orange
        )
        box(axis, x, end, "+", width=0.55, height=0.5, colour="white", size=11)

    shape(9.6, "x: (B, T, D)", "a vector for each token")
    for top, bottom in ((9.7, 8.75), (8.0, 7.3), (6.8, 6.4), (5.6, 4.95), (4.2, 3.95),
                        (3.2, 2.55), (2.05, 1.65), (0.9, 0.3)):  # fmt: skip
        line(axis, [(x, top), (x, bottom)], arrow=True)
    frame(9.3, 7.05)
    step(8.37, "attention", half)
    shape(8.37, "(B, T, D)", "tokens attend to each other")
    step(6.02, "LayerNorm")
    shape(6.02, "(B, T, D)", "each token: mean 0, deviation 1")
    frame(5.35, 2.3)
    step(4.57, "times W₁, ReLU", half)
    shape(4.57, "(B, T, 4D)", "each token alone")
    step(3.57, "times W₂", half)
    shape(3.57, "(B, T, D)")
    step(1.28, "LayerNorm")
    shape(1.28, "(B, T, D)", "the shape of the input")
    return figure


def placements() -> Figure:
    """Draw the four placements of the norm: residual stream left, sublayer f right."""
    figure, axes = new_figure(2, 2, height=7.0)
    _unit(axes[0, 0], "Post-LN", branch=["f"], stream="LN")
    _unit(axes[0, 1], "Pre-LN", branch=["LN", "f"])
    _unit(axes[1, 0], "NormFormer", branch=["LN", "f", "LN"])
    _dense(axes[1, 1])
    return figure


def gradients(
    by_layer: Mapping[str, Tensor], last: Mapping[str, Tensor], depths: Sequence[int]
) -> Figure:
    """Draw gradient norms: by layer (L,) of one stack, and of the last layer for each depth.

    Both map a placement to values; the guide on the right falls as 1/√L from Pre-LN's first point.
    """
    figure, axes = new_figure(1, 2, height=3.7)
    for name, values in by_layer.items():
        axes[0].plot(range(1, len(values) + 1), values, **PLACEMENTS[name], markersize=5)
    for name, values in last.items():
        axes[1].loglog(depths, values, **PLACEMENTS[name], markersize=5)
    guide = last["pre"][0] * (depths[0] / torch.tensor(depths)).sqrt()
    axes[1].loglog(depths, guide, color="black", linewidth=1, linestyle=(0, (1, 2)), label="1/√L")
    layers = len(_any(by_layer))
    axes[0].set(title=f"W₁ in each of {layers} layers", xlabel="layer", ylabel="gradient norm")
    axes[0].set_ylim(bottom=0)
    axes[0].set_xticks([1, *range(4, layers + 1, 4)])
    axes[1].set(title="W₂ in the last layer", xlabel="number of layers L")
    axes[1].set_xticks(list(depths), [f"{depth}" for depth in depths])
    axes[1].minorticks_off()
    handles, labels = axes[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


def training(curves: Mapping[str, Tensor], reference: float) -> Figure:
    """Draw losses (seeds, steps) of each run, one thin line a seed; dashed lines had a warm-up."""
    figure, axes = new_figure(1, 2, height=3.9, sharey=True)
    for name, losses in curves.items():
        axis = axes[0] if name.startswith("Post") else axes[1]
        look = ARMS[name]
        for seed, loss in enumerate(losses):
            axis.plot(
                range(1, len(loss) + 1),
                smooth(loss),
                label=name if seed == 0 else None,
                linewidth=1.4,
                markevery=(10 + 7 * seed, 30),
                markersize=5,
                **look,
            )
    for axis in axes:
        axis.axhline(reference, color="black", linewidth=1, linestyle=(0, (1, 2)))
        axis.set(xlabel="step", ylim=(0, 2.5))
        axis.legend(frameon=False, loc="lower left", fontsize=10)
    axes[0].set(ylabel="loss (nats per token)")
    axes[1].text(0.98, reference + 0.03, "best from position alone", ha="right", fontsize=10,
                 transform=axes[1].get_yaxis_transform())  # fmt: skip
    return figure


def collapse(without: Mapping[str, Tensor], kept: Mapping[str, Tensor]) -> Figure:
    """Draw distances (L + 1,) by depth: stacks without skip connections left, with them right."""
    figure, axes = new_figure(1, 2, height=4.2)
    for axis, lines in zip(axes, (without, kept)):
        for (name, values), look in zip(lines.items(), SEQUENCE):
            axis.plot(range(len(values)), values, label=name, markersize=5, **look)
        axis.set(xlabel="layers passed", xticks=range(0, len(values), 4))
        axis.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.08), fontsize=10)
    axes[0].set_yscale("log")
    axes[0].axhspan(1e-17, 4e-16, color=COLOURS["grey"], alpha=0.25, linewidth=0)
    axes[0].text(0, 2e-17, "rounding of float64", fontsize=10)
    axes[0].set(
        title="without skip connections", ylabel="distance to equal tokens", ylim=(1e-17, 3)
    )
    axes[1].set(title="with skip connections", ylim=(0, 1.05))
    return figure


def one_layer(before: Tensor, after: Mapping[str, Tensor]) -> Figure:
    """Draw how far tokens are apart after one layer against how far they were before it."""
    figure, axis = new_figure(width=6.0, height=4.0)
    for (name, values), look in zip(after.items(), SEQUENCE):
        axis.loglog(before, values, label=name, **look)
    axis.set(xlabel="distance between tokens before", ylabel="distance after one layer")
    axis.legend(frameon=False)
    return figure


def digits(counts: Tensor) -> Figure:
    """Draw the zeros after the point of the distance, (seeds, layers), against depth."""
    figure, axis = new_figure(width=6.0, height=3.6)
    layers = torch.arange(1, counts.shape[1] + 1)
    for seed, (values, look) in enumerate(zip(counts, SEQUENCE), start=1):
        axis.semilogy(layers, values, label=f"draw {seed}", **look)
    guide = counts[:, -1].max() * 1.6 / 3.0 ** (layers[-1] - layers)
    axis.semilogy(layers, guide, color="black", linestyle=(0, (1, 2)), label="×3 per layer")
    axis.set(xlabel="layers of pure attention", ylabel="−log₁₀ of the distance")
    axis.set_xticks(layers.tolist())
    axis.legend(frameon=False)
    return figure


def collapse_in_training(
    steps: Sequence[int], over_time: Mapping[str, Tensor], by_layer: Mapping[str, Tensor]
) -> Figure:
    """Draw the distance at the output after some steps, and by layer at the end of training."""
    figure, axes = new_figure(1, 2, height=4.2, sharey=True)
    for name in over_time:
        axes[0].plot([step + 1 for step in steps], over_time[name], label=name, **ARMS[name])
        axes[1].plot(range(len(by_layer[name])), by_layer[name], markersize=5, **ARMS[name])
    axes[0].set_xscale("log")
    axes[0].set_xticks([1, 10, 100], ["1", "10", "100"])
    axes[0].set(title="after the last block", xlabel="training steps + 1")
    axes[0].set(ylabel="distance to equal tokens", ylim=(0, 1))
    axes[1].set(title="at the end", xlabel="layers passed")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return figure


def smooth(loss: Tensor, window: int = 10) -> Tensor:
    """Return the mean of the last `window` values at each step (of fewer at the start)."""
    total = torch.cat([torch.zeros(1), loss.cumsum(0)])
    ends = torch.arange(1, len(loss) + 1)
    starts = (ends - window).clamp_min(0)
    return (total[ends] - total[starts]) / (ends - starts)


def _any(lines: Mapping[str, Tensor]) -> Tensor:
    """Return the values of one line; all have the same length."""
    return next(iter(lines.values()))


# --- the parts of the diagrams ---

STREAM, BRANCH = 0.25, 0.72


def _box(axis: Axes, x: float, y: float, text: str, width: float = 0.3) -> None:
    colour = COLOURS["orange"] if text.startswith("LN") else COLOURS["sky"]
    box(axis, x, y, text, width=width, height=0.1, colour=colour)


def _sum(axis: Axes, x: float, y: float, sign: str = "+") -> None:
    axis.plot(x, y, "o", markersize=19, markerfacecolor="white", markeredgecolor="k", zorder=3)
    axis.text(x, y, sign, ha="center", va="center", fontsize=14, zorder=4)


def _unit(axis: Axes, title: str, *, branch: Sequence[str], stream: str = "") -> None:
    """One sublayer with its skip connection; `branch` from below, `stream` is above the sum."""
    canvas(axis, title, top=1.02)
    sum_at, split = 0.72, 0.12
    line(axis, [(STREAM, 0.04), (STREAM, 1.0)], arrow=True)
    line(axis, [(STREAM, split), (BRANCH, split), (BRANCH, sum_at), (STREAM + 0.06, sum_at)], True)
    step = (sum_at - split) / (len(branch) + 1)
    for place, text in enumerate(branch, start=1):
        _box(axis, BRANCH, split + place * step, text)
    _sum(axis, STREAM, sum_at)
    if stream:
        _box(axis, STREAM, 0.86, stream)
    axis.text(STREAM, 0.0, "x", ha="center", va="center", fontsize=12)


def _dense(axis: Axes) -> None:
    """DLCL: a block reads a weighted sum of the normalised outputs of all blocks below it."""
    canvas(axis, "DLCL", top=1.02)
    source, sum_x = 0.17, 0.72
    for place in range(3):
        y = 0.06 + 0.17 * place
        axis.text(source - 0.14, y, f"$y_{place}$", ha="center", va="center", fontsize=12)
        line(axis, [(source - 0.1, y), (source, y)])
        _box(axis, source + 0.1, y, "LN", width=0.2)
        line(axis, [(source + 0.2, y), (sum_x, 0.58)])
        share = 0.42 + 0.1 * place  # how far along its line the label is
        axis.text(
            source + 0.2 + share * (sum_x - source - 0.2),
            y + share * (0.58 - y),
            f"$W_{{3{place}}}$",
            ha="center",
            va="center",
            fontsize=11,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
            zorder=3,
        )
    line(axis, [(sum_x, 0.58), (sum_x, 1.0)], arrow=True)
    _sum(axis, sum_x, 0.58, "Σ")
    _box(axis, sum_x, 0.78, "pre block 3", width=0.46)
    axis.text(sum_x + 0.09, 0.95, "$y_3$", ha="center", va="center", fontsize=12)
