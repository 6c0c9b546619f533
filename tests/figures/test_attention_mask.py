"""The mask that one can paint: what it shows is what the package computes."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
import torch
from torch import Tensor

from coursekit import masks
from coursekit.attention import masked_softmax
from coursekit.figures.live.attention_mask import LENGTH, PADDED, fixed_scores

GRID = """() => [...document.querySelectorAll(".paint [role=row]")].map((row) =>
  [...row.querySelectorAll("[role=gridcell]")].map((cell) => cell.ariaSelected === "true"))"""
NAME = "attention_mask"
PLACES = torch.arange(LENGTH)
DISTANCE = (PLACES[:, None] - PLACES).abs()
RULES = {
    "all": torch.ones(LENGTH, LENGTH, dtype=torch.bool),
    "none": torch.zeros(LENGTH, LENGTH, dtype=torch.bool),
    "causal": masks.causal(LENGTH),
    "window": masks.local(LENGTH, radius=4) & (DISTANCE % 2 == 0),  # radius 2, dilation 2
    "global": masks.global_tokens(LENGTH, [0, 1]),
    "end": masks.lengths([LENGTH - PADDED], LENGTH)[0, 0].expand(LENGTH, LENGTH),
    "start": (PLACES >= PADDED).expand(LENGTH, LENGTH),
}
SET = f"{NAME}.radius=2&{NAME}.dilation=2&{NAME}.globals=2"
WINDOW = f"{NAME}.first=window&{NAME}.second=all"  # of radius 1, and nothing else


def mask_in(page: Any) -> Tensor:
    return torch.tensor(page.evaluate(GRID))


def weights_in(page: Any) -> list[list[str]]:
    rows = page.locator("svg[role=img] g:has(> .weight)").all()
    return [row.locator("text").all_text_contents() for row in rows]


def numbers(page: Any) -> str:
    return page.locator(".numbers").first.inner_text()


def layers_needed(mask: Tensor) -> Tensor:
    """masks (..., T, T) -> (...): layers until every token depends on every other; T is never."""
    step = (mask | torch.eye(LENGTH, dtype=torch.bool)).float()
    heard, needed = step, torch.full(mask.shape[:-2], LENGTH)
    for layers in range(1, LENGTH):
        done = (heard > 0).flatten(-2).all(dim=-1)
        needed = needed.where(~done, needed.clamp_max(layers))
        heard = ((step @ heard) > 0).float()
    return needed


@pytest.mark.parametrize("join", ["and", "or"])
def test_two_rules_are_joined_as_the_package_joins_them(open_page, join):
    page = open_page(NAME, f"?{SET}&{NAME}.join={join}")
    for first, second in itertools.combinations(RULES, 2):
        page.get_by_label("First rule").select_option(first)
        page.get_by_label("Second rule").select_option(second)
        a, b = RULES[first], RULES[second]
        expected = a & b if join == "and" else a | b
        assert torch.equal(mask_in(page), expected), (first, second)
        assert numbers(page).startswith(f"{int(expected.sum())} of 144 pairs")


def test_the_weights_are_those_of_the_masked_softmax(open_page):
    page = open_page(NAME)
    mask = RULES["causal"] & RULES["start"]
    expected = masked_softmax(fixed_scores(), mask)
    found = [[float(text or 0) for text in row] for row in weights_in(page)]
    torch.testing.assert_close(torch.tensor(found).double(), expected, rtol=0, atol=5.1e-3)
    assert [row.count("0") for row in weights_in(page)] == [LENGTH] * PADDED + [0] * 9


def test_what_a_row_without_keys_gives(open_page):
    page = open_page(NAME)
    line = page.locator(".rows")
    assert line.inner_text() == "Nothing to attend to: queries 1 to 3. The rows give zeros."
    page.get_by_label("A row without keys").select_option("nan")
    assert weights_in(page)[2] == ["NaN"] * LENGTH and "NaN" in line.inner_text()
    page.get_by_label("A row without keys").select_option("finite")
    assert weights_in(page)[2] == [f"{1 / LENGTH:.2f}"[1:]] * LENGTH
    assert "gets 0.08" in line.inner_text()
    page.get_by_label("First rule").select_option("all")
    assert line.inner_text() == "Every row has something to attend to."


def test_how_far_one_hears(open_page):
    page = open_page(NAME, f"?{WINDOW}")
    assert numbers(page).endswith("Every token depends on every other after 11 layers.")
    page.get_by_label("Layers").fill("3")  # the fourth step: 4 layers
    assert f"in {int((DISTANCE <= 4).sum())} pairs" in numbers(page)
    orange = page.locator(".paint .hears")
    assert orange.count() == int(((DISTANCE <= 4) & (DISTANCE > 1)).sum())
    assert set(orange.locator("text").all_text_contents()) == {"2", "3", "4"}
    page.get_by_label("First rule").select_option("causal")
    assert "Some tokens never depend on each other." in numbers(page)


@pytest.mark.parametrize("touch", [False, True])
def test_cells_are_painted_by_hand(open_page, touch):
    page = open_page(NAME, f"?{WINDOW}", viewport={"width": 390, "height": 800}, has_touch=touch)
    far = page.get_by_role("gridcell", name="query 12, key 1:")
    far.scroll_into_view_if_needed()
    before = mask_in(page)
    if touch:
        box = far.bounding_box()
        page.touchscreen.tap(box["x"] + 8, box["y"] + 8)
    else:
        far.click()
    assert int((mask_in(page) ^ before).sum()) == 1 and mask_in(page)[11, 0]
    assert page.get_by_role("status").inner_text().startswith("Query 12 sees 1, 11, 12;")


def test_a_stroke_paints_all_that_it_crosses_and_is_taken_back(open_page, drag):
    page = open_page(NAME, f"?{WINDOW}")
    before = mask_in(page)
    start, end = (page.get_by_role("gridcell", name=f"query 9, key {n}:") for n in (1, 5))
    start.scroll_into_view_if_needed()
    drag(start, end)
    changed = (mask_in(page) ^ before).nonzero().tolist()
    assert changed == [[8, s] for s in range(5)]
    page.wait_for_timeout(400)
    again = open_page(NAME, page.url.partition(".html")[2])
    assert torch.equal(mask_in(again), mask_in(page))
    page.get_by_role("button", name="Undo painting").click()
    assert torch.equal(mask_in(page), before)


def test_the_keyboard_goes_from_cell_to_cell(open_page):
    page = open_page(NAME, f"?{WINDOW}")
    page.get_by_label("Layers").focus()
    page.keyboard.press("Tab")
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight", "Space"):
        page.keyboard.press(key)
    assert mask_in(page)[1, 3]
    focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused == "query 2, key 4: seen"
    assert page.get_by_role("status").inner_text().startswith("Query 2 sees 1 to 4; after 1 layer")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Undo painting"


def test_the_answer_to_its_question(open_page):
    """ "Find out": two cells bring a window of radius 1 from 11 layers to 6, and to no fewer."""
    window = masks.local(LENGTH, radius=1)
    assert layers_needed(window) == 11
    cells = window.logical_not().nonzero()  # (C, 2)
    pairs = torch.combinations(torch.arange(len(cells)))  # (P, 2)
    painted = window.repeat(len(pairs), 1, 1)
    for one in (0, 1):
        t, s = cells[pairs[:, one]].unbind(dim=1)
        painted[torch.arange(len(pairs)), t, s] = True
    needed = layers_needed(painted)
    best = int(needed.min())
    a, b = cells[pairs[int(needed.argmin())]].tolist()
    painted_by_hand = f"[[{a[0]},{a[1]},1],[{b[0]},{b[1]},1]]"
    page = open_page(NAME, f"?{WINDOW}&{NAME}.painted={painted_by_hand}")
    assert re.search(r"after (\d+) layers\.$", numbers(page))[1] == str(best) == "6"


def test_an_address_that_nobody_can_read_changes_nothing(open_page):
    odd = f"?{NAME}.first=toString&{NAME}.radius=-3&{NAME}.dilation=0"
    page = open_page(NAME, f"{odd}&{NAME}.painted=[1,[99,0,1],null]")
    assert torch.equal(mask_in(page), RULES["start"])
