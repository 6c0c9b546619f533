"""The pictures of "Limits" show what they are given: each test fails if it drew a wrong thing."""

import pytest

from coursekit.figures.limits import (
    by_length,
    by_pairs,
    energy_bars,
    kept_in_block,
    split_bars,
    stacked,
    wilson,
)

KWH = {"base": 26.8, "big": 201.1, "GPT-3": 1_289_376.0}
PRINTED = {"base": 27.0, "GPT-3": 1_287_000.0}
EVERYDAY = {"a kettle of water": 0.1, "a year of a household": 3500.0}
PARTS = {
    "BERT base": {"weights": 0.4, "gradients": 0.4, "activations": 2.0},
    "BERT large": {"weights": 1.2, "gradients": 1.3, "activations": 6.0},
}
LENGTHS = (256, 1024, 4096)
COSTS = {
    "operations": {"all": [1.0, 4.0, 16.0], "window": [1.0, 1.1, 1.2]},
    "bytes": {"all": [2.0, 8.0, 64.0], "window": [2.0, 4.0, 8.0]},
}
FOUND = {"operations": {"all": {256: 1.0, 1024: 4.0}}, "bytes": {"window": {1024: 4.0}}}
SHARES = {
    "random": {"Transformer": [0.97, 0.99], "RNNSearch": [0.98, 0.96]},
    "jump": {"Transformer": [0.01, 0.03], "RNNSearch": [0.2, 0.1]},
}
LOSSES = {
    "Transformer": {500: [5.0, 5.2], 5000: [3.0, 3.2]},
    "RNNSearch": {500: [4.8, 4.9], 5000: [3.3, 3.4]},
}


def energy():
    return energy_bars(KWH, PRINTED, EVERYDAY)


def memory():
    return stacked(PARTS, xlabel="GB", line=16, line_name="a card of 16 GB")


def length():
    return by_length(COSTS, LENGTHS, FOUND)


def splits():
    return split_bars(SHARES, xlabel="carried out (%)", asked=800)


def pairs():
    return by_pairs(LOSSES, ylabel="loss", level=6.1, name="frequencies")


def bars(axis):
    return [(round(bar.get_x(), 9), round(bar.get_width(), 9)) for bar in axis.patches]


DRAWINGS = {
    "energy_bars": energy,
    "stacked": memory,
    "by_length": length,
    "split_bars": splits,
    "by_pairs": pairs,
    "kept_in_block": lambda: kept_in_block(768, 12, 512),
}


def test_a_block_keeps_sixteen_vectors_and_a_table():
    (axis,) = kept_in_block(768, 12, 512).axes
    table, *kept = sorted((bar for bar in axis.patches if bar.get_x() > 2), key=lambda bar: not
                          bar.get_hatch())  # fmt: skip
    one = min(bar.get_width() for bar in kept)
    assert sum(bar.get_width() for bar in kept) == pytest.approx(16 * one)
    assert table.get_width() == pytest.approx(12 * 512 / 768 * one)


def test_energy_has_a_bar_for_each_and_a_dot_for_what_was_printed():
    (axis,) = energy().axes
    ends = [bar.get_x() + bar.get_width() for bar in axis.patches]
    assert ends == pytest.approx([*KWH.values(), *EVERYDAY.values()])
    assert [label.get_text() for label in axis.get_yticklabels()] == [*KWH, *EVERYDAY]
    assert axis.lines[0].get_xydata().tolist() == [[27.0, 0], [1_287_000.0, 2]]
    assert axis.get_xscale() == "log"
    colours = {bar.get_facecolor() for bar in axis.patches[: len(KWH)]}
    assert not colours & {bar.get_facecolor() for bar in axis.patches[len(KWH) :]}


def test_parts_stand_one_behind_the_other():
    (axis,) = memory().axes
    expected = []
    for part in ("weights", "gradients", "activations"):
        for found in PARTS.values():
            before = list(found)[: list(found).index(part)]
            expected.append((round(sum(found[name] for name in before), 9), found[part]))
    assert bars(axis) == expected
    assert axis.lines[0].get_xdata()[0] == 16
    assert "a card of 16 GB" in [text.get_text() for text in axis.figure.legends[0].get_texts()]


def test_what_was_measured_lies_where_it_was_measured():
    figure = length()
    for axis, (ylabel, curves) in zip(figure.axes, COSTS.items(), strict=True):
        assert axis.get_ylabel() == ylabel and axis.get_yscale() == axis.get_xscale() == "log"
        for (name, values), line, dots in zip(curves.items(), axis.lines[::2], axis.lines[1::2]):
            assert list(line.get_xdata()) == list(LENGTHS) and list(line.get_ydata()) == values
            found = dict(zip(dots.get_xdata(), dots.get_ydata(), strict=True))
            assert found == FOUND[ylabel].get(name, {})
            assert dots.get_color() == line.get_color()


def test_bars_stand_at_the_mean_and_points_at_the_seeds():
    (axis,) = splits().axes
    expected = [sum(seeds) / 2 for found in SHARES.values() for seeds in found.values()]
    assert [width for _, width in bars(axis)] == pytest.approx([100 * x for x in expected])
    points = [line.get_xdata()[0] for line in axis.lines if line.get_marker() == "o"]
    every = [share for found in SHARES.values() for seeds in found.values() for share in seeds]
    assert points == pytest.approx([100 * share for share in every])
    intervals = [line.get_xdata() for line in axis.lines if line.get_marker() != "o"]
    for share, interval in zip(every, intervals, strict=True):
        assert list(interval) == pytest.approx([100 * x for x in wilson(share, 800)])
        assert interval[0] < 100 * share < interval[1]
    heights = [bar.get_y() for bar in axis.patches]
    assert heights == sorted(heights)  # a split's bars lie together, in the order given


def test_wilsons_interval():
    assert wilson(0.5, 100) == pytest.approx((0.404, 0.596), abs=1e-3)  # by hand
    assert wilson(0.0, 800)[0] == 0 and wilson(0.0, 800)[1] == pytest.approx(0.0048, abs=1e-4)
    assert wilson(1.0, 800)[1] == 1


def test_losses_by_number_of_pairs():
    (axis,) = pairs().axes
    lines = {line.get_label(): line for line in axis.lines if line.get_label() in LOSSES}
    for model, found in LOSSES.items():
        assert list(lines[model].get_xdata()) == list(found)
        assert list(lines[model].get_ydata()) == pytest.approx([sum(x) / 2 for x in found.values()])
    points = [x for line in axis.lines if line.get_marker() != "None" for x in line.get_ydata()]
    assert points == [x for found in LOSSES.values() for seeds in found.values() for x in seeds]
    assert [text.get_text() for text in axis.get_xticklabels()] == ["500", "5,000"]
    (level,) = (line for line in axis.lines if line.get_label() == "frequencies")
    assert set(level.get_ydata()) == {6.1}
