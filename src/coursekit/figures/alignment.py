"""The pictures of "Retrieval and alignment": what a likeness says, and what it stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from coursekit.figures import COLOURS, new_figure
from coursekit.figures.curves import legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 5.4  # inches: a letter of 10 points is 9 pixels high where the picture has 360
ARMS = ("blue", "vermilion", "green", "purple")

Walk = Sequence[Mapping[str, float]]  # points with "kl", "reward" and "opinion"


def followed(panels: Mapping[str, Mapping[str, Sequence[Walk]]]) -> Figure:
    """Draw what the reward model and the judge say of a writer, over how far it has gone.

    `panels` maps a method to its arms, and each arm to one walk a seed. The reward is dashed, the
    judge's opinion a full line; the distance stands on a root scale, since it grows like a square.
    """
    from matplotlib.lines import Line2D

    height = 2.5 * len(panels) + 0.9
    figure, axes = new_figure(len(panels), 1, width=WIDTH, height=height, squeeze=False)
    for axis, (method, arms) in zip(axes[:, 0], panels.items(), strict=True):
        for (name, walks), colour in zip(arms.items(), ARMS, strict=False):
            for number, walk in enumerate(walks):
                look: dict[str, Any] = {"color": COLOURS[colour], "ms": 3.5}
                far = [max(0.0, point["kl"]) ** 0.5 for point in walk]
                axis.plot(far, [point["reward"] for point in walk], "--", lw=1.2, **look)
                axis.plot(far, [point["opinion"] for point in walk], "-o", lw=1.8,
                          label="" if number else name, **look)  # fmt: skip
        axis.axhline(0, color=COLOURS["grey"], linewidth=0.8)
        axis.set_title(method, loc="left")
        axis.set_ylabel("standard deviations")
        reach = axis.get_xlim()[1] ** 2
        ticks = [tick for tick in (0, 0.25, 1, 2, 4, 8, 16, 32, 64) if tick <= reach]
        axis.set_xticks([tick**0.5 for tick in ticks], [f"{tick:g}" for tick in ticks])
        if len(arms) > 1:
            axis.legend(frameon=False, fontsize=10, ncols=len(arms))
    axes[-1, 0].set_xlabel("distance from the writer it was (nats an answer)")
    black = {"color": COLOURS["black"], "label": "the reward model"}
    legend_below(
        figure,
        Line2D([], [], ls="--", lw=1.2, **black),
        Line2D([], [], marker="o", ms=3.5, lw=1.8, **{**black, "label": "the judge"}),
    )
    return figure
