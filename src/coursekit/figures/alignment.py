"""The pictures of "Retrieval and alignment": what a likeness says, and what it stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING

from coursekit.figures import COLOURS, WIDTH, new_figure
from coursekit.figures.curves import legend_below

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ASPECTS = {"opinion": "the judge's opinion", "reward": "the reward model"}
TICKS = (0, 0.25, 1, 2, 4, 8, 16, 32)

Walk = Sequence[Mapping[str, float]]  # points with "kl", "reward" and "opinion"


def followed(panels: Mapping[str, Sequence[Walk]]) -> Figure:
    """Draw what is thought of a writer over how far it has gone: a panel of walks for each title.

    A thin line is the judge's opinion in one walk, the thick one the mean of all, point by point;
    the dashed one is the mean of what the reward models say. Distances are on a root scale, for
    they begin like a square.
    """
    from matplotlib.lines import Line2D

    figure, axes = new_figure(
        len(panels), 1, width=WIDTH, height=2.6 * len(panels) + 0.7, squeeze=False, sharex=True
    )
    looks = {
        "the judge, one group": {"color": COLOURS["sky"], "linewidth": 0.8},
        "the judge, mean": {"color": COLOURS["blue"], "linewidth": 2.2},
        "the reward models, mean": {"color": COLOURS["vermilion"], "linestyle": "--"},
    }
    one, every, likeness = looks.values()
    for axis, (title, walks) in zip(axes[:, 0], panels.items(), strict=True):
        for walk in walks:
            axis.plot(_roots(walk), [point["opinion"] for point in walk], **one)
        middle = [
            {key: mean(point[key] for point in points) for key in ("kl", "reward", "opinion")}
            for points in zip(*walks, strict=True)
        ]
        axis.plot(_roots(middle), [point["opinion"] for point in middle], **every)
        axis.plot(_roots(middle), [point["reward"] for point in middle], **likeness)
        axis.axhline(0, color=COLOURS["grey"], linewidth=0.8)
        axis.set_title(title, loc="left")
        axis.set_ylabel("gain")
    _name_distances(axes[-1, 0])
    legend_below(figure, *(Line2D([], [], label=name, **look) for name, look in looks.items()))
    return figure


def pursued(ways: Mapping[str, Sequence[Walk]]) -> Figure:
    """Draw the judge's opinion, and below it the reward, over the distance: a colour for each way.

    `ways` has a walk for each seed: the first is a full line, the others are dotted ones.
    """
    from matplotlib.lines import Line2D

    figure, axes = new_figure(2, 1, width=WIDTH, height=6.6, sharex=True)
    looks = {
        name: {"color": colour, "marker": marker, "markersize": 4}
        for name, colour, marker in zip(ways, COLOURS.values(), "osD^vP", strict=False)
    }
    for axis, (key, label) in zip(axes, ASPECTS.items(), strict=True):
        for name, walks in ways.items():
            for n, walk in enumerate(walks):
                line = "-" if n == 0 else ":"
                heights = [point[key] for point in walk]
                axis.plot(_roots(walk), heights, linestyle=line, **looks[name])
        axis.axhline(0, color=COLOURS["grey"], linewidth=0.8)
        axis.set_title(label, loc="left")
        axis.set_ylabel("gain")
    _name_distances(axes[-1])
    legend_below(figure, *(Line2D([], [], label=name, **look) for name, look in looks.items()))
    return figure


def _name_distances(axis: Axes) -> None:
    """Write distances below an axis of their roots."""
    reach = axis.get_xlim()[1] ** 2
    ticks = [tick for tick in TICKS if tick <= reach]
    axis.set_xticks([tick**0.5 for tick in ticks], [f"{tick:g}" for tick in ticks])
    axis.set_xlabel("divergence from the writer it was (nats)")


def _roots(walk: Walk) -> list[float]:
    """Return the roots of the distances; an estimate below zero is none."""
    return [max(0.0, point["kl"]) ** 0.5 for point in walk]
