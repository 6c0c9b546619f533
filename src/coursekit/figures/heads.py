"""The pictures of "Many heads": who looks where, what pruning costs, what a layer costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from coursekit._base.style import Look
from coursekit.figures import COLOURS, WIDTH, new_figure
from coursekit.figures.diagram import box, canvas, line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = Any  # a numpy array or a tensor without gradient
LOOKS: Sequence[Look] = (  # of the lines of a picture, in turns
    {"color": COLOURS["blue"], "linestyle": "-", "marker": "o"},
    {"color": COLOURS["orange"], "linestyle": "--", "marker": "s"},
    {"color": COLOURS["green"], "linestyle": "-.", "marker": "^"},
    {"color": COLOURS["vermilion"], "linestyle": ":", "marker": "D"},
)


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
    for (label, runs), look in zip(ours.items(), LOOKS):
        means = [sum(values) / len(values) for values in runs.values()]
        left.plot(list(runs), means, label=label, **look)
        for count, values in runs.items():
            left.plot([count] * len(values), values, ".", color=look["color"], alpha=0.6)
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


def split_attend_join(weights: Array, words: Sequence[str]) -> Figure:
    """Draw the way of a sentence through a layer with its shapes: cut into heads, and joined.

    `weights` (H, T, T) are the shares that each word gives to each; a head has two columns here.
    """
    figure, axis = new_figure(width=WIDTH, height=5.1)
    canvas(axis, width=10, bottom=1.5, top=12.1)
    heads, length = len(weights), len(words)
    colours = [COLOURS[name] for name in ("blue", "orange", "green", "purple")]
    striped = [colour for colour in colours[:heads] for _ in range(2)]
    side = 0.28

    def grid(x: float, y: float, colour: Sequence[str], shades: Array | None = None) -> None:
        """Draw rows of cells of these colours, the upper left corner in (x, y)."""
        for row in range(length):
            for column, paint in enumerate(colour):
                shade = 0.55 if shades is None else 0.08 + 0.92 * float(shades[row][column])
                axis.barh(
                    y - side * (row + 0.5), side, left=x + side * column, height=side,
                    color=(paint, shade), edgecolor="white", linewidth=1,
                )  # fmt: skip

    def label(x: float, y: float, text: str, size: float = 10) -> None:
        axis.text(x, y, text, ha="center", va="center", fontsize=size)

    def shape(y: float, text: str) -> None:
        axis.text(7.5, y, text, va="center", fontsize=10, linespacing=1.4)

    wide, middle = 2 * heads * side, 3.7
    grid(middle - wide / 2, 12.0, [COLOURS["grey"]] * 2 * heads)
    for row, word in enumerate(words):
        axis.text(middle - wide / 2 - 0.15, 12.0 - side * (row + 0.5), word, ha="right",
                  va="center", fontsize=10)  # fmt: skip
    shape(11.6, "X: (T, D)")
    for place, name in enumerate("QKV"):
        x = 1.25 + 2.45 * place
        line(axis, [(middle + 0.5 * (place - 1), 11.0), (x, 10.2)], arrow=True)
        label((1.55, 3.3, 5.85)[place], 10.75, f"$W^{name}$")
        grid(x - wide / 2, 9.65, striped)
        label(x, 9.92, f"${name}$")
        line(axis, [(x, 8.7), (x, 8.2)], arrow=True)
    shape(9.25, "Q, K, V: (T, D),\nin H pieces of D/H")
    label(middle, 7.9, "in each head:  softmax$(Q_iK_i^⊤/√D_h)$,  times $V_i$")
    for head in range(heads):
        x = 0.15 + 1.82 * head
        label(x + length * side / 2, 7.3, f"$A_{head + 1}$")
        grid(x, 7.0, [colours[head]] * length, weights[head])
        label(x + length * side + 0.12, 7.0 - length * side / 2, "·")
        label(x + length * side + 0.25 + side, 7.3, f"$V_{head + 1}$")
        grid(x + length * side + 0.25, 7.0, [colours[head]] * 2)
        start = x + length * side / 2 + 0.4
        line(axis, [(start, 5.95), (middle + 0.56 * (head - (heads - 1) / 2), 5.05)], arrow=True)
    shape(6.55, "A: (H, T, T)\nV: (H, T, D/H)")
    grid(middle - wide / 2, 4.9, striped)
    label(middle - wide / 2 - 0.95, 4.48, "side by side")
    shape(4.48, "joined: (T, D)")
    line(axis, [(middle, 3.9), (middle, 2.7)], arrow=True)
    label(middle + 0.5, 3.3, "$W^O$")
    shape(3.3, "(D, D), mixes\nall columns")
    grid(middle - wide / 2, 2.5, [COLOURS["grey"]] * 2 * heads)
    shape(2.08, "Y: (T, D)")
    return figure


def one_token_more(length: int) -> Figure:
    """Draw the weights for the last token of `length`: all computed again, and with a cache."""
    figure, axes = new_figure(1, 2, width=WIDTH, height=2.6)
    old, new, kept = (COLOURS["blue"], 0.45), COLOURS["orange"], (COLOURS["grey"], 0.3)
    panels = zip(axes, ("computed again", "with a cache"), (old, kept))
    for axis, title, past in panels:
        canvas(axis, title, width=length, bottom=-3.2, top=length)
        axis.set_xlim(-2.9, length)
        rows = range(length) if past == old else [length - 1]
        for query in rows:
            for key in range(query + 1):
                axis.barh(length - query - 0.5, 0.9, left=key + 0.05, height=0.9,
                          color=new if query == length - 1 else old)  # fmt: skip
        for place, name in ((0.5, "weights"), (-1.0, "keys"), (-2.1, "values")):
            axis.text(-0.3, place, name, ha="right", va="center", fontsize=10)
            for key in range(length if place < 0 else 0):
                axis.barh(place, 0.9, left=key + 0.05, height=0.9,
                          color=new if key == length - 1 else past)  # fmt: skip
        axis.set_aspect("equal")
    return figure


def shared_heads(heads: int, groups: Mapping[str, int]) -> Figure:
    """Draw which query heads use which key–value head: a name, and how many of these."""
    figure, axes = new_figure(len(groups), 1, width=WIDTH, height=1.05 * len(groups))
    for axis, (name, count) in zip(axes, groups.items()):
        canvas(axis, width=10, top=2.2)
        axis.text(0.0, 1.1, name, va="center", fontsize=10)
        for head in range(heads):
            x = 3.0 + 0.62 * head
            group = head * count // heads
            below = 3.0 + 0.62 * (heads // count) * (group + 0.5) - 0.31
            line(axis, [(x, 1.55), (below, 0.6)])
            box(axis, x, 1.75, "", width=0.45, height=0.5, colour=COLOURS["sky"])
            box(axis, below, 0.4, "", width=0.45, height=0.5, colour=COLOURS["orange"])
        axis.text(8.0, 1.75, f"{heads} query heads", va="center", fontsize=10)
        axis.text(8.0, 0.4, f"{count} key–value", va="center", fontsize=10)
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
    for (label, runs), look in zip(curves.items(), LOOKS):
        left = list(range(len(runs[0])))[::-1]
        mean = [sum(float(value) for value in column) / len(runs) for column in zip(*runs)]
        axis.plot(left, mean, label=label, **look)
        for run in runs:
            axis.plot(left, run, color=look["color"], lw=0.7, alpha=0.45)
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
        for row, column in enumerate(zip(*grid)):
            *heads, even = (float(value) for value in column)
            dots = {"alpha": 0.6, "label": "a head", "clip_on": False}
            axis.plot(heads, [row] * len(heads), "o", color=COLOURS["blue"], **dots)
            axis.plot(
                even, row, "|", color=COLOURS["vermilion"], ms=16, mew=2, label="an even look"
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
    for (label, losses), look in zip(curves.items(), LOOKS):
        removed = range(len(losses))
        axis.plot(removed, [float(loss) for loss in losses], label=label, **look)
    axis.set(xlabel="heads removed", ylabel="loss (nats for each token)")
    axis.set_xticks(removed)
    axis.legend(loc="upper left", frameon=False)
    return figure


def gradient_along(steps: Sequence[int], chains: Mapping[str, Sequence[float]]) -> Figure:
    """Draw how much of a gradient arrives at the first token, by the places that it came from."""
    figure, axis = new_figure(width=5.4, height=3.8)
    for (label, lengths), look in zip(chains.items(), LOOKS):
        axis.plot(steps, lengths, label=label, **look)
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
    for (label, energy), look in zip(heads.items(), LOOKS):
        for row, shares in enumerate(energy):
            thin = look | {"marker": "", "lw": 1.2, "alpha": 0.8}
            name = label if row == 0 else None
            axes[0].plot(range(1, len(shares) + 1), shares, label=name, **thin)
        axes[1].plot(range(1, len(joined[label]) + 1), joined[label], ms=4, **look)
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


def cache_cost(
    positions: Sequence[int],
    flops: Mapping[str, Sequence[float]],
    seconds: Mapping[str, Sequence[float]],
) -> Figure:
    """Draw what the t-th token costs with and without a key–value cache, counted and timed."""
    figure, axes = new_figure(1, 2, height=3.4)
    for axis, rows, name, unit in (
        (axes[0], flops, "FLOPs for one token (millions)", 1e6),
        (axes[1], seconds, "time for one token (ms)", 1e-3),
    ):
        for (label, values), look in zip(rows.items(), LOOKS):
            axis.plot(positions, [value / unit for value in values], label=label, **look)
        axis.set(xlabel="position t (tokens)", ylabel=name, xscale="log", yscale="log")
        axis.set_xticks(positions, positions, rotation=45)
        axis.minorticks_off()
    axes[0].legend(fontsize=10, frameon=False)
    return figure


def cost_by_length(
    lengths: Sequence[int],
    flops: Mapping[str, Sequence[float]],
    measured: Sequence[int],
    seconds: Mapping[str, Sequence[float]],
    width: int,
) -> Figure:
    """Draw FLOPs of the four layer types by length, and the clock for two of them."""
    figure, axes = new_figure(1, 2, height=4.0)
    looks = dict(zip(flops, LOOKS))
    for label, values in flops.items():
        axes[0].plot(lengths, [v / 1e9 for v in values], ms=5, label=label, **looks[label])
    for label, values in seconds.items():
        axes[1].plot(measured, [value * 1e3 for value in values], **looks[label])
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
