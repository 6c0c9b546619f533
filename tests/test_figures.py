"""Figures that make a claim which can be wrong: what is drawn obeys the formula on the page."""

import ast
import math
from pathlib import Path

import matplotlib
import pytest
import torch

from coursekit.figures import in_words
from coursekit.figures import positions as figures
from coursekit.positions import shift_matrix

WIDTH, DELTA = 128, 5
PAIRS = (0, 16, 32)  # ω = 1, 0.1 and 0.01


@pytest.fixture(autouse=True)
def _no_window():
    with matplotlib.rc_context({"backend": "agg"}):
        yield


@pytest.fixture
def clocks():
    speeds = [10_000 ** (-2 * i / WIDTH) for i in PAIRS]
    figure = figures.clock_hands(speeds, starts=(2, 20), delta=DELTA)
    return list(zip(PAIRS, speeds, figure.axes))


def tips(axis):
    """Return the ends of all hands: lines of two points that begin in the middle."""
    lines = [torch.as_tensor(line.get_xydata()) for line in axis.lines]
    return [line[1] for line in lines if len(line) == 2 and not line[0].any()]


def test_the_hands_turn_as_the_shift_matrix_does(clocks):
    matrix = shift_matrix(DELTA, WIDTH, dtype=torch.float64)
    for i, _, axis in clocks:
        block = matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2]
        hands = tips(axis)
        assert len(hands) == 4
        for before, after in zip(hands[::2], hands[1::2]):
            torch.testing.assert_close(block @ before, after)


def test_a_number_on_a_dial_is_the_place_at_which_the_hand_points_there(clocks):
    for _, speed, axis in clocks:
        numbers = {int(text.get_text()): text.get_position() for text in axis.texts}
        assert 6 <= len(numbers) <= 7
        for place, (x, y) in numbers.items():
            apart = (math.atan2(x, y) - speed * place) % (2 * math.pi)  # clockwise from the top
            assert min(apart, 2 * math.pi - apart) < 0.03


def test_every_colour_bar_says_what_its_own_panel_shows():
    maps = {"one": torch.eye(3), "two": torch.eye(3)}
    figure = figures.score_biases(maps, labels=("score", "bucket"))
    assert [axis.get_xlabel() for axis in figure.axes[2:]] == ["score", "bucket"]
    with pytest.raises(ValueError, match="shorter"):
        figures.score_biases(maps, labels=("score",))


def test_no_colour_bar_is_without_a_label():
    bars = [
        (path.name, call)
        for path in Path(figures.__file__).parent.glob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "colorbar"
    ]
    assert len(bars) > 8
    for name, call in bars:
        assert "label" in {word.arg for word in call.keywords}, f"{name}, line {call.lineno}"


def test_numbers_in_words():
    assert [in_words(n) for n in (0, 6, 13, 20, 21, 99)] == (
        ["zero", "six", "thirteen", "twenty", "twenty-one", "ninety-nine"]
    )
    with pytest.raises(ValueError, match="from 0 to 99, found 100"):
        in_words(100)
