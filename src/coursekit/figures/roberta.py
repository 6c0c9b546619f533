"""The pictures of "RoBERTa and many languages": what is in an input, and lines by layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from coursekit.figures import COLOURS, LINES, WIDTH, new_figure
from coursekit.figures.curves import legend_below
from coursekit.figures.diagram import box, canvas, line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOCUMENTS = ("sky", "orange", "green", "purple")
LEAST = 9.7  # points: 9 pixels where a picture of this width has 360


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


def two_languages(
    english: str,
    french: str,
    nearest: Sequence[tuple[str, float, bool]],
    *,
    width: int,
    layer: int,
    verses: int,
) -> Figure:
    """Draw how a verse looks for its translation: two verses, one encoder, two vectors, cosines.

    `nearest` has the French verses with the largest cosines, each with its cosine and whether it
    is the translation; `verses` is among how many they were found.
    """
    from textwrap import fill, shorten

    figure, axis = new_figure(width=WIDTH, height=5.6)
    canvas(axis, width=WIDTH, top=5.6)
    sides = (
        (1.35, "English", english, "x", "sky"),
        (4.05, "French", french, "y", "orange"),
    )
    box(axis, WIDTH / 2, 3.75, "", width=5.2, height=0.5, colour=(COLOURS["grey"], 0.25))
    text = f"the same encoder for both, up to layer {layer}"
    axis.text(WIDTH / 2, 3.75, text, ha="center", va="center", fontsize=LEAST, zorder=4)
    for x, name, verse, letter, colour in sides:
        tint = (COLOURS[colour], 0.35)
        axis.text(x, 5.45, name, ha="center", va="center", fontsize=LEAST, weight="bold")
        box(axis, x, 4.9, fill(verse, 30), width=2.55, height=0.7, colour=tint, size=LEAST)
        line(axis, [(x, 4.54), (x, 4.02)], arrow=True)
        axis.text(x + 0.1, 4.3, "pieces (T,)", va="center", fontsize=LEAST)
        line(axis, [(x, 3.49), (x, 2.97)], arrow=True)
        axis.text(x + 0.1, 3.26, f"(T, {width})", va="center", fontsize=LEAST)
        text = f"mean of all pieces: {letter}"
        box(axis, x, 2.8, text, width=2.2, height=0.32, colour="white", size=LEAST)
        line(axis, [(x, 2.63), (x, 2.31)], arrow=True)
        text = f"− mean of all {name}"
        box(axis, x, 2.14, text, width=2.2, height=0.32, colour=tint, size=LEAST)
        inwards = x + (0.75 if x < WIDTH / 2 else -0.75)
        line(axis, [(inwards, 1.97), (inwards, 1.66)], arrow=True)
    axis.text(2.0, 1.82, f"({width},)", ha="right", va="center", fontsize=LEAST)
    axis.text(3.4, 1.82, f"({width},)", va="center", fontsize=LEAST)
    text = f"cosine with each of {verses:,} French verses; the largest:"
    axis.text(WIDTH / 2, 1.48, text, ha="center", va="center", fontsize=LEAST)
    for place, (verse, cosine, right) in enumerate(nearest):
        y, colour = 1.12 - 0.34 * place, COLOURS["vermilion" if right else "blue"]
        axis.barh(y, 1.5 * cosine, left=0.1, height=0.24, color=colour, zorder=3)
        label = f"{cosine:.2f}  {shorten(verse, 40, placeholder=' …')}"
        axis.text(0.16 + 1.5 * cosine, y, label, va="center", fontsize=LEAST)
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
