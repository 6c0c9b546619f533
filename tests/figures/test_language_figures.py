"""Figures that run a model on a sentence that is typed: the page says what PyTorch says."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from coursekit.decoding import wu_penalty
from coursekit.figures.live import packed_models
from coursekit.figures.live.beam_tree import beam_tree, translations
from coursekit.figures.live.cross_attention import SENTENCE, cross_attention, greedy_looks
from coursekit.figures.live.logit_lens import layer_logits
from coursekit.training.records import trained
from coursekit.training.translation import PAD

CROSSING = "Jesus said to them,"


def chips(page: Any, side: str) -> Any:
    return page.get_by_role("group", name=f"{side} pieces").get_by_role("button")


def words(page: Any, side: str) -> list[str]:
    return chips(page, side).locator("span").all_inner_texts()


def shares(page: Any, side: str) -> Tensor:
    """What the colours of a side's pieces say."""
    told = chips(page, side).evaluate_all(
        "(all) => all.map((one) => parseFloat(one.style.getPropertyValue('--share')) / 35)"
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
    tokenizer = packed_models.tokenizer_of("translation")
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
    phone = {"viewport": {"width": 390, "height": 800}, "has_touch": True}
    again = open_page("cross_attention", followed, **phone)
    assert said(again) == said(page)
    same(shares(again, "English"), shares(page, "English"))
    chips(again, "French").nth(1).tap()
    assert "when “roi” was chosen" in said(again)
    head(again, 1, 2).tap()
    assert said(again).startswith("Block 1, head 2, when “roi” was chosen: “king” ")


def test_an_address_that_nobody_can_read_changes_little(open_page):
    asked = {"block": 9, "head": 0.2, "side": "toString", "piece": -4, "sentence": ""}
    query = "&".join(f"cross_attention.{name}={value}" for name, value in asked.items())
    page = open_page("cross_attention", f"?{query}")
    assert said(page).startswith("Block 2, head 1, when “Le” was chosen: ")
    assert float(shares(page, "English").sum()) > 0.99


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
    tokenizer = packed_models.tokenizer_of("bert")
    own, told = tokenizer.token_to_id(followed), []
    for n, shares in enumerate(layer_logits(text).softmax(dim=-1)):
        best = shares.topk(3)
        first = [
            f"“{tokenizer.id_to_token(token)}” {percent(share)}"
            for share, token in zip(best.values.tolist(), best.indices.tolist())
        ]
        rank = int((shares > shares[own]).sum()) + 1
        name = f"after block {n}" if n else "before block 1"
        told.append(f"{name}\n{percent(float(shares[own]))}, rank {rank:,}\n{', '.join(first)}")
    return told


def test_every_layer_guesses_as_in_pytorch(open_page):
    tokens = [packed_models.tokenizer_of("bert").token_to_id(name) for name in ("[CLS]", "[SEP]")]
    before, behind = map(packed_models.tokenizer_of("bert").encode, COMES.split("[MASK]"))
    mask = packed_models.tokenizer_of("bert").token_to_id("[MASK]")
    read = torch.tensor([[tokens[0], *before, mask, *behind, tokens[1]]])
    with torch.no_grad():
        last = trained("bert")(read).masked_lm[0, len(before) + 1]
    torch.testing.assert_close(layer_logits(COMES)[-1], last)
    page = open_page("logit_lens")
    assert layers(page) == told_layers(COMES, "came")
    shown = page.locator(".bars .token").all_inner_texts()
    best = last.topk(6).indices.tolist()
    assert shown == [packed_models.tokenizer_of("bert").id_to_token(token) for token in best]
    page.locator(".bars button").nth(2).click()
    assert layers(page) == told_layers(COMES, "spoke")
    assert page.locator(".bars [aria-pressed=true]").inner_text().startswith("spoke")
    assert said(page) == "“spoke” gets 7.3% at the end; it is first at no layer."


def test_a_word_is_hidden_by_hand_and_by_keys(open_page):
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
    query = "?logit_lens.place=-9&logit_lens.follow=%23nothing&logit_lens.sentence=%20"
    odd = open_page("logit_lens", query)
    assert layers(odd) == told_layers("[MASK] word of Yahweh came to Jonah.", "the")


def test_blanks_are_typed_and_what_it_cannot_read_or_guess_is_said(open_page):
    page = open_page("logit_lens")
    line = page.get_by_label("A sentence, with ___ for a blank")
    line.fill("David was the ___ of Israel.")
    best = layer_logits("David was the [MASK] of Israel.")[-1].argmax()
    first = packed_models.tokenizer_of("bert").id_to_token(int(best))
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
    pieces = packed_models.tokenizer_of("bert").encode
    sentences = ["The king of Israel ___ to me.", "In the great house ___ the people!"]
    assert len({len(pieces(text.split("___")[0])) for text in sentences}) == 1
    seen = []
    for text in sentences:
        line.fill(text)
        page.get_by_label("A sentence").blur()
        seen.append([row.rpartition("\n")[2] for row in layers(page)])
    assert [a == b for a, b in zip(*seen)] == [True, False, False, False, False]


# --- The tree of a beam search ---

DAVID, SERVANT = "David went up to Jerusalem.", "The king saw the servant."


def searched(sentence: str, beams: int, alpha: float) -> list[list[str]]:
    """The rows of complete texts that the page should have."""
    tokenizer = packed_models.tokenizer_of("translation")
    found = translations(sentence, beams, alpha)
    rows = []
    for tokens, score in zip(found.tokens[0].tolist(), found.scores[0].tolist()):
        length = sum(token != PAD for token in tokens)
        text = tokenizer.decode(tokens[: length - 1]).strip()
        total = score * wu_penalty(length, alpha)
        rows.append([f"complete: {text}", f"{total:.2f}", str(length), f"{score:.2f}"])
    return rows


def texts(page: Any) -> list[list[str]]:
    rows = page.locator("tbody tr").all()
    return [row.locator("th, td").all_inner_texts() for row in rows]


def shown_rows(page: Any, beams: int) -> list[list[str]]:
    return [[cell.replace("−", "-") for cell in row] for row in texts(page)[:beams]]


def set_slider(page: Any, name: str, place: int) -> None:
    page.get_by_role("slider", name=name).fill(str(place))


def test_a_search_is_the_packages_at_each_width_and_penalty(open_page):
    page = open_page("beam_tree", "?beam_tree.steps=100")
    for beams, alpha in ((1, 0.6), (2, 0.6), (2, 1.5), (3, 0.0), (4, 1.5)):
        set_slider(page, "Width", beams - 1)
        set_slider(page, "Length penalty", round(10 * alpha))
        assert shown_rows(page, beams) == searched(DAVID, beams, alpha)
    assert page.locator("tr.best").inner_text().startswith("complete: David monta à Jérusalem.")
    assert page.locator(".node.best").count() == 7


def test_it_grows_step_by_step(open_page):
    page = open_page("beam_tree", reduced_motion="reduce")
    nodes = page.locator(".node")
    assert nodes.count() == 3 * 2 * 2 and page.locator(".node.kept").count() == 3 * 2
    assert said(page) == "Step 3: “David monta”, “David se le” go on."
    assert [row[0] for row in texts(page)] == (
        ["complete: –"] * 2 + ["running: David monta", "running: David se le"]
    )
    page.get_by_role("button", name="Back").click()
    assert nodes.count() == 2 * 2 * 2
    page.get_by_role("button", name="Step", exact=True).click()
    nodes.last.click()
    assert said(page).endswith("It was dropped.")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert said(page).startswith("“David se le”: log p −3.09, over 1.19 for 3 tokens is −2.60.")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowUp")
    assert said(page).startswith("“David se”: ") and said(page).endswith("It goes on.")
    page.get_by_role("button", name="Run").click()
    page.get_by_text("“David monta à Jérusalem.” is the best, −1.65.").wait_for()
    assert "Greedy writing gives “David se leva à Jérusalem.”, −2.44." in said(page)
    assert page.get_by_role("button", name="Step", exact=True).is_disabled()
    page.wait_for_timeout(400)
    again = open_page("beam_tree", page.url.partition(".html")[2])
    assert texts(again) == texts(page)
    page.get_by_role("button", name="Start again").click()
    assert nodes.count() == 0 and said(page) == "Nothing is written yet."


def test_from_which_penalty_on_the_longer_text_wins(open_page):
    """ "Find out": width 2 says “le serviteur” twice again where a long text is paid for enough."""
    page = open_page("beam_tree", reduced_motion="reduce")
    page.get_by_label("Or one of these").select_option(SERVANT)
    page.get_by_text("Step 1: ").wait_for()
    page.get_by_role("button", name="Run").click()
    page.get_by_text("is the best").wait_for()
    twice = []
    for place in (0, 6, 13, 14, 20):
        set_slider(page, "Length penalty", place)
        if page.locator("tr.best").inner_text().count("serviteur") == 2:
            twice.append(place / 10)
    assert twice == [1.4, 2.0]
    set_slider(page, "Width", 0)
    assert page.locator("tr.best").inner_text().count("serviteur") == 2


def test_a_tree_of_any_sentence_and_address(open_page):
    odd = "?beam_tree.beams=77&beam_tree.alpha=-1&beam_tree.steps=-3&beam_tree.sentence=%20"
    page = open_page("beam_tree", odd)
    assert page.locator(".node").count() == 0 and len(texts(page)) == 8
    page.get_by_label("English, as the Bible has it").fill("日本 “x”")
    page.get_by_text("Step 1: ").wait_for()
    page.get_by_role("button", name="Step", exact=True).click()
    assert page.locator(".node").count() == 16


# --- Two of them on one page ---


def test_a_model_comes_once_to_a_page_with_two_figures(open_page, site):
    open_page("beam_tree")  # writes the model
    both = beam_tree().html() + cross_attention().html()
    text = f'<!doctype html><meta charset=utf-8><html data-content_root="../">{both}'
    (site / "book" / "both.html").write_text(text, encoding="utf-8")
    page = open_page("both")
    page.wait_for_function("() => document.querySelectorAll('.live[data-ready]').length === 2")
    assert page.locator("script[src*=translation]").count() == 1
