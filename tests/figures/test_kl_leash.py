"""The leash to lengthen: policy, divergence, reward by the formula, DPO by autograd."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from torch import Tensor

from coursekit.figures.live.kl_leash import ANSWERS, leashed, log_reference
from coursekit.objectives.preferences import dpo_loss

NAME = "kl_leash"
START = list(ANSWERS.values())
NUMBER = r"(−?[\d.]*\d)"


def told(page: Any, name: str) -> float:
    found = re.search(rf"{re.escape(name)} {NUMBER}", page.locator(".live-box").inner_text())
    return float(found[1].replace("−", "-"))


def shares(page: Any) -> Tensor:
    widths = page.locator(".fill").evaluate_all(
        "(all) => all.map((e) => parseFloat(e.style.width))"
    )
    return torch.tensor(widths, dtype=torch.float64) / 100


def same(
    page: Any, beta: float, rewards: list[float] = START, pair: tuple[int, int] = (0, 1)
) -> None:
    """The page shows what the package computes."""
    r, reference = torch.tensor(rewards, dtype=torch.float64), log_reference()
    policy = leashed(r, beta).requires_grad_()
    torch.testing.assert_close(shares(page), policy.detach().exp(), rtol=0, atol=6e-5)
    kl = torch.nn.functional.kl_div(reference, policy.detach(), reduction="sum", log_target=True)
    reward = policy.detach().exp() @ r
    assert told(page, "Divergence") == pytest.approx(kl.item(), abs=6e-4)
    assert told(page, "expected reward") == pytest.approx(reward.item(), abs=6e-4)
    assert told(page, "β · divergence") == pytest.approx((reward - beta * kl).item(), abs=6e-4)
    better, worse = ([n] for n in pair)
    found = dpo_loss(policy[better], policy[worse], reference[better], reference[worse], beta=beta)
    found.loss.backward()
    margin = (found.chosen - found.rejected).item()
    assert told(page, "margin β(h⁺ − h⁻) =") == pytest.approx(margin, abs=6e-4)
    assert told(page, "loss −ln σ(margin) =") == pytest.approx(found.loss.item(), abs=6e-4)
    slope = policy.grad[better].item()
    assert told(page, "ln π of the preferred:") == pytest.approx(slope, abs=6e-4)


def move(page: Any, name: str, place: int) -> None:
    page.get_by_role("slider", name=name).fill(str(place))


def test_policy_curve_and_dpo_are_the_packages(open_page):
    page = open_page(NAME)
    same(page, 1.0)
    for place, beta in ((0, 8), (11, 0.4), (21, 0.04)):
        move(page, "Leash β", place)
        same(page, beta)
    move(page, "This is a bad movie.", 55)  # 2.5
    page.locator(".pair select").first.select_option("4")
    page.locator(".pair select").last.select_option("2")
    same(page, 0.04, [1.0, 2.5, *START[2:]], (4, 2))
    page.get_by_role("button", name="Put all back").click()
    same(page, 1.0)


def test_along_the_curve_a_nat_brings_beta():
    r = torch.tensor(START, dtype=torch.float64)
    for beta in (4.0, 1.0, 0.25):
        near = [leashed(r, beta * k) for k in (0.999, 1.001)]
        kl = [(p.exp() * (p - log_reference())).sum() for p in near]
        reward = [p.exp() @ r for p in near]
        assert ((reward[0] - reward[1]) / (kl[0] - kl[1])).item() == pytest.approx(beta, rel=1e-3)


def test_the_answer_to_its_question(open_page):
    """ "Find out": margin and loss stay, the margin being the difference of the rewards."""
    page, seen = open_page(NAME), []
    for place in (0, 7, 21):
        move(page, "Leash β", place)
        lines = page.locator(".pair div p").all_inner_texts()
        seen.append((lines[1], lines[2]))
        assert told(page, "margin β(h⁺ − h⁻) =") == START[0] - START[1]
    assert len(set(seen)) == 1


def test_what_it_proposes_to_try():
    """The rarest answer has the largest reward, and wins when the leash is long."""
    r, reference = torch.tensor(START), log_reference()
    assert reference.argmin() == r.argmax() == 4
    assert [leashed(r, beta).argmax().item() for beta in (8, 1, 0.15, 0.1)] == [0, 0, 3, 4]
    r[4] = 0.5
    assert leashed(r, 0.04).argmax() == 3


@pytest.mark.parametrize("width", [1400, 390])
def test_the_point_is_dragged(open_page, width):
    page = open_page(NAME, viewport={"width": width, "height": 900}, has_touch=width == 390)
    page.locator(".reach").scroll_into_view_if_needed()
    box = page.locator(".reach").bounding_box()
    page.mouse.move(box["x"] + 30, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] + 40, box["y"] + 40, steps=4)
    page.mouse.up()
    same(page, 0.04)
    assert page.get_by_role("status").inner_text().startswith("β 0.04: divergence ")


def test_an_address_that_nobody_can_read_changes_nothing(open_page):
    odd = f"?{NAME}.beta=-3&{NAME}.chosen=9&{NAME}.rejected=1.5"
    page = open_page(NAME, f'{odd}&{NAME}.rewards=[99,"a"]')
    same(page, 0.04, [3.0, *START[1:]])
