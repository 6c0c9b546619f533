"""The pictures of "T5 and BART" show what they are given: each test fails at a wrong drawing."""

from statistics import mean

import pytest
from matplotlib.colors import to_rgb

from coursekit.figures import t5 as figures

READ = [("The", "seen"), ("<X>", "mark"), (".", "seen")]
WRITTEN = [("<X>", "mark"), ("rain", "sought"), ("stopped", "sought")]
NOISES = {"span corruption": (READ, WRITTEN), "copy": (READ[::2], READ[::2])}
SHARES = {"Poisson": [0.05, 0.15, 0.22], "cuts": [0.0, 0.33, 0.2, 0.1]}
PANELS = {
    "accents": {"nothing": [3.0, 3.2], "infilling": [1.0, 1.1]},
    "words": {"nothing": [10.0, 12.0], "infilling": [60.0, 65.0]},
}
CUTS = {"pieces": ([("wil", False), ("der", True)], [("wil", False), ("dr", True), ("e", True)])}
SENTENCE = ["Thank", "you", "⟨X⟩", "week", "end"]
ANSWER = ["⟨X⟩", "for", "inviting", "⟨Z⟩", "end"]


def whole_model():
    return figures.whole_model(SENTENCE, ANSWER, width=512, depth=6, vocabulary=32_128)


DIAGRAMS = {"whole_model": whole_model}
DRAWINGS = {
    "noises": lambda: figures.noises(NOISES),
    "span_lengths": lambda: figures.span_lengths(SHARES),
    "outcomes": lambda: figures.outcomes(
        PANELS, xlabels=("loss", "words (%)"), levels={"words": {"looked up": 40.0}}
    ),
    "changed_ids": lambda: figures.changed_ids(CUTS),
}


def lines(axis):
    """Return the boxes of each line from the top, from left to right: (colour, width)."""
    found = {}
    for bar in axis.patches:
        place = round(bar.get_y() + bar.get_height() / 2, 3)
        found.setdefault(place, []).append((bar.get_x(), bar.get_facecolor()[:3], bar.get_width()))
    return [sorted(found[place]) for place in sorted(found, reverse=True)]


def test_each_noise_has_what_is_read_above_what_is_written():
    (axis,) = DRAWINGS["noises"]().axes
    expected = [tokens for pair in NOISES.values() for tokens in pair]
    for boxes, tokens in zip(lines(axis), expected, strict=True):
        assert [colour for _, colour, _ in boxes] == [
            to_rgb(figures.FILLS[kind][0]) for _, kind in tokens
        ]
        ends = [x + width for x, _, width in boxes]
        assert all(end < x for end, (x, _, _) in zip(ends, boxes[1:]))  # boxes lie apart
    said = [text.get_text() for text in axis.texts]
    assert said[:9] == ["span corruption", "reads", "The", "<X>", ".",
                        "writes", "<X>", "rain", "stopped"]  # fmt: skip


def test_a_line_that_is_too_long_is_refused():
    with pytest.raises(ValueError, match=r"room for 5\.4 inches of tokens"):
        figures.noises({"long": ([("word", "seen")] * 20, [])})


def test_bars_stand_around_their_number():
    (axis,) = DRAWINGS["span_lengths"]().axes
    for values, bars in zip(SHARES.values(), axis.containers, strict=True):
        assert [bar.get_height() for bar in bars] == pytest.approx([100 * v for v in values])
        for number, bar in enumerate(bars):
            assert number - 0.5 < bar.get_x() and bar.get_x() + bar.get_width() < number + 0.5
    assert [text.get_text() for text in axis.figure.legends[0].get_texts()] == list(SHARES)


def test_each_run_has_its_seeds_their_mean_and_the_level():
    figure = DRAWINGS["outcomes"]()
    for axis, (title, rows) in zip(figure.axes, PANELS.items(), strict=True):
        assert axis.get_title(loc="left") == title and axis.yaxis_inverted()
        dots = [line for line in axis.lines if line.get_marker() == "o"]
        bars = [line for line in axis.lines if line.get_marker() == "|"]
        for row, (values, dot, bar) in enumerate(zip(rows.values(), dots, bars, strict=True)):
            assert list(dot.get_xdata()) == values and list(bar.get_xdata()) == [mean(values)]
            assert set(dot.get_ydata()) == set(bar.get_ydata()) == {row}
    levels = [line.get_xdata()[0] for line in figure.axes[1].lines if line.get_linestyle() == ":"]
    assert levels == [40.0] and figure.axes[1].texts[0].get_text() == "looked up"


def test_new_tokens_have_another_colour():
    (axis,) = DRAWINGS["changed_ids"]().axes
    for boxes, tokens in zip(lines(axis), CUTS["pieces"], strict=True):
        kinds = ["sought" if new else "seen" for _, new in tokens]
        assert [colour for _, colour, _ in boxes] == [to_rgb(figures.FILLS[k][0]) for k in kinds]


def test_the_decoder_reads_what_it_predicts_one_position_later():
    said = [text.get_text() for text in whole_model().axes[0].texts if text.get_text()]
    at = said.index("pad")
    assert said[at : at + 5] == ["pad", *ANSWER[:-1]] and said[-6:-1] == ANSWER
    assert "RMSNorm, times E transposed: (5, 32,128)" in said
