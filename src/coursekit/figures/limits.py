"""The pictures of "Limits": energy, memory, length, commands never read, few pairs or many.

All are 5.4 inches wide, so that their words can be read on a telephone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING

from coursekit.figures import COLOURS, LINES, WIDTH, new_figure
from coursekit.figures.curves import legend_below, name_rows
from coursekit.figures.diagram import box, canvas, line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKS = ("o", "s", "^", "D")


def energy_bars(
    computed: Mapping[str, float], printed: Mapping[str, float], everyday: Mapping[str, float]
) -> Figure:
    """Draw the kilowatt-hours of trainings as bars on a logarithmic axis, what was printed as dots.

    `everyday` are things with a known energy, drawn grey below the trainings to compare with.
    """
    figure, axis = new_figure(width=WIDTH, height=0.36 * (len(computed) + len(everyday)) + 1.3)
    rows = {**computed, **everyday}
    low = min(rows.values()) / 3
    for row, (name, value) in enumerate(rows.items()):
        colour = COLOURS["sky"] if name in computed else "#BBBBBB"
        axis.barh(row, value - low, left=low, height=0.66, color=colour)
    dots = [(printed[name], row) for row, name in enumerate(computed) if name in printed]
    axis.plot(*zip(*dots), "o", color="black", ms=5, label="printed")
    name_rows(axis, rows, lines=False)
    axis.set(xscale="log", xlabel="energy (kWh)", xlim=(low, 3 * max(rows.values())))
    legend_below(figure)
    return figure


def kept_in_block(width: int, heads: int, length: int) -> Figure:
    """Draw what each part of a block keeps for the way back: bars in numbers for each token.

    The table of weights, which not every attention stores, is hatched; a feed-forward network is
    four times as wide as a token.
    """
    parts = [
        ("LayerNorm", (("input", 1),)),
        ("matrices of Q, K, V", (("input", 1),)),
        ("attention", (("queries, keys, values", 3), ("table", heads * length / width))),
        ("output matrix", (("input", 1),)),
        ("LayerNorm", (("input", 1),)),
        ("matrix, D to 4D", (("input", 1),)),
        ("GELU", (("input", 4),)),
        ("matrix, 4D to D", (("input", 4),)),
    ]
    pitch, tall = 0.5, 0.5 * (len(parts) + 1) + 1.45
    figure, axis = new_figure(width=WIDTH, height=tall)
    canvas(axis, width=WIDTH, top=tall)
    middle, left, unit = 1.25, 2.55, 2.75 / max(heads * length / width, 4)
    above = tall - 0.35  # where the line from the part above ends
    axis.text(middle, above + 0.1, "a token enters: D numbers", ha="center", va="center")
    axis.text(left, above + 0.1, "kept for the way back", va="center", weight="bold")
    turns: list[float] = []  # where what came in leaves the line, and where it is added again
    y = above
    for name, kept in parts:
        if name == "LayerNorm":
            turns += [above - 0.16, above - 0.36] if turns else [above - 0.12]
            y = above - (0.34 if len(turns) > 1 else 0.06)
        y -= pitch * (1 + len(kept)) / 2 - 0.04
        box(axis, middle, y, name, width=1.75, height=0.32, colour=COLOURS["sky"], size=10)
        line(axis, [(middle, above), (middle, y + 0.16)], arrow=True)
        above = y - 0.16
        for n, (what, size) in enumerate(kept):
            at = y + ((len(kept) - 1) / 2 - n) * pitch - 0.12
            table = what == "table"
            axis.barh(at, size * unit, left=left, height=0.18, zorder=3, edgecolor="black",
                      color="white" if table else COLOURS["orange"],
                      hatch="///" if table else None, linewidth=0.8)  # fmt: skip
            short = "D" if size == 1 else f"{size:.0f} D"
            words = f"table of weights: H·T = {size:.0f} D here" if table else f"{what}: {short}"
            axis.text(left, at + 0.1, words, va="bottom", fontsize=9.7)
        y -= pitch * (len(kept) - 1) / 2
    turns.append(above - 0.16)
    line(axis, [(middle, above), (middle, above - 0.36)], arrow=True)
    for start, end in zip(turns[::2], turns[1::2]):
        line(axis, [(middle, start), (0.15, start), (0.15, end), (middle, end)])
        axis.plot(middle, end, "o", ms=12, color="white", mec="black", zorder=3)
        axis.text(middle, end, "+", ha="center", va="center_baseline", zorder=4)
    axis.text(WIDTH / 2, 0.12, "together 16 D + H·T numbers for each token", ha="center",
              va="center", weight="bold")  # fmt: skip
    return figure


def stacked(
    rows: Mapping[str, Mapping[str, float]],
    *,
    xlabel: str,
    line: float | None = None,
    line_name: str = "",
) -> Figure:
    """Draw a bar for each row, made of its parts; `line` is a limit with a name."""
    figure, axis = new_figure(width=WIDTH, height=0.42 * len(rows) + 1.7)
    colours = [COLOURS[name] for name in ("blue", "sky", "green", "orange", "vermilion", "purple")]
    ends = dict.fromkeys(rows, 0.0)
    parts = list(next(iter(rows.values())))
    for part, colour in zip(parts, colours, strict=False):
        widths = [row[part] for row in rows.values()]
        axis.barh(range(len(rows)), widths, left=list(ends.values()), height=0.66, color=colour,
                  edgecolor="white", linewidth=0.6, label=part)  # fmt: skip
        ends = {name: ends[name] + row[part] for name, row in rows.items()}
    handles = axis.get_legend_handles_labels()[0]
    if line is not None:
        handles.append(axis.axvline(line, color="black", linestyle="--", label=line_name))
    name_rows(axis, rows, lines=False)
    axis.set(xlabel=xlabel)
    legend_below(figure, *handles)
    return figure


def by_length(
    panels: Mapping[str, Mapping[str, Sequence[float]]],
    lengths: Sequence[float],
    measured: Mapping[str, Mapping[str, Mapping[float, float]]],
) -> Figure:
    """Draw computed costs as lines over the length, measured ones as dots on them.

    `panels` maps the name of a vertical axis to its curves, one value for each length; `measured`
    has for some of them values at some lengths.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator

    figure, axes = new_figure(len(panels), 1, width=WIDTH, height=2.7 * len(panels) + 0.5,
                              squeeze=False, sharex=True)  # fmt: skip
    for axis, (ylabel, curves) in zip(axes[:, 0], panels.items()):
        for (name, values), look, mark in zip(curves.items(), LINES, MARKS, strict=False):
            axis.plot(lengths, values, label=name, **look)
            dots = measured.get(ylabel, {}).get(name, {})
            axis.plot(list(dots), list(dots.values()), mark, color=look["color"], ms=5)
        axis.set(yscale="log", ylabel=ylabel)
        axis.set_xscale("log", base=2)
        axis.set_xticks(lengths[::3], [f"{T:,}" for T in lengths[::3]])
        every = [value for values in curves.values() for value in values]
        steps = (1, 2, 5) if max(every) < 100 * min(every) else (1,)
        axis.yaxis.set_major_locator(LogLocator(subs=steps, numticks=8))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axis.minorticks_off()
        axis.legend(loc="upper left", frameon=False, fontsize=10)
    axes[-1, 0].set_xlabel("length T (tokens)")
    return figure


def split_bars(
    shares: Mapping[str, Mapping[str, Sequence[float]]], *, xlabel: str, asked: int
) -> Figure:
    """Draw for each split a bar for each reader, at the mean of its seeds, and the seeds as points.

    `shares` maps splits to readers to one share for each seed; a line through each point is the
    95% interval that `asked` answers leave.
    """
    readers = list(next(iter(shares.values())))
    figure, axis = new_figure(width=WIDTH, height=0.45 * len(shares) * len(readers) + 1.5)
    colours = (COLOURS["sky"], COLOURS["orange"], COLOURS["green"])
    high = 0.8 / len(readers)
    for row, by_reader in enumerate(shares.values()):
        for number, (reader, colour) in enumerate(zip(readers, colours, strict=False)):
            seeds = by_reader[reader]
            middle = row + (number - (len(readers) - 1) / 2) * high
            axis.barh(middle, 100 * mean(seeds), height=high, color=colour, edgecolor="white",
                      label=reader if row == 0 else None)  # fmt: skip
            for seed, share in enumerate(seeds):
                y = middle + (seed - (len(seeds) - 1) / 2) * high / 3
                low, top = wilson(share, asked)
                axis.plot([100 * low, 100 * top], [y, y], "-", color="black", linewidth=1)
                axis.plot(100 * share, y, "o", color="black", ms=4)
    name_rows(axis, shares, lines=False)
    axis.set(xlabel=xlabel, xlim=(0, 102))
    legend_below(figure)
    return figure


def wilson(share: float, asked: int) -> tuple[float, float]:
    """Return Wilson's 95% interval of a share, from the number of questions."""
    z = 1.96
    middle = share + z**2 / (2 * asked)
    half = z * (share * (1 - share) / asked + z**2 / (4 * asked**2)) ** 0.5
    scale = 1 + z**2 / asked
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def by_pairs(
    losses: Mapping[str, Mapping[int, Sequence[float]]], *, ylabel: str, level: float, name: str
) -> Figure:
    """Draw a loss by number of pairs for each model: a line at the mean of seeds, seeds as points.

    `level` is what a model without any source would lose, with its `name`.
    """
    figure, axis = new_figure(width=WIDTH, height=3.8)
    for (model, curve), look, mark in zip(losses.items(), LINES, MARKS, strict=False):
        amounts = sorted(curve)
        axis.plot(amounts, [mean(curve[n]) for n in amounts], label=model, **look)
        for n in amounts:
            axis.plot([n] * len(curve[n]), curve[n], mark, color=look["color"], ms=5, mfc="none")
    axis.axhline(level, color=COLOURS["grey"], linestyle=(0, (1, 2)), label=name)
    every = sorted({n for curve in losses.values() for n in curve})
    axis.set_xscale("log")
    axis.set_xticks(every, [f"{n:,}" for n in every])
    axis.minorticks_off()
    axis.set(xlabel="pairs of verses to learn from", ylabel=ylabel)
    legend_below(figure)
    return figure
