"""Four tokenizers in a page: the package's ids on every line, and its cuts after any merge."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from coursekit.data.verses import verses
from coursekit.figures.live import packed_models, vocabularies
from coursekit.figures.live.figure import Packed
from coursekit.figures.live.four_tokenizers import TEXT, shown_tokens
from coursekit.figures.live.vocabularies import four
from coursekit.tokenizers import BPE, ByteBPE, Unigram
from coursekit.tokenizers.unigram import fit, spell
from coursetools.book import live_figures
from coursetools.notebooks.imports import read_notebook

ROOT = Path(__file__).parents[2]
NAME = "four_tokenizers"
MODULES = ("byte_bpe", "bpe", "wordpiece", "unigram")
HARD = [
    "", " ", "  two  spaces  ", "it's, we'll; 'S", "naïve café — “quoted”", "日本語 and 한국어",
    "tab\tand\r\nline\x85end\u00a0", "👍🏽 🇫🇷 𝔘𝔫𝔦", "\ufeffmark\u200bzero\x00",
    "[UNK] </w> ▁the ▁▁ ##s",
    "İSTANBUL ΣΊΣΥΦΟΣ", "x" * 150, "aaaa aaaaa", "e\u0301 \u0301", "Jerusalem" * 9, "$+<=>^`|~",
]  # fmt: skip
CUT = """([states, lines]) =>
  Object.fromEntries(Object.entries(states).map(([name, state]) => {
    const tokenizer = new window[state.tokenizer](state);
    const ids = lines.map((line) => tokenizer.encode(line));
    return [name, [ids, ids.map((some) => tokenizer.decode(some))]];
  }))"""


def pieces(page: Any, name: str) -> list[str]:
    row = page.get_by_role("list", name=f"Pieces of {name}", exact=True)
    return row.get_by_role("listitem").all_text_contents()


def heads(page: Any) -> list[str]:
    return page.locator(".head span").all_inner_texts()


def after(tokenizer: Any, merges: int) -> Any:
    """The tokenizer as it was when it had learned so many merges."""
    if isinstance(tokenizer, ByteBPE):
        return ByteBPE(tokenizer.vocabulary, tokenizer.merges[:merges])
    vocabulary = tokenizer.as_json()["vocabulary"]
    return BPE(vocabulary, tokenizer.merges[:merges], unknown="[UNK]")


# --- The cuts ---


def test_every_line_is_cut_and_put_together_as_in_the_package(page_with):
    lines = [text for pair in verses("test") for text in (pair.english, pair.french)] + HARD
    assert len(lines) > 1500
    page = page_with(*(f"models/{name}" for name in MODULES))
    states = {name: tokenizer.as_json() for name, tokenizer in four().items()}
    found = page.evaluate(CUT, [states, lines])
    for name, tokenizer in four().items():
        ids, texts = found[name]
        expected = [tokenizer.encode(line) for line in lines]
        assert [line for line, a, b in zip(lines, ids, expected) if a != b] == [], name
        assert texts == [tokenizer.decode(line) for line in expected], name


def test_what_the_page_shows_is_the_packages(open_page):
    """On the texts of the chapter's table, which are its examples."""
    page = open_page(NAME)
    ready = page.get_by_label("Or one of these")
    examples = ready.locator("option").evaluate_all("(all) => all.map((one) => one.value)")[1:]
    assert examples[0] == TEXT
    notebook = str(read_notebook(ROOT / "notebooks" / "tokenization.ipynb")["cells"])
    assert sum(text.replace("'", "\\'") in notebook for text in examples) >= 5
    for text in examples:
        ready.select_option(text)
        for (name, tokenizer), head in zip(four().items(), heads(page), strict=True):
            tokens = shown_tokens(tokenizer, text)
            assert pieces(page, name) == tokens
            unknown = tokens.count("[UNK]")
            whole = tokenizer.decode(tokenizer.encode(text)) == text
            counted = f"{len(tokens)} tokens" + (f", {unknown} unknown" if unknown else "")
            assert head == f"{counted} · text comes back: {'yes' if whole else 'no'}"
            row = page.get_by_role("list", name=f"Pieces of {name}", exact=True)
            assert row.locator(".unknown").count() == unknown


@pytest.mark.parametrize("merges", [0, 1, 37, 300, 1000])
def test_after_some_merges_it_cuts_as_a_vocabulary_that_has_no_more(open_page, merges):
    text = "The children of Israel were hospitable."
    page = open_page(NAME, f"?{NAME}.text={text}&{NAME}.merges={merges}")
    for name in ("BPE", "byte-level BPE"):
        assert pieces(page, name) == shown_tokens(after(four()[name], merges), text)
    assert pieces(page, "Unigram") == shown_tokens(four()["Unigram"], text)


def test_merge_by_merge_to_the_end_and_back(open_page):
    page = open_page(NAME, reduced_motion="reduce")
    page.get_by_label("A text of your own").fill("the thin king")
    page.get_by_role("button", name="No merges").click()
    assert pieces(page, "byte-level BPE") == list("the␣thin␣king")
    assert page.locator(".merge").first.inner_text() == "No merge yet: the alphabet alone."
    forward = page.get_by_role("button", name="Next merge")
    cuts, both = [], ("BPE", "byte-level BPE")
    for _ in range(4):  # every press joins something in this text
        cuts.append([pieces(page, name) for name in both])
        forward.click()
        assert page.locator(".new").count() >= 1
        merges = int(page.locator(".merge").first.inner_text().split()[1])
        now = [pieces(page, name) for name in both]
        assert now == [shown_tokens(after(four()[n], merges), "the thin king") for n in both]
        assert now not in cuts
    assert page.get_by_role("status").inner_text().startswith(f"{merges} merges: BPE ")
    page.get_by_role("button", name="Merge before").click()
    assert [pieces(page, name) for name in both] == cuts[-1]
    page.get_by_role("button", name="Run").click()
    page.get_by_text("that this text uses.").wait_for()
    for name in both:
        assert pieces(page, name) == shown_tokens(four()[name], "the thin king")
    assert forward.is_disabled()
    page.get_by_label("BPE merges").fill("0")
    assert pieces(page, "BPE")[:3] == ["t", "h", "e·"]


def test_the_answer_to_its_question(open_page):
    """ "Find out": byte-level BPE, whose second “the” has the space before it as its own."""
    page = open_page(NAME)
    page.get_by_label("A text of your own").fill("the the")
    cut = {name: pieces(page, name) for name in four()}
    assert {name for name, (one, other) in cut.items() if one != other} == {"byte-level BPE"}
    assert cut["byte-level BPE"] == ["the", "␣the"]


def test_a_text_may_be_empty_long_or_foreign_and_a_link_leads_to_it(open_page):
    page = open_page(NAME)
    for text in ("", "   ", "日本 👍🏽 </w>", "word " * 60):
        page.get_by_label("A text of your own").fill(text)
        for name, tokenizer in four().items():
            assert pieces(page, name) == shown_tokens(tokenizer, text[:120])
    page.get_by_label("A text of your own").fill("a & b=c")
    page.get_by_role("button", name="No merges").click()
    page.wait_for_timeout(400)
    again = open_page(NAME, page.url.partition(".html")[2])
    assert pieces(again, "BPE") == ["a·", "[UNK]", "b", "[UNK]", "c·"]
    odd = open_page(NAME, f"?{NAME}.merges=99999&{NAME}.text={TEXT}")
    assert pieces(odd, "BPE") == shown_tokens(four()["BPE"], TEXT)
    odd = open_page(NAME, f"?{NAME}.merges=[3]")
    assert pieces(odd, "BPE") == shown_tokens(four()["BPE"], TEXT)


# --- The vocabularies ---


def test_they_are_those_of_the_notebook_and_come_without_weights():
    cells = read_notebook(ROOT / "notebooks" / "tokenization.ipynb")["cells"]
    source = next("".join(cell["source"]) for cell in cells if cell["id"] == "four")
    v = vocabularies
    assert f'verses("train", longest={v.LONGEST})][:{v.VERSES}]' in source
    for name, tokenizer in four().items():
        assert (
            f'"{name}": {type(tokenizer).__name__}.train(short, vocabulary_size={v.SIZE}' in source
        )
        assert len(tokenizer) == v.SIZE
    assert f"seeds={v.SEEDS}" in source
    packed = packed_models.packed(NAME)
    assert packed.weights is None and list(packed.as_json()) == ["tokenizer"]
    assert Packed(b"\0", {}).as_json()["weights"] == "AA=="


def test_the_file_of_unigram_is_what_these_verses_teach():
    """Learning takes ten seconds; a last step from the file must hardly change it."""
    unigram = four()["Unigram"]
    assert isinstance(unigram, Unigram)
    words: dict[str, int] = {}
    for text in vocabularies.learned_from():
        for word in unigram.pattern.findall(text):
            words[spell(word)] = words.get(spell(word), 0) + 1
    again, before = fit(words, unigram.scores)
    _, then = fit(words, again)
    assert 0 < then - before < 2e-4 * abs(before)


def test_the_book_writes_their_file(tmp_path):
    metadata = {"book/tokenization": {"live-models": [NAME]}}
    app: Any = SimpleNamespace(
        outdir=str(tmp_path),
        builder=SimpleNamespace(format="html"),
        env=SimpleNamespace(metadata=metadata),
    )
    live_figures.write_models(app, None)
    path = tmp_path / "_static" / "live" / f"{NAME}.js"
    first, second = path.read_text(encoding="utf-8").split("\n", 1)
    assert first.startswith("// ") and second == packed_models.script(NAME)
    assert path.stat().st_size < 200_000
