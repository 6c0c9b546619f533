"""The style of all figures: colours, strokes, and axes that are made with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.typing import CapStyleType, ColorType, LineStyleType, MarkerType


class Look(TypedDict, total=False):
    """How a line looks, in the words of matplotlib's `plot` and `Line2D`."""

    alpha: float
    clip_on: bool
    color: ColorType
    label: str
    linestyle: LineStyleType
    linewidth: float
    ls: LineStyleType
    marker: MarkerType
    markersize: float
    mec: ColorType
    mew: float
    mfc: ColorType
    ms: float
    solid_capstyle: CapStyleType
    zorder: float


# Okabe and Ito's eight colours, told apart by colour-blind readers too.
COLOURS = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "vermilion": "#D55E00",
    "purple": "#CC79A7",
    "sky": "#56B4E9",
    "grey": "#6B6B6B",
    "black": "#000000",
}

LINES: tuple[Look, ...] = (  # told apart by their strokes too
    {"color": COLOURS["blue"], "linestyle": "-"},
    {"color": COLOURS["vermilion"], "linestyle": "--"},
    {"color": COLOURS["green"], "linestyle": "-."},
    {"color": COLOURS["black"], "linestyle": ":"},
)
MARKED_LINES = tuple(Look(**look, marker=mark) for look, mark in zip(LINES, "os^D"))

# What matplotlib reads when it makes axes; colours of lines come with the axes as a cycle.
STYLE: Any = {
    "figure.facecolor": "white",
    "figure.dpi": 110,
    "savefig.dpi": 240,  # two pixels a pixel of the page; see `coursetools.book.lighten`
    "figure.constrained_layout.use": True,
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#DDDDDD",
    "axes.axisbelow": True,
}


def new_figure(
    rows: int = 1, columns: int = 1, *, width: float = 6.0, height: float = 3.2, **options: Any
) -> tuple[Figure, Any]:
    """Return `(figure, axes)` in the style of the course; sizes are inches for the whole figure.

    A telephone shows it some 390 pixels wide: what is written in 10 points is 9 pixels high there
    if the figure has 6 inches, and less if it is wider.
    """
    import matplotlib.pyplot as plt
    from cycler import cycler

    with plt.rc_context({**STYLE, "axes.prop_cycle": cycler(color=list(COLOURS.values()))}):
        figure, axes = plt.subplots(rows, columns, figsize=(width, height), **options)
    plt.close(figure)  # `show` displays it; the notebook must not draw it a second time
    return figure, axes
