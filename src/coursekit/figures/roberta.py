"""The pictures of "RoBERTa and many languages": what is in an input, and lines by layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from coursekit.figures import COLOURS, LINES, WIDTH, new_figure
from coursekit.figures.curves import legend_below
from coursekit.figures.diagram import canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOCUMENTS = ("sky", "orange", "green", "purple")


def packed(
    formats: Mapping[str, Sequence[Sequence[int]]],
    homes: Mapping[int, tuple[int, int]],
    length: int,
) -> Figure:
    """Draw the first inputs of each format as strips: a colour for a document, a box a sentence.

    `formats` maps a name to its inputs, lists of ids; `homes` says of an id of the text in which
    document it is and in which of its sentences, both from 0. All other ids are special tokens
    and drawn black. A strip has room for `length` tokens; what is left of it stays empty.
    """
    if not {home[0] for home in homes.values()} <= set(range(len(DOCUMENTS))):
        raise ValueError(f"at most {len(DOCUMENTS)} documents can be told apart")
    lines = sum(len(inputs) + 1 for inputs in formats.values())
    figure, axis = new_figure(width=WIDTH, height=0.3 * lines + 0.2)
    canvas(axis, width=length, bottom=-lines + 0.3, top=0.6)
    y = 0.0
    for name, inputs in formats.items():
        axis.text(0, y, name, va="center", fontsize=10, weight="bold")
        for ids in inputs:
            y -= 1
            axis.barh(y, length, height=0.74, color="none", edgecolor="#BBBBBB", linewidth=0.8)
            start = 0
            for home, some in groupby(ids, key=homes.get):
                width = len(list(some))
                colour = "black" if home is None else COLOURS[DOCUMENTS[home[0]]]
                axis.barh(y, width, left=start, height=0.74, color=colour, edgecolor="white")
                if home is not None and width > 1:
                    text = f"{'ABCD'[home[0]]}{home[1] + 1}"
                    axis.text(start + width / 2, y, text, ha="center", va="center", fontsize=10)
                start += width
        y -= 1
    return figure


def whole_steps(
    curves: Mapping[str, Sequence[float]],
    *,
    xlabel: str,
    ylabel: str,
    first: int = 0,
    floors: Mapping[str, float] | None = None,
) -> Figure:
    """Draw a line for each name, whose values are at `first`, `first` + 1, …: layers, passes.

    `floors` are dotted heights with a name.
    """
    figure, axis = new_figure(width=WIDTH, height=4.2)
    for (name, values), look in zip(curves.items(), LINES, strict=False):
        axis.plot(range(first, first + len(values)), values, label=name, **look)
    for name, height in (floors or {}).items():
        axis.axhline(height, color=COLOURS["grey"], linestyle=(0, (1, 2)))
        axis.annotate(name, (1, height), (0, 3), xycoords=("axes fraction", "data"),
                      textcoords="offset points", ha="right", color=COLOURS["grey"])  # fmt: skip
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set(xlabel=xlabel, ylabel=ylabel)
    legend_below(figure)
    return figure
