"""Pictures of examples in a prompt: what they are worth by their number, where a model looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING

from coursekit.figures import COLOURS, MARKED_LINES, WIDTH, new_figure
from coursekit.figures.curves import legend_below
from coursekit.figures.diagram import box, canvas, line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Shares = Mapping[int, Sequence[float]]  # number of examples -> a share, 0 to 1, for each seed


def by_shots(
    panels: Mapping[str, Mapping[str, Shares]],
    *,
    levels: Mapping[str, Mapping[str, Mapping[int, float]]] | None = None,
) -> Figure:
    """Draw right answers by the number of examples: a point for each seed, a line at their mean.

    `panels` maps a title to its lines, at most four, which have the same names in all panels.
    `levels` has dotted lines by the same titles: what is possible, what chance gives; all panels
    call them alike. The numbers of examples are at equal distances.
    """
    height = 2.2 * len(panels) + 0.8
    figure, axes = new_figure(len(panels), 1, width=WIDTH, height=height, squeeze=False)
    for axis, (title, lines) in zip(axes[:, 0], panels.items()):
        shots = sorted({n for shares in lines.values() for n in shares})
        for (name, shares), look in zip(lines.items(), MARKED_LINES, strict=False):
            places = [shots.index(n) for n in shares]
            means = [100 * mean(values) for values in shares.values()]
            axis.plot(places, means, ms=4, label=name, **look)
            points = [
                (p, 100 * one) for p, values in zip(places, shares.values()) for one in values
            ]
            axis.plot(*zip(*points), look["marker"], mfc="none", ms=7, color=look["color"])
        for dots, (name, known) in enumerate((levels or {}).get(title, {}).items(), 1):
            axis.plot([shots.index(n) for n in known], [100 * share for share in known.values()],
                      color=COLOURS["grey"], linestyle=(0, (1, 2 * dots)), label=name)  # fmt: skip
        axis.set_title(title, loc="left")
        axis.set_xticks(range(len(shots)), shots)
        axis.set(ylim=(-3, 105), ylabel="right (%)", xlabel="examples in the prompt")
    legend_below(figure)
    return figure


def look_up(prompt: str) -> Figure:
    """Draw how two blocks answer a prompt of letters, each with its digit, that ends in a letter.

    In block 1 each token takes from the one before it which token that is. In block 2 the last
    letter finds the digits behind its equals, and takes what they are.
    """
    figure, axis = new_figure(width=WIDTH, height=3.9)
    canvas(axis, width=WIDTH, bottom=0.0, top=3.9)
    step, last = WIDTH / len(prompt), len(prompt) - 1
    red, grey = COLOURS["vermilion"], COLOURS["grey"]
    hits = [n for n in range(1, last) if prompt[n - 1] == prompt[last]]
    for n, sign in enumerate(prompt):
        x, hit = step * (n + 0.5), n in hits
        ground = (COLOURS["sky"], 0.35) if sign.isdigit() else (COLOURS["grey"], 0.15)
        for y, text in ((0.2, sign), (1.5, f"{sign}\n{prompt[n - 1]}" if n else sign)):
            box(axis, x, y, text, width=step - 0.05, height=0.3 if y < 1 else 0.46,
                colour=(COLOURS["orange"], 0.45) if hit and y > 1 else ground, size=10)  # fmt: skip
        line(axis, [(x, 0.36), (x, 1.26)], colour="#BBBBBB")
        if n:
            look = red if hit else grey
            line(axis, [(x - step, 0.36), (x, 1.26)], arrow=True, colour=look)
        if hit:
            line(axis, [(x, 1.74), (step * (last + 0.5) - 0.12, 2.72)], arrow=True, colour=red)
    x = step * (last + 0.5)
    line(axis, [(x, 1.74), (x, 2.72)], colour="#BBBBBB")
    label = "/".join(dict.fromkeys(prompt[n] for n in hits)) or "?"
    box(axis, x, 2.9, prompt[last], width=step - 0.05, height=0.3, colour=(grey, 0.15), size=10)
    line(axis, [(x, 3.06), (x, 3.36)], arrow=True, colour=red)
    box(axis, x, 3.54, label, width=step - 0.05, height=0.3, colour=(red, 0.35), size=10)
    for y, text in (
        (3.54, "the answer, read off at the last position"),
        (2.9, f"block 2: looks for what followed an earlier {prompt[last]}"),
        (2.1, "block 1: a token, and\nbelow it the one before"),
    ):
        axis.text(0.02, y, text, va="center", fontsize=10)
    return figure


def reading(text: Sequence[str], rows: Mapping[str, Sequence[float]]) -> Figure:
    """Draw how much of its attention a head gives to each token of a text: a strip for each row.

    `rows` maps a name, such as "block 2, head 1", to one weight for each token.
    """
    if odd := [name for name, weights in rows.items() if len(weights) != len(text)]:
        raise ValueError(
            f"{odd[0]!r} needs a weight for each of {len(text)} tokens, found {len(rows[odd[0]])}"
        )
    height = 0.28 * len(rows) + 0.9
    figure, axis = new_figure(width=WIDTH, height=height)
    strips = [[float(weight) for weight in weights] for weights in rows.values()]
    axis.imshow(strips, cmap="Blues", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    axis.grid(False)
    axis.set_xticks(range(len(text)), text)
    axis.set_yticks(range(len(rows)), rows)
    axis.set_yticks([row - 0.5 for row in range(1, len(rows))], minor=True)
    axis.grid(axis="y", which="minor", color="white", linewidth=2)
    axis.tick_params(which="minor", length=0)
    axis.set_xlabel("token that is read")
    return figure
