"""Each figure and table of a page has a number, and the text of the page refers to it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).resolve().parents[2] / "book").glob("*.md"))
SHOWN = re.compile(
    r"^(?:`{3,}|:{3,})\{((?:notebook-)?(?:figure|table|status)|benchmark-table|list-table)\}"
    r"[^\n]*\n((?::.*\n)*)",
    re.MULTILINE,
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_shows_is_named_and_referred_to(page):
    text = page.read_text(encoding="utf-8")
    referred = set(re.findall(r"\{(?:num)?ref\}`(?:[^`<]*<)?([\w-]+)>?`", text))
    shown = [re.search(r"^:name: (\S+)$", options, re.MULTILINE)
             for _, options in SHOWN.findall(text)]  # fmt: skip
    assert all(shown), f"{sum(name is None for name in shown)} have no name"
    assert {name[1] for name in shown} <= referred


def test_no_table_of_a_chapter_is_without_a_caption():
    bare = re.compile(r"(?:^|\n)\n(?:\|[^\n]*\n)+\|[ :|-]+\|\n")
    for page in PAGES:
        outside = re.sub(
            r"^(`{3,}|:{3,}).*?^\1\s*$", "", page.read_text("utf-8"), flags=re.M | re.S
        )
        assert not bare.search(outside), page.name


def test_a_table_ends_with_its_last_row():
    """A fence that is not closed takes the text behind it for a caption."""
    for page in PAGES:
        for block in re.findall(r"^```\{table\}.*?^```", page.read_text("utf-8"), re.M | re.S):
            _, rows = block.split("\n\n", 1)
            assert all(line.startswith(("|", "```")) for line in rows.split("\n")), page.name


def test_a_caption_beside_its_fence_has_no_backtick():
    """Behind three backticks a fourth one makes ordinary text of the whole block."""
    for page in PAGES:
        for line in page.read_text("utf-8").split("\n"):
            assert not re.match(r"\s*```+\{[^`]*`", line), f"{page.name}: {line}"
