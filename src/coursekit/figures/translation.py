"""The pictures of the chapter "The Transformer that translates"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from torch import Tensor

from coursekit.figures import COLOURS, MARKED_LINES, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = Mapping[str, Any]


def machine(weights: Mapping[str, int], depth: int) -> Figure:
    """Draw encoder and decoder, with the number of weights in each part.

    `weights` has the keys "table", "encoder block" and "decoder block".
    """
    figure, axis = new_figure(height=5.3)
    axis.set(xlim=(0, 10), ylim=(-0.4, 10.4))
    axis.axis("off")
    tint = {"attention": "#CFE6F5", "feed-forward": "#FBE3B5", "table": "#E3E3E3"}
    for x, side in ((2.4, "encoder"), (7.6, "decoder")):
        below = {"encoder": "source (B, S)", "decoder": "target so far (B, T)"}
        axis.text(x, -0.3, below[side], ha="center")
        _box(axis, x, 0.9, "embedding + positions", tint["table"])
        layers = [("self-attention", "attention"), ("feed-forward", "feed-forward")]
        if side == "decoder":
            layers[:1] = [("causal self-attention", "attention"), ("cross-attention", "attention")]
        top = 2.9 + 1.25 * (len(layers) - 1)
        for number, (name, kind) in enumerate(layers):
            _box(axis, x, 2.9 + 1.25 * number, name, tint[kind])
        frame = {"fill": False, "edgecolor": COLOURS["grey"], "linestyle": "--"}
        axis.add_patch(_rectangle(x - 2.15, 2.3, 4.3, top - 1.5, **frame))
        each = weights[f"{side} block"]
        over = {"facecolor": "white", "edgecolor": "none", "pad": 2}  # an arrow passes behind it
        text = f"{depth} such blocks, {each:,} weights each"
        axis.text(x, top + 1.25, text, ha="center", va="center", fontsize=10, bbox=over, zorder=5)
        _arrow(axis, (x, 0.05), (x, 0.54))
        _arrow(axis, (x, 1.3), (x, 2.52))
        for number in range(len(layers) - 1):
            _arrow(axis, (x, 3.28 + 1.25 * number), (x, 3.77 + 1.25 * number))
    _box(axis, 7.6, 8.6, "the same table, transposed", tint["table"])
    _arrow(axis, (7.6, 6.2), (7.6, 8.22))
    _arrow(axis, (7.6, 9.0), (7.6, 9.5))
    axis.text(7.6, 9.65, "a score for each next token: (B, T, V)", ha="center")
    axis.plot([2.4, 2.4, 4.95, 4.95], [4.95, 7.6, 7.6, 4.15], color=COLOURS["blue"], linewidth=1.6)
    _arrow(axis, (4.95, 4.15), (5.7, 4.15), color=COLOURS["blue"])
    memory = "a vector for each source\ntoken: (B, S, D)"
    axis.text(2.4, 7.75, memory, ha="center", color=COLOURS["blue"])
    axis.text(
        2.4, 9.5, f"one table for all three places:\n{weights['table']:,} weights", ha="center"
    )
    return figure


def learning(rows: Sequence[Row], floor: float) -> Figure:
    """Draw the loss of a training, and beside it how many texts are written without a mistake."""
    figure, (left, right) = new_figure(1, 2, height=3.0)
    steps = [row["step"] for row in rows]
    left.plot(steps, [row["loss"] for row in rows], "o-", label="training")
    left.plot(steps, [row["valid"] for row in rows], "s--", color=COLOURS["vermilion"], label="new")
    left.axhline(floor, color=COLOURS["grey"], linestyle=":", label="guessing a digit")
    left.set(xlabel="step", ylabel="loss for each symbol", ylim=(0, None))
    left.legend(frameon=False)
    right.plot(steps, [100 * row["right"] for row in rows], "o-", color=COLOURS["green"])
    right.set(xlabel="step", ylabel="texts without a mistake (%)", ylim=(0, 103))
    return figure


def attention_maps(
    maps: Mapping[str, Tensor],
    source: Sequence[str],
    target: Sequence[str],
    *,
    outline: Sequence[tuple[int, int]] = (),
    height: float = 3.6,
    read: str = "read (source)",
) -> Figure:
    """Draw maps (T, S) side by side: a row for each token written, a column for each token read.

    `outline` frames the cells (row, column) where the largest weight should be.
    """
    figure, axes = new_figure(1, len(maps), height=height, sharey=True, squeeze=False)
    for axis, (name, weights) in zip(axes[0], maps.items()):
        axis.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
        axis.grid(False)
        axis.set_title(name)
        axis.set_xticks(range(len(source)), source, rotation=90 if max(map(len, source)) > 1 else 0)
        axis.set_xlabel(read)
        for row, column in outline:
            frame = {"fill": False, "edgecolor": COLOURS["vermilion"], "linewidth": 1.2}
            axis.add_patch(_rectangle(column - 0.5, row - 0.5, 1, 1, **frame))
    axes[0, 0].set_yticks(range(len(target)), target)
    axes[0, 0].set_ylabel("written (target)")
    return figure


def all_heads(heads: Sequence[Sequence[Tensor]]) -> Figure:
    """Draw the cross-attention (T, S) of every head, without words: a column for each block."""
    columns, rows = len(heads), len(heads[0])
    figure, axes = new_figure(
        rows, columns, height=0.4 + 1.5 * rows, sharex=True, sharey=True, squeeze=False
    )
    for block, column in enumerate(axes.T):
        for number, axis in enumerate(column):
            axis.imshow(heads[block][number], cmap="Blues", vmin=0, vmax=1, aspect="auto")
            axis.grid(False)
            axis.set(xticks=[], yticks=[], title=f"block {block + 1}, head {number + 1}")
    figure.supxlabel("token read (source), from left to right", fontsize=11)
    figure.supylabel("token written, downwards", fontsize=11)
    return figure


def right_by_length(lengths: Sequence[int], shares: Sequence[float], trained: range) -> Figure:
    """Draw the share of texts written without a mistake by their length, trained lengths shaded."""
    figure, axis = new_figure(height=2.8)
    edges = (trained.start - 0.5, trained.stop - 0.5)
    axis.axvspan(*edges, color=COLOURS["sky"], alpha=0.25, label="lengths of the training")
    axis.plot(lengths, [100 * share for share in shares], "o-", color=COLOURS["blue"])
    axis.set(xlabel="digits", ylabel="texts without a mistake (%)", ylim=(0, 104))
    axis.set_xticks(lengths)
    axis.legend(frameon=False, loc="center")
    return figure


def smoothing(
    shares: Sequence[float], losses: Mapping[str, Sequence[float]], best: Mapping[str, float]
) -> Figure:
    """Draw the loss by the probability of the right token; a mark where each curve is lowest."""
    figure, axis = new_figure(height=3.0)
    for style, (name, curve) in zip(MARKED_LINES, losses.items()):
        axis.plot(shares, curve, color=style["color"], linestyle=style["linestyle"], label=name)
        distances = [abs(share - best[name]) for share in shares]
        nearest = distances.index(min(distances))
        mark = {"markersize": 9, "clip_on": False, "color": style["color"]}
        axis.plot(shares[nearest], curve[nearest], style["marker"], **mark)
    axis.set(xlabel="probability of the right token", ylabel="loss", ylim=(0, None))
    axis.legend(frameon=False)
    return figure


def race(curves: Mapping[str, Sequence[Row]], column: str, label: str, marks: Row) -> Figure:
    """Draw one column of several trainings, by step and by time.

    `marks` has a "step" and "seconds", where the comparison is made.
    """
    figure, axes = new_figure(1, 2, height=3.2, sharey=True)
    for axis, against, unit in zip(axes, ("step", "seconds"), (1, 60)):
        for style, (name, rows) in zip(MARKED_LINES, curves.items()):
            points = [(row[against] / unit, row[column]) for row in rows if column in row]
            axis.plot(*zip(*points), label=name, markersize=5, **style)
        axis.axvline(marks[against] / unit, color=COLOURS["grey"], linestyle=":")
        axis.set_xlim(0, None)
    axes[0].set(xlabel="step", ylabel=label)
    axes[1].set(xlabel="training time in minutes")
    axes[0].legend(frameon=False)
    return figure


def by_verse_length(rows: Sequence[Row], names: Mapping[str, str]) -> Figure:
    """Draw BLEU by the words of the English verse; `names` says which columns, and how to call."""
    figure, axis = new_figure(height=3.0)
    last = len(rows) - 1
    ticks = [
        f"{row['from']}–{row['to']}" if row["to"] < 1000 else f"{row['from']} and more"
        for row in rows
    ]
    labels = [f"{tick}\n({row['verses']})" for tick, row in zip(ticks, rows)]
    for style, (column, name) in zip(MARKED_LINES, names.items()):
        axis.plot(range(last + 1), [row[column] for row in rows], label=name, **style)
    axis.set_xticks(range(last + 1), labels)
    axis.set(xlabel="words of the English verse (number of verses)", ylabel="BLEU", ylim=(0, None))
    axis.legend(frameon=False)
    return figure


def beams(rows: Sequence[Row]) -> Figure:
    """Draw BLEU, and the length of the translations, by the number of beams and by α."""
    figure, axes = new_figure(1, 2, height=3.2)
    greedy = [row for row in rows if row["beams"] == 1]
    for style, alpha in zip(MARKED_LINES, sorted({row["alpha"] for row in rows})):
        chosen = greedy + [row for row in rows if row["beams"] > 1 and row["alpha"] == alpha]
        widths = range(len(chosen))
        for axis, column in zip(axes, ("bleu", "length")):
            values = [row[column] for row in chosen]
            axis.plot(widths, values, label=f"α = {alpha:g}", markersize=6, **style)
            axis.set_xticks(widths, [row["beams"] for row in chosen])
            axis.set_xlabel("beams")
    axes[0].set_ylabel("BLEU")
    axes[1].axhline(1, color=COLOURS["grey"], linestyle=":")
    axes[1].set_ylabel("length (reference = 1)")
    axes[0].legend(frameon=False)
    return figure


def changes(
    rows: Mapping[str, tuple[float, float]], label: str, noise: Sequence[float], limit: float
) -> Figure:
    """Draw for each row of Table 3 the paper's change and ours, both against their own base.

    `noise` are the changes by another seed alone, drawn as a band. What lies beyond `limit` is
    drawn at the edge, with its number.
    """
    figure, axis = new_figure(height=0.36 * len(rows) + 1.4)
    axis.axvspan(min(noise), max(noise), color=COLOURS["grey"], alpha=0.25, label="seeds alone")
    axis.axvline(0, color=COLOURS["grey"], linewidth=1)
    styles = (("the paper", "D", COLOURS["orange"], -0.16), ("ours", "o", COLOURS["blue"], 0.16))
    for row, pair in enumerate(rows.values()):
        for (name, mark, colour, above), value in zip(styles, pair):
            y, x = row + above, max(-limit, min(limit, value))
            label_once = {"label": name} if row == 0 else {}
            axis.plot(x, y, mark, color=colour, markersize=7, clip_on=False, **label_once)
            if x != value:
                at, side = (x - 0.05 * limit, "right") if x > 0 else (x + 0.05 * limit, "left")
                axis.text(at, y, f"{value:+.0f}", ha=side, va="center", fontsize=10)
    axis.set_yticks(range(len(rows)), rows)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_xlim(-1.1 * limit, 1.1 * limit)
    axis.grid(axis="x")
    axis.set_xlabel(label)
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure


def _rectangle(x: float, y: float, width: float, height: float, **options: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), width, height, **options)


def _box(axis: Axes, x: float, y: float, text: str, colour: str) -> None:
    axis.add_patch(_rectangle(x - 1.95, y - 0.36, 3.9, 0.76, facecolor=colour, edgecolor="black"))
    axis.text(x, y + 0.02, text, ha="center", va="center")


def _arrow(
    axis: Axes, start: tuple[float, float], end: tuple[float, float], color: str = "black"
) -> None:
    axis.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": color, "linewidth": 1.4})
