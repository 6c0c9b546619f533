"""The pictures of "Retrieval and alignment": the look-up, RLHF, and how far policies go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING, Any

from coursekit._base.style import Look
from coursekit.figures import COLOURS, WIDTH, new_figure
from coursekit.figures.curves import legend_below
from coursekit.figures.diagram import box, canvas, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ASPECTS = {"opinion": "the judge's opinion", "reward": "the reward model"}
TICKS = (0, 0.25, 1, 2, 4, 8, 16, 32)

Walk = Sequence[Mapping[str, float]]  # points with "kl", "reward" and "opinion"


def look_up(
    question: str,
    documents: Sequence[str],
    answer: str,
    shares: Sequence[float],
    reads: Sequence[float],
    slopes: Sequence[float],
) -> Figure:
    """Draw how two documents answer a question, and where a step moves their scores.

    For each document there is its share p(z | x), the right answer's probability p(y | x, z) and
    the derivative of the loss by its score.
    """
    figure, axis = new_figure(width=WIDTH, height=4.5)
    canvas(axis, width=10, top=8.35)
    orange, green = (COLOURS["orange"], 0.6), (COLOURS["green"], 0.45)
    xs = (2.45, 7.55)
    box(axis, 5, 7.9, f"question x:  {question}?", width=4.6, height=0.7, colour="white", size=10)
    total = sum(share * read for share, read in zip(shares, reads, strict=True))
    for n, (x, document) in enumerate(zip(xs, documents, strict=True)):
        line(axis, [(5, 7.5), (x, 7.0)], arrow=True)
        box(axis, x, 6.55, f"z{n + 1}:  {document}", width=4.6, height=0.7, colour="white", size=10)
        line(axis, [(x, 6.15), (x, 5.75)], arrow=True)
        box(axis, x, 5.35, "retriever:  q(x) · k(z)", width=4.6, height=0.7, colour=orange, size=10)
        axis.text(x, 4.7, f"share  p(z{n + 1} | x) = {shares[n]:g}", ha="center", va="center")
        line(axis, [(x, 4.4), (x, 4.0)], arrow=True)
        box(axis, x, 3.6, "reader:  x and z", width=4.6, height=0.7, colour=green, size=10)
        axis.text(x, 2.95, f"p({answer} | x, z{n + 1}) = {reads[n]:g}", ha="center", va="center")
        line(axis, [(x, 2.65), (5 + 0.5 * (x - 5), 2.2)], arrow=True)
        way = "falls" if slopes[n] > 0 else "rises"
        text = f"score of z{n + 1}: derivative\n{slopes[n]:+.1f}, so it {way}".replace("-", "−")
        axis.text(x, 0.4, text, ha="center", va="center", color=COLOURS["vermilion"])
    terms = " + ".join(f"{a:g} · {b:g}" for a, b in zip(shares, reads, strict=True))
    text = f"p({answer} | x) = {terms} = {total:g}"
    box(axis, 5, 1.8, text, width=7.4, height=0.7, colour=(COLOURS["sky"], 0.5), size=10)
    line(axis, [(5, 1.4), (5, 1.05)])
    for x in xs:
        line(axis, [(5, 1.05), (x, 1.05), (x, 0.85)], arrow=True, colour=COLOURS["vermilion"])
    return figure


def conversation(
    tokens: Sequence[str], counted: Sequence[bool], chances: Sequence[float]
) -> Figure:
    """Draw which tokens of a conversation the loss counts, and how probable the model found them.

    A token is predicted from those before it: the model reads it in the upper row and predicts the
    next one in the lower row, below its own place.
    """
    count = len(tokens) - 1  # places that predict
    figure, axis = new_figure(width=WIDTH, height=1.75)
    canvas(axis, width=count + 0.1, top=3.5)
    for n in range(count):
        x, takes_part = n + 0.55, counted[n + 1]
        box(axis, x, 2.75, tokens[n], width=0.94, height=0.62, colour="white", size=9)
        line(axis, [(x, 2.4), (x, 1.85)], arrow=True)
        colour = COLOURS["orange"] if takes_part else (COLOURS["grey"], 0.15)
        edge = "black" if takes_part else COLOURS["grey"]
        box(axis, x, 1.5, tokens[n + 1], width=0.94, height=0.62, colour=colour, size=9, edge=edge)
        if takes_part:
            axis.text(x, 0.9, f"{chances[n + 1]:g}", ha="center", va="center")
    axis.text(0.08, 3.3, "the model reads", va="center")
    axis.text(0.08, 0.9, "and predicts", va="center")
    axis.text(0.08, 0.3, "orange: counted, with its probability; grey: not counted", va="center")
    return figure


def rlhf(answer: str, reward: float, ratio: float, beta: float) -> Figure:
    """Draw the three steps of RLHF and DPO: what is trained, what is frozen, where the leash ties.

    In the third step `answer` has gone through: its reward, and its log π/π_ref.
    """
    trained, frozen = COLOURS["orange"], (COLOURS["grey"], 0.3)
    people, plain = (COLOURS["sky"], 0.5), "white"
    figure, axis = new_figure(width=WIDTH, height=6.1)
    canvas(axis, width=10, top=11.3)

    def title(y: float, text: str) -> None:
        axis.text(0.05, y, text, va="center", fontsize=10, fontweight="bold")

    def stage(
        x: float, y: float, text: str, colour: Any, width: float, height: float = 0.75
    ) -> None:
        box(axis, x, y, text, width=width, height=height, colour=colour, size=9)

    def rule(x: float, y: float, text: str, **options: Any) -> None:
        axis.text(x, y, text, va="center", fontsize=9, **options)

    title(11.05, "1  Instruction tuning")
    stage(1.8, 10.35, "prompts, answers\nby people", people, 3.3, 0.85)
    line(axis, [(3.45, 10.35), (4.1, 10.35)], arrow=True)
    stage(5.0, 10.35, "model", trained, 1.7)
    rule(6.1, 10.35, "loss: − ln π(answer | prompt)")

    title(9.45, "2  Reward model")
    stage(0.95, 8.6, "model", frozen, 1.6)
    for y, text in ((8.95, "answer a"), (8.25, "answer b")):
        line(axis, [(1.75, 8.6), (2.25, y)], arrow=True)
        stage(3.05, y, text, plain, 1.55, 0.55)
        line(axis, [(3.85, y), (4.3, 8.6)], arrow=True)
    stage(5.2, 8.6, "people:\na or b?", people, 1.75, 0.85)
    line(axis, [(6.1, 8.6), (6.7, 8.6)], arrow=True)
    stage(8.2, 8.6, "reward model", trained, 2.8)
    rule(9.95, 7.85, "loss: − ln σ(r of better − r of other)", ha="right")

    title(7.25, "3  Reinforcement learning on a leash")
    stage(0.95, 5.55, "prompt x", plain, 1.6)
    line(axis, [(1.75, 5.55), (2.2, 5.55)], arrow=True)
    stage(3.05, 5.55, "policy π", trained, 1.65)
    line(axis, [(3.9, 5.55), (4.35, 5.55)], arrow=True)
    stage(6.45, 5.55, f"y: {answer}", plain, 4.15)
    line(axis, [(7.2, 5.95), (7.2, 6.3)], arrow=True)
    line(axis, [(7.2, 5.15), (7.2, 4.8)], arrow=True)
    stage(6.55, 6.65, "reward model", frozen, 2.8, 0.65)
    stage(6.55, 4.45, "reference", frozen, 2.8, 0.65)
    line(axis, [(7.95, 6.65), (9.1, 6.65), (9.1, 3.5)], arrow=True)
    line(axis, [(7.95, 4.45), (9.1, 4.45)])
    rule(8.1, 6.92, f"r = {reward:.1f}")
    rule(8.95, 3.8, r"$\ln\,\pi/\pi_\mathrm{ref}$" + f" = {ratio:.1f}", ha="right")
    total = f"{reward - beta * ratio:.1f}"
    text = (
        r"R = r − β ln $\pi/\pi_\mathrm{ref}$"
        + f" = {reward:.1f} − {beta:g} · {ratio:.1f} = {total}"
    )
    stage(6.6, 3.1, text.replace("-", "−"), plain, 6.5, 0.7)
    line(axis, [(3.35, 3.1), (3.05, 3.1), (3.05, 5.15)], arrow=True, colour=COLOURS["vermilion"])
    axis.plot([3.05, 5.15], [5.15, 4.45], color=COLOURS["blue"], linewidth=1.5, linestyle=":")
    rule(2.9, 4.1, "y likelier\nif R is above\nthe mean", ha="right", color=COLOURS["vermilion"])
    rule(3.2, 4.35, "leash", color=COLOURS["blue"])

    title(2.3, "DPO: 2 and 3 in one")
    stage(1.3, 1.5, "pairs:\nbetter, other", people, 2.4, 0.85)
    line(axis, [(2.5, 1.5), (3.0, 1.5)], arrow=True)
    stage(3.85, 1.5, "policy π", trained, 1.65)
    stage(5.95, 1.5, "reference", frozen, 1.85)
    axis.plot([4.7, 5.0], [1.5, 1.5], color=COLOURS["blue"], linewidth=1.5, linestyle=":")
    rule(7.05, 1.5, "loss: − ln σ(β (lead in\n" + r"$\ln\,\pi/\pi_\mathrm{ref}$))")

    for x, colour, text in ((0.3, trained, "trained in this step"), (4.1, frozen, "frozen"),
                            (6.5, people, "from people")):  # fmt: skip
        box(axis, x, 0.4, "", width=0.45, height=0.4, colour=colour)
        rule(x + 0.4, 0.4, text)
    return figure


def followed(panels: Mapping[str, Sequence[Walk]]) -> Figure:
    """Draw what is thought of a policy over how far it has gone: a panel of walks for each title.

    A thin line is the judge's opinion in one walk, the thick one the mean of all, point by point;
    the dashed one is the mean of what the reward models say. Distances are on a root scale, for
    they begin like a square.
    """
    from matplotlib.lines import Line2D

    figure, axes = new_figure(
        len(panels),
        1,
        width=WIDTH,
        height=1.75 * len(panels) + 0.75,
        squeeze=False,
        sharex=True,
        sharey=True,
    )
    looks: dict[str, Look] = {
        "the judge, one repetition": {"color": COLOURS["sky"], "linewidth": 0.8},
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
        axis.set_ylabel("gain (logits)")
    _name_distances(axes[-1, 0])
    legend_below(figure, *(Line2D([], [], label=name, **look) for name, look in looks.items()))
    return figure


def pursued(ways: Mapping[str, Sequence[Walk]]) -> Figure:
    """Draw the judge's opinion, and below it the reward, over the distance: a colour for each way.

    `ways` has a walk for each seed: the first is a full line, the others are dotted ones.
    """
    from matplotlib.lines import Line2D

    figure, axes = new_figure(2, 1, width=WIDTH, height=6.0, sharex=True)
    looks: dict[str, Look] = {
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
        axis.set_ylabel("gain (logits)")
    _name_distances(axes[-1])
    legend_below(figure, *(Line2D([], [], label=name, **look) for name, look in looks.items()))
    return figure


def _name_distances(axis: Axes) -> None:
    """Write distances below an axis of their roots."""
    reach = axis.get_xlim()[1] ** 2
    ticks = [tick for tick in TICKS if tick <= reach]
    axis.set_xticks([tick**0.5 for tick in ticks], [f"{tick:g}" for tick in ticks])
    axis.set_xlabel("divergence from the reviewer (nats)")


def _roots(walk: Walk) -> list[float]:
    """Return the roots of the distances; an estimate below zero is none."""
    return [max(0.0, point["kl"]) ** 0.5 for point in walk]
