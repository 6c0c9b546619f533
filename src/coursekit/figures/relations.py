"""What heads look at: the relations of grammar that they know, and the weights of one head.

The book shows both pictures in "BERT"; the numbers come from `coursekit.analysis.relations`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torch import Tensor

from coursekit._base.checks import check_tensor
from coursekit._base.style import Look
from coursekit.figures import COLOURS, new_figure
from coursekit.figures.curves import legend_below, name_rows
from coursekit.figures.diagram import canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure

THICKEST = 8.0  # points: the line of a weight of 1


def relation_bars(rows: Sequence[Sequence[str | float]]) -> Figure:
    """Draw rows of `coursekit.analysis.relation_rows`, in their order; shares are in % there.

    A row is (relation, best head, right, best offset, right, untrained, guessing).
    """
    figure, axis = new_figure(width=5.4, height=0.55 * len(rows) + 1.4)
    looks: tuple[tuple[str, Look], ...] = (
        ("best head", {"marker": "o", "ms": 9, "color": COLOURS["blue"]}),
        ("best fixed offset", {"marker": "s", "mec": COLOURS["vermilion"]}),
        ("untrained encoder", {"marker": "^", "mec": COLOURS["green"]}),
        ("guessing", {"marker": "|", "ms": 15, "mec": COLOURS["black"]}),
    )
    for place, (_, _, right, _, *others) in enumerate(rows):
        values = [float(value) for value in (right, *others)]
        axis.plot([min(values), max(values)], [place] * 2, color="#CCCCCC", zorder=1)
        for value, (name, look) in zip(values, looks, strict=True):
            options: Look = {"ms": 8, "mew": 1.8, "mfc": "none", "ls": "", "clip_on": False}
            options |= look
            if "color" in look:
                options.pop("mfc")
            axis.plot(value, place, label="" if place else name, **options)
    labels = [f"{row[0]}\nhead {row[1]}, offset {str(row[3]).replace('-', '−')}" for row in rows]
    name_rows(axis, labels)
    axis.set(xlim=(0, 100), xlabel="right word found (%)")
    legend_below(figure)
    return figure


def attention_arrows(
    words: Sequence[str], weights: Tensor, wanted: Sequence[tuple[int, int]]
) -> Figure:
    """Draw one head's weights (T, T): lines from each word, on the left, to those it looks at.

    A line is as wide as its weight. `wanted` has the pairs (from, to) that grammar names; dots show
    them where the head looks elsewhere.
    """
    from matplotlib.lines import Line2D

    check_tensor(weights, "weights")
    size = len(words)
    if weights.shape != (size, size):
        raise ValueError(f"weights must have shape ({size}, {size}), found {tuple(weights.shape)}")
    figure, axis = new_figure(width=5.4, height=0.36 * size + 1.3)
    canvas(axis, width=3, bottom=-size + 0.4, top=1.2)
    blue: Look = {"color": COLOURS["blue"], "alpha": 0.45, "solid_capstyle": "butt"}
    red: Look = {"color": COLOURS["vermilion"], "solid_capstyle": "butt"}
    pairs = {(i, j) for i in range(size) for j in range(size)} - set(wanted)
    for i, j in [*sorted(pairs), *wanted]:  # what is wanted lies above the others
        width, look = THICKEST * float(weights[i, j]), red if (i, j) in wanted else blue
        axis.plot([0.85, 2.15], [-i, -j], linewidth=width, gid=f"{i} {j}", **look)
    for i, j in wanted:
        axis.plot([0.85, 2.15], [-i, -j], ":", linewidth=1.2, color=COLOURS["vermilion"])
    for x, side, head in ((0.81, "right", "this word looks …"), (2.19, "left", "… at this word")):
        axis.text(x, 0.9, head, ha=side, va="center", fontsize=10)
        for i, word in enumerate(words):
            axis.text(x, -i, word, ha=side, va="center", fontsize=12)
    marks: list[Look] = [
        {**blue, "linewidth": THICKEST / 2, "label": "weight ½"},
        {**red, "linewidth": THICKEST / 2, "label": "weight ½, where grammar points"},
        {**red, "linestyle": ":", "label": "where grammar points, any weight"},
    ]
    legend_below(figure, *(Line2D([], [], **look) for look in marks))
    return figure
