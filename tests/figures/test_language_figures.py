"""Figures that run a model on a sentence that is typed: the page says what PyTorch says."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from coursekit.figures import live_models
from coursekit.figures.cross_attention import SENTENCE, greedy_looks
from coursekit.figures.logit_lens import layer_logits
from coursekit.training.records import trained

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


# --- The logit lens ---

COMES = "The word of Yahweh [MASK] to Jonah."


def percent(share: float) -> str:
    return "<0.1%" if share < 0.0005 else f"{100 * share:.1f}%"


def layers(page: Any) -> list[str]:
    return page.locator(".layers li").all_inner_texts()


def hide(page: Any, n: int) -> None:
    page.get_by_role("group", name="Words").get_by_role("button").nth(n).click()


def told_layers(text: str, followed: str) -> list[str]:
    """What the page should say of each layer."""
    tokenizer = live_models.tokenizer_of("bert")
    own, told = tokenizer.token_to_id(followed), []
    for n, shares in enumerate(layer_logits(text).softmax(dim=-1)):
        best = shares.topk(3)
        first = [
            f"“{tokenizer.id_to_token(token)}” {percent(share)}"
            for share, token in zip(best.values.tolist(), best.indices.tolist())
        ]
        rank = int((shares > shares[own]).sum()) + 1
        name = f"after block {n}" if n else "before block 1"
        told.append(
            f"{name}\n{percent(float(shares[own]))}, rank {rank:,}\nfirst: {', '.join(first)}"
        )
    return told


def test_every_layer_guesses_as_in_pytorch(open_page):
    tokens = [live_models.tokenizer_of("bert").token_to_id(name) for name in ("[CLS]", "[SEP]")]
    before, behind = map(live_models.tokenizer_of("bert").encode, COMES.split("[MASK]"))
    mask = live_models.tokenizer_of("bert").token_to_id("[MASK]")
    read = torch.tensor([[tokens[0], *before, mask, *behind, tokens[1]]])
    with torch.no_grad():
        last = trained("bert")(read).masked_lm[0, len(before) + 1]
    torch.testing.assert_close(layer_logits(COMES)[-1], last)
    page = open_page("logit_lens")
    assert layers(page) == told_layers(COMES, "came")
    shown = page.locator(".bars .token").all_inner_texts()
    best = last.topk(6).indices.tolist()
    assert shown == [live_models.tokenizer_of("bert").id_to_token(token) for token in best]
    page.locator(".bars button").nth(2).click()
    assert layers(page) == told_layers(COMES, "spoke")
    assert page.locator(".bars [aria-pressed=true]").inner_text().startswith("spoke")
    assert said(page) == "“spoke” gets 7.3% at the end; it is first at no layer."


def test_a_word_is_hidden_by_hand_by_keys_and_by_the_address(open_page):
    page = open_page("logit_lens")
    page.get_by_label("Or one of these").select_option("The president of the United States spoke.")
    text = "The president of the United [MASK] spoke."
    assert layers(page) == told_layers(text, "states")
    assert said(page).endswith("it is first after block 2 for the first time.")
    page.get_by_role("button", name="States, hidden").focus()
    page.keyboard.press("ArrowLeft")
    assert layers(page) == told_layers("The president of the [MASK] States spoke.", "united")
    hide(page, 1)
    assert layers(page) == told_layers("The [MASK] of the United States spoke.", "president")
    page.wait_for_timeout(400)
    again = open_page("logit_lens", page.url.partition(".html")[2])
    assert layers(again) == layers(page)
    query = "?logit_lens.place=-9&logit_lens.follow=%23nothing&logit_lens.sentence=%20"
    odd = open_page("logit_lens", query)
    assert layers(odd) == told_layers("[MASK] word of Yahweh came to Jonah.", "the")


def test_blanks_are_typed_and_what_it_cannot_read_or_guess_is_said(open_page):
    page = open_page("logit_lens")
    line = page.get_by_label("A sentence, with ___ for a blank")
    line.fill("David was the ___ of Israel.")
    best = layer_logits("David was the [MASK] of Israel.")[-1].argmax()
    first = live_models.tokenizer_of("bert").id_to_token(int(best))
    assert layers(page) == told_layers("David was the [MASK] of Israel.", first)
    line.fill("The word of 日 came to Nebuchadnezzar.")
    assert page.get_by_text("It cannot spell “日”, which is [UNK] for it.").is_visible()
    hide(page, 6)
    assert page.get_by_text("pieces for it, and a blank is one").is_visible()
    before = layers(page)
    line.fill("  ")
    assert layers(page) == before
    line.fill("people " * 28)
    hide(page, 20)
    assert len(layers(page)) == 5


def test_the_layer_that_has_seen_no_other_word(open_page):
    """ "Find out": only what stands before the first block does not hang on the other words."""
    page = open_page("logit_lens")
    line = page.get_by_label("A sentence, with ___ for a blank")
    pieces = live_models.tokenizer_of("bert").encode
    sentences = ["The king of Israel ___ to me.", "In the great house ___ the people!"]
    assert len({len(pieces(text.split("___")[0])) for text in sentences}) == 1
    seen = []
    for text in sentences:
        line.fill(text)
        page.get_by_label("A sentence").blur()
        seen.append([row.rpartition("first: ")[2] for row in layers(page)])
    assert [a == b for a, b in zip(*seen)] == [True, False, False, False, False]
