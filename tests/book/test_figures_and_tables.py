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


def test_no_caption_shows_its_escapes():
    """A dollar sign in the title of a table is printed with its backslash."""
    for page in PAGES:
        titles = re.findall(r"^`{3,}\{[\w-]+\} (.*)$", page.read_text("utf-8"), re.MULTILINE)
        assert not [title for title in titles if "\\" in title], page.name


def test_what_size_gains_on_glue_is_what_its_table_says():
    (page,) = (page.read_text("utf-8") for page in PAGES if page.stem == "finetuning")
    table = page[page.index("```{list-table} GLUE") :]
    rows = [row.split("\n  - ") for row in table[: table.index("\n```")].split("* - ")[2:]]
    gains = {}
    for name, *_, gpt, base, large in rows:
        gpt, base, large = (float(cell.split("/")[0]) for cell in (gpt, base, large))
        gains[name.split(" (")[0]] = round(large - base, 1)
        last = round(base - gpt, 1), round(large - gpt, 1)
    assert last == (4.5, 7.0) and gains.pop("mean") == 2.5
    assert sorted(gains, key=gains.get)[:2] == ["MRPC", "STS-B"]
    assert sorted(gains, key=gains.get)[-2:] == ["RTE", "CoLA"]
    assert [gains[name] for name in ("CoLA", "RTE", "MRPC", "STS-B")] == [8.4, 3.7, 0.4, 0.7]
