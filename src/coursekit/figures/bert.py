"""The pictures of the chapter "BERT"; those of what heads look at are in `relations`.

Shares come in as numbers from 0 to 1, and are drawn in %. All pictures are 5.4 inches wide, so that
their words can be read on a telephone. `learning` is to be taken from this file, since
`coursekit.figures.learning` is that of the chapter on translation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from coursekit._base.checks import check_int
from coursekit._base.style import Look
from coursekit.figures import COLOURS, WIDTH, new_figure
from coursekit.figures.curves import legend_below, name_lines
from coursekit.figures.diagram import box, canvas, line
from coursekit.masks import causal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALL = 10
LEAST = 9.7  # points: 9 pixels where a picture of this width has 360
TINT = 0.35  # how much of a colour covers the ground of a box with text
LOOKS = tuple(
    {"color": COLOURS[colour], "marker": marker}
    for colour, marker in zip(("blue", "vermilion", "green", "black", "purple", "orange"), "os^Dv<")
)
FAINT, BESIDE = "#BBBBBB", 0.23
RING: Look = {
    "marker": "o", "ms": 14, "mfc": "none", "mec": COLOURS["vermilion"], "mew": 1.8, "ls": "",
}  # fmt: skip
HIDDEN: Look = {"ms": 7, "mfc": "white", "mew": 1.5, "zorder": 3}
SIDES = {  # which tokens a cell sees: its colour and its mark
    "left": ("blue", "<", "sees itself and the words on its left"),
    "right": ("orange", ">", "sees itself and the words on its right"),
    "both": ("green", "o", "sees both sides"),
}
FATES = ("blue", "orange", "green")
HEADS = (  # title, first text, second text, which outputs are read, what is said of them
    ("a pair of sentences → one class", "it rains", "he stays", "first", "follows, or does not"),
    ("one sentence → one class", "a dull film", "", "first", "praise, or blame"),
    (
        "question and passage → a span",
        "who sang",
        "then Ann sang",
        "second",
        "start here? end here?",
    ),
    ("one sentence → a tag for each word", "Ann left Ka ##bul", "", "words", "name|other|place"),
)


def input_sum(tokens: Sequence[str], segments: Sequence[int]) -> Figure:
    """Draw BERT's input, a line for each token: the three vectors of which it is the sum.

    `segments` has a number for each token, 0 is drawn as A and 1 as B; places count from 0.
    """
    if len(tokens) != len(segments) or not set(segments) <= {0, 1}:
        raise ValueError(f"each of {len(tokens)} tokens needs segment 0 or 1, found {segments}")
    word = max(1.1, 0.1 * max(map(len, tokens)) + 0.15)
    widths = {"token": word, "segment": 0.7, "position": 0.7, "input": 0.9}
    gap, rows = (WIDTH - sum(widths.values())) / 5, len(tokens)
    figure, axis = new_figure(width=WIDTH, height=0.4 * rows + 0.5)
    canvas(axis, width=WIDTH, bottom=-0.4 * rows + 0.15, top=0.5)
    for row, (token, segment) in enumerate(zip(tokens, segments)):
        letter = "AB"[segment]
        ground = ("sky", {"A": "orange", "B": "green"}[letter], "grey", "purple")
        texts = (token, letter, str(row), f"$x_{{{row}}}$")
        left, y = gap, -0.4 * row
        for (name, width), text, colour, sign in zip(widths.items(), texts, ground, "++= "):
            middle = left + width / 2
            tint = (COLOURS[colour], TINT)
            box(axis, middle, y, text, width=width, height=0.32, colour=tint, size=11)
            axis.text(left + width + gap / 2, y, sign, ha="center", va="center", fontsize=13)
            if row == 0:
                axis.text(middle, 0.33, name, ha="center", va="center")
            left += width + gap
    return figure


def whole_model(
    tokens: Sequence[str],
    ids: Sequence[int],
    answer: Mapping[str, float],
    *,
    width: int,
    depth: int,
    vocabulary: int,
    truth: str = "",
) -> Figure:
    """Draw BERT with its shapes, from a single text with one [MASK] down to its likeliest tokens.

    `answer` has what a model says at the [MASK], tokens with their shares; `truth` stood there.
    """
    if len(tokens) != len(ids) or list(tokens).count("[MASK]") != 1:
        raise ValueError(f"{len(ids)} tokens with one [MASK] are expected, found {list(tokens)}")
    figure, axis = new_figure(width=WIDTH, height=6.0)
    canvas(axis, width=WIDTH, top=6.0)
    T, asked = len(tokens), list(tokens).index("[MASK]")
    broad = [max(0.38, 0.095 * len(token) + 0.05) for token in tokens]
    free = (WIDTH - 0.1 - sum(broad)) / T
    xs = [0.05 + sum(broad[:n]) + free * (n + 0.5) + broad[n] / 2 for n in range(T)]
    grey, red = (COLOURS["grey"], 0.25), COLOURS["vermilion"]

    def said(y: float, text: str, shape: str) -> None:
        axis.text(0.05, y, text, va="center", fontsize=LEAST)
        axis.text(WIDTH - 0.05, y, shape, va="center", ha="right", fontsize=LEAST, weight="bold")

    tables = ((5.15, "sky", ids), (4.92, "grey", range(T)), (4.69, "orange", ["A"] * T))
    for n, (x, token, wide) in enumerate(zip(xs, tokens, broad)):
        ground = (red, TINT) if n == asked else "white"
        box(axis, x, 5.8, token, width=wide, height=0.28, colour=ground, size=LEAST)
        line(axis, [(x, 5.64), (x, 5.32)], arrow=True)
        for y, colour, rows in tables:
            tint = (COLOURS[colour], TINT)
            box(axis, x, y, str(rows[n]), width=wide, height=0.22, colour=tint, size=LEAST)
        line(axis, [(x, 4.28), (x, 3.98)], arrow=True)
        line(axis, [(x, 2.86), (x, 2.6)], arrow=True)
        box(axis, x, 2.48, "", width=wide, height=0.2, colour=ground)
    said(4.42, "rows of 3 tables (id, position, segment), added; LN", f"({T}, {width})")
    box(axis, WIDTH / 2, 3.42, "", width=WIDTH - 0.1, height=1.1, colour=grey)
    for y, text in (
        (3.65, "attention: every position sees every other;  + input, LN"),
        (3.19, "feed-forward: every position by itself;  + input, LN"),
    ):
        box(axis, 2.4, y, text, width=4.5, height=0.36, colour="white", size=LEAST)
    thick: dict[str, Any] = {"va": "center", "fontsize": LEAST, "weight": "bold"}
    axis.text(5.0, 3.42, f"{depth}\nblocks", ha="center", **thick)
    said(2.22, "a vector for each position; one is read", f"({T}, {width})")
    x = xs[asked]
    line(axis, [(x, 2.36), (x, 1.92)], arrow=True, colour=red)
    text = "head: layer, GELU, LN; products with all word vectors; + bias"
    tint = (COLOURS["green"], TINT)
    box(axis, WIDTH / 2, 1.77, text, width=4.7, height=0.3, colour=tint, size=LEAST)
    said(1.46, "softmax of the scores: a probability for each token", f"({vocabulary:,},)")
    for place, (token, share) in enumerate(answer.items()):
        y, colour = 1.2 - 0.26 * place, COLOURS["vermilion" if token == truth else "blue"]
        long = 3.4 * share / max(answer.values())
        axis.barh(y, long, left=1.0, height=0.19, color=colour, zorder=3)
        axis.text(0.92, y, token, ha="right", va="center", fontsize=LEAST)
        note = "  (stood there)" if token == truth else ""
        axis.text(1.06 + long, y, f"{share:.0%}{note}", va="center", fontsize=LEAST)
    return figure


def who_may_see(length: int, place: int, *, layers: int = 2) -> Figure:
    """Draw three stacks, and strongly all that may flow into the output at `place`, from 0.

    GPT looks left in all layers. ELMo has a stack for each side, joined above the last layer: from
    the left up to the place before, from the right down to the place behind, so that the word in
    question is in neither. BERT looks both ways in all layers, and its word is hidden: a hollow
    square. A cell's mark says what its own layer lets it see.
    """
    from matplotlib.lines import Line2D

    check_int(2, length=length)
    check_int(1, layers=layers)
    if not 0 <= place < length:
        raise ValueError(f"place must lie between 0 and {length - 1}, found {place}")
    left, here = causal(length), torch.arange(length) == place
    stacks = {  # for each side the mask, how far its cells are beside their token, and how many
        # places farther on the output is that reads them: what ELMo guesses has no part in it
        "GPT": {"left": (left, 0.0, 0)},
        "ELMo": {"left": (left, -BESIDE, 1), "right": (left.mT, BESIDE, -1)},
        "BERT": {"both": (torch.ones_like(left), 0.0, 0)},
    }
    figure, axes = new_figure(1, 3, width=WIDTH, height=3.7, width_ratios=[1, 1.3, 1])
    for axis, (title, sides) in zip(axes, stacks.items()):
        canvas(axis, title, width=length, bottom=-0.7, top=layers + 1.75)
        read, top = torch.zeros_like(here), layers + (len(sides) > 1)
        for side, (mask, beside, ahead) in sides.items():
            asks = torch.diag(torch.ones(length - abs(ahead)), -ahead) > 0  # (T, T)
            ends = (asks & here[:, None]).any(dim=0)  # (T,): the cells that the output reads
            read |= _stack(axis, side, mask, ends, layers, beside)
            if top > layers:
                _edges(axis, side, asks, here, top, beside, 0.0)
        if top > layers:
            _cells(axis, "both", here, top, 0.0)
            axis.text(place + 0.5, top + 0.45, "joined", ha="center", va="center", fontsize=SMALL)
        for token, used in enumerate(read.tolist()):
            look: Look = HIDDEN if "both" in sides and token == place else {"ms": 5}
            axis.plot(token + 0.5, 0, "s", color="black" if used else FAINT, **look)
        axis.plot(place + 0.5, top, **RING)
        axis.text(length / 2, -0.45, "tokens", ha="center", va="center", fontsize=SMALL)
    marks = [
        Line2D([], [], color=COLOURS[colour], marker=mark, label=label)
        for colour, mark, label in SIDES.values()
    ]
    ring = Line2D([], [], label="the output in question", **RING)
    look = {**HIDDEN, "color": "black", "marker": "s", "ls": "", "label": "[MASK]"}
    legend_below(figure, *marks, ring, Line2D([], [], **look))
    return figure


def fates(parts: Mapping[str, float]) -> Figure:
    """Draw what becomes of all tokens, and below it of the chosen ones alone.

    `parts` maps four names to shares of all tokens: not chosen, [MASK], same and random.
    """
    from matplotlib.patches import Polygon

    (rest, kept), *chosen = parts.items()
    total = sum(share for _, share in chosen)
    if len(chosen) != 3 or abs(kept + total - 1) > 1e-6 or not total:
        raise ValueError(f"parts must be four shares with sum 1, found {dict(parts)}")
    figure, axis = new_figure(width=WIDTH, height=3.4)
    axis.barh([-1.5], [100 * kept], color="#DDDDDD", edgecolor="white")
    axis.text(50 * kept, -1.5, f"{rest}: {kept:.1%}", ha="center", va="center")
    axis.text(100, -2, f"chosen: {total:.1%}", ha="right", va="bottom")
    corners = [(100 * kept, -1.1), (100, -1.1), (100, -0.4), (0, -0.4)]
    axis.add_patch(Polygon(corners, facecolor="#EEEEEE", edgecolor="none"))
    start = 0.0
    for row, ((_, share), colour) in enumerate(zip(chosen, FATES)):
        paint = {"color": COLOURS[colour], "edgecolor": "white"}
        part = share / total
        axis.barh([-1.5], [100 * share], left=100 * (kept + start * total), **paint)
        axis.barh([row], [100 * part], left=100 * start, **paint)
        x, side = (start + part + 0.01, "left") if start < 0.4 else (start - 0.01, "right")
        axis.text(100 * x, row, f"{part:.1%}", va="center", ha=side)
        start += part
    axis.set(xlim=(0, 100), ylim=(2.5, -2.4), xlabel="share of the chosen tokens (%)")
    axis.set_yticks([-1.5, 0, 1, 2], ["all tokens", *(name for name, _ in chosen)])
    axis.spines["left"].set_visible(False)
    axis.tick_params(left=False)
    axis.grid(False)
    return figure


def four_heads() -> Figure:
    """Draw the four ways to use BERT: which of its outputs a head reads, and what it says."""
    from matplotlib.lines import Line2D

    figure, axes = new_figure(4, 1, width=WIDTH, height=6.4)
    step = 0.66
    red, grey = COLOURS["vermilion"], COLOURS["grey"]
    for axis, (title, first, second, read, said) in zip(axes, HEADS):
        one, two = ["[CLS]", *first.split(), "[SEP]"], second.split()
        tokens = [*one, *two, "[SEP]"] if two else one
        words = [i for i, token in enumerate(tokens) if token[0] not in "[#"]  # first pieces
        wanted = {"first": [0], "words": words, "second": [i for i in words if i >= len(one)]}[read]
        canvas(axis, width=8 * step, bottom=-0.05, top=1.85)
        axis.set_title(title, loc="left")
        for place, token in enumerate(tokens):
            x, hit = step * (place + 0.5), place in wanted
            ground = (COLOURS["green" if place >= len(one) else "orange"], TINT)
            box(axis, x, 0.15, token, width=step - 0.06, height=0.3, colour=ground, size=SMALL)
            line(axis, [(x, 0.3), (x, 0.52)], arrow=True, colour=grey)
            colour = red if hit else grey
            line(axis, [(x, 0.8), (x, 1.0)], colour=colour)
            axis.plot(x, 1.06, "o", ms=9, color=colour, mfc=colour if hit else "white", zorder=3)
            if hit:
                line(axis, [(x, 1.1), (x, 1.43)], arrow=True, colour=colour)
        wide = step * len(tokens)
        box(
            axis,
            wide / 2,
            0.66,
            "BERT",
            width=wide - 0.06,
            height=0.28,
            colour=(grey, TINT),
            size=SMALL,
        )
        heads = said.split("|")  # one over all that is read, or one over each
        for place, text in zip(wanted, heads):
            last = wanted[-1] if len(heads) == 1 else place
            broad = max(step * (last - place + 1) - 0.06, 0.085 * len(text))
            x = max(step * (place + last + 1) / 2, 0.03 + broad / 2)
            box(axis, x, 1.6, text, width=broad, height=0.34, colour=(red, TINT), size=SMALL)
    dots: Look = {"linestyle": "none", "ms": 9}
    squares: Look = {"marker": "s", "mec": "black", **dots}
    marks: list[Look] = [
        {**squares, "mfc": (COLOURS["orange"], TINT), "label": "token, segment A"},
        {**squares, "mfc": (COLOURS["green"], TINT), "label": "token, segment B"},
        {**dots, "color": red, "marker": "o", "label": "output, read"},
        {**dots, "color": grey, "marker": "o", "mfc": "white", "label": "output, not read"},
    ]
    legend_below(figure, *(Line2D([], [], **look) for look in marks))
    return figure


def learning(
    curves: Mapping[str, Sequence[Sequence[tuple[float, float]]]],
    baselines: Mapping[str, float],
    xlabel: str = "step",
    *,
    ylabel: str = "blanks filled right (%)",
) -> Figure:
    """Draw the share that is right by step: a thin line for each seed, a thick one for their mean.

    `curves` maps a reader to its seeds, each a list of (step, share); `baselines` are shares of who
    does not learn, named at the right of their lines.
    """
    figure, axis = new_figure(width=WIDTH, height=4.2)
    for (label, seeds), look in zip(curves.items(), _looks(curves)):
        if len({tuple(step for step, _ in seed) for seed in seeds}) != 1:
            raise ValueError(f"the seeds of {label!r} must be measured at the same steps")
        steps = [step for step, _ in seeds[0]]
        shares = [[100 * share for _, share in seed] for seed in seeds]
        for values in shares:
            axis.plot(steps, values, color=look["color"], linewidth=0.8, alpha=0.6)
        axis.plot(steps, [mean(column) for column in zip(*shares)], linewidth=2.4, ms=5,
                  label=label, **look)  # fmt: skip
    axis.set(xlabel=xlabel, ylabel=ylabel)
    axis.xaxis.set_major_formatter("{x:,.0f}")
    _legend_of_seeds(figure, linewidth=0.8)
    name_lines(figure, axis, {name: 100 * share for name, share in baselines.items()})
    return figure


def tagging_by_labels(
    curves: Mapping[str, Mapping[int, Sequence[float]]], *, ylabel: str = "F₁ (%)"
) -> Figure:
    """Draw scores by the number of labelled sentences: a point for each seed, lines for means.

    `curves` maps a method to {number of sentences: one share a seed}.
    """
    figure, axis = new_figure(width=WIDTH, height=3.9)
    for (label, scores), look in zip(curves.items(), _looks(curves)):
        counts = sorted(scores)
        axis.plot(counts, [100 * mean(scores[n]) for n in counts], label=label, ms=4, **look)
        for count in counts:
            values = [100 * value for value in scores[count]]
            axis.plot([count] * len(values), values, look["marker"], ms=7, mfc="none",
                      mec=look["color"])  # fmt: skip
    ticks = sorted({count for scores in curves.values() for count in scores})
    axis.set_xscale("log")
    axis.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axis.minorticks_off()
    axis.set(xlabel="labelled sentences (logarithmic)", ylabel=ylabel)
    _legend_of_seeds(figure, linestyle="none", marker="o", markersize=7, mfc="none")
    return figure


def _looks(curves: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    if not 1 <= len(curves) <= len(LOOKS):
        raise ValueError(f"from 1 to {len(LOOKS)} curves can be told apart, found {len(curves)}")
    return LOOKS


def _legend_of_seeds(figure: Figure, **look: Any) -> None:
    """Put the legend of the means below the axes, and what one seed looks like, in any colour."""
    from matplotlib.lines import Line2D

    means, _ = figure.axes[0].get_legend_handles_labels()
    seed = Line2D([], [], color=COLOURS["grey"], label="one seed", **look)
    legend_below(figure, *means, seed)


def _stack(axis: Axes, side: str, mask: Tensor, here: Tensor, layers: int, shift: float) -> Tensor:
    """Draw a stack whose every layer has this mask (T, T); return which tokens reach `here`."""
    needed = here  # (T,)
    for layer in range(layers, 0, -1):
        _cells(axis, side, needed, layer, shift)
        _edges(axis, side, mask, needed, layer, shift if layer > 1 else 0.0, shift)
        needed = (mask & needed[:, None]).any(dim=0)  # (T,)
    return needed


def _edges(
    axis: Axes, side: str, mask: Tensor, needed: Tensor, layer: int, below: float, above: float
) -> None:
    """Draw who sees whom from a layer to the one below it, strongly what is needed above."""
    from matplotlib.collections import LineCollection

    strong = mask & needed[:, None]  # (T, T)
    looks = ((mask & ~strong, "faint", "#DDDDDD", 0.7), (strong, "strong", SIDES[side][0], 1.7))
    for pairs, kind, colour, width in looks:
        ends = [
            [(s + 0.5 + below, layer - 1), (t + 0.5 + above, layer)]
            for t, s in pairs.nonzero().tolist()
        ]
        paint = {"color": COLOURS.get(colour, colour), "linewidth": width}
        axis.add_collection(LineCollection(ends, gid=kind, zorder=width, **paint))


def _cells(axis: Axes, side: str, needed: Tensor, layer: int, shift: float) -> None:
    colour, mark, _ = SIDES[side]
    for token, used in enumerate(needed.tolist()):
        paint: Look = {"color": COLOURS[colour], "ms": 7} if used else {"color": FAINT, "ms": 5}
        axis.plot(token + 0.5 + shift, layer, mark, zorder=3, **paint)
