"""The pictures of "GPT": what sampling leaves of a distribution, and how well a writer dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from coursekit.figures import COLOURS, LINES, WIDTH, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def knobs(shares: Mapping[str, Sequence[float]], words: Sequence[str], *, shown: int) -> Figure:
    """Draw for each way of choosing how likely each token is, the likeliest of all first.

    `shares` maps a title to probabilities (V,), in one order of the tokens for all; the first is
    the model's own, which the others show as an outline. `words` are the likeliest tokens, written
    on their bars in the first panel. `shown` ranks are drawn, and a title says how many are left.
    """
    own = [100 * share for share in next(iter(shares.values()))[:shown]]
    figure, axes = new_figure(
        len(shares), 1, width=WIDTH, height=1.5 * len(shares) + 0.4, sharex=True, squeeze=False
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
    figure, axes = new_figure(2, 1, width=WIDTH, height=8.4)
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
