"""The pictures of the chapter "Positions"."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from matplotlib.ticker import MaxNLocator
from torch import Tensor

from coursekit.figures import COLOURS, LINES, WIDTH, new_figure, panel_grid
from coursekit.figures.diagram import box, canvas, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS = (("o", COLOURS["blue"]), ("s", COLOURS["orange"]), ("^", COLOURS["vermilion"]))


def doors() -> Figure:
    """Draw one head of attention with the three places at which a position can be told."""
    figure, axis = new_figure(width=WIDTH, height=5.0)
    canvas(axis, width=10, top=9.4)
    plain, door = (COLOURS["grey"], 0.25), (COLOURS["orange"], 0.55)

    def step(x: float, y: float, text: str, width: float = 1.9, colour: Any = plain) -> None:
        box(axis, x, y, text, width=width, height=0.75, colour=colour, size=10)

    def told(y: float, number: int, name: str, schemes: str) -> None:
        axis.text(6.75, y + 0.22, f"{number}. {name}", fontsize=10, va="center", weight="bold")
        axis.text(6.75, y - 0.3, schemes, fontsize=9, va="center")

    step(2.6, 9.0, "words (T, D)")
    line(axis, [(2.6, 8.6), (2.6, 8.05)], arrow=True)
    step(2.6, 7.65, "+ $p_t$, for each row", 3.6, door)
    told(7.65, 1, "add a vector", "learned, bits, sinusoids")
    xs = {"queries": 1.0, "keys": 3.1, "values": 5.2}
    for name, x in xs.items():
        line(axis, [(2.6, 7.25), (2.6, 6.95), (x, 6.95), (x, 6.5)], arrow=True)
        step(x, 6.1, f"{name} (T, d)")
    step(2.05, 4.6, "turn row t by its angles", 4.0, door)
    told(4.6, 2, "turn", "rotary")
    for x in (1.0, 3.1):
        line(axis, [(x, 5.7), (x, 5.0)], arrow=True)
        line(axis, [(x, 4.2), (x, 3.75), (2.05, 3.75), (2.05, 3.4)], arrow=x == 1.0)
    step(2.05, 3.0, "products / √d (T, T)", 4.0)
    line(axis, [(2.05, 2.6), (2.05, 2.2)], arrow=True)
    step(2.05, 1.8, "+ a number for i − j", 4.0, door)
    told(1.8, 3, "add to the scores", "ALiBi, T5, Swin")
    line(axis, [(2.05, 1.4), (2.05, 0.9)], arrow=True)
    step(2.05, 0.5, "softmax: weights (T, T)", 3.7)
    line(axis, [(3.95, 0.5), (4.4, 0.5)], arrow=True)
    line(axis, [(5.2, 5.7), (5.2, 0.9)], arrow=True)
    step(5.2, 0.5, "sum (T, d)", 1.5)
    return figure


def word_vectors(outputs: Mapping[str, Mapping[str, Tensor]], words: Sequence[str]) -> Figure:
    """Draw what each word receives: a row of panels for each scheme, a column for each sentence.

    `outputs[scheme][sentence]` holds one vector for each of `words`, (words, D), in their order.
    """
    rows, columns = len(outputs), max(len(of) for of in outputs.values())
    size = max(float(x.abs().max()) for of in outputs.values() for x in of.values())
    figure, axes = new_figure(rows, columns, height=1.9 * rows, squeeze=False, sharey=True)
    for panels, (scheme, of) in zip(axes, outputs.items()):
        for axis, (sentence, vectors) in zip(panels, of.items()):
            image = _grid(axis, vectors, cmap="PuOr", vmin=-size, vmax=size)
            axis.set_title(f"“{sentence}”", fontsize=11)
            axis.set_xticks([])
        panels[0].set_yticks(range(len(words)), words)
        panels[0].set_ylabel(scheme)
    axes[-1, columns // 2].set_xlabel("dimension of the output")
    figure.colorbar(image, ax=axes, label="value", shrink=0.8)
    return figure


def bits_and_waves(bits: Tensor, waves: Tensor) -> Figure:
    """Draw bits (T, columns) beside cosines (T, columns) of the same periods."""
    figure, axes = new_figure(1, 2, height=4.2, sharey=True)
    for axis, grid, title in zip(axes, (bits, waves), ("bits", "waves of the same periods")):
        image = _grid(axis, grid, cmap="cividis")
        axis.set_title(title)
        axis.set_xticks(range(grid.shape[1]), [f"{2 ** (i + 1)}" for i in range(grid.shape[1])])
        axis.set_xlabel("period (positions)")
        figure.colorbar(image, ax=axis, orientation="horizontal", label="value", shrink=0.8)
    axes[0].set_ylabel("position")
    return figure


def heat_map(encoding: Tensor) -> Figure:
    """Draw an encoding (T, D): a row for each position."""
    figure, axis = new_figure(height=3.6)
    image = _grid(axis, encoding, cmap="PuOr", vmin=-1, vmax=1)
    axis.set_xlabel("dimension (even: sine, odd: cosine)")
    axis.set_ylabel("position")
    figure.colorbar(image, ax=axis, label="value")
    return figure


def clock_hands(speeds: Sequence[float], starts: Sequence[int], delta: int) -> Figure:
    """Draw (sin ωt, cos ωt) as hands of clocks, before and after a shift by `delta`.

    As on a clock, t = 0 is on top and hands turn clockwise: sine to the right and cosine upwards is
    the plane in which the blocks of `shift_matrix` act. The numbers round a dial are places.
    """
    figure, axes = new_figure(1, len(speeds), height=3.3, sharey=True)
    circle = torch.linspace(0, 2 * math.pi, 200)
    for axis, speed in zip(axes, speeds):
        axis.plot(circle.sin(), circle.cos(), color=COLOURS["grey"], linewidth=1)
        step = 10 ** round(-math.log10(speed))  # 1, 10 or 100 places from number to number
        for place in range(0, round(2 * math.pi / speed - 0.4 * step), step):
            x, y = math.sin(speed * place), math.cos(speed * place)
            axis.plot([0.94 * x, x], [0.94 * y, y], color=COLOURS["grey"], linewidth=1)
            axis.text(1.32 * x, 1.25 * y, f"{place}", ha="center", va="center", fontsize=11)
        for style, start, radius in zip(LINES, starts, (0.62, 0.5)):
            for place, mark in ((start, "o"), (start + delta, "^")):
                x, y = 0.86 * math.sin(speed * place), 0.86 * math.cos(speed * place)
                axis.plot([0, x], [0, y], **style, linewidth=1)
                label = f"t = {place}" if axis is axes[0] else None
                axis.plot(x, y, mark, color=style["color"], markersize=8, label=label)
            arc = torch.linspace(start, start + delta, 60) * speed
            axis.plot(radius * arc.sin(), radius * arc.cos(), color=style["color"], linewidth=2)
        axis.set(aspect="equal", xlim=(-1.65, 1.65), ylim=(-1.45, 1.45), xticks=[], yticks=[])
        axis.spines[:].set_visible(False)
        axis.set_xlabel("sin(ωt) →")
        axis.set_title(f"ω = {speed:.2g}: {speed * delta:.2g} rad")
    axes[0].set_ylabel("cos(ωt) →")
    figure.legend(loc="outside lower center", ncols=2 * len(starts), frameon=False)
    return figure


def turned_together(
    q: Sequence[float], k: Sequence[float], speed: float, places: Sequence[tuple[int, int]]
) -> Figure:
    """Draw a pair of numbers of a query and of a key, each turned by ω times its place.

    One panel for each (place of the query, place of the key), with the dot product of the two.
    """
    figure, axes = new_figure(1, len(places), width=5.4, height=2.9, sharey=True)
    for axis, (i, j) in zip(axes, places):
        turned = []
        for style, pair, place, name in zip(LINES, (q, k), (i, j), ("query", "key")):
            start, length = math.atan2(pair[1], pair[0]), math.hypot(*pair)
            arc = torch.linspace(start, start + speed * place, 60)
            x, y = length * math.cos(float(arc[-1])), length * math.sin(float(arc[-1]))
            colour = style["color"]
            axis.plot([0, pair[0]], [0, pair[1]], ":", color=colour, linewidth=1)
            axis.plot(0.5 * length * arc.cos(), 0.5 * length * arc.sin(), color=colour, linewidth=1)
            label = f"{name}, turned" if axis is axes[0] else None
            axis.plot([0, x], [0, y], **style, linewidth=2, label=label)
            axis.plot(x, y, "o", color=colour, markersize=6)
            turned.append((x, y))
        score = sum(a * b for a, b in zip(*turned))
        reach = 1.15 * max(math.hypot(*q), math.hypot(*k))
        axis.set(aspect="equal", xlim=(-reach, reach), ylim=(-reach, reach), xticks=[], yticks=[])
        axis.set_title(f"i = {i}, j = {j}\nproduct {score:.2f}".replace("-", "−"))
        axis.set_xlabel("1st number")
        axis.grid(False)
    axes[0].set_ylabel("2nd number")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return figure


def similarity_maps(maps: Mapping[str, Tensor]) -> Figure:
    """Draw cosine similarities (T, T) of positions, one panel for each encoding."""
    figure, axes = new_figure(1, len(maps), height=3.0, sharey=True)
    for axis, (name, similarity) in zip(axes, maps.items()):
        image = _grid(axis, similarity, cmap="viridis", vmin=-0.3, vmax=1)
        axis.set(title=name, xlabel="position", aspect="equal")
    axes[0].set_ylabel("position")
    figure.colorbar(image, ax=axes, label="cosine similarity", shrink=0.8)
    return figure


def similarity_decay(curves: Mapping[str, Tensor], turns: Mapping[str, int]) -> Figure:
    """Draw similarity by distance (T,), and mark where each curve first rises again."""
    figure, axis = new_figure(height=3.4)
    for style, (name, curve) in zip(LINES, curves.items()):
        axis.plot(curve, label=name, **style)
        turn = turns[name]
        if turn < len(curve) - 1:
            axis.plot(turn, curve[turn], "o", color=style["color"], markersize=8)
    axis.axhline(0, color=COLOURS["grey"], linewidth=1)
    axis.set_xlabel("distance (positions)")
    axis.set_ylabel("cosine similarity")
    axis.legend(frameon=False)
    return figure


def score_biases(biases: Mapping[str, Tensor], labels: Sequence[str]) -> Figure:
    """Draw what position alone does to the scores (T, T): rows are queries, columns keys.

    `labels` says for each panel what its colours stand for.
    """
    figure, axes = new_figure(1, len(biases), height=3.15, sharey=True)
    for axis, (name, bias), label in zip(axes, biases.items(), labels, strict=True):
        image = _grid(axis, bias, cmap="viridis")
        axis.set(xlabel="key position", aspect="equal")
        axis.set_title(name, fontsize=10)
        bar = figure.colorbar(image, ax=axis, orientation="horizontal", label=label)
        bar.locator = MaxNLocator(3)
    axes[0].set_ylabel("query position")
    return figure


def buckets(curves: Mapping[str, Tensor], seen: int) -> Figure:
    """Draw the bucket of each distance (T,); distances below `seen` occur in training."""
    figure, axis = new_figure(height=3.0)
    axis.axvspan(-0.5, seen - 0.5, color=COLOURS["sky"], alpha=0.25, label="seen in training")
    for style, (name, curve) in zip(LINES, curves.items()):
        axis.step(range(len(curve)), curve, where="mid", label=name, **style)
    axis.set_xlabel("distance to the key (positions)")
    axis.set_ylabel("bucket")
    axis.set_yticks(range(0, 17, 4))
    axis.legend(frameon=False)
    return figure


def window_bias(offsets: Tensor, pairs: Tensor) -> Figure:
    """Draw a window's bias by offset (rows, columns) and spread over all pairs of cells (N, N)."""
    figure, axes = new_figure(1, 2, height=3.4)
    down, right = offsets.shape[0] // 2, offsets.shape[1] // 2
    extent = (-right - 0.5, right + 0.5, down + 0.5, -down - 0.5)
    axes[0].imshow(offsets, cmap="viridis", extent=extent)
    axes[0].set(title="by offset", xlabel="columns apart", ylabel="rows apart")
    image = _grid(axes[1], pairs, cmap="viridis")
    axes[1].set(title="for every pair of cells", xlabel="key cell", ylabel="query cell")
    for axis in axes:
        axis.grid(False)
        axis.set_aspect("equal")
    figure.colorbar(image, ax=axes, label="bias", shrink=0.8)
    return figure


def grid_similarity(encoding: Tensor, cells: Sequence[tuple[int, int]]) -> Figure:
    """Draw, for each of `cells`, its similarity with all cells of a grid (height, columns, D)."""
    unit = torch.nn.functional.normalize(encoding, dim=-1)  # (height, columns, D)
    figure, axes = panel_grid(len(cells), 3, each=1.85, width=6.0, sharex=True, sharey=True)
    for axis, (row, column) in zip(axes, cells):
        image = _grid(axis, unit @ unit[row, column], cmap="viridis", vmin=0.5, vmax=1)
        axis.plot(column, row, "x", color=COLOURS["vermilion"], markersize=9, markeredgewidth=2)
        axis.set_aspect("equal")
    figure.supxlabel("column of the patch", fontsize=11)
    figure.supylabel("row of the patch", fontsize=11)
    figure.colorbar(image, ax=figure.axes, label="cosine similarity", shrink=0.8)
    return figure


def race(
    points: Mapping[str, Mapping[int, Tensor]], lengths: Sequence[int], floor: float
) -> Figure:
    """Draw accuracy against steps of training: a panel for each scheme, a line for each length.

    `points[scheme][steps]` holds shares in [0, 1], (seeds, lengths); bars span the seeds.
    """
    rows = math.ceil((len(points) + 1) / 3)  # the legend has a place of its own
    figure, axes = new_figure(rows, 3, height=1.9 * rows, sharex=True, sharey=True, squeeze=False)
    panels = list(axes.flat)
    for axis, (name, by_steps) in zip(panels, points.items()):
        steps = list(by_steps)
        shares = [100 * by_steps[count] for count in steps]  # each (seeds, lengths)
        lows, means, highs = (
            torch.stack([of(values) for values in shares]).T  # (lengths, steps)
            for of in (lambda x: x.amin(0), lambda x: x.mean(0), lambda x: x.amax(0))
        )
        for (mark, colour), low, mean, high, length in zip(MARKS, lows, means, highs, lengths):
            axis.vlines(steps, low, high, color=colour, linewidth=4, alpha=0.5)
            label = f"tested at length {length}"
            axis.plot(steps, mean, mark + "-", color=colour, linewidth=1.6, label=label)
        axis.axhline(
            100 * floor, color=COLOURS["grey"], linestyle=":", label="best guess\nwithout order"
        )
        axis.set(title=name, xscale="log", ylim=(0, 104), yticks=[0, 50, 100])
    ticks = sorted({count for by_steps in points.values() for count in by_steps})
    panels[0].set_xticks(ticks, [f"{count:,}" for count in ticks], minor=False)
    panels[0].set_xticks([], minor=True)
    panels[0].set_xlim(ticks[0] / 1.6, ticks[-1] * 1.6)
    for axis in panels[len(points) :]:
        axis.set_axis_off()
    panels[len(points) - 3].tick_params(labelbottom=True)  # nothing is below it
    legend = panels[len(points)].legend(
        *panels[0].get_legend_handles_labels(), loc="center", frameon=False, fontsize=10
    )
    legend.set_in_layout(False)  # wider than its panel, it would push the column aside
    figure.supxlabel("steps of the training", fontsize=11)
    figure.supylabel("tokens named correctly (%)", fontsize=11)
    return figure


def where_right(curves: Mapping[str, Tensor], trained: int, chance: float) -> Figure:
    """Draw accuracy by position (T,) in [0, 1], with the length of the training marked."""
    figure, axes = panel_grid(len(curves), 3, each=2.1, width=6.0, sharex=True, sharey=True)
    for axis, (name, curve) in zip(axes, curves.items()):
        axis.axvspan(-0.5, trained - 0.5, color=COLOURS["sky"], alpha=0.25)
        axis.plot(100 * curve, color=COLOURS["blue"], linewidth=1.8)
        axis.axhline(100 * chance, color=COLOURS["grey"], linestyle=":")
        axis.set_title(name, fontsize=10)
        axis.set_ylim(0, 104)
        axis.set_yticks([0, 50, 100])
    figure.supxlabel(
        "position in the test sequence (shaded: lengths seen in training)", fontsize=11
    )
    figure.supylabel("correct (%)", fontsize=11)
    return figure


def echoes(weights: Tensor, aim: int, period: float) -> Figure:
    """Draw attention by distance (T,); marks are at `aim` and every `period` beyond it."""
    figure, axis = new_figure(height=3.0)
    axis.bar(range(len(weights)), weights, width=0.8, color=COLOURS["blue"])
    places = torch.arange(aim, len(weights), period)
    axis.plot(
        places,
        torch.full_like(places, 1.06 * float(weights.max())),
        "v",
        markersize=7,
        color=COLOURS["vermilion"],
        label=f"{aim}, and every 2π places beyond",
    )
    axis.set_xlabel("distance to the key (positions)")
    axis.set_ylabel("attention weight")
    axis.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0))
    return figure


def _grid(axis: Axes, grid: Tensor, **options: Any) -> Any:
    """Draw a matrix, first row on top, and return what a colour bar needs."""
    axis.grid(False)
    return axis.imshow(grid.detach(), aspect="auto", interpolation="nearest", **options)
