"""What a cell can see through shifted windows: as the package's blocks let it, cell by cell."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from coursekit.figures.live.window_reach import CELL, SHOWN, SIDE, shares, window_reach
from coursekit.models.swin import Swin, SwinConfig, fill, window_partition

NAME = "window_reach"
DEPTHS = {"one": (8,), "merged": (2, 2, 2, 2)}
OPACITIES = """() => [...document.querySelectorAll(".map rect")].map((cell) =>
  Number(cell.getAttribute("fill-opacity")))"""
PLACES = [(8, 8), (0, 0), (23, 10), (12, 17)]


def opened(open_page: Any, **state: Any) -> Any:
    query = "&".join(f"{NAME}.{key}={value}" for key, value in state.items())
    return open_page(NAME, f"?{query}".replace(" ", ""))


def slider(page: Any, name: str) -> Any:
    return page.get_by_role("slider", name=name)


def move(page: Any, name: str, value: int) -> None:
    place = value - {"Blocks": 1, "Shift": 0, "Side of a window": 2}[name]
    slider(page, name).fill(str(place))


def opacities(page: Any) -> Tensor:
    return torch.tensor(page.evaluate(OPACITIES)).view(SIDE, SIDE)


def counts(page: Any) -> list[list[int]]:
    """Return what is heard by blocks: with shifts, with windows that stay, without windows."""
    rows = page.evaluate(
        """() => [...document.querySelectorAll("tbody tr")].map((row) =>
          [...row.querySelectorAll("td")].map((cell) => Number(cell.textContent)))"""
    )
    assert len(rows) == 8
    return rows


def press(page: Any, cell: tuple[int, int]) -> None:
    plan = page.get_by_role("group", name="The map of cells")
    side = plan.bounding_box()["width"] / SIDE
    y, x = (side * (place + 0.5) for place in cell)
    plan.click(position={"x": x, "y": y})


@cache
def heard(window: int, maps: str, shifted: bool) -> list[list[Tensor]]:
    """Return where gradients reach in a random `Swin`, for each of 8 blocks and each place."""
    torch.manual_seed(0)
    depths = DEPTHS[maps]
    config = SwinConfig(
        image=SIDE, patch=1, width=4, depths=depths, heads=(1,) * len(depths), window=window,
        mlp_ratio=1, shifted=shifted,
    )  # fmt: skip
    model = Swin(config).double()
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.5)
    images = torch.randn(1, 3, SIDE, SIDE, dtype=torch.float64, requires_grad=True)
    x, found = model.embedding(images), []
    for number, stage in enumerate(model.stages):
        x = stage.merge(x)
        for block in stage.blocks:
            x = block(x)
            outputs = [x[0, r >> number, c >> number].sum() for r, c in PLACES]
            gradients = [torch.autograd.grad(one, images, retain_graph=True)[0] for one in outputs]
            found.append([one[0].abs().sum(dim=0) > 0 for one in gradients])
    return found


@pytest.mark.parametrize(("window", "maps"), [(6, "one"), (7, "one"), (5, "merged")])
def test_a_cell_sees_what_reaches_its_gradient_in_a_swin(open_page, window, maps):
    """With a shift of half a window, as `Swin` has it; and where no window moves."""
    moved, still = heard(window, maps, True), heard(window, maps, False)
    page = opened(open_page, maps=maps)
    move(page, "Side of a window", window)
    assert slider(page, "Shift").get_attribute("aria-valuetext") == str(window // 2)
    for n, place in enumerate(PLACES):
        press(page, place)
        expected = [
            [int(moved[block][n].sum()), int(still[block][n].sum()), SIDE**2] for block in range(8)
        ]
        assert counts(page) == expected, place
        for block in (2, 3, 5):
            move(page, "Blocks", block)
            assert torch.equal(opacities(page) > 0, moved[block - 1][n]), (place, block)


@pytest.mark.parametrize("maps", DEPTHS)
def test_shades_and_shares_for_every_shift(open_page, maps):
    page = opened(open_page, maps=maps)
    cases = [(6, shift, 2, 8) for shift in (0, 1, 3, 4)] + [(5, 4, 4, 0), (8, 3, 6, 23)]
    for window, shift, blocks, at in cases:
        move(page, "Side of a window", window)
        move(page, "Shift", shift)
        move(page, "Blocks", blocks)
        cell = (at, SIDE - 1 - at // 2)
        press(page, cell)
        found = shares(cell, blocks, window, shift, merged=maps == "merged")
        shades = (0.2 + 0.7 * (found / found.max()) ** 0.25).where(found > 0, 0).float()
        torch.testing.assert_close(opacities(page), shades, rtol=0, atol=6e-4)
        assert counts(page)[blocks - 1][0] == int((found > 0).sum())
        r, c = (window * (place // window) for place in cell)
        beyond = float(found.sum() - found[r : r + window, c : c + window].sum())
        told = re.search(r"([\d.]+)%", page.locator(".outside").inner_text())[1]
        assert float(told) == pytest.approx(100 * beyond, abs=0.051)


def test_the_pairs_are_those_of_the_windows_that_are_filled_up(open_page):
    page = opened(open_page, maps="merged", blocks=3)  # a map of 12 × 12
    for window in (4, 5, 6, 8):
        move(page, "Side of a window", window)
        windows = window_partition(fill(torch.zeros(1, 12, 12, 1), window), window)
        pairs = len(windows) * windows.shape[1] ** 2
        text = page.locator(".pairs").inner_text()
        assert text == f"Block 3 compares {pairs:,} pairs of cells; without windows, 20,736."
    move(page, "Side of a window", 5)
    move(page, "Blocks", 5)  # 6 × 6 cells, filled up to four windows
    text = page.locator(".pairs").inner_text()
    assert text == "Block 5 compares 2,500 pairs of cells; without windows, 1,296."
    move(page, "Blocks", 7)
    text = page.locator(".pairs").inner_text()
    assert text == "Block 7 compares 81 pairs of cells; it has one window."


def test_the_answer_to_its_question(open_page):
    """ "Find out": all shifts reach equally many cells; half a window brings most from beyond."""
    page = open_page(NAME)
    many, beyond = {}, {}
    for shift in range(6):
        move(page, "Shift", shift)
        many[shift] = counts(page)[1][0]
        told = page.locator(".outside").inner_text()
        beyond[shift] = float(re.search(r"([\d.]+)%", told)[1])
    assert many == {0: 36} | dict.fromkeys(range(1, 6), 144)
    assert sorted(beyond.values())[-2] < max(beyond.values()) == beyond[3] and beyond[0] == 0


@pytest.mark.parametrize("touch", [False, True])
def test_a_cell_is_chosen_by_hand(open_page, touch):
    page = open_page(NAME, viewport={"width": 390, "height": 800}, has_touch=touch)
    plan = page.get_by_role("group", name="The map of cells")
    plan.scroll_into_view_if_needed()
    box = plan.bounding_box()
    x, y = box["x"] + 0.98 * box["width"], box["y"] + 0.02 * box["height"]
    if touch:
        page.touchscreen.tap(x, y)
    else:
        page.mouse.move(x, y + 0.5 * box["height"])
        page.mouse.down()
        page.mouse.move(x, y - 40, steps=4)  # out of the map: it stays at the edge
        page.mouse.up()
        page.mouse.move(x, y + 90)  # nothing is held any more
    said = page.get_by_role("status").inner_text()
    assert said == (
        "After 2 blocks the cell in row 1, column 24 has heard of 36 of 576 cells, "
        "with windows that stay of 36."
    )
    page.get_by_role("button", name="Put all back").click()
    assert torch.equal(opacities(page), opacities(open_page(NAME)))


def test_the_keyboard_moves_the_cell(open_page):
    page = open_page(NAME)
    page.get_by_label("Merge after").focus()
    page.keyboard.press("Tab")
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowLeft", "ArrowUp"):
        page.keyboard.press(key)
    focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused == "The cell in row 8, column 10; arrow keys move it"
    assert page.get_by_role("status").inner_text().startswith("After 2 blocks the cell in row 8, ")


def test_an_address_that_nobody_can_read_changes_nothing(open_page):
    plain = opacities(open_page(NAME))
    odd = opened(open_page, maps="toString", blocks="x", cell="[8.2,8]", window="[]")
    assert torch.equal(opacities(odd), plain)
    far = opened(open_page, blocks=99, window=-5, shift=40, cell='[null,"x"]')
    assert [row[1] for row in counts(far)] == [4] * 8
    assert slider(far, "Shift").get_attribute("aria-valuetext") == "1"


def test_its_still_picture_counts_what_the_package_lets_through():
    still = window_reach().still
    for blocks in SHOWN:
        count = int(heard(6, "one", True)[blocks - 1][PLACES.index(CELL)].sum())
        assert f"{count} after {blocks} block" in still and f": {count} cells</text>" in still
