"""The figures of the chapter "Attention kernels"."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.figures import COLOURS, WIDTH, new_figure, panel_grid
from coursekit.figures.diagram import box, canvas, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from torch import Tensor

MARKS = (("*", COLOURS["vermilion"]), ("P", COLOURS["blue"]), ("X", COLOURS["green"]))


def shapes(q: Tensor, k: Tensor, v: Tensor, weights: Tensor) -> Figure:
    """Draw attention as matrices: Q (T, d), K (S, d), A (T, S), V (S, Dv) and A V, with values."""
    figure, axis = new_figure(width=WIDTH, height=5.0)
    canvas(axis, width=12, top=11)
    side = 0.95

    def matrix(x: float, y: float, values: Tensor, name: str, size: str, colour: str) -> None:
        """Draw a matrix with its upper left corner at (x, y); darker is larger."""
        most = float(values.abs().max()) or 1.0
        for r, row in enumerate(values.tolist()):
            for c, value in enumerate(row):
                middle, shade = y - side * (r + 0.5), (colour, 0.1 + 0.6 * abs(value) / most)
                left = x + side * c
                axis.barh(middle, side, left=left, height=side, color=shade, edgecolor="white")
                text = f"{value:.2f}".lstrip("0")
                axis.text(left + side / 2, middle, text, ha="center", va="center", fontsize=9)
        axis.text(x, y + 0.28, f"{name}  {size}", fontsize=10, va="center")

    T, S = weights.shape
    matrix(
        0.2, 10.2, k.T, "Kᵀ", f"(d, S): {k.shape[1]} × {S}, a column for each key", COLOURS["sky"]
    )
    matrix(8.6, 10.2, q, "Q", f"(T, d): {T} × {q.shape[1]}", COLOURS["orange"])
    axis.text(7.25, 9.2, "compared\nwith", fontsize=10, ha="center", va="center")
    line(axis, [(3.05, 8.1), (3.05, 7.2)], arrow=True)
    axis.text(3.3, 7.6, "scores (T, S), then a softmax of each row", fontsize=10, va="center")
    matrix(0.2, 6.6, weights, "A", f"(T, S): {T} × {S}, each row sums to 1", COLOURS["green"])
    line(axis, [(3.05, 4.6), (3.05, 3.5)], arrow=True)
    axis.text(3.3, 3.9, "times V", fontsize=10, va="center")
    matrix(8.6, 6.6, v, "V", f"(S, Dv): {S} × {v.shape[1]}", COLOURS["purple"])
    matrix(2.1, 2.6, weights @ v, "A V", f"(T, Dv): {T} × {v.shape[1]}", COLOURS["vermilion"])
    return figure


def lookup(
    titles: Sequence[str], keys: Any, values: Any, queries: Any, weights: Any, places: Any
) -> Figure:
    """Draw a catalogue (keys, queries) and a room (values, places), dots as large as the weights.

    keys (S, 2), values (S, 2), queries (T, 2), weights (T, S), places (T, 2); dots follow query 0.
    """
    keys, values, queries, weights, places = map(
        np.asarray, (keys, values, queries, weights, places)
    )
    figure, (above, below) = new_figure(2, 1, width=5.4, height=6.3)
    sizes = 25 + 1100 * weights[0]  # square points
    for axes, points, asked, side in ((above, keys, queries, 1), (below, values, places, -1)):
        axes.scatter(*points.T, s=sizes, color=COLOURS["sky"], edgecolor=COLOURS["black"])
        for title, point, size in zip(titles, points, sizes):
            _label(axes, title, point, side * (4 + size**0.5 / 2))
        for number, point in enumerate(asked):
            mark, colour = MARKS[number]
            axes.scatter(*point, marker=mark, s=190, color=colour, edgecolor="white", zorder=3)
            name = "query" if axes is above else "answer"
            _label(axes, f"{name} {number + 1}", point, -11 * side, color=colour, weight="bold")
        axes.margins(0.18, 0.27)
        axes.grid(False)
    above.set(xlabel="about language (0 to 4)", ylabel="about mathematics (0 to 4)")
    above.set_title("Keys: what the books are about")
    below.set(xlabel="along the room (metres)", ylabel="across the room (metres)")
    below.set_title("Values: where they are")
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
        1, len(predictions), width=max(4.2, 2.0 * len(predictions)), height=3.2, sharey=True,
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
    """Draw for each kernel the weight of every key on a square plane, the largest set to 1.

    From one white line to the next the weight falls by a factor of e, in every panel.
    """
    rows = -(-len(weights) // 3)
    figure, panels = new_figure(
        rows, 3, height=2.1 * rows + 0.5, sharex=True, sharey=True, squeeze=False
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
        score = np.log(plane / plane.max())
        axes.contour(
            score, levels=np.arange(np.floor(score.min()), 0.0),
            extent=(-reach, reach, -reach, reach),
            colors="white", linewidths=0.6, alpha=0.6, linestyles="solid",
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
        1, len(pictures), height=1.6 + 0.42 * tallest, squeeze=False,
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
    figure, axes = new_figure(height=3.9)
    axes.axvspan(dates[0] - 0.25, trained + 0.5, color="#EEEEEE", zorder=0)
    styles = (("o", "-"), ("s", "--"), ("^", ":"), ("D", "-."))
    for (name, values), (marker, stroke) in zip(accuracy.items(), styles):
        percent = [100 * value for value in values]
        axes.plot(dates, percent, marker=marker, linestyle=stroke, label=name, markersize=8)
    axes.text(dates[0] - 0.2, 4, "lengths seen in training", color=COLOURS["grey"])
    axes.set(xlabel="dates in a line", ylabel="right symbols (%)", ylim=(0, 104), xticks=dates)
    axes.legend(loc="upper right", frameon=False)
    return figure


def matrices(
    tables: Sequence[tuple[str, Any, Sequence[str], Sequence[str]]], digits: int = 2
) -> Figure:
    """Draw small matrices, two in a row, with numbers: title, matrix, row and column names."""
    figure, all_axes = panel_grid(len(tables), 2, each=2.3)
    for axes, (title, matrix, names, columns) in zip(all_axes, tables):
        matrix = np.asarray(matrix)
        middle = (matrix.min() + matrix.max()) / 2
        axes.imshow(matrix, aspect="auto", cmap="Blues")
        for (row, column), number in np.ndenumerate(matrix):
            axes.text(
                column, row, f"{number:.{digits}f}".replace("-", "−"), ha="center", va="center",
                color="white" if number > middle else "black",
            )  # fmt: skip
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(names)), names)
        axes.tick_params(length=0)
        axes.set_title(title)
        axes.grid(False)
    return figure


TINTS = {"asks": "#FBE3B5", "answers": "#CFE6F5", "result": "#E3E3E3"}


def _machine(
    boxes: Mapping[str, tuple[float, float, float, str, str]],
    arrows: Sequence[tuple[str, str]],
) -> tuple[Figure, Axes]:
    """Draw boxes (x, y, width, tint, text) by name on a sheet of 10 × 10, and arrows between them.

    An arrow leaves its box above and enters the other from below, or from the side if they are
    on one level.
    """
    figure, axes = new_figure(width=5.4, height=4.6)
    canvas(axes, width=10, top=10)
    for x, y, width, tint, text in boxes.values():
        box(axes, x, y, text, width=width, height=1.1, colour=TINTS[tint], size=11)
    for start, end in arrows:
        (x0, y0, w0, *_), (x1, y1, w1, *_) = boxes[start], boxes[end]
        if y0 == y1:
            side = 1 if x1 > x0 else -1
            line(axes, [(x0 + side * w0 / 2, y0), (x1 - side * w1 / 2, y1)], arrow=True)
        else:
            inside = min(max(x0, x1 - 0.4 * w1), x1 + 0.4 * w1)
            line(axes, [(x0, y0 + 0.55), (inside, y1 - 0.55)], arrow=True)
    return figure, axes


def self_attention_flow() -> Figure:
    """Draw how the rows of X become queries, keys and values, then weights A, then Y."""
    boxes = {
        "X": (5.0, 0.7, 3.4, "result", "X:  T × d"),
        "Q": (1.7, 3.2, 2.6, "asks", "Q:  T × d"),
        "K": (5.0, 3.2, 2.6, "answers", "K:  T × d"),
        "V": (8.3, 3.2, 2.6, "answers", "V:  T × d"),
        "scores": (3.35, 5.3, 4.6, "result", "scores $QK^T/\\sqrt{d}$:  T × T"),
        "A": (3.35, 7.3, 4.6, "result", "weights A:  T × T"),
        "Y": (5.8, 9.3, 3.6, "result", "Y = A V:  T × d"),
    }
    arrows = [("X", "Q"), ("X", "K"), ("X", "V"), ("Q", "scores"), ("K", "scores"),
              ("scores", "A"), ("A", "Y"), ("V", "Y")]  # fmt: skip
    figure, axes = _machine(boxes, arrows)
    for x, y, text in ((2.4, 1.9, "$W_Q$"), (5.5, 1.9, "$W_K$"), (7.6, 1.9, "$W_V$")):
        axes.text(x, y, text, ha="center", va="center", fontsize=11)
    axes.text(3.6, 6.3, "softmax of each row", ha="left", va="center", fontsize=10)
    return figure


def decoder_2014(words: Sequence[str]) -> Figure:
    """Draw one step of Bahdanau's decoder over four source `words`: compare, mix, go on."""
    places = [1.1, 2.75, 4.4, 6.05]
    boxes = {
        f"h{number}": (x, 2.3, 1.1, "answers", f"$h_{number}$")
        for number, x in enumerate(places, 1)
    }
    boxes |= {
        "compare": (3.55, 5.0, 6.0, "result", "scores, then softmax:  $α_{t1} … α_{t4}$"),
        "mix": (3.55, 7.4, 6.0, "result", "$c_t = α_{t1}h_1 + … + α_{t4}h_4$"),
        "before": (8.9, 5.0, 1.5, "asks", "$s_{t-1}$"),
        "state": (8.9, 7.4, 1.5, "asks", "$s_t$"),
        "says": (8.9, 9.4, 1.5, "result", "$y_t$"),
    }
    arrows = [(f"h{number}", "compare") for number in range(1, 5)]
    arrows += [("before", "compare"), ("compare", "mix"), ("mix", "state"), ("before", "state"),
               ("state", "says")]  # fmt: skip
    figure, axes = _machine(boxes, arrows)
    for x, word in zip(places, words, strict=True):
        axes.text(x, 0.5, word, ha="center", va="center", fontsize=10)
        line(axes, [(x, 0.9), (x, 1.75)], arrow=True)
    for left, right in itertools.pairwise(places):  # the encoder reads both ways
        line(axes, [(left + 0.55, 2.5), (right - 0.55, 2.5)], arrow=True)
        line(axes, [(right - 0.55, 2.1), (left + 0.55, 2.1)], arrow=True)
    axes.text(7.25, 5.4, "query", ha="center", va="center", fontsize=10)
    axes.text(6.4, 3.6, "keys, values", ha="left", va="center", fontsize=10)
    axes.text(7.2, 9.4, "writes", ha="center", va="center", fontsize=10)
    axes.text(9.1, 6.2, "$y_{t-1}$", ha="left", va="center", fontsize=11)
    return figure


def hull(values: Any, corners: Sequence[int], outputs: Mapping[str, Any]) -> Figure:
    """Draw values (S, 2), their hull through `corners` in order, and outputs by name (T, 2)."""
    values = np.asarray(values)
    figure, axes = new_figure(height=5.2)
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
