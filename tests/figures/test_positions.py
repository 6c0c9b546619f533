"""The picture of "Positions" in which a query and a key turn together."""

import math

import pytest

from coursekit.figures.positions import turned_together

PLACES = [(2, 0), (5, 3), (5, 2)]


def drawn():
    return turned_together((1.0, 0.3), (0.75, 0.45), 0.4, PLACES).axes


def angle(line):
    (_, _), (x, y) = line.get_xydata()
    return math.atan2(y, x)


DRAWINGS = {"turned_together": lambda: turned_together((1.0, 0.3), (0.75, 0.45), 0.4, PLACES)}


def test_both_are_turned_by_their_own_place_counter_clockwise():
    for axis, (i, j) in zip(drawn(), PLACES, strict=True):
        for hand, start, place in (
            (axis.lines[2], (1.0, 0.3), i),
            (axis.lines[6], (0.75, 0.45), j),
        ):
            turned = angle(hand) - math.atan2(start[1], start[0])
            assert math.remainder(turned - 0.4 * place, 2 * math.pi) == pytest.approx(0, abs=1e-6)
            assert math.hypot(*hand.get_xydata()[1]) == pytest.approx(math.hypot(*start))


def test_the_same_distance_has_the_same_product():
    products = [axis.get_title().split("product ")[1] for axis in drawn()]
    wanted = 1.0 * 0.75 + 0.3 * 0.45, 1.0 * 0.45 - 0.3 * 0.75  # q·k, and q × k
    by_hand = [wanted[0] * math.cos(0.4 * d) + wanted[1] * math.sin(0.4 * d) for d in (2, 2, 3)]
    assert products == [f"{value:.2f}" for value in by_hand]
    assert products[0] == products[1] != products[2]
