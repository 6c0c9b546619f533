"""The figures of the chapter "Attention kernels"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.figures import COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS = (("*", COLOURS["vermilion"]), ("P", COLOURS["blue"]), ("X", COLOURS["green"]))


def lookup(
    titles: Sequence[str], keys: Any, values: Any, queries: Any, weights: Any, places: Any
) -> Figure:
    """Draw a catalogue (keys, queries) and a room (values, places), dots as large as the weights.

    keys (S, 2), values (S, 2), queries (T, 2), weights (T, S), places (T, 2); dots follow query 0.
    """
    keys, values, queries, weights, places = map(
        np.asarray, (keys, values, queries, weights, places)
    )
    figure, (left, right) = new_figure(1, 2, width=8.6, height=4.4)
    sizes = 25 + 1100 * weights[0]  # square points
    for axes, points, asked, side in ((left, keys, queries, 1), (right, values, places, -1)):
        axes.scatter(*points.T, s=sizes, color=COLOURS["sky"], edgecolor=COLOURS["black"])
        for title, point, size in zip(titles, points, sizes):
            _label(axes, title, point, side * (4 + size**0.5 / 2))
        for number, point in enumerate(asked):
            mark, colour = MARKS[number]
            axes.scatter(*point, marker=mark, s=190, color=colour, edgecolor="white", zorder=3)
            name = "query" if axes is left else "answer"
            _label(axes, f"{name} {number + 1}", point, -11 * side, color=colour, weight="bold")
        axes.margins(0.18)
        axes.grid(False)
    left.set(xlabel="about language (0 to 4)", ylabel="about mathematics (0 to 4)")
    left.set_title("Keys: what the books are about")
    right.set(xlabel="along the room (metres)", ylabel="across the room (metres)")
    right.set_title("Values: where they stand")
    return figure


def _label(axes: Axes, text: str, point: Any, away: float, **style: Any) -> None:
    """Write `text` above a point, or below where `away` (in points) is negative."""
    axes.annotate(
        text, point, xytext=(0, away), textcoords="offset points", ha="center",
        va="bottom" if away > 0 else "top", **style,
    )  # fmt: skip


def regression(x: Any, y: Any, query: Any, truth: Any, predictions: Mapping[float, Any]) -> Figure:
    """Draw samples, the true curve and one panel for each bandwidth's prediction."""
    x, y, query, truth = map(np.asarray, (x, y, query, truth))
    figure, panels = new_figure(
        1, len(predictions), width=max(4.2, 3.1 * len(predictions)), height=3.4, sharey=True,
        squeeze=False,
    )  # fmt: skip
    for axes, (bandwidth, prediction) in zip(panels[0], predictions.items()):
        axes.plot(x, y, "o", color=COLOURS["grey"], markersize=4, alpha=0.7, label="samples")
        axes.plot(query, truth, "--", color=COLOURS["black"], linewidth=1.5, label="truth")
        axes.plot(query, prediction, color=COLOURS["vermilion"], label="prediction")
        axes.set_title(f"bandwidth {bandwidth:g}")
        axes.set_xlabel("x (no unit)")
    panels[0][0].set_ylabel("y (no unit)")
    panels[0][0].set_ylim(np.min(y) - 0.4, np.max(y) + 1.9)
    panels[0][0].legend(loc="upper left", fontsize=10, frameon=False)
    return figure


def planes(weights: Mapping[str, Any], query: Any, reach: float) -> Figure:
    """Draw for each kernel the weight of every key on a square plane, the largest set to 1."""
    rows = -(-len(weights) // 3)
    figure, panels = new_figure(
        rows, 3, width=8.4, height=2.5 * rows + 0.5, sharex=True, sharey=True, squeeze=False
    )
    for axes, (name, plane) in zip(panels.flat, weights.items()):
        plane = np.asarray(plane)
        image = axes.imshow(
            plane / plane.max(),
            origin="lower",
            extent=(-reach, reach, -reach, reach),
            vmin=0,
            vmax=1,
        )
        axes.contour(
            np.log(plane), levels=10, colors="white", linewidths=0.6, alpha=0.6, linestyles="solid",
            extent=(-reach, reach, -reach, reach),
        )  # fmt: skip
        axes.plot(*query, "*", color=COLOURS["vermilion"], markersize=15, markeredgecolor="white")
        axes.plot(0, 0, "+", color="white", markersize=9)
        axes.set_title(name)
        axes.grid(False)
    for axes in panels[-1]:
        axes.set_xlabel("key, first number")
    for axes in panels[:, 0]:
        axes.set_ylabel("key, second number")
    figure.colorbar(image, ax=panels, shrink=0.75, label="weight (largest = 1)")
    return figure


def alignments(
    pictures: Sequence[tuple[Any, Sequence[str], Sequence[str], Sequence[int]]],
) -> Figure:
    """Draw weights (T, S) with source words above, target symbols beside, the truth outlined."""
    widths = [len(source) + 2 for _, source, _, _ in pictures]
    tallest = max(len(target) for _, _, target, _ in pictures)
    figure, panels = new_figure(
        1, len(pictures), width=8.4, height=1.6 + 0.42 * tallest, squeeze=False,
        gridspec_kw={"width_ratios": widths},
    )  # fmt: skip
    for axes, (weights, source, target, truth) in zip(panels[0], pictures):
        image = axes.imshow(np.asarray(weights), vmin=0, vmax=1, cmap="Greys", aspect="auto")
        axes.set_xticks(range(len(source)), source, rotation=55, ha="left", rotation_mode="anchor")
        axes.set_yticks(range(len(target)), target)
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.grid(False)
        for row, column in enumerate(truth):
            if column >= 0:
                _outline(axes, row, column)
    panels[0][0].set_ylabel("target symbols")
    figure.colorbar(image, ax=panels, shrink=0.8, label="weight")
    figure.supxlabel(
        "source words above · outline: the word that the symbol comes from", fontsize=11
    )
    return figure


def _outline(axes: Axes, row: int, column: int) -> None:
    from matplotlib.patches import Rectangle

    box = Rectangle(
        (column - 0.46, row - 0.46), 0.92, 0.92, fill=False, edgecolor=COLOURS["vermilion"],
        linewidth=2,
    )  # fmt: skip
    axes.add_patch(box)


def accuracy_by_length(
    dates: Sequence[int], accuracy: Mapping[str, Sequence[float]], trained: int
) -> Figure:
    """Draw the share of right symbols (%) against the dates in a line; training ended at one."""
    figure, axes = new_figure(width=7.0, height=3.9)
    axes.axvspan(dates[0] - 0.25, trained + 0.5, color="#EEEEEE", zorder=0)
    styles = (("o", "-"), ("s", "--"), ("^", ":"), ("D", "-."))
    for (name, values), (marker, line) in zip(accuracy.items(), styles):
        percent = [100 * value for value in values]
        axes.plot(dates, percent, marker=marker, linestyle=line, label=name, markersize=8)
    axes.text(dates[0] - 0.2, 4, "lengths seen in training", color=COLOURS["grey"])
    axes.set(xlabel="dates in a line", ylabel="right symbols (%)", ylim=(0, 104), xticks=dates)
    axes.legend(loc="upper right", frameon=False)
    return figure


def matrices(
    tables: Sequence[tuple[str, Any, Sequence[str], Sequence[str]]], digits: int = 2
) -> Figure:
    """Draw small matrices side by side with their numbers: title, matrix, row and column names."""
    widths = [len(columns) for _, _, _, columns in tables]
    figure, panels = new_figure(
        1, len(tables), width=8.6, height=3.3, squeeze=False, gridspec_kw={"width_ratios": widths}
    )
    for axes, (title, matrix, rows, columns) in zip(panels[0], tables):
        matrix = np.asarray(matrix)
        middle = (matrix.min() + matrix.max()) / 2
        axes.imshow(matrix, aspect="auto", cmap="Blues")
        for (row, column), number in np.ndenumerate(matrix):
            axes.text(
                column, row, f"{number:.{digits}f}".replace("-", "−"), ha="center", va="center",
                color="white" if number > middle else "black",
            )  # fmt: skip
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        axes.tick_params(length=0)
        axes.set_title(title)
        axes.grid(False)
    return figure


def hull(values: Any, corners: Sequence[int], outputs: Mapping[str, Any]) -> Figure:
    """Draw values (S, 2), their hull through `corners` in order, and outputs by name (T, 2)."""
    values = np.asarray(values)
    figure, axes = new_figure(width=6.4, height=5.4)
    border = values[[*corners, corners[0]]]
    axes.fill(*border.T, color="#EEEEEE", zorder=0)
    axes.plot(*border.T, color=COLOURS["grey"], linewidth=1.5)
    for (name, points), (mark, colour) in zip(
        outputs.items(), (("o", COLOURS["blue"]), ("x", COLOURS["orange"]), ("+", COLOURS["green"]))
    ):
        points = np.asarray(points)
        axes.plot(*points.T, mark, color=colour, markersize=5, linestyle="", label=name)
    axes.plot(
        *values.T, "s", color=COLOURS["vermilion"], markersize=9, markeredgecolor="white",
        linestyle="", label="values",
    )  # fmt: skip
    axes.set(xlabel="first number of a value", ylabel="second number of a value")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, frameon=False)
    return figure
