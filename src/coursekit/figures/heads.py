"""The pictures of "Many heads": who looks where, what pruning costs, what a layer costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from coursekit.figures import COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = Any  # a numpy array or a tensor without gradient
MARKERS = ("o", "s", "^", "D", "v")
DASHES = ("-", "--", "-.", ":")


def weights_of_one_query(panels: Mapping[str, Array], wanted: Sequence[int]) -> Figure:
    """Draw each head's weights over the items, one panel a model, the wanted items framed."""
    from matplotlib.patches import Rectangle

    rows = [len(weights) for weights in panels.values()]
    figure, axes = new_figure(
        len(panels), 1, height=1.9 + 0.36 * sum(rows), height_ratios=[r + 0.6 for r in rows]
    )
    for axis, (title, weights) in zip(axes, panels.items()):
        image = axis.imshow(weights, vmin=0, vmax=1, aspect="auto", cmap="Blues")
        axis.set_title(title, loc="left")
        axis.set_yticks(range(len(weights)), [f"head {i + 1}" for i in range(len(weights))])
        axis.set_xticks(range(len(weights[0])), range(1, len(weights[0]) + 1))
        axis.grid(False)
        for item in wanted:
            frame = Rectangle(
                (item - 0.47, -0.47), 0.94, len(weights) - 0.06, fill=False, lw=2.2, zorder=3
            )
            frame.set_edgecolor(COLOURS["vermilion"])
            axis.add_patch(frame)
    axes[-1].set_xlabel("item in memory (framed: the four that are asked for)")
    figure.colorbar(image, ax=list(axes), label="attention weight", fraction=0.04)
    return figure


def accuracy_by_heads(
    ours: Mapping[str, Mapping[int, Sequence[float]]],
    bound: Mapping[int, float],
    paper: Mapping[int, float],
) -> Figure:
    """Draw accuracy (one point a seed) by number of heads, beside BLEU in the paper's Table 3."""
    figure, (left, right) = new_figure(1, 2, height=3.7, width_ratios=[1.5, 1])
    for index, (label, runs) in enumerate(ours.items()):
        colour = list(COLOURS.values())[index]
        heads = list(runs)
        means = [sum(values) / len(values) for values in runs.values()]
        left.plot(heads, means, DASHES[index], marker=MARKERS[index], color=colour, label=label)
        for count, values in runs.items():
            left.plot([count] * len(values), values, ".", color=colour, alpha=0.6)
    left.plot(
        list(bound),
        list(bound.values()),
        ":",
        marker="_",
        ms=14,
        color=COLOURS["black"],
        label="expected",
    )
    left.set(xlabel="heads H (width 32)", ylabel="answers that are right", ylim=(0, 1.05))
    left.set_title("our task", loc="left")
    left.legend(loc="lower right", fontsize=10, frameon=False)
    right.plot(list(paper), list(paper.values()), marker="s", color=COLOURS["purple"])
    right.set(xlabel="heads h (width 512)", ylabel="BLEU", ylim=(24.5, 26.1))
    right.set_title("the paper's Table 3 (A)", loc="left")
    for axis, ticks in ((left, bound), (right, paper)):
        axis.set_xscale("log", base=2)
        axis.set_xticks(list(ticks), list(ticks))
        axis.margins(x=0.1)
        axis.minorticks_off()
    return figure


def split_attend_join(heads: int = 4, length: int = 3) -> Figure:
    """Draw the way of a sequence through an attention layer: columns cut into heads, and back."""
    from matplotlib.patches import Rectangle

    figure, axis = new_figure(height=2.9)
    colours = [COLOURS[name] for name in ("blue", "orange", "green", "purple")]

    def grid(
        x: float, y: float, columns: int, colour: Sequence[str], *, rows: int = length
    ) -> None:
        for row in range(rows):
            for column in range(columns):
                cell = Rectangle((x + 0.25 * column, y - 0.25 * row), 0.25, 0.25, ec="white", lw=1)
                cell.set_facecolor(colour[column])
                axis.add_patch(cell)

    def label(x: float, y: float, text: str) -> None:
        axis.text(x, y, text, ha="center", va="center", fontsize=10)

    striped = [colour for colour in colours for _ in range(2)]
    grid(0.0, 2.0, 8, [COLOURS["grey"]] * 8)
    label(1.0, 2.62, "X\nlength × D")
    for index, name in enumerate("QKV"):
        grid(3.0, 3.2 - 1.2 * index, 8, striped)
        label(2.72, 3.08 - 1.2 * index, name)
    label(4.0, 3.85, "all heads,\nside by side")
    for index in range(heads):
        y = 3.35 - 0.92 * index
        grid(6.0, y, length, [colours[index]] * length)
        label(7.0, y - 0.13, "·")
        grid(7.25, y, 2, [colours[index]] * 2)
    label(6.4, 3.83, "weights")
    label(7.5, 3.83, "V")
    grid(9.0, 2.0, 8, striped)
    label(10.0, 2.62, "joined\nlength × D")
    grid(12.0, 2.0, 8, [COLOURS["grey"]] * 8)
    label(13.0, 2.62, "· W$^O$\nlength × D")
    for start, end in (((2.1, 1.95), (2.5, 1.95)), ((5.2, 1.95), (5.8, 1.95))):
        axis.annotate("", end, start, arrowprops={"arrowstyle": "->", "lw": 1.5})
    for start, end in (((7.95, 1.95), (8.8, 1.95)), ((11.15, 1.95), (11.85, 1.95))):
        axis.annotate("", end, start, arrowprops={"arrowstyle": "->", "lw": 1.5})
    axis.set(xlim=(-0.1, 14.2), ylim=(-0.2, 4.3))
    axis.axis("off")
    return figure


def self_and_cross(
    own: Array, other: Array, target: Sequence[str], source: Sequence[str]
) -> Figure:
    """Draw the weights of one head, once over its own words and once over those of a source."""
    figure, axes = new_figure(1, 2, height=3.6, width_ratios=[len(target), len(source)])
    panels = (
        ("self-attention\nq, k, v: target", own, target, "target (keys, values)"),
        ("cross-attention\nq: target; k, v: source", other, source, "source"),
    )
    for axis, (title, weights, words, name) in zip(axes, panels):
        image = axis.imshow(weights, vmin=0, aspect="auto", cmap="Blues")
        axis.set_title(title, loc="left")
        axis.set_xticks(range(len(words)), words, rotation=45, ha="right")
        axis.set_yticks(range(len(target)), target)
        axis.set_xlabel(name)
        axis.grid(False)
        figure.colorbar(image, ax=axis, fraction=0.05, label="attention weight")
    axes[0].set_ylabel("target (queries)")
    axes[1].set_xlabel("source (keys, values)")
    return figure


def head_roles(roles: Sequence[Array], importance: Sequence[Array]) -> Figure:
    """Draw, for each model, how much each head looks at the item asked for in each slot."""
    figure, axes = new_figure(1, len(roles), height=3.9, sharey=True)
    for seed, (axis, role, worth) in enumerate(zip(axes, roles, importance)):
        image = axis.imshow(role, vmin=0, vmax=1, aspect="auto", cmap="Blues")
        axis.set_title(f"seed {seed}", loc="left")
        axis.set_xticks(range(len(role[0])), range(1, len(role[0]) + 1))
        axis.set_xlabel("question")
        axis.grid(False)
        for head, value in enumerate(worth):
            axis.text(
                len(role[0]) - 0.4, head, f"{float(value):.0%}", va="center", ha="left", fontsize=10
            )
    axes[0].set_yticks(range(len(roles[0])), range(1, len(roles[0]) + 1))
    axes[0].set_ylabel("head")
    figure.colorbar(image, ax=list(axes), label="weight on the item asked for", pad=0.08)
    return figure


def loss_by_heads_left(curves: Mapping[str, Array], chance: float) -> Figure:
    """Draw the loss as heads are removed: `curves` holds (seeds, H + 1), all heads kept first."""
    figure, axis = new_figure(height=3.6)
    for index, (label, runs) in enumerate(curves.items()):
        colour = list(COLOURS.values())[index]
        left = list(range(len(runs[0])))[::-1]
        mean = [sum(float(value) for value in column) / len(runs) for column in zip(*runs)]
        axis.plot(left, mean, DASHES[index], marker=MARKERS[index], color=colour, label=label)
        for run in runs:
            axis.plot(left, run, color=colour, lw=0.7, alpha=0.45)
    axis.axhline(chance, color=COLOURS["black"], lw=1)
    axis.text(left[0], chance, "guessing", va="bottom", ha="left", fontsize=10)
    axis.invert_xaxis()
    axis.set(xlabel="heads left", ylabel="loss in nats (cross-entropy)")
    axis.legend(loc="upper left", bbox_to_anchor=(0.0, 0.84), fontsize=10, frameon=False)
    return figure


def head_kinds(kinds: Mapping[str, tuple[Sequence[str], Sequence[str], Array]]) -> Figure:
    """Draw mean weights (heads, places) as dots: a panel's title, rows, columns, grid.

    The last row of each grid is what an even look would give; it is drawn as an upright line.
    """
    lines = [len(places) for _, places, _ in kinds.values()]
    figure, axes = new_figure(
        len(kinds), 1, width=5.4, height=1.0 + 0.34 * sum(lines) + 0.45 * len(kinds),
        height_ratios=lines, squeeze=False, sharex=True,
    )  # fmt: skip
    for axis, (title, (_, places, grid)) in zip(axes[:, 0], kinds.items()):
        for line, column in enumerate(zip(*grid)):
            *heads, even = (float(value) for value in column)
            dots = {"alpha": 0.6, "label": "a head", "clip_on": False}
            axis.plot(heads, [line] * len(heads), "o", color=COLOURS["blue"], **dots)
            axis.plot(
                even, line, "|", color=COLOURS["vermilion"], ms=16, mew=2, label="an even look"
            )
        axis.set_title(title, loc="left")
        axis.set(yticks=range(len(places)), yticklabels=places, ylim=(len(places) - 0.5, -0.5))
    axes[-1, 0].set(xlabel="mean weight", xlim=(0, None))
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles[:2], labels[:2], loc="outside lower center", ncols=2, frameon=False)
    return figure


def pruned_by_kind(curves: Mapping[str, Array]) -> Figure:
    """Draw the loss as heads of one kind are removed: each curve is (H + 1,), all kept first."""
    figure, axis = new_figure(width=5.4, height=3.6)
    for index, (label, losses) in enumerate(curves.items()):
        removed = range(len(losses))
        axis.plot(
            removed, [float(loss) for loss in losses], DASHES[index], marker=MARKERS[index],
            color=list(COLOURS.values())[index], label=label,
        )  # fmt: skip
    axis.set(xlabel="heads removed", ylabel="loss (nats for each token)")
    axis.set_xticks(removed)
    axis.legend(loc="upper left", frameon=False)
    return figure


def gradient_along(steps: Sequence[int], chains: Mapping[str, Sequence[float]]) -> Figure:
    """Draw how much of a gradient arrives at the first token, by the places that it came from."""
    figure, axis = new_figure(width=5.4, height=3.8)
    for index, (label, lengths) in enumerate(chains.items()):
        axis.plot(
            steps, lengths, DASHES[index], marker=MARKERS[index],
            color=list(COLOURS.values())[index], label=label,
        )  # fmt: skip
    axis.set(
        xscale="log", yscale="log", xlabel="distance (tokens)", ylabel="gradient (1: next token)"
    )
    axis.set_xticks(steps, steps)
    axis.minorticks_off()
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return figure


def energy_by_directions(
    heads: Mapping[str, Array], joined: Mapping[str, Array], share: float = 0.9
) -> Figure:
    """Draw the captured energy of each head's score matrix, and of the concatenated heads."""
    figure, axes = new_figure(1, 2, height=3.5, sharey=True)
    for index, (label, energy) in enumerate(heads.items()):
        colour = list(COLOURS.values())[index]
        for row, line in enumerate(energy):
            axes[0].plot(
                range(1, len(line) + 1), line, DASHES[index], color=colour, lw=1.2, alpha=0.8,
                label=label if row == 0 else None,
            )  # fmt: skip
        line = joined[label]
        axes[1].plot(
            range(1, len(line) + 1), line, DASHES[index], marker=MARKERS[index], ms=4, color=colour
        )
    for axis in axes:
        axis.axhline(share, color=COLOURS["grey"], lw=1, ls=":")
        axis.set_xlabel("directions kept")
        axis.set_ylim(0, 1.03)
    axes[0].set_xticks(range(1, len(next(iter(heads.values()))[0]) + 1))
    axes[0].set_title("each head by itself", loc="left")
    axes[1].set_title("heads concatenated", loc="left")
    axes[0].set_ylabel("share of the energy")
    axes[0].legend(loc="lower right", fontsize=10, frameon=False)
    return figure


def cache_cost(positions: Sequence[int], flops: Mapping, seconds: Mapping) -> Figure:
    """Draw what the t-th token costs with and without a key–value cache, counted and timed."""
    figure, axes = new_figure(1, 2, height=3.4)
    for axis, rows, name, unit in (
        (axes[0], flops, "FLOPs for one token (millions)", 1e6),
        (axes[1], seconds, "time for one token (ms)", 1e-3),
    ):
        for index, (label, values) in enumerate(rows.items()):
            axis.plot(
                positions,
                [value / unit for value in values],
                DASHES[index],
                marker=MARKERS[index],
                label=label,
            )
        axis.set(xlabel="position t (tokens)", ylabel=name, xscale="log", yscale="log")
        axis.set_xticks(positions, positions, rotation=45)
        axis.minorticks_off()
    axes[0].legend(fontsize=10, frameon=False)
    return figure


def cost_by_length(
    lengths: Sequence[int], flops: Mapping, measured: Sequence[int], seconds: Mapping, width: int
) -> Figure:
    """Draw FLOPs of the four layer types by length, and the clock for two of them."""
    figure, axes = new_figure(1, 2, height=4.0)
    colours = dict(zip(flops, COLOURS.values()))
    for index, (label, values) in enumerate(flops.items()):
        axes[0].plot(
            lengths,
            [value / 1e9 for value in values],
            DASHES[index],
            marker=MARKERS[index],
            ms=5,
            color=colours[label],
            label=label,
        )
    for label, values in seconds.items():
        index = list(flops).index(label)
        axes[1].plot(
            measured,
            [value * 1e3 for value in values],
            DASHES[index],
            marker=MARKERS[index],
            color=colours[label],
        )
    for axis, title, unit in (
        (axes[0], "counted", "FLOPs of a layer (billions)"),
        (axes[1], "measured, one thread", "time of a layer (ms)"),
    ):
        axis.set(xscale="log", yscale="log", xlabel="length n (positions)", ylabel=unit)
        axis.set_xticks(measured, measured, rotation=45)
        axis.minorticks_off()
        axis.axvline(width, color=COLOURS["black"], lw=1, ls=":")
        axis.set_title(title, loc="left")
        axis.text(width, 0.98, " n = d", transform=axis.get_xaxis_transform(), va="top")
    figure.legend(loc="outside lower center", ncols=2, fontsize=10, frameon=False)
    return figure
