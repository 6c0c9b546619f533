"""The live heads of the small BERT: maps equal to PyTorch's, and the untrained control."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest
import torch
from torch import Tensor

from coursekit.analysis.heads import weight_on
from coursekit.figures.live.attention_heads import (
    SENTENCE,
    SPREAD,
    attention_heads,
    sentence_looks,
)
from coursekit.figures.live.packed_models import tokenizer_of
from coursekit.models.bert import BertForPreTraining
from coursekit.training.records import trained, weights_file

SHUFFLED = "him king the answered, people Israel and of they to said The."


def chips(page: Any) -> Any:
    return page.get_by_role("group", name="Tokens").get_by_role("button")


def head(page: Any, block: int, number: int) -> Any:
    return page.get_by_role("button", name=f"block {block}, head {number}")


def said(page: Any) -> str:
    return page.get_by_role("status").inner_text()


def shares(page: Any) -> Tensor:
    """What the colours of the tokens say."""
    return torch.tensor(chips(page).evaluate_all(
        "(all) => all.map((one) => parseFloat(one.style.getPropertyValue('--share')) / 55)"
    ))  # fmt: skip


def table(page: Any, row: int) -> list[float]:
    cells = page.locator("tbody tr").nth(row).locator("td").all_inner_texts()
    return [float(cell) for cell in cells]


def kinds(weights: Tensor) -> list[float]:
    """Weights (H, T, T) of one head -> the mean weight on what the columns of the table name."""
    T = weights.shape[-1]
    eye, ends = torch.eye(T, dtype=torch.bool), torch.zeros(T, T, dtype=torch.bool)
    ends[:, [0, -1]] = True
    chosen = (eye.roll(-1, 1) & ~eye.roll(-1, 1).triu(1), eye,
              eye.roll(1, 1) & ~eye.roll(1, 1).tril(-1), ends)  # fmt: skip
    return [weight_on(weights[None], where[None])[0].item() for where in chosen]


def same(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=2e-3)


def test_every_head_looks_as_in_pytorch_and_the_table_is_the_packages(open_page):
    page = open_page("attention_heads")
    tokens, looks = sentence_looks(SENTENCE)
    names = [tokenizer_of("bert").id_to_token(token) for token in tokens]
    assert chips(page).locator("span").all_inner_texts() == names
    for block, heads in enumerate(looks, start=1):
        for number, weights in enumerate(heads, start=1):
            head(page, block, number).click()
            same(shares(page), weights[2])
            assert table(page, 0) == pytest.approx(kinds(weights[None]), abs=0.006)
    T = len(tokens)
    assert table(page, 1) == pytest.approx([1 / T, 1 / T, 1 / T, 2 / T], abs=0.006)


def test_the_control_is_a_model_of_the_same_sizes_before_training(page_with):
    page = page_with("models/safetensors", "models/untrained")
    found = page.evaluate(
        """([content, spread]) => Object.fromEntries(
             Array.from(untrained(Weights.read(content), { spread }).tensors,
               ([name, { shape, data }]) => {
                 const mean = data.reduce((a, b) => a + b, 0) / data.length;
                 const square = data.reduce((a, b) => a + (b - mean) ** 2, 0) / data.length;
                 return [name, [shape, mean, Math.sqrt(square)]];
               }))""",
        [base64.b64encode(weights_file("bert")).decode(), SPREAD],
    )
    torch.manual_seed(3)
    fresh = dict(BertForPreTraining(trained("bert").config).named_parameters())
    assert set(found) <= set(fresh) and len(found) > 60
    for name, (shape, mean, spread) in found.items():
        assert shape == list(fresh[name].shape), name
        near = 6 * SPREAD / fresh[name].numel() ** 0.5  # six standard errors
        assert mean == pytest.approx(fresh[name].mean().item(), abs=2 * near), name
        assert spread == pytest.approx(fresh[name].std(correction=0).item(), abs=near), name


def test_the_untrained_model_looks_about_uniformly(open_page):
    page = open_page("attention_heads")
    page.get_by_label("The model").select_option("untrained")
    page.get_by_text("Head 2.2, untrained").wait_for()
    torch.manual_seed(1)
    fresh = BertForPreTraining(trained("bert").config).eval()
    tokens, looks = sentence_looks(SENTENCE, fresh)
    theirs = torch.stack(looks).max().item()
    most = 0.0
    for block in (1, 2, 3, 4):
        for number in (1, 2, 3, 4):
            head(page, block, number).click()
            most = max(most, shares(page).max().item())
    assert most < 2 * theirs and theirs < 2 / len(tokens)
    page.get_by_label("The model").select_option("trained")
    same(shares(page), sentence_looks(SENTENCE)[1][3][3][2])


def test_the_answer_to_its_question(open_page):
    """ "Find out": which heads look where they looked before the words were shuffled?"""
    words = [re.findall(r"\w+|[^\w\s]", text.lower()) for text in (SENTENCE, SHUFFLED)]
    assert sorted(words[0]) == sorted(words[1])
    page = open_page("attention_heads")
    page.get_by_label("Or one of these").select_option(SHUFFLED)
    chips(page).nth(1).get_by_text("him").wait_for()
    before, after = (torch.cat(sentence_looks(text)[1]) for text in (SENTENCE, SHUFFLED))
    neighbours = [
        n for n, (a, b) in enumerate(zip(before, after))
        if max(kinds(a[None])[0::2]) > 0.8 and max(kinds(b[None])[0::2]) > 0.8
    ]  # fmt: skip
    assert [divmod(n, 4) for n in neighbours] == [(0, 2), (1, 0), (1, 1)]
    for n in neighbours:
        block, number = divmod(n, 4)
        head(page, block + 1, number + 1).click()
        assert max(table(page, 0)[0::2]) > 0.8
    others = [n for n in range(16) if n not in neighbours and n != 1]  # 1.2 is nearly one of them
    assert max(float((before[n] * after[n]).sum(-1).mean()) for n in others) < 0.35


def test_keys_pointers_a_sentence_and_the_address(open_page):
    page = open_page("attention_heads")
    chips(page).nth(2).focus()
    page.keyboard.press("ArrowRight")
    assert said(page).startswith("Head 2.2, from “of”: “king” ")
    stops = "(all) => all.filter((one) => one.tabIndex === 0).length"
    assert chips(page).evaluate_all(stops) == 1
    chips(page).nth(5).hover()
    assert "from “said”" in said(page)
    page.mouse.move(0, 0)
    assert "from “of”" in said(page)
    head(page, 2, 2).focus()
    page.keyboard.press("ArrowLeft")
    assert said(page).startswith("Head 2.1, from “of”: “israel” ")
    page.get_by_label("A sentence in English").fill("The computer said no.")
    assert page.get_by_label("Or one of these").input_value() == ""
    page.wait_for_timeout(400)
    again = open_page("attention_heads", page.url.partition(".html")[2])
    assert said(again) == said(page)
    same(shares(again), shares(page))
    page.get_by_label("A sentence in English").fill("日本 𝔘")
    page.get_by_text("What it cannot spell is [UNK].").wait_for()
    page.get_by_label("A sentence in English").fill("I " * 60)
    page.get_by_text("It reads the first 40 tokens only.").wait_for()
    kept = chips(page).count()
    page.get_by_label("A sentence in English").fill("  ")
    assert chips(page).count() == kept == 42


def test_the_still_says_where_its_head_looks():
    still = attention_heads().still
    assert "king at the (98%)" in still and still.count("<text") == 16
