"""The pictures of many seeds show what they are given: each test fails at a wrongly drawn thing."""

from statistics import mean

import pytest

from coursekit.figures import COLOURS
from coursekit.figures import seeds as figures

NAMES = ["80/10/10", "100/0/0", "80/0/20", "80/20/0", "0/20/80", "0/0/100"]
PANELS = {
    "fine-tuned": {name: [0.9 - n / 50, 0.88, 0.91] for n, name in enumerate(NAMES)},
    "features": {name: [0.5, 0.52 + n / 100, 0.6] for n, name in enumerate(NAMES)},
}
BEST = {"plain": [0.7, 0.74, 0.75], "a fresh top": [0.72, 0.73]}
CURVES, LASTED = [[0.5, 0.6, 0.7], [0.4, 0.9, 0.9], [0.6, 0.6, 0.6]], [3, 1, 2]
DRAWINGS = {
    "seed_rows": lambda: figures.seed_rows(PANELS, xlabel="F1 (%)", ylabel="strategy"),
    "best_of": lambda: figures.best_of(BEST, ylabel="accuracy (%)"),
    "stopped": lambda: figures.stopped(CURVES, LASTED, 0, ylabel="accuracy (%)"),
}


def test_rows_have_every_seed_and_their_mean():
    for axis, (title, rows) in zip(DRAWINGS["seed_rows"]().axes, PANELS.items(), strict=True):
        assert axis.get_title(loc="left") == title and axis.yaxis_inverted()
        assert [label.get_text() for label in axis.get_yticklabels()] == NAMES
        seeds = [line for line in axis.lines if line.get_marker() == "o"]
        means = [line for line in axis.lines if line.get_marker() == "|"]
        for row, (values, dots, bar) in enumerate(zip(rows.values(), seeds, means, strict=True)):
            assert set(dots.get_ydata()) == set(bar.get_ydata()) == {row}
            assert list(dots.get_xdata()) == pytest.approx([100 * value for value in values])
            assert list(bar.get_xdata()) == pytest.approx([100 * mean(values)])


def test_panels_that_are_to_be_compared_have_one_range():
    apart, together = (
        [axis.get_xlim() for axis in figures.seed_rows(PANELS, xlabel="%", sharex=shared).axes]
        for shared in (False, True)
    )
    assert len(set(apart)) > 1 and len(set(together)) == 1


def test_the_best_of_one_stands_at_one():
    (axis,) = DRAWINGS["best_of"]().axes
    for line, (name, scores) in zip(axis.lines, BEST.items(), strict=True):
        assert line.get_label() == name
        expected = [(n, 100 * score) for n, score in enumerate(scores, 1)]
        assert line.get_xydata().tolist() == [pytest.approx(point) for point in expected]


def test_a_stopped_run_ends_where_it_was_stopped():
    (axis,) = DRAWINGS["stopped"]().axes
    for line, curve, parts in zip(axis.lines, CURVES, LASTED, strict=True):
        expected = [(n, 100 * share) for n, share in enumerate(curve[:parts], 1)]
        assert line.get_xydata().tolist() == [pytest.approx(point) for point in expected]
    kept = [line.get_color() == COLOURS["vermilion"] for line in axis.lines]
    assert kept == [True, False, False]
