"""A word of code is a link where it is certain what it names, and else none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="Jupyter Book is not installed")
from docutils import nodes
from sphinx import addnodes

from coursetools.book.assignment_pages import assignments
from coursetools.book.code_words import Page, Scope, Words
from coursetools.course import Course

OURS = Course(Path(__file__).resolve().parents[2])
ENTRIES = (
    ("coursekit", "module"),
    ("coursekit.attention.attention", "function"),
    ("coursekit.attention", "module"),
    ("coursekit.figures", "module"),
    ("coursekit.masks", "module"),
    ("coursekit.masks.causal", "function"),
    ("coursekit.masks.padding", "function"),
    ("coursekit.kernels.cosine", "function"),
    ("coursekit.training.schedules", "module"),
    ("coursekit.training.schedules.cosine", "function"),
    ("coursekit.training.translation.bleu", "function"),
    ("coursekit.cache.KeyValueCache", "class"),
    ("coursekit.models.gpt.GPT", "class"),
    ("coursekit.models.gpt.GPT.forward", "method"),
    ("coursekit.objectives.masked_lm", "module"),
    ("coursekit.decoding.sampling.keep_top_k", "function"),
    ("coursekit.decoding.generation.beam_search", "function"),
    ("coursekit.check.checking.check", "function"),
    ("coursekit.check.handin.submit_check", "function"),
    ("coursekit.check.catching.catch", "function"),
    ("coursekit.plain.gpt.GPTBlock", "class"),
)


@pytest.fixture(scope="module")
def words() -> Words:
    return Words.collected(OURS, [(full, kind, "page", full) for full, kind in ENTRIES])


def named(words: Words, text: str, scope: Scope) -> str | None:
    found = words.find(text, scope)
    return found and found[0]


# --- The three ways to be certain ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("masks.causal", "coursekit.masks.causal"),
        ("coursekit.masks.causal", "coursekit.masks.causal"),
        ("masks.causal(T)", "coursekit.masks.causal"),
        ("from coursekit.masks import causal", "coursekit.masks.causal"),
        ("models.GPT", "coursekit.models.gpt.GPT"),  # what a room hands out
        ("schedules.cosine", "coursekit.training.schedules.cosine"),
        ("coursekit/attention.py", "coursekit.attention"),
        ("attention.py", "coursekit.attention"),
        ("heads.KeyValueCache", "coursekit.cache.KeyValueCache"),  # what a file imports
        ("figures.new_figure", "coursekit.figures"),  # what it imports has no entry
        ("objectives.masked_lm.TABLE_8", "coursekit.objectives.masked_lm"),
        ("causal", None),
        ("GPT", None),
        ("GPT.forward", None),
        ("masks", None),
        ("coursekit", None),  # the command
        ("masks.no_such_mask", None),
        ("attention.torch", None),
        ("torch.softmax", None),
        ("k = 3", None),
        ("--resume", None),
    ],
)
def test_a_qualified_name_is_a_link(words, text, expected):
    assert named(words, text, Scope()) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("causal", "coursekit.masks.causal"),
        ("causal(5)", "coursekit.masks.causal"),
        ("GPT.forward", "coursekit.models.gpt.GPT.forward"),
        ("m.padding", "coursekit.masks.padding"),
        ("padding", None),
        ("cosine", None),  # two are imported under this name
    ],
)
def test_an_imported_name_is_a_link(words, text, expected):
    imported = {
        "causal": {"coursekit.masks.causal"},
        "GPT": {"coursekit.models.GPT", "coursekit.models.gpt.GPT"},  # the same one
        "m": {"coursekit.masks"},
        "cosine": {"coursekit.kernels.cosine", "coursekit.training.schedules.cosine"},
    }
    assert named(words, text, Scope(imported)) == expected


def test_what_a_section_explains_is_a_link(words):
    assert named(words, "cosine", Scope(explained=frozenset({"coursekit.kernels"}))) == (
        "coursekit.kernels.cosine"
    )
    one = frozenset({"coursekit.training.schedules.cosine"})
    assert named(words, "cosine", Scope(explained=one)) == "coursekit.training.schedules.cosine"
    assert named(words, "cosine", Scope(explained=one | {"coursekit.kernels"})) is None
    assert named(words, "GPT.forward", Scope(explained=frozenset({"coursekit.models.gpt"})))


def test_what_has_a_meaning_of_its_own_is_no_link(words):
    imported, own = {"causal": {"coursekit.masks.causal"}}, frozenset({"causal", "masks"})
    scope = Scope(imported, own, frozenset({"coursekit.masks"}))
    assert named(words, "causal", scope) is None
    assert named(words, "masks.causal", scope) is None
    assert named(words, "coursekit.masks.causal", scope) == "coursekit.masks.causal"


# --- Pages ---


def block(source: str, listed: str = "") -> nodes.container:
    code = nodes.literal_block(source, source, language="python")
    caption = nodes.caption("", "", nodes.literal("", listed))
    return nodes.container("", *([caption] if listed else []), code, literal_block=True)


def page_of(course: Course, docname: str, *parts: nodes.Node) -> tuple[Page, nodes.document]:
    tree = nodes.document(None, None)
    tree += parts
    return Page(course, docname, tree), tree


@pytest.fixture
def small(tmp_path) -> Course:
    """A course with one notebook, and our package."""
    (tmp_path / "src").symlink_to(OURS / "src")
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "lecture_map.csv").write_text(
        "deck,topic,chapter,section,phrase,object,test,state\n"
        "L0,waves,waves,sec-cut,to cut,coursekit.decoding.sampling.keep_top_k,,built\n"
    )
    (tmp_path / "book" / "waves.md").write_text("# Masking\n\n(sec-cut)=\n## To cut\n\nIt.\n")
    (tmp_path / "book" / "more.md").write_text("# More\n\nOf it.\n")
    (tmp_path / "_toc.yml").write_text(
        "parts:\n  - caption: I\n    numbered: 1\n    chapters:\n      - file: book/waves\n"
        "        sections:\n          - file: book/more\n"
    )
    cells = [
        "%time\nfrom coursekit.attention import attention\nfrom torch import causal",
        "from coursekit.decoding.generation import beam_search as search\nfor bleu in []: ...",
        "def draw(GPT): ...",
    ]
    content = {
        "cells": [{"id": f"c{n}", "cell_type": "code", "source": s} for n, s in enumerate(cells)],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip
    (tmp_path / "notebooks" / "training").mkdir(parents=True)
    (tmp_path / "notebooks" / "training" / "cosine.ipynb").write_text("{}")
    (tmp_path / "notebooks" / "waves.ipynb").write_text(json.dumps(content))
    return Course(tmp_path)


@pytest.fixture
def local(words, small) -> Words:
    return Words(small, words.entries)


@pytest.mark.parametrize("docname", ["book/waves", "book/more", "notebooks/waves"])
def test_the_notebook_of_a_chapter_says_what_its_words_mean(local, small, docname):
    page, _ = page_of(small, docname)
    assert named(local, "attention", page.scope()) == "coursekit.attention.attention"
    assert named(local, "search", page.scope()) == "coursekit.decoding.generation.beam_search"
    for own in ("beam_search", "bleu", "GPT", "causal", "draw", "c0", "cosine", "check"):
        assert named(local, own, page.scope()) is None, own
    assert named(local, "catch", page.scope()) == "coursekit.check.catching.catch"


def test_a_listing_gives_its_name_and_keeps_its_variables(local, small):
    listed = "coursekit.plain.gpt.GPTBlock"
    shown = block("class GPTBlock:\n    def forward(self, x):\n        keep_top_k = x", listed)
    code = block("from coursekit.masks import padding\nattention = 3")
    page, _ = page_of(small, "book/waves", shown, code)
    assert named(local, "GPTBlock", page.scope()) == listed
    assert named(local, "padding", page.scope()) == "coursekit.masks.padding"
    assert named(local, "keep_top_k", page.scope()) is None
    assert named(local, "attention", page.scope()) is None


def test_a_section_has_its_own_objects(local, small):
    inside, outside = nodes.literal("", "keep_top_k"), nodes.literal("", "keep_top_k")
    section = nodes.section("", nodes.paragraph("", "", inside), ids=["to-cut", "sec-cut"])
    page, _ = page_of(small, "book/waves", nodes.paragraph("", "", outside), section)
    assert named(local, "keep_top_k", page.scope(inside)) == (
        "coursekit.decoding.sampling.keep_top_k"
    )
    assert named(local, "keep_top_k", page.scope(outside)) is None
    # `coursekit.masks` says that "Masking" explains it, which is the title of the page
    assert named(local, "padding", page.scope(outside)) == "coursekit.masks.padding"


def test_the_name_in_a_game_leads_to_no_answer(local, small):
    word, after = nodes.literal("", "attention(q)"), nodes.literal("", "attention")
    game = nodes.container("", block("def attention(q): ..."), word, classes=["catch"])
    page, _ = page_of(small, "book/waves", game, after)
    assert named(local, "attention(q)", page.scope(word)) is None
    assert named(local, "attention", page.scope(after)) == "coursekit.attention.attention"


def test_an_entry_knows_its_file_and_not_its_parameters(words):
    about, inside = nodes.literal("", "causal"), nodes.literal("", "causal")
    signature = addnodes.desc_signature("", "", ids=["coursekit.attention.attention"])
    entry = addnodes.desc("", signature, addnodes.desc_content("", inside))
    masks = nodes.section("", nodes.paragraph("", "", about), ids=["module-coursekit.masks"])
    attention = nodes.section("", entry, ids=["module-coursekit.attention", "attention"])
    page, _ = page_of(OURS, "book/api/parts", masks, attention)
    assert named(words, "causal", page.scope(about)) == "coursekit.masks.causal"
    assert named(words, "causal", page.scope(inside)) is None  # attention(…, causal=True)
    assert named(words, "attention", page.scope(inside)) == "coursekit.attention.attention"
    assert named(words, "keep_top_k", page.scope(about)) is None


def test_no_name_on_the_page_of_an_assignment_leads_to_an_answer(words):
    for one in assignments(OURS):
        page, _ = page_of(OURS, one.page)
        scope = page.scope()
        assert named(words, "check(it)", scope) == "coursekit.check.checking.check"
        assert named(words, "submit_check()", scope) == "coursekit.check.handin.submit_check"
        assert named(words, "catch", scope) == "coursekit.check.catching.catch"
        for full, _ in ENTRIES:
            if not full.startswith("coursekit.check"):
                for form in (full, full.partition(".")[2], full.rpartition(".")[2]):
                    assert named(words, form, scope) is None, (one.name, form)


def test_a_function_called_as_its_file_has_no_entry_where_the_book_has_none():
    """Its module leads back to it: that must come to an end."""
    bare = Words.collected(OURS, [])
    for name in ("coursekit.figures.live.flipbook", "coursekit.figures.live.flipbook.flipbook"):
        assert bare.entry(name) is None
