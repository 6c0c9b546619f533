"""The pictures of "T5 and BART": the model, one text under each noise, lengths of spans, runs.

All are 5.4 inches wide, so that their words can be read on a telephone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING, Any

from coursekit.figures import COLOURS, WIDTH, new_figure
from coursekit.figures.curves import legend_below
from coursekit.figures.diagram import box, canvas, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LETTER = 0.6 * 10 / 72  # inches: how wide a letter of 10 points is, each of them alike
FILLS = {"seen": ("#CFE6F5", "black"), "sought": ("#FBE3B5", "black"), "mark": ("#333333", "white")}

Token = tuple[str, str]  # what it says, and which of `FILLS` it is
BARS = (COLOURS["blue"], COLOURS["orange"], COLOURS["green"])


def whole_model(
    read: Sequence[str], written: Sequence[str], *, width: int, depth: int, vocabulary: int
) -> Figure:
    """Draw a T5 with its shapes: what the encoder reads, and what the decoder reads and predicts.

    The decoder reads what it has written, one position later, with padding in front.
    """
    figure, axis = new_figure(width=WIDTH, height=5.95)
    canvas(axis, width=10, top=11.0)
    blue, green = (COLOURS["sky"], 0.5), (COLOURS["green"], 0.4)
    grey, orange = (COLOURS["grey"], 0.2), (COLOURS["orange"], 0.6)

    def note(x: float, y: float, text: str, **options: Any) -> None:
        axis.text(x, y, text, va="center", **options)

    def tokens(y: float, words: Sequence[str], first: float, fill: Any) -> list[float]:
        step = (9.95 - first) / len(words)
        xs = [first + step * (n + 0.5) for n in range(len(words))]
        for x, word in zip(xs, words):
            shade = green if word.startswith("⟨") else fill
            box(axis, x, y, word, width=step - 0.06, height=0.55, colour=shade, size=9)
        return xs

    def arrows(xs: Sequence[float], top: float, bottom: float) -> None:
        for x in xs:
            line(axis, [(x, top), (x, bottom)], arrow=True)

    note(0.05, 10.75, f"the encoder reads ({len(read)} ids)")
    xs = tokens(10.2, read, 0.05, "white")
    arrows(xs, 9.9, 9.5)
    box(
        axis,
        5,
        9.2,
        f"embedding E: ({len(read)}, {width})",
        width=9.9,
        height=0.55,
        colour=blue,
        size=10,
    )
    arrows(xs, 8.9, 8.5)
    box(axis, 5, 7.65, "", width=9.9, height=1.6, colour=grey)
    note(0.25, 7.65, f"{depth} ×")
    for y, text in ((8.02, "+ attention(RMSNorm): each sees all, and how far off"),
                    (7.28, "+ feed-forward(RMSNorm)")):  # fmt: skip
        box(axis, 5.4, y, text, width=8.6, height=0.58, colour="white", size=9.5)
    line(axis, [(0.6, 6.83), (0.6, 4.45)], arrow=True)
    note(0.75, 6.5, f"RMSNorm, the memory: ({len(read)}, {width})")

    note(2.0, 5.95, f"the decoder reads ({len(written)} ids)")
    xs = tokens(5.4, ["pad", *written[:-1]], 2.0, "white")
    note(1.85, 4.8, "E", ha="right")
    arrows(xs, 5.1, 4.45)
    box(axis, 5, 3.25, "", width=9.9, height=2.35, colour=grey)
    note(0.25, 3.25, f"{depth} ×")
    for y, text in ((4.0, "+ attention(RMSNorm): each sees itself and those before"),
                    (3.25, "+ attention(RMSNorm): each sees the memory"),
                    (2.5, "+ feed-forward(RMSNorm)")):  # fmt: skip
        box(axis, 5.4, y, text, width=8.6, height=0.58, colour="white", size=9.5)
    arrows(xs, 2.05, 1.7)
    text = f"RMSNorm, times E transposed: ({len(written)}, {vocabulary:,})"
    box(axis, 5.97, 1.4, text, width=7.95, height=0.55, colour=blue, size=10)
    arrows(xs, 1.1, 0.75)
    tokens(0.45, written, 2.0, orange)
    note(1.85, 0.45, "it predicts", ha="right")
    return figure


def noises(rows: Mapping[str, tuple[Sequence[Token], Sequence[Token]]]) -> Figure:
    """Draw for each noise the tokens that are read, and below them those that must be written.

    A token is "seen" (it is in what is read), "sought" (it is hidden) or a "mark".
    """
    height = 0.84 * len(rows) + 0.1
    figure, axis = new_figure(width=WIDTH, height=height)
    canvas(axis, width=WIDTH, bottom=-height, top=0)
    y = -0.16
    for name, (read, written) in rows.items():
        axis.text(0, y, name, va="center", fontsize=10, weight="bold")
        _line(axis, y - 0.26, "reads", read)
        _line(axis, y - 0.52, "writes", written)
        y -= 0.84
    return figure


def _line(axis: Axes, y: float, label: str, tokens: Sequence[Token]) -> None:
    """Write one line of tokens in boxes; they must fit."""
    x = 0.6
    axis.text(0.02, y, label, va="center", fontsize=10, color=COLOURS["grey"])
    for text, kind in tokens:
        fill, ink = FILLS[kind]
        width = (len(text) + 0.7) * LETTER
        axis.barh(y, width, left=x, height=0.23, color=fill, edgecolor="white", linewidth=1)
        axis.text(x + width / 2, y, text, ha="center", va="center_baseline", fontsize=10,
                  family="monospace", color=ink)  # fmt: skip
        x += width + 0.03
    if x > WIDTH:
        raise ValueError(f"a line has room for {WIDTH} inches of tokens, found {x:.1f}")


def span_lengths(shares: Mapping[str, Sequence[float]]) -> Figure:
    """Draw which share of the spans has 0, 1, 2, … tokens, a bar beside the other for each way."""
    figure, axis = new_figure(width=WIDTH, height=3.4)
    wide = 0.8 / len(shares)
    for number, (name, values) in enumerate(shares.items()):
        places = [n - 0.4 + (number + 0.5) * wide for n in range(len(values))]
        axis.bar(places, [100 * value for value in values], wide, color=BARS[number], label=name,
                 hatch=("", "//")[number % 2], edgecolor="white")  # fmt: skip
    axis.set(xlabel="tokens in a span", ylabel="spans (%)")
    axis.set_xticks(range(max(map(len, shares.values()))))
    legend_below(figure)
    return figure


def outcomes(
    panels: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    xlabels: Sequence[str],
    levels: Mapping[str, Mapping[str, float]] | None = None,
) -> Figure:
    """Draw a row for each run, with a circle for each seed and a bar at their mean.

    `panels` maps a title to its rows; each panel has a scale and an `xlabel` of its own. `levels`
    gives a panel dotted lines, each with its name.
    """
    rows = list(next(iter(panels.values())))
    height = len(panels) * (0.2 * len(rows) + 0.85) + 0.3
    figure, axes = new_figure(len(panels), 1, width=WIDTH, height=height, squeeze=False)
    for axis, (title, shares), xlabel in zip(axes[:, 0], panels.items(), xlabels, strict=True):
        for row, name in enumerate(rows):
            values = list(shares[name])
            axis.plot(mean(values), row, "|k", ms=13, mew=2.5, label="" if row else "mean of seeds")
            axis.plot(values, [row] * len(values), "o", mfc="none", mec=COLOURS["blue"], ms=5,
                      label="" if row else "one seed")  # fmt: skip
        for name, level in (levels or {}).get(title, {}).items():
            axis.axvline(level, color=COLOURS["vermilion"], linestyle=":")
            axis.annotate(name, (level, -0.6), (3, 0), textcoords="offset points", fontsize=10,
                          va="center", color=COLOURS["vermilion"])  # fmt: skip
        axis.set_title(title, loc="left")
        axis.set_yticks(range(len(rows)), rows)
        axis.set(ylim=(len(rows) - 0.5, -1.0), xlabel=xlabel)
        axis.grid(axis="x")
        axis.margins(x=0.08)
    legend_below(figure)
    return figure


def changed_ids(
    rows: Mapping[str, tuple[Sequence[tuple[str, bool]], Sequence[tuple[str, bool]]]],
) -> Figure:
    """Draw a word as it was and as it was mistyped, cut by each tokenizer; new tokens are orange.

    `rows[name]` has the tokens of both, each with whether it is one that the other lacks.
    """
    figure, axis = new_figure(width=WIDTH, height=0.92 * len(rows) + 0.1)
    canvas(axis, width=WIDTH, bottom=-(0.92 * len(rows) + 0.1), top=0)
    for number, (name, lines) in enumerate(rows.items()):
        y = -0.16 - 0.92 * number
        axis.text(0, y, name, va="center", fontsize=10, weight="bold")
        for row, (label, tokens) in enumerate(zip(("right", "typed"), lines, strict=True)):
            drawn = [(text, "sought" if new else "seen") for text, new in tokens]
            _line(axis, y - 0.26 - 0.28 * row, label, drawn)
    return figure
