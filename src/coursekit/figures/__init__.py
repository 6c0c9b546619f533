"""How the course draws: one style, and two ways to hand a result from a notebook to a page.

`show` displays a figure and names it, `glue` records a number without displaying it. The pages of
the book pick both up by name, so no figure is pasted and no number is typed.
"""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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

# What matplotlib reads when it makes axes; colours of lines come with the axes as a cycle.
STYLE = {
    "figure.facecolor": "white",
    "figure.dpi": 110,
    "savefig.dpi": 160,
    "figure.constrained_layout.use": True,
    "font.size": 11,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#DDDDDD",
    "axes.axisbelow": True,
}


def new_figure(
    rows: int = 1, columns: int = 1, *, width: float = 7.0, height: float = 3.2, **options: Any
) -> tuple[Figure, Any]:
    """Return `(figure, axes)` in the style of the course; sizes are inches for the whole figure."""
    import matplotlib.pyplot as plt
    from cycler import cycler

    with plt.rc_context({**STYLE, "axes.prop_cycle": cycler(color=list(COLOURS.values()))}):
        figure, axes = plt.subplots(rows, columns, figsize=(width, height), **options)
    plt.close(figure)  # `show` displays it; the notebook must not draw it a second time
    return figure, axes


def show(figure: Figure, name: str, *, alt: str) -> None:
    """Display `figure`; pages of the book call it by `name`, a screen reader reads `alt`."""
    from IPython.display import display

    if not alt.strip():
        raise ValueError(f"show({name!r}) needs alt text: one sentence that says what is seen")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=STYLE["savefig.dpi"], facecolor="white")
    display(
        {"image/png": base64.b64encode(buffer.getvalue()).decode(), "text/plain": alt},
        metadata={"scrapbook": {"name": name, "mime_prefix": ""}, "image/png": {"alt": alt}},
        raw=True,
    )


def glue(name: str, value: float | int | str) -> None:
    """Record `value` under `name`, invisibly, for the prose of the page that cites it."""
    from IPython.display import display

    if hasattr(value, "item"):  # a tensor or array with one element
        value = value.item()
    if not isinstance(value, (int, float, str)):
        found = type(value).__name__
        raise TypeError(f"glue({name!r}) takes a number or a string, not {found}")
    prefix = "application/papermill.record/"
    display(
        {prefix + "text/plain": repr(value)},
        metadata={"scrapbook": {"name": name, "mime_prefix": prefix}},
        raw=True,
    )
