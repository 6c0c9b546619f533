"""The figures of "GPT": the model, padding, what sampling leaves and writes, how a writer dates.

The drawings of the model are in inches, so that a box is as wide as its word needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from coursekit.figures import COLOURS, LINES, WIDTH, new_figure
from coursekit.figures.diagram import box, canvas, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALL, TINT = 10, 0.35  # points of small words; how much of a colour covers the ground of a box
NORM, LOOK, FEED, NEW = ((COLOURS[name], TINT) for name in ("orange", "sky", "green", "vermilion"))
PLAIN = (COLOURS["grey"], 0.15)


def whole(words: Sequence[str]) -> Figure:
    """Draw GPT from tokens to scores, one stream for each word but the last, and a block opened.

    `words` is the text: all but the last are read, all but the first are what is to follow.
    """
    read, wanted = words[:-1], words[1:]
    figure, axis = new_figure(width=WIDTH, height=5.7)
    canvas(axis, width=WIDTH, bottom=0.0, top=5.7)
    step, broad = 3.2 / len(read), 3.16
    columns = [step * (n + 0.5) for n in range(len(read))]
    for x, word, next_word in zip(columns, read, wanted):
        box(axis, x, 0.2, word, width=step - 0.06, height=0.32, colour=LOOK, size=SMALL)
        box(axis, x, 5.2, next_word, width=step - 0.06, height=0.32, colour=NEW, size=SMALL)
        for low, high in ((0.36, 0.72), (1.18, 1.58), (3.74, 3.98), (4.36, 4.52), (4.9, 5.04)):
            line(axis, [(x, low), (x, high)], arrow=True, colour=COLOURS["grey"])
        axis.text(x, 2.56, "⋮", ha="center", va="center", fontsize=12)
    middle = broad / 2 + 0.02
    for y, height, text, colour in (
        (0.95, 0.44, "token vectors + position vectors\n(B, T, D)", PLAIN),
        (4.17, 0.36, "last norm (B, T, D)", NORM),
        (4.71, 0.36, "times the token vectors: scores (B, T, V)", PLAIN),
    ):
        box(axis, middle, y, text, width=broad, height=height, colour=colour, size=SMALL)
    for bottom, name in ((1.48, "block 1"), (2.8, "last block")):
        _frame(axis, 0.02, bottom, broad, 0.92)
        for n, x in enumerate(columns):
            for other in columns[: n + 1]:
                axis.plot([other, x], [bottom + 0.14, bottom + 0.56], color=COLOURS["blue"],
                          linewidth=1.1, zorder=3, gid="look")  # fmt: skip
            for y in (0.14, 0.56):
                axis.plot(x, bottom + y, "o", ms=5, color=COLOURS["black"], zorder=4)
        axis.text(middle, bottom + 0.77, f"{name}: each looks at itself and back", ha="center",
                  va="center", fontsize=SMALL)  # fmt: skip
    axis.text(middle, 5.5, "what follows each of them", ha="center", va="center", fontsize=SMALL)
    _frame(axis, 3.5, 0.1, 1.86, 5.1)
    axis.text(4.43, 5.5, "one block, opened", ha="center", va="center", fontsize=SMALL)
    _opened(axis, 3.72, 4.62, [[("norm", NORM), ("attention to\nitself and back", LOOK)],
                               [("norm", NORM), ("feed-forward,\neach alone", FEED)]],
            bottom=0.42, room=2.0, size=SMALL, wide=1.3)  # fmt: skip
    axis.text(3.9, 0.26, "x (B, T, D)", va="center", fontsize=SMALL)
    axis.text(3.9, 4.98, "x (B, T, D)", va="center", fontsize=SMALL)
    return figure


def paddings(prompts: Sequence[Sequence[str]], written: Sequence[Sequence[str]]) -> Figure:
    """Draw prompts of different lengths as one batch, padded on the left and on the right.

    `written` has the new words of each prompt. Below each token is its position in its own text.
    """
    figure, axes = new_figure(2, 1, width=WIDTH, height=4.0)
    longest = max(map(len, prompts))
    step = WIDTH / (longest + len(written[0]))
    titles = ("padded on the left: all continue in one column",
              "padded on the right: each continues from its own last token")  # fmt: skip
    for axis, title in zip(axes, titles):
        canvas(axis, width=WIDTH, bottom=0.75 - 0.78 * len(prompts), top=0.75)
        axis.set_title(title, loc="left", fontsize=10)
        for row, (prompt, new) in enumerate(zip(prompts, written)):
            gap = ["pad"] * (longest - len(prompt))
            cells = [*gap, *prompt, *new] if axis is axes[0] else [*prompt, *gap, *new]
            y, place = 0.5 - 0.78 * row, 0
            for column, word in enumerate(cells):
                x, pad = step * (column + 0.5), word == "pad"
                late = column >= longest
                colour = "white" if pad else NEW if late else LOOK
                edge = COLOURS["grey"] if pad else "black"
                box(axis, x, y, word, width=step - 0.08, height=0.32, colour=colour, size=SMALL,
                    edge=edge)  # fmt: skip
                below = "–" if pad else f"position {place}"
                axis.text(x, y - 0.28, below, ha="center", va="center", fontsize=SMALL)
                place += not pad
            if axis is axes[1] and gap:  # over the padding, to the first new token
                first, last = step * (len(prompt) - 0.5), step * (longest + 0.5)
                line(axis, [(first, y + 0.16), (first, y + 0.27), (last, y + 0.27),
                            (last, y + 0.17)], arrow=True, colour=COLOURS["vermilion"])  # fmt: skip
    return figure


def then_and_now() -> Figure:
    """Draw GPT-2's block and one of today side by side; what differs is in vermilion."""
    figure, axes = new_figure(1, 2, width=WIDTH, height=5.6)
    then = [[("LayerNorm", PLAIN), ("q, k, v: each\n(B, H, T, Dh)", PLAIN),
             ("attention to itself\nand all before it", LOOK), ("join heads, D → D", PLAIN)],
            [("LayerNorm", PLAIN), ("D → 4·D, GELU", FEED), ("4·D → D", FEED)]]  # fmt: skip
    now = [[("RMSNorm", NEW), ("q (B, H, T, Dh), k and\nv (B, Hkv, T, Dh)", NEW),
            ("turn q and k by\ntheir positions", NEW),
            ("attention to the\nlast w tokens", NEW), ("join heads, D → D", PLAIN)],
           [("RMSNorm", NEW), ("two maps D → 8/3·D,\none gates the other", NEW),
            ("8/3·D → D", FEED)]]  # fmt: skip
    for axis, title, branches, below in zip(
        axes, ("GPT-2, 2019", "today"), (then, now),
        ("tokens + positions; with biases", "tokens alone; no biases"),
    ):  # fmt: skip
        canvas(axis, title, width=2.6, bottom=-0.2, top=5.35)
        _opened(axis, 0.22, 1.47, branches, bottom=0.3, room=(2.75, 1.85), size=SMALL, wide=1.9)
        axis.text(0.0, -0.08, below, va="center", fontsize=SMALL)
        axis.text(0.34, 0.22, "x (B, T, D)", va="center", fontsize=SMALL)
        axis.text(0.34, 5.2, "x (B, T, D)", va="center", fontsize=SMALL)
    return figure


def _frame(axis: Axes, x: float, y: float, width: float, height: float) -> None:
    from matplotlib.patches import Rectangle

    ground, edge = "#F6F6F6", COLOURS["grey"]
    axis.add_patch(
        Rectangle((x, y), width, height, facecolor=ground, edgecolor=edge, linewidth=1, zorder=0)
    )


def _opened(
    axis: Axes,
    stream: float,
    branch: float,
    branches: Sequence[Sequence[tuple[str, tuple[str, float]]]],
    *,
    bottom: float,
    room: float | tuple[float, ...],
    size: float,
    wide: float,
) -> None:
    """Draw the stream upwards, and beside it each sublayer that reads it and adds to it."""
    rooms = room if isinstance(room, tuple) else (room,) * len(branches)
    low = bottom
    for texts, height in zip(branches, rooms):
        top = low + height
        line(axis, [(stream, low + 0.12), (branch, low + 0.12), (branch, top),
                    (stream + 0.1, top)], arrow=True)  # fmt: skip
        gap = (height - 0.12) / (len(texts) + 0.45)
        for n, (text, colour) in enumerate(texts):
            tall = 0.42 if "\n" in text else 0.3
            y = low + 0.12 + gap * (n + 0.72)
            ground = "white" if isinstance(colour, tuple) else colour
            box(axis, branch, y, "", width=wide, height=tall, colour=ground)
            box(axis, branch, y, text, width=wide, height=tall, colour=colour, size=size)
        axis.plot(stream, top, "o", ms=14, mfc="white", mec="black", zorder=3)
        axis.text(stream, top, "+", ha="center", va="center", fontsize=12, zorder=4)
        low = top
    line(axis, [(stream, bottom - 0.1), (stream, low + 0.42)], arrow=True)


def knobs(shares: Mapping[str, Sequence[float]], words: Sequence[str], *, shown: int) -> Figure:
    """Draw for each way of choosing how likely each token is, the likeliest of all first.

    `shares` maps a title to probabilities (V,), in one order of the tokens for all; the first is
    the model's own, which the others show as an outline. `words` are the likeliest tokens, written
    on their bars in the first panel. `shown` ranks are drawn, and a title says how many are left.
    """
    own = [100 * share for share in next(iter(shares.values()))[:shown]]
    figure, axes = new_figure(
        len(shares), 1, width=WIDTH, height=1.08 * len(shares) + 0.5, sharex=True, squeeze=False
    )
    top = 100 * max(max(some) for some in shares.values())
    ranks = range(1, shown + 1)
    for number, (axis, (title, some)) in enumerate(zip(axes[:, 0], shares.items())):
        left = sum(share > 0 for share in some)
        axis.bar(ranks, [100 * share for share in some[:shown]], width=0.8, color=COLOURS["sky"])
        if number:
            axis.stairs(own, [rank - 0.5 for rank in (*ranks, shown + 1)], color=COLOURS["black"],
                        linewidth=1.0)  # fmt: skip
        axis.set_title(f"{title}: {left:,} token{'s' * (left != 1)}", loc="left")
        axis.set(ylim=(0, 1.08 * top), ylabel="%")
    for rank, word in enumerate(words, 1):
        axes[0, 0].annotate(word, (rank, own[rank - 1]), (0, 4), textcoords="offset points",
                            rotation=90, ha="center", va="bottom")  # fmt: skip
    axes[-1, 0].set_xlabel("rank of the token, the likeliest first")
    axes[-1, 0].set_xticks([1, *range(5, shown + 1, 5)])
    return figure


def sampled(
    points: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]],
    real: tuple[float, float],
) -> Figure:
    """Draw repetition against surprisal for each model and each way of choosing a token.

    `points` maps a model to its ways, and a way to (bits per byte, % repeated), one pair for each
    seed: small marks, and a large one at their mean. `real` is the pair of real texts.
    """
    figure, axes = new_figure(len(points), 1, width=WIDTH, height=2.2 * len(points) + 0.9,
                              sharex=True, sharey=True, squeeze=False)  # fmt: skip
    looks = ("blue", "vermilion")
    for axis, (model, ways), colour in zip(axes[:, 0], points.items(), looks, strict=False):
        for (way, seeds), mark in zip(ways.items(), "osD^vP", strict=False):
            bits, again = zip(*seeds, strict=True)
            middle = [sum(bits) / len(bits)], [sum(again) / len(again)]
            axis.plot(bits, again, mark, color=COLOURS[colour], ms=4, alpha=0.4, mew=0)
            axis.plot(*middle, mark, color=COLOURS[colour], ms=9, alpha=0.8, mew=0, label=way)
        axis.plot(*real, "*", color=COLOURS["black"], ms=13, label="real speeches")
        axis.set_title(model, loc="left")
        axis.set(ylabel="repeated (%)")
        axis.margins(x=0.08, y=0.12)
    axes[-1, 0].set_xlabel("surprisal for SmolLM2 (bits per byte)")
    marks, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(marks, names, loc="outside lower center", ncols=2, frameon=False, fontsize=10)
    return figure


def dating(
    decades: Sequence[int],
    lines: Mapping[str, Sequence[float]],
    true: Sequence[int],
    guessed: Sequence[int],
) -> Figure:
    """Draw how much less likely some speeches are behind each year, and all guesses.

    `lines` maps a name to what a speech takes behind each of `decades` beyond the best of them.
    `true` and `guessed` are the years of stretches and of their guesses.
    """
    figure, axes = new_figure(2, 1, width=WIDTH, height=6.0, height_ratios=(1, 1.45))
    for (name, values), look in zip(lines.items(), LINES, strict=False):
        axes[0].plot(decades, values, label=name, **look)
    place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 2, "frameon": False}
    axes[0].legend(fontsize=10, **place)
    axes[0].set(xlabel="year before the text", ylabel="bits beyond the best year", ylim=(0, None))
    axes[1].plot([decades[0], decades[-1]], [decades[0], decades[-1]], color=COLOURS["grey"],
                 linewidth=1)  # fmt: skip
    axes[1].plot(true, guessed, "o", color=COLOURS["blue"], ms=5, alpha=0.35, mew=0)
    axes[1].set(xlabel="year of the speech", ylabel="year that makes the stretch likeliest")
    axes[1].set_aspect("equal")
    for axis in axes:
        axis.set_xticks([year for year in decades if year % 50 == 0])
    axes[1].set_yticks(axes[1].get_xticks())
    return figure
