"""The live dictionary: both models say what PyTorch says, and one block is the control."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from coursekit.figures.live import packed_models
from coursekit.figures.live.induction_heads import (
    PROMPT,
    SIGNS,
    induction_heads,
    previous_token,
    prompt_looks,
)
from coursekit.training.records import result, trained

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("examples", "one_block")


def said(page: Any) -> str:
    return page.get_by_role("status").inner_text()


def guesses(page: Any, panel: int) -> list[tuple[str, float]]:
    rows = page.locator(".guesses").nth(panel).locator("li")
    return [
        (rows.nth(n).locator("span").first.inner_text(),
         float(rows.nth(n).locator(".share").inner_text().strip("<%")) / 100)
        for n in range(rows.count())
    ]  # fmt: skip


def lines(page: Any, panel: int) -> int:
    return page.locator(".drawing").nth(panel).locator("path").count()


def write(page: Any, prompt: str) -> None:
    page.get_by_label("Letters a to p").fill(prompt)


@pytest.mark.parametrize("prompt", [PROMPT, "b4b8b", "c", "a4b5c6d7e8f9g0h1a2b3b"])
def test_both_models_say_what_pytorch_says(open_page, prompt):
    page = open_page("induction_heads")
    write(page, prompt)
    page.get_by_text(f"After “{prompt}” two blocks").wait_for()
    for panel, name in enumerate(NAMES):
        best = prompt_looks(prompt, name)[0].topk(3)
        found = guesses(page, panel)
        assert [sign for sign, _ in found] == [SIGNS[n] for n in best.indices.tolist()]
        assert [share for _, share in found] == pytest.approx(best.values.tolist(), abs=1e-3)


def test_the_lines_are_the_weights_of_the_chosen_heads(open_page):
    page = open_page("induction_heads")
    (_, two), (_, one) = (prompt_looks(PROMPT, name) for name in NAMES)
    last = len(PROMPT) - 1
    for first, second, single in ((1, 2, 3), (4, 1, 1)):
        page.get_by_label("Two blocks: head of block 1").select_option(str(first))
        page.get_by_label("Two blocks: head of block 2").select_option(str(second))
        page.get_by_label("One block: its head").select_option(str(single))
        drawn = int((two[0][first - 1, 1:last:2] >= 0.05).sum())
        assert lines(page, 0) == drawn + int((two[1][second - 1, last] >= 0.05).sum())
        assert lines(page, 1) == int((one[0][single - 1, last] >= 0.05).sum())
        most = two[1][second - 1, last]
        told = page.locator(".drawing").first.get_attribute("aria-label")
        assert told.endswith(f"most to {PROMPT[int(most.argmax())]} ({100 * most.max():.1f}%).")


def test_it_starts_at_the_heads_that_look_the_entry_up():
    state = induction_heads().state
    _, (first, second) = prompt_looks(PROMPT)
    hit = PROMPT.index(PROMPT[-1]) + 1
    assert first[state["first"] - 1, hit, hit - 1] > 0.8
    assert second[state["second"] - 1, -1, hit] > 0.8
    assert previous_token(first).argmax() == state["first"] - 1
    still = induction_heads().still
    assert "two blocks: 0 (100%)" in still and "one block: " in still


def test_an_entry_a_dictionary_and_an_absent_letter_are_asked_by_buttons_and_keys(open_page):
    page = open_page("induction_heads")
    chips = page.get_by_role("group", name="The prompt").get_by_role("button")
    chips.nth(3).click()
    assert said(page).startswith(f"After “{PROMPT[:-1]}f” two blocks say 2 ")
    chips.last.focus()
    page.keyboard.press("ArrowLeft")
    assert said(page).startswith(f"After “{PROMPT[:-1]}f” two blocks say 2 ")  # its last entry
    page.get_by_role("button", name="Ask for a letter that is not there").click()
    assert said(page).startswith(f"After “{PROMPT[:-1]}b” two blocks say ")
    page.get_by_text("The prompt does not say it: any digit is a guess.").first.wait_for()
    page.get_by_role("button", name="New dictionary").click()
    page.get_by_text("Right: the prompt says").first.wait_for()
    text = page.get_by_label("Letters a to p").input_value()
    assert len(text) == len(PROMPT) and text[-1] in text[:-1:2]
    for _ in range(9):
        more = page.get_by_role("button", name="One pair more")
        if more.is_enabled():
            more.click()
    assert len(page.get_by_label("Letters a to p").input_value()) == 21 and more.is_disabled()
    for _ in range(9):
        page.get_by_role("button", name="One pair less").click()
    assert page.get_by_role("button", name="One pair less").is_disabled()
    assert chips.count() == 3


def test_what_is_no_prompt_is_not_read(open_page):
    page = open_page("induction_heads")
    for text in ("7c", "cc", "zebra", "c7f2", ""):
        write(page, text)
        assert said(page).startswith("Write a letter from a to p and a digit, ")
        assert page.get_by_role("group", name="The prompt").get_by_role("button").count() == 15
    write(page, "C7 F2 h0, c")
    assert said(page).startswith("After “c7f2h0c” two blocks say 7 ")


def test_random_dictionaries_are_those_of_the_training_and_one_block_fails(open_page, page_with):
    page = open_page("induction_heads")
    page.get_by_text("Of 50 random dictionaries with 7 pairs").wait_for()
    told = page.get_by_text("Of 50 random dictionaries").inner_text()
    two, one = map(int, re.findall(r"\d+", told)[-2:])
    assert two >= 48 and one <= 35
    drawn = page_with("induction_heads").evaluate(
        "() => Array.from({ length: 400 }, (_, n) => randomPrompt(n, 20))"
    )
    for text in drawn:
        entries = {text[n : n + 2] for n in range(0, 40, 2)}
        assert len({entry[0] for entry in entries}) == len(entries) <= 8  # one digit each
        assert text[-1] in text[:-1:2]
        ahead = {(int(digit) - SIGNS.index(letter)) % 10 for letter, digit in entries}
        assert ahead <= set(range(2, 10))  # no letter has its own number or the next
    assert {sign for text in drawn for sign in text} == set(SIGNS)


def test_the_answer_to_its_question():
    """ "Find out": asked for an absent letter, most heads of block 2 look at the first token."""
    _, (_, second) = prompt_looks(PROMPT[:-1] + "b")
    assert second[:, -1].argmax(dim=-1).tolist().count(0) == 3


def test_the_page_has_the_weights_of_both_models():
    state = packed_models.packed("examples").as_json()
    assert len(packed_models.weights_in("examples")) > len(packed_models.weights_file("examples"))
    assert {"weights", "one_block"} <= set(state)
    assert trained("one_block").config.depth == 1 and trained("examples").config.depth == 2
    steps = [result(name)["settings"]["steps"] for name in NAMES]
    assert steps[1] == 3 * steps[0]


def test_the_control_was_trained_on_the_same_texts():
    cells = [
        {cell["id"]: "".join(cell["source"]) for cell in json.loads(
            (ROOT / f"notebooks/training/{name}.ipynb").read_text(encoding="utf-8"))["cells"]}
        for name in NAMES
    ]  # fmt: skip
    assert cells[0]["lookups"] == cells[1]["lookups"]
    found: dict[str, Any] = {}
    exec(cells[0]["lookups"], found)
    texts, _ = found["lookups"](2, torch.Generator().manual_seed(0))
    assert texts.shape == (2, 40)
    assert result("examples")["data"] == result("one_block")["data"]
