"""Boxes that one can move: measures and assignments are those of the package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from coursekit.boxes import generalized_iou, iou, to_corners
from coursekit.figures.live.box_matching import (
    BEST,
    CLASSES,
    GREEDY,
    GUESSES,
    LABELS,
    OBJECTS,
    SHARES,
    TRUTH,
)
from coursekit.objectives.matcher import assign
from coursetools.notebooks.imports import read_notebook

ROOT = Path(__file__).parents[2]
NAME = "box_matching"
RULES = ("cheapest pair first", "smallest sum")


def costs(guesses: Any = GUESSES) -> Tensor:
    """The costs (n, Q) as the chapter defines them."""
    shares, truth = torch.tensor(SHARES).double(), torch.tensor(TRUTH).double()
    boxes = torch.tensor(guesses).double()
    l1 = (boxes - truth[:, None]).abs().sum(dim=-1)
    giou = generalized_iou(to_corners(boxes), to_corners(truth)[:, None])
    return -shares[:, list(LABELS)].T + 5 * l1 - 2 * giou


def greedy(cost: Tensor) -> list[int]:
    left, chosen = cost.clone(), {}
    while len(chosen) < len(cost):
        row, column = divmod(int(left.argmin()), cost.shape[1])
        chosen[row] = column
        left[row], left[:, column] = torch.inf, torch.inf
    return [chosen[row] for row in range(len(cost))]


def shown_costs(page: Any) -> Tensor:
    texts = page.locator("tbody button").all_inner_texts()
    return torch.tensor([float(text.replace("−", "-")) for text in texts]).view(3, 5).double()


def answers(page: Any) -> list[int]:
    seen = "(all) => all.map((one) => one.classList.contains('answer'))"
    chosen = torch.tensor(page.locator("tbody button").evaluate_all(seen)).view(3, 5)
    return chosen.nonzero()[:, 1].tolist()


def choose(page: Any, rule: int) -> list[int]:
    page.get_by_label("Who answers for whom").select_option(RULES[rule])
    return answers(page)


def guess(page: Any, n: int) -> Any:
    return page.locator(".guess").nth(n - 1)


def test_assignments_are_scipys(page_with):
    page = page_with("models/assignment")
    draw = torch.Generator().manual_seed(0)
    for n, columns in [(1, 1), (1, 4), (2, 2), (3, 5), (6, 6), (7, 12)]:
        for _ in range(20):
            cost = torch.randn(n, columns, generator=draw).double()
            assert page.evaluate("hungarian", cost.tolist()) == assign(cost).tolist()
            assert page.evaluate("greedy", cost.tolist()) == greedy(cost)
    assert page.evaluate("hungarian([[1, 1, 1], [1, 1, 1]]).length") == 2
    assert page.evaluate("hungarian([])") == []


def test_it_begins_with_the_example_of_the_chapter(open_page):
    cells = read_notebook(ROOT / "notebooks" / "detr.ipynb")["cells"]
    source = next("".join(c["source"]) for c in cells if c["id"] == "five")
    found: dict[str, Any] = {"torch": torch}
    exec(source, found)
    assert (found["NAMES"], found["OBJECTS"]) == (CLASSES, OBJECTS)
    for name, ours in {
        "labels": LABELS,
        "truth": TRUTH,
        "guesses": GUESSES,
        "shares": SHARES,
    }.items():
        assert torch.equal(found[name], torch.tensor(ours))
    page = open_page(NAME)
    torch.testing.assert_close(shown_costs(page), costs(), rtol=0, atol=5.1e-3)
    assert choose(page, 0) == list(GREEDY) == greedy(costs())
    assert choose(page, 1) == list(BEST) == assign(costs()).tolist()


def test_a_pair_is_written_out(open_page):
    page = open_page(NAME)
    page.get_by_role("button", name="right cat, guess 2: cost").click()
    a, b = (to_corners(torch.tensor(boxes[1])) for boxes in (TRUTH, GUESSES))
    text = page.locator(".written").inner_text().replace("−", "-")
    assert text.startswith("right cat, guess 2")
    for measure in (iou(a, b), generalized_iou(a, b)):
        assert f"= {float(measure):.3f}" in text
    assert "L1 = 0.14 + 0.13 + 0.02 + 0.00 = 0.29" in text
    assert text.endswith(f"= {float(costs()[1, 1]):.2f}")


@pytest.mark.parametrize("width", [1400, 390])
def test_a_guess_is_moved_and_resized_by_hand(open_page, width):
    page = open_page(NAME, viewport={"width": width, "height": 900})
    scale = page.locator("svg .frame").last.bounding_box()["width"]
    box = guess(page, 5).locator("rect").bounding_box()
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 10 + 0.3 * scale, box["y"] + 10, steps=4)
    page.mouse.up()
    moved = [*GUESSES[:4], (0.40, *GUESSES[4][1:])]
    assert "centre 0.40, 0.85, size 0.12, 0.14" in guess(page, 5).get_attribute("aria-label")
    torch.testing.assert_close(shown_costs(page), costs(moved), rtol=0, atol=5.1e-3)
    assert "left cat and guess 5" in page.get_by_role("status").inner_text()
    corner = page.get_by_role("button", name="Size of guess 5").bounding_box()
    x, y = corner["x"] + corner["width"] / 2, corner["y"] + corner["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 0.1 * scale, y, steps=4)
    page.mouse.up()
    assert "centre 0.40, 0.85, size 0.32, 0.14" in guess(page, 5).get_attribute("aria-label")


def test_a_box_is_moved_by_keys_kept_inside_and_put_back(open_page):
    page = open_page(NAME)
    before = shown_costs(page)
    guess(page, 2).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    assert "centre 0.61, 0.60," in guess(page, 2).get_attribute("aria-label")
    for _ in range(12):
        page.keyboard.press("Shift+ArrowLeft")
    assert "centre 0.10, 0.60," in guess(page, 2).get_attribute("aria-label")
    page.get_by_role("button", name="Size of guess 2").focus()
    page.keyboard.press("ArrowLeft")
    assert "size 0.19, 0.32" in guess(page, 2).get_attribute("aria-label")
    page.locator(".object").nth(2).focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator(".written").inner_text().startswith("dog, guess 2")
    page.wait_for_timeout(400)
    again = open_page(NAME, page.url.partition(".html")[2])
    assert torch.equal(shown_costs(again), shown_costs(page))
    for one in (page, again):
        one.get_by_role("button", name="Put all back").click()
        assert torch.equal(shown_costs(one), before)


def test_the_lines_follow_the_rule(open_page):
    page = open_page(NAME)
    ends = """(lines) => lines.map((line) => [line.x2, line.y2].map((end) => end.baseVal.value))"""
    for rule, chosen in enumerate((GREEDY, BEST)):
        choose(page, rule)
        found = torch.tensor(page.locator(".answers line").evaluate_all(ends))
        expected = torch.tensor([GUESSES[n][:2] for n in chosen]) * torch.tensor([340, 300])
        torch.testing.assert_close(found, expected, rtol=0, atol=0.06)


def test_the_answer_to_its_question(open_page):
    """ "Find out": from 0.64 on the cheapest pair takes guess 5; the smallest sum never does."""
    page = open_page(NAME)
    guess(page, 5).focus()
    first = None
    for step in range(1, 79):
        page.keyboard.press("ArrowUp")
        y = round(0.85 - 0.01 * step, 2)
        cost = costs([*GUESSES[:4], (0.10, y, 0.12, 0.14)])
        assert assign(cost).tolist() == list(BEST)
        assert answers(page) == greedy(cost), y
        if first is None and answers(page)[0] == 4:
            first = y
    assert first == 0.64
    y = json.dumps([*map(list, GUESSES[:4]), [0.10, 0.42, 0.12, 0.14]])
    page = open_page(NAME, f"?{NAME}.rule=hungarian&{NAME}.guesses={y}")
    assert answers(page) == list(BEST)


def test_an_address_that_nobody_can_read_changes_nothing(open_page):
    odd = f"?{NAME}.rule=toString&{NAME}.pair=[9,-1]&{NAME}.objects=[[1],null]"
    page = open_page(NAME, f'{odd}&{NAME}.guesses=[["a",0,0,0],[0,0,0,9]]')
    assert torch.isfinite(shown_costs(page)).all()
    assert page.get_by_label("Who answers for whom").input_value() == "greedy"
    assert page.locator(".written").inner_text().startswith("left cat, guess 1")
