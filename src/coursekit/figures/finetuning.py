"""The drawings of the chapter "Fine-tuning practice"; pictures of many seeds are in `seeds`.

All are 5.4 inches wide, so that their words can be read on a telephone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from coursekit.figures import COLOURS, WIDTH, new_figure
from coursekit.figures.diagram import box, canvas, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALL = 10
FROZEN, LEARNS = (COLOURS["grey"], 0.25), (COLOURS["orange"], 0.5)


def one_run(rows: Sequence[Sequence[str]], schedule: Callable[[int], float], steps: int) -> Figure:
    """Draw one step of a fine-tuning with its shapes, and below how the rate goes over the steps.

    `rows` are tokens, the shorter ones without their padding, which is drawn.
    """
    heights = {"height_ratios": (5.2, 1.7)}
    figure, (axis, below) = new_figure(2, 1, width=WIDTH, height=6.0, gridspec_kw=heights)
    canvas(axis, width=10, top=10)
    longest = max(map(len, rows))
    wide, high, left = 1.05, 0.62, 0.3
    for number, row in enumerate(rows):
        y = 9.6 - high * number
        for place in range(longest):
            real = place < len(row)
            colour = (COLOURS["sky"], 0.5) if real else "white"
            box(axis, left + wide * (place + 0.5), y, row[place] if real else "[PAD]",
                width=wide - 0.06, height=high - 0.1, colour=colour, size=SMALL,
                edge="black" if real else COLOURS["grey"])  # fmt: skip
    bottom, x = 9.6 - high * (len(rows) - 0.5), 3.4  # of the rows, of the boxes below
    _shape(axis, left + wide * longest + 0.25, 9.6 - high * (len(rows) - 1) / 2,
           "tokens (B, T)", "white: keep is False")  # fmt: skip
    parts = (
        (6.7, "encoder, pre-trained", LEARNS, "(B, T, D)", "[PAD] is masked"),
        (5.35, "the vector at [CLS]", "white", "(B, D)", "some numbers are dropped"),
        (4.0, "new layer", LEARNS, "(B, C)", "a score for each class"),
        (2.65, "cross-entropy", "white", "one number", "with the labels (B,)"),
    )
    above = bottom
    for y, text, colour, shape, about in parts:
        line(axis, [(x, above), (x, y + 0.4)], arrow=True)
        box(axis, x, y, text, width=4.4, height=0.8, colour=colour, size=11)
        _shape(axis, 6.2, y, shape, about)
        above = y - 0.4
    line(axis, [(x, above), (x, 1.7)], arrow=True)
    box(axis, x, 1.3, "gradients, clipped", width=4.4, height=0.8, colour="white", size=11)
    line(axis, [(1.2, 1.3), (0.45, 1.3), (0.45, 4.0), (1.2, 4.0)], arrow=True)
    line(axis, [(0.45, 4.0), (0.45, 6.7), (1.2, 6.7)], arrow=True)
    _shape(axis, 6.2, 1.3, "one for each weight", "a step at the rate below")
    below.plot(range(1, steps + 1), [schedule(step) for step in range(1, steps + 1)],
               color=COLOURS["vermilion"], marker="o", ms=2.5)  # fmt: skip
    below.set(xlabel="step", ylabel="share of the peak", ylim=(0, 1.1))
    below.set_xlim(0, steps + 1)
    return figure


def low_rank() -> Figure:
    """Draw a layer with its detour, the matrices as rectangles of their shapes, and their sum."""
    figure, axis = new_figure(width=WIDTH, height=5.4)
    canvas(axis, width=10, top=10)

    def matrix(x: float, y: float, text: str, width: float, height: float, colour: Any) -> None:
        from matplotlib.patches import Rectangle

        place = (x - width / 2, y - height / 2)
        axis.add_patch(Rectangle(place, width, height, fc=colour, ec="black", zorder=3))
        axis.text(x, y, text, ha="center", va="center", fontsize=11, zorder=4)

    box(axis, 5, 9.6, "x: what comes in, D numbers", width=6, height=0.7, colour="white", size=11)
    for side in (2.6, 7.2):
        line(axis, [(5, 9.25), (5, 8.95), (side, 8.95), (side, 8.5)], arrow=True)
    matrix(2.6, 7.0, "W", 2.8, 2.9, FROZEN)
    axis.text(2.6, 5.2, "(O, D), frozen", ha="center", va="center", fontsize=SMALL)
    matrix(7.2, 8.25, "A", 2.8, 0.5, LEARNS)
    axis.text(8.75, 8.25, "(r, D)", va="center", fontsize=SMALL)
    line(axis, [(7.2, 8.0), (7.2, 7.35)], arrow=True)
    axis.text(7.45, 7.68, "r numbers", va="center", fontsize=SMALL)
    matrix(7.2, 5.9, "B", 0.55, 2.9, LEARNS)
    axis.text(7.65, 5.9, "(O, r), starts at 0", va="center", fontsize=SMALL)
    box(axis, 5, 3.7, "+", width=0.7, height=0.7, colour="white", size=13)
    line(axis, [(2.6, 4.9), (2.6, 3.7), (4.65, 3.7)], arrow=True)
    line(axis, [(7.2, 4.45), (7.2, 3.7), (5.35, 3.7)], arrow=True)
    axis.text(7.4, 4.05, "times α / r", va="center", fontsize=SMALL)
    line(axis, [(5, 3.35), (5, 2.8)], arrow=True)
    axis.text(5.2, 3.1, "what comes out, O numbers", va="center", fontsize=SMALL)
    matrix(1.5, 1.3, "W", 1.6, 1.7, FROZEN)
    axis.text(3.55, 1.3, "+   α / r  ·", ha="center", va="center", fontsize=12)
    matrix(5.0, 1.3, "B", 0.33, 1.7, LEARNS)
    axis.text(5.35, 1.3, "·", ha="center", va="center", fontsize=13)
    matrix(6.35, 1.3, "A", 1.6, 0.33, LEARNS)
    axis.text(7.55, 1.3, "=", ha="center", va="center", fontsize=13)
    matrix(8.8, 1.3, "W′", 1.6, 1.7, (COLOURS["green"], 0.35))
    axis.text(5, 0.15, "merged: one matrix of the old shape", ha="center", va="center",
              fontsize=SMALL)  # fmt: skip
    return figure


def _shape(axis: Axes, x: float, y: float, shape: str, about: str) -> None:
    axis.text(x, y + 0.22, shape, fontsize=SMALL, va="center")
    axis.text(x, y - 0.3, about, fontsize=SMALL, va="center")
