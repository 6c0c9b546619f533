"""What drawings of machines are made of: a canvas, boxes with text, and lines that lead somewhere.

The pages "Blocks" and "BERT" show machines drawn with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Colour = str | tuple[str, float]  # a colour, or a colour and how much of it covers the ground
Point = tuple[float, float]


def canvas(
    axis: Axes, title: str = "", *, width: float = 1.0, bottom: float = 0.0, top: float = 1.0
) -> None:
    """Make an axis an empty sheet from (0, bottom) to (width, top)."""
    axis.set(xlim=(0, width), ylim=(bottom, top), title=title)
    axis.axis("off")


def box(
    axis: Axes,
    x: float,
    y: float,
    text: str,
    *,
    width: float,
    height: float,
    colour: Colour,
    size: float = 12,
    edge: str = "black",
) -> None:
    """Draw a rounded box with its text, (x, y) in its middle."""
    from matplotlib.patches import FancyBboxPatch

    axis.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            boxstyle=f"round,pad=0,rounding_size={height / 5}",
            facecolor=colour,
            edgecolor=edge,
            zorder=3,
        )
    )
    axis.text(x, y, text, ha="center", va="center", fontsize=size, zorder=4)


def line(
    axis: Axes, points: Sequence[Point], arrow: bool = False, *, colour: str = "black"
) -> None:
    """Draw a line through the points, with a head at its end if it is an arrow."""
    xs, ys = zip(*points)
    axis.plot(xs, ys, color=colour, linewidth=1.5, zorder=2)
    if arrow:
        head: dict[str, Any] = {"arrowstyle": "-|>", "color": colour}
        axis.annotate("", points[-1], points[-2], arrowprops=head)
