"""Figures that run a model on a sentence that is typed: the page says what PyTorch says."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from coursekit.figures import live_models
from coursekit.figures.cross_attention import SENTENCE, greedy_looks

CROSSING = "Jesus said to them,"


def chips(page: Any, side: str) -> Any:
    return page.get_by_role("group", name=f"{side} pieces").get_by_role("button")


def words(page: Any, side: str) -> list[str]:
    return chips(page, side).locator("span").all_inner_texts()


def shares(page: Any, side: str) -> Tensor:
    """What the colours of a side's pieces say."""
    told = chips(page, side).evaluate_all(
        "(all) => all.map((one) => parseFloat(one.style.getPropertyValue('--share')) / 60)"
    )
    return torch.tensor(told)


def head(page: Any, block: int, number: int) -> Any:
    return page.get_by_role("button", name=f"block {block}, head {number}")


def same(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=2e-3)


def said(page: Any) -> str:
    return page.get_by_role("status").inner_text()


# --- Cross-attention ---


def test_it_translates_and_every_head_looks_as_in_pytorch(open_page):
    page = open_page("cross_attention")
    source, written, looks = greedy_looks(SENTENCE)
    tokenizer = live_models.tokenizer_of("translation")
    assert words(page, "English") == [tokenizer.decode([token]).strip() for token in source]
    expected = [tokenizer.decode([token]).strip() for token in written[:-1]]
    assert words(page, "French") == [*expected, "end"]
    chips(page, "French").nth(3).click()
    for block, weights in enumerate(looks, start=1):
        for number, each in enumerate(weights, start=1):
            head(page, block, number).click()
            same(shares(page, "English"), each[3])
    chips(page, "English").nth(1).click()
    same(shares(page, "French"), looks[-1][-1][:, 1])
    assert said(page).startswith("Block 2, head 4 gives most to “king” when choosing “roi” ")


def test_the_answer_to_its_question(open_page):
    """ "Find out": which heads are at “them” for “leur”, and at “said” for “dit”?"""
    page = open_page("cross_attention")
    page.get_by_label("Or one of these").select_option(CROSSING)
    page.get_by_text("leur", exact=True).wait_for()
    assert words(page, "French")[:3] == ["Jésus", "leur", "dit"]
    read, crossing = words(page, "English"), []
    for block in (1, 2):
        for number in (1, 2, 3, 4):
            head(page, block, number).click()
            at = []
            for piece in (1, 2):
                chips(page, "French").nth(piece).click()
                at.append(read[int(shares(page, "English").argmax())])
            if at == ["them", "said"]:
                crossing.append((block, number))
    assert crossing == [(2, 1), (2, 2)]


def test_a_sentence_is_typed_and_strange_words_are_named(open_page):
    page = open_page("cross_attention")
    line = page.get_by_label("English, as the Bible has it")
    line.fill("My computer is “broken”.")
    page.get_by_text("It has hardly met “computer” in its training, if at all.").wait_for()
    assert words(page, "English") == (
        ["My", "comp", "ut", "er", "is", '"', "b", "ro", "ken", '"', "."]
    )
    assert page.get_by_label("Or one of these").input_value() == ""
    line.fill("日本")
    page.locator(".chip", has_text="e6").first.wait_for()
    before = words(page, "English")
    line.fill("  ")
    page.wait_for_timeout(400)
    assert words(page, "English") == before
    line.fill("the king and the people of Israel " * 3)
    page.get_by_text("It has met all of these words in its training.").wait_for()
    line.fill("x1 " * 40)
    page.get_by_text("It reads the first 40 pieces only.").wait_for()


def test_keys_and_pointers_choose_and_the_address_follows(open_page):
    page = open_page("cross_attention")
    french = chips(page, "French")
    french.nth(4).focus()
    page.keyboard.press("ArrowRight")
    assert said(page).startswith("Block 2, head 1, when “dit” was chosen: “said” ")
    assert french.nth(5).get_attribute("aria-pressed") == "true"
    stops = "(all) => all.filter((one) => one.tabIndex === 0).length"
    assert french.evaluate_all(stops) == 1
    french.nth(0).hover()
    assert "when “Le” was chosen" in said(page)
    page.mouse.move(0, 0)
    assert "when “dit” was chosen" in said(page)
    head(page, 2, 1).focus()
    page.keyboard.press("ArrowLeft")
    assert "Block 1, head 4" in said(page)
    page.wait_for_timeout(400)
    followed = page.url.partition(".html")[2]
    again = open_page("cross_attention", followed)
    assert said(again) == said(page)
    same(shares(again, "English"), shares(page, "English"))


@pytest.mark.parametrize("query", ["block=9&piece=-4", "side=toString&head=0.2", "sentence="])
def test_an_address_that_nobody_can_read_changes_little(open_page, query):
    asked = "&".join(f"cross_attention.{one}" for one in query.split("&"))
    page = open_page("cross_attention", f"?{asked}")
    assert said(page).startswith("Block ") and float(shares(page, "English").sum()) > 0.99
