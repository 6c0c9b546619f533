"""The clocks that one can turn: hands, scores and curves are those of `coursekit.positions`."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from coursekit.figures.live.position_clocks import LAST, queries_and_keys
from coursekit.positions import Rotary, sinusoidal

NAME = "position_clocks"
WIDTHS = [2, 4, 8, 16]
NEAR = {"rtol": 0, "atol": 5.1e-3}


def numbers(text: str) -> list[float]:
    return [float(part.replace("−", "-")) for part in text.split(",")]


def hands(page: Any) -> Tensor:
    """What the table says of both places, (2, pairs, 2)."""
    cells = page.locator("tbody tr:not(.sum) td").all_inner_texts()
    return torch.tensor([[numbers(text) for text in cells[column::3]] for column in (0, 1)])


def total(page: Any) -> float:
    return numbers(page.locator(".sum td").last.inner_text())[0]


def curve(page: Any) -> Tensor:
    """The dot products that are drawn, from distance −LAST to LAST."""
    most = page.locator("svg text").all_text_contents()
    scale = max(numbers(text)[0] for text in most[-3:])
    points = page.locator(".curve").get_attribute("points").split()
    heights = torch.tensor([float(point.partition(",")[2]) for point in points])
    return (1 - (heights - 12) / 70) * scale


def move(page: Any, name: str, place: int) -> None:
    page.get_by_label(name).fill(str(place))


def said(page: Any) -> str:
    return page.get_by_role("status").inner_text()


def expected_hands(kind: str, i: int, j: int, width: int, draw: int = 0) -> Tensor:
    """The two rows as the package has them, (2, pairs, 2)."""
    if kind == "sinusoidal":
        return sinusoidal(torch.tensor([i, j]), width).view(2, -1, 2)
    both = torch.tensor([rows[draw][:width] for rows in queries_and_keys()])[:, None]  # (2, 1, D)
    return torch.stack(
        [Rotary(width=width)(row[None], place)[0, 0] for row, place in zip(both, (i, j))]
    ).view(2, -1, 2)


@pytest.mark.parametrize("kind", ["sinusoidal", "rotary"])
def test_hands_and_dot_products_are_those_of_the_package(open_page, kind):
    page = open_page(NAME)
    page.get_by_label("Positions").select_option(kind)
    for width, i, j in ((2, 5, 5), (4, 0, 127), (8, 100, 31), (16, 64, 1)):
        move(page, "Width d", WIDTHS.index(width))
        move(page, "Place i", i)
        move(page, "Place j", j)
        expected = expected_hands(kind, i, j, width)
        torch.testing.assert_close(hands(page), expected, **NEAR)
        assert total(page) == pytest.approx(float((expected[0] * expected[1]).sum()), abs=5.1e-3)
        whole = [expected_hands(kind, max(n, 0), max(-n, 0), width) for n in range(-LAST, LAST + 1)]
        drawn = torch.stack([(query * key).sum() for query, key in whole])
        torch.testing.assert_close(curve(page), drawn, rtol=0, atol=0.06)
        assert page.locator(".clock").count() == width // 2


def test_another_query_and_key(open_page):
    page = open_page(NAME, f"?{NAME}.kind=rotary")
    for draw in (1, 2, 3, 0):
        page.get_by_role("button", name="Other query and key").click()
        torch.testing.assert_close(hands(page), expected_hands("rotary", 12, 7, 8, draw), **NEAR)
    page.get_by_label("Positions").select_option("sinusoidal")
    assert page.get_by_role("button", name="Other query and key").is_hidden()


@pytest.mark.parametrize("kind", ["sinusoidal", "rotary"])
def test_both_go_on_and_the_dot_product_stays(open_page, kind):
    page = open_page(NAME, f"?{NAME}.kind={kind}", reduced_motion="reduce")
    before, stood = total(page), hands(page)
    page.get_by_role("button", name="Both 10 on").click()
    words = f"Places 22 and 17, 5 apart: the dot product was {before:.2f} and is {before:.2f}."
    assert said(page) == words.replace("-", "−")
    assert (hands(page) - stood).abs().max() > 0.5
    page.get_by_role("button", name="Run").click()
    page.get_by_text("Both went 105 places on. Places 127 and 122").wait_for()
    assert total(page) == before
    assert page.get_by_role("button", name="Run").is_disabled()
    for _ in range(13):
        page.get_by_role("button", name="Both 10 back").click()
    assert total(page) == before and "Places 5 and 0, 5 apart" in said(page)
    assert page.get_by_role("button", name="Both 10 back").is_disabled()


def test_a_bet_on_both_places_further_on(open_page):
    page = open_page(NAME, f"?{NAME}.kind=rotary")
    before, stood = total(page), hands(page)
    page.get_by_role("slider", name="Your bet").fill("100")
    page.get_by_role("button", name="Both 50 on").click()
    words = f"You bet 2.0. Places 62 and 57, 5 apart: their dot product is {before:.2f}."
    assert said(page) == words.replace("-", "−") and (hands(page) - stood).abs().max() > 0.5
    page.get_by_role("button", name="Bet again").click()
    assert torch.equal(hands(page), stood)


@pytest.mark.parametrize(("kind", "way"), [("sinusoidal", 1), ("rotary", -1)])
def test_a_hand_is_turned(open_page, kind, way):
    """Half a radian on the clock of speed 0.1 is five places: clockwise, or against the clock."""
    page = open_page(NAME, f"?{NAME}.kind={kind}", viewport={"width": 390, "height": 900})
    clock = page.locator(".clock svg").nth(1)
    clock.scroll_into_view_if_needed()
    box, mark = clock.bounding_box(), clock.locator(".one .mark").bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    x, y = mark["x"] + mark["width"] / 2 - middle[0], mark["y"] + mark["height"] / 2 - middle[1]
    page.mouse.move(middle[0] + x, middle[1] + y)
    page.mouse.down()
    for step in range(1, 6):
        sin, cos = math.sin(0.1 * way * step), math.cos(0.1 * way * step)
        page.mouse.move(middle[0] + x * cos - y * sin, middle[1] + x * sin + y * cos)
    page.mouse.up()
    torch.testing.assert_close(hands(page), expected_hands(kind, 17, 7, 8), **NEAR)
    assert said(page).startswith("Places 17 and 7, 10 apart: their dot product is ")


def test_the_answer_to_its_question(open_page):
    """ "Find out": 44, seven rounds of the one clock to 0.02 radians; 1.90 of 2 at width 4."""
    similar = sinusoidal(LAST + 1, 2) @ sinusoidal(1, 2)[0]
    assert next(n for n in range(1, LAST + 1) if similar[n] > 0.995) == 44
    page = open_page(NAME, f"?{NAME}.width=2&{NAME}.i=44&{NAME}.j=0")
    assert total(page) == 1
    move(page, "Width d", WIDTHS.index(4))
    assert total(page) == 1.90


def test_places_of_an_address_are_cut_to_those_there_are(open_page):
    odd = f"?{NAME}.kind=toString&{NAME}.i=-3&{NAME}.j=900&{NAME}.width=3&{NAME}.draw=9"
    expected = expected_hands("sinusoidal", 0, LAST, 8)
    torch.testing.assert_close(hands(open_page(NAME, odd)), expected, **NEAR)
