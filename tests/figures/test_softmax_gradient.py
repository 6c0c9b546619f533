"""The softmax that one can turn: weights, entropy and gradient are those of PyTorch."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from coursekit.figures.live.softmax_gradient import SCORES
from coursetools.notebooks.imports import read_notebook

ROOT = Path(__file__).parents[2]
NAME = "softmax_gradient"
FACTORS = {"root": lambda d: 1 / math.sqrt(d), "none": lambda d: 1.0, "width": lambda d: 1 / d}


def numbers_of(texts: list[str]) -> Tensor:
    return torch.tensor([float(text.replace("−", "-")) for text in texts]).double()


def weights_in(page: Any) -> Tensor:
    handles = page.get_by_role("slider", name="Score of key").all()
    told = [handle.get_attribute("aria-valuetext").rpartition(" ")[2] for handle in handles]
    return numbers_of(told)


def jacobian_in(page: Any) -> Tensor:
    return numbers_of(page.locator(".cell text").all_text_contents()).view(5, 5)


def told(page: Any, name: str) -> float:
    return float(re.search(rf"{name} ([\d.]+\d)", page.locator(".numbers").inner_text())[1])


def inputs_at(width: int, factor: str, temperature: float, scores: Any = SCORES) -> Tensor:
    products = torch.tensor(scores).double() * math.sqrt(width)
    return products * FACTORS[factor](width) / temperature


def same(page: Any, inputs: Tensor) -> None:
    """The page shows the weights of these inputs, their Jacobian by autograd, and its norm."""
    weights = inputs.softmax(dim=-1)
    expected = torch.autograd.functional.jacobian(lambda x: x.softmax(dim=-1), inputs)
    torch.testing.assert_close(weights_in(page), weights, rtol=0, atol=5.1e-4)
    torch.testing.assert_close(jacobian_in(page), expected, rtol=0, atol=5.1e-4)
    bits = torch.special.entr(weights).sum() / math.log(2)
    assert told(page, "entropy") == pytest.approx(float(bits), abs=5.1e-3)
    assert told(page, "norm of J") == pytest.approx(float(expected.norm()), abs=5.1e-4)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize(("width", "temperature"), [(1, 1), (64, 0.2), (1024, 20), (1024, 0.05)])
def test_weights_and_gradient_are_pytorchs(open_page, factor, width, temperature):
    query = f"{NAME}.factor={factor}&{NAME}.width={width}&{NAME}.temperature={temperature}"
    same(open_page(NAME, f"?{query}"), inputs_at(width, factor, temperature))


def test_the_controls_do_what_they_say(open_page):
    page = open_page(NAME)
    same(page, inputs_at(64, "root", 1))
    page.get_by_label("Factor").select_option("none")
    page.get_by_label("Width d").fill("2")  # 16
    page.get_by_label("Temperature τ").fill("6")  # 5
    same(page, inputs_at(16, "none", 5))
    assert page.get_by_role("status").inner_text().startswith("For each 1 by which the input 1 ")


def test_a_bet_on_a_wide_row_is_lost(open_page):
    """Its gradient is zero to three digits, and one may bet again."""
    page = open_page(NAME)
    page.get_by_role("slider", name="Your bet").fill("20")
    page.get_by_role("button", name="Width 1,024, no factor").click()
    expected = torch.autograd.functional.jacobian(
        lambda x: x.softmax(dim=-1), inputs_at(1024, "none", 1)
    )
    said = f"You bet 0.20; the norm of J is {expected.norm():.3f}."
    assert page.get_by_role("status").inner_text() == said and said.endswith("0.000.")
    page.get_by_role("button", name="Bet again").click()
    same(page, inputs_at(64, "root", 1))


@pytest.mark.parametrize("width", [1400, 390])
def test_a_score_is_dragged(open_page, drag, width):
    page = open_page(NAME, viewport={"width": width, "height": 900})
    knob = page.get_by_role("slider", name="Score of key 3").locator(".knob")
    knob.scroll_into_view_if_needed()
    drag(knob, page.get_by_role("slider", name="Score of key 1").locator(".knob"))
    same(page, inputs_at(64, "root", 1, (1.2, 0.7, 1.2, -0.4, -1.3)))
    frame = page.locator(".mark").get_attribute("x")
    assert float(frame) == 26 + 2 * 52
    assert "the input 3 of" in page.get_by_role("status").inner_text()


def test_scores_are_moved_by_keys_kept_in_bounds_and_put_back(open_page):
    page = open_page(NAME)
    page.get_by_role("slider", name="Score of key 1").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+ArrowDown")
    same(page, inputs_at(64, "root", 1, (1.25, 0.2, *SCORES[2:])))
    for _ in range(9):
        page.keyboard.press("Shift+ArrowDown")
    scores = (1.25, -3.0, *SCORES[2:])
    same(page, inputs_at(64, "root", 1, scores))
    page.wait_for_timeout(400)
    again = open_page(NAME, page.url.partition(".html")[2])
    same(again, inputs_at(64, "root", 1, scores))
    for one in (page, again):
        one.get_by_role("button", name="Put the scores back").click()
        same(one, inputs_at(64, "root", 1))


def test_the_answer_to_its_question(open_page):
    """ "Find out": 0.5, where two weights are a half; five equal weights have 0.4."""
    draw = torch.Generator().manual_seed(0)
    scale = torch.logspace(-1, 2, 20_000, dtype=torch.float64)[:, None]
    p = (scale * torch.randn(20_000, 5, generator=draw)).softmax(dim=-1)
    norms = (torch.diag_embed(p) - p[:, :, None] * p[:, None]).flatten(1).norm(dim=1)
    assert 0.49 < norms.max() <= 0.5
    query = f"{NAME}.width=1024&{NAME}.factor=none"
    page = open_page(NAME, f"?{query}&{NAME}.scores=[1,1,0,0,0]")
    assert told(page, "norm of J") == 0.5 and weights_in(page)[:2].tolist() == [0.5, 0.5]
    page = open_page(NAME, f"?{query}&{NAME}.scores=[1,1,1,1,1]")
    assert told(page, "norm of J") == 0.4


def test_what_it_proposes_to_try(open_page):
    page = open_page(NAME)
    page.get_by_label("Factor").select_option("none")
    page.get_by_label("Width d").fill("5")
    assert jacobian_in(page).abs().max() == 0


def test_an_address_that_nobody_can_read_changes_nothing(open_page):
    odd = f"?{NAME}.width=63&{NAME}.factor=toString&{NAME}.temperature=0"
    page = open_page(NAME, f'{odd}&{NAME}.scores=[9,"a"]')
    same(page, inputs_at(64, "root", 1, (3.0, 0.0, 0.0, 0.0, 0.0)))


def test_the_scores_are_those_of_the_notebook():
    cells = read_notebook(ROOT / "notebooks" / "scaling.ipynb")["cells"]
    source = next("".join(c["source"]) for c in cells if c["id"] == "temperature")
    found = re.search(r"five = torch.tensor\(\[(.+)\]\)", source)[1]
    assert tuple(map(float, found.split(","))) == SCORES
