"""A sentence flows through the writer: every number on the way is PyTorch's."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from coursekit.figures.live import packed_models
from coursekit.figures.live.forward_pass import STEPS, code_line, forward_pass, read_tokens, trace
from coursekit.training.records import weights_file

ROOT = Path(__file__).parents[2]
NAME = "forward_pass"
OTHER = "We must protect the rights of our people and"


@pytest.fixture(scope="module")
def found(page_with) -> dict[str, Any]:
    """What `models/gpt.js` notes of a sentence, without a figure around it."""
    return page_with("models/gpt", "models/safetensors").evaluate(
        """([weights, tokens]) => {
          const plain = (value) => (ArrayBuffer.isView(value) ? [...value] : value.map(plain));
          const values = new GPT(Weights.read(weights)).trace(tokens);
          for (const name of Object.keys(values)) values[name] = plain(values[name]);
          return values;
        }""",
        [base64.b64encode(weights_file("writer")).decode(), read_tokens(OTHER)],
    )


def test_all_that_is_noted_is_what_pytorch_computes(found):
    expected = trace(read_tokens(OTHER))
    assert set(found) == set(expected) and len(found) == 3 + 4 * 15
    for name, value in expected.items():
        torch.testing.assert_close(
            torch.tensor(found[name]), value, rtol=0, atol=1e-3, msg=lambda m, n=name: f"{n}: {m}"
        )


def open_box(page: Any, n: int) -> None:
    page.locator(".flow button").nth(n).click()


def numbers(page: Any, n: int = -1) -> Tensor:
    cells = page.locator(".numbers").nth(n).locator("span").all_text_contents()
    return torch.tensor([float(text.replace("−", "-")) for text in cells])


def column(page: Any, n: int) -> Tensor:
    cells = page.locator(f".open td:nth-child({n})").all_text_contents()
    return torch.tensor([float(text.replace("−", "-").replace("∞", "inf")) for text in cells])


def near(shown: Tensor, expected: Tensor, digits: int = 2) -> None:
    torch.testing.assert_close(shown, expected, rtol=0, atol=0.51 * 10**-digits + 1e-3)


def test_every_box_opens_to_the_numbers_of_its_step(open_page):
    """Token 8 of 10, block 2, head 3; `place` is that of a box in the overview."""
    page = open_page(NAME, f"?{NAME}.token=8&{NAME}.block=2&{NAME}.head=3")
    values = trace(read_tokens("The people of the United"))
    t, h = 7, 2
    own = {name.removeprefix("1."): value for name, value in values.items()}
    for place, name, width in (
        (1, "embedding", 128), (2, "self.read", 128), (3, "self.v", 32), (4, "self.turned k", 32),
        (8, "self.means", 32), (9, "self.stream", 128), (10, "feed.read", 128),
        (11, "feed.hidden", 512), (12, "feed.stream", 128), (13, "final", 128),
    ):  # fmt: skip
        open_box(page, place)
        expected = own[name][h, t] if own[name].ndim == 3 else own[name][t]
        assert len(expected) == width
        near(numbers(page), expected)
    scores, weights = own["self.scores"][h, t], own["self.weights"][h, t]
    open_box(page, 5)
    near(column(page, 3), scores)
    near(column(page, 2), scores * 32**0.5, 1)
    open_box(page, 6)
    masked = column(page, 3)
    near(masked[:8], scores[:8])
    assert masked[8:].tolist() == [-torch.inf] * 2
    open_box(page, 7)
    near(column(page, 3), weights, 3)
    open_box(page, 0)
    assert column(page, 2).int().tolist() == read_tokens("The people of the United")
    open_box(page, 14)
    best = values["logits"][t].softmax(dim=-1).topk(8)
    tokenizer = packed_models.tokenizer_of("writer")
    shown = page.locator(".bars .token").all_inner_texts()
    assert shown == [tokenizer.decode([n]).replace(" ", "·") for n in best.indices.tolist()]
    assert page.locator(".bars .share").first.inner_text() == f"{100 * best.values[0]:.1f}%"


def test_a_box_shows_the_line_of_its_code_and_the_pages_links(open_page):
    page = open_page(NAME)
    page.evaluate(
        """() => document.querySelector("figure").insertAdjacentHTML("beforeend",
          '<ul class="live-leads"><li><p class="lead-mask">See <a href="#m">Masks</a>.</p></ul>')"""
    )
    for n, step in enumerate(STEPS.values()):
        open_box(page, n)
        assert page.locator(".open pre").inner_text() == code_line(step)
        assert page.locator(".open .leads a").count() == (1 if n == 6 else 0)
    assert not page.locator(".live-leads").is_visible()


def test_what_comes_later_changes_no_number(open_page):
    """ "Try": a word behind a token changes nothing in the token's boxes."""
    page = open_page(NAME, f"?{NAME}.token=7&{NAME}.box=fed")
    before = numbers(page)
    page.get_by_label("What follows").fill("The people who vote")
    page.locator(".chip").nth(6).click()
    assert torch.equal(numbers(page), before)
    page.get_by_label("What follows").fill("Her people of the United")
    page.locator(".chip").nth(6).click()
    assert not torch.equal(numbers(page), before)


def test_the_answer_to_its_question():
    """ "Find out": it is the feed-forward network of block 1 that makes the stream long."""
    for sentence in ("The people of the United", OTHER, "I ask the Congress for money to build"):
        values = trace(read_tokens(sentence))
        first, middle, last = (
            values[name].norm(dim=-1) for name in ("embedding", "0.self.stream", "0.feed.stream")
        )
        assert first.min() > 0.8 and first.max() < 1.5
        assert (last > 7 * first).all() and (middle < 3 * first).all()


def test_keys_go_from_box_to_box_and_a_bar_goes_on(open_page):
    page = open_page(NAME)
    page.locator(".flow button").nth(7).focus()
    page.keyboard.press("ArrowDown")
    assert page.locator(".open .title").inner_text() == "Mixed values, block 4, head 4"
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    assert page.get_by_role("status").inner_text() == (
        "“United”: Mixed values, block 4, head 4. Next comes “States”, 97.2%."
    )
    open_box(page, 14)
    page.locator(".bars button").first.click()
    assert page.get_by_label("What follows").input_value() == "The people of the United States"
    page.wait_for_timeout(400)
    again = open_page(NAME, page.url.partition(".html")[2])
    assert again.locator(".chip").last.inner_text().strip() == "States"
    assert again.locator(".bars .token").all_inner_texts() == (
        page.locator(".bars .token").all_inner_texts()
    )


def test_on_a_telephone_a_box_opens_below_its_name_and_stays_under_the_finger(open_page):
    page = open_page(NAME, viewport={"width": 390, "height": 800}, has_touch=True)
    for n in (3, 9):
        pressed = page.locator(".flow button").nth(n)
        pressed.scroll_into_view_if_needed()
        was = pressed.bounding_box()["y"]
        pressed.tap()
        box = page.locator(".flow button").nth(n).bounding_box()
        assert abs(box["y"] - was) < 3
        assert 0 < page.locator(".open").bounding_box()["y"] - box["y"] < 60


def test_any_sentence_and_address(open_page):
    odd = f"?{NAME}.token=99&{NAME}.block=-3&{NAME}.head=2.4&{NAME}.box=toString&{NAME}.sentence="
    page = open_page(NAME, odd)
    assert page.locator(".chip").count() == 5
    assert page.locator(".open .title").inner_text() == "Shares, block 1, head 2"
    page.get_by_label("What follows").fill("日本 👍🏽 word " * 9)
    page.get_by_text("It reads the first 24 tokens only.").wait_for()
    assert page.locator(".chip").count() == 29


def test_a_line_of_code_that_is_gone_is_a_fault():
    with pytest.raises(ValueError):
        code_line(STEPS["norm"]._replace(line="y = self.nobody"))
    assert set(forward_pass().state["code"]) == set(STEPS)
    pages = "".join(path.read_text("utf-8") for path in (ROOT / "book").glob("*.md"))
    assert all(f"\n({step.section})=\n" in pages for step in STEPS.values())
