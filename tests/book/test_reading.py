"""A page teaches before it measures: words and numbers outside folds, terms in order, code.

Values that pages have shown are still shown, and listings are the code that runs.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from coursetools.book import contents, reading
from coursetools.book.listings import cell_source, script_source, source
from coursetools.course import Course

COURSE = Course(Path(__file__).resolve().parents[2])
CHAPTERS = contents.chapters(COURSE)
PAGES = [page for pages in CHAPTERS.values() for page in pages]
WORDS, SECTIONS, IN_HUNDRED, IN_PARAGRAPH = 3000, 12, 3.0, 5
LISTED = re.compile(r"^```\{listing\} ([^\n]+)\n((?::[^\n]*\n)*)", re.MULTILINE)


def text_of(page: str) -> str:
    front = contents.FRONT
    return front.sub(lambda m: "\n" * m[0].count("\n"), contents.whole(COURSE, page))


def faults(page: str) -> list[str]:
    """Return a sentence for each rule that a page breaks."""
    text = text_of(page)
    prose = list(reading.paragraphs(text))
    words, numbers = sum(one.words for one in prose), sum(one.numbers for one in prose)
    found = list(reading.early_terms(COURSE, page))
    found += [f"line {one.line} tells {one.numbers} numbers, of at most {IN_PARAGRAPH}"
              for one in prose if one.numbers > IN_PARAGRAPH]  # fmt: skip
    if words > WORDS:
        found.append(f"{words:,} words outside folds, of at most {WORDS:,}")
    if 100 * numbers > IN_HUNDRED * words:
        found.append(f"{100 * numbers / words:.1f} numbers in 100 words, of at most {IN_HUNDRED}")
    if (count := reading.section_count(text)) > SECTIONS:
        found.append(f"{count} sections, of at most {SECTIONS}")
    chapter = "".join(map(text_of, CHAPTERS.get(page, [page])))
    if page in CHAPTERS and not LISTED.search(chapter):
        found.append("no listing")
    return found


@pytest.mark.parametrize("page", PAGES)
def test_a_page_teaches_before_it_measures(page):
    assert not faults(page), "\n".join(faults(page))


def test_every_value_is_still_shown():
    """What a page showed of our runs may move into a fold, a table or a caption, not away."""
    listed = (Path(__file__).parent / "shown_values.txt").read_text("utf-8").split("\n")
    shown = set().union(*(reading.values(path.read_text("utf-8"))
                          for path in (COURSE / "book").glob("*.md")))  # fmt: skip
    notebook, missing = "", []
    for line in listed:
        if line.endswith(":"):
            notebook = line[:-1]
        elif not line.startswith("#"):
            missing += [f"{notebook}::{name}" for name in line.split()
                        if f"{notebook}::{name}" not in shown]  # fmt: skip
    assert not missing


@pytest.mark.parametrize("page", PAGES)
def test_listings_can_be_overlooked(page):
    """Code on a page is short enough to be read, and is all there."""
    for names, options in LISTED.findall(text_of(page)):
        pick = re.search(r"^:pick: (.*)$", options, re.MULTILINE)
        picked = tuple(pick[1].replace(",", " ").split()) if pick else ()
        if ".js::" in names:
            path, _, functions = names.partition("::")
            file = COURSE / "book" / path
            codes = [script_source(file, name) for name in functions.split()]
        elif "::" in names:
            path, _, cell = names.partition("::")
            codes = [cell_source((COURSE / "book" / path).resolve(), cell)]
        else:
            codes = [source(COURSE, name, picked) for name in names.split()]
        for code in codes:
            assert ".js::" in names or ast.parse(code)
        assert sum(code.count("\n") + 1 for code in codes) <= 40


# --- What counts as what ---


def test_only_prose_outside_folds_counts():
    page = (
        "Two words and 4 5.\n\n:::{dropdown} Answer\nSixteen 7 8\n:::\n\n"
        "```{table} A caption of 9\n:name: t\n\n| 1 | 2 |\n```\n\n$$\n1 + 1\n$$\n\n"
        "It has {glue:text}`../notebooks/a.ipynb::b-c:.1f`% of $3$ in {cite:t}`one2020`, "
        "thirty {ref}`sec-a` and T5.\n"
    )
    first, second = reading.paragraphs(page)
    assert (first.words, first.numbers) == (5, 2)
    assert second.numbers == 2
    assert reading.values(page) == {"a::b-c"}


def test_a_listing_is_the_code_that_runs():
    code = source(COURSE, "coursekit.plain.vit.PlainViT", ("forward",))
    assert code.startswith("class PlainViT(nn.Module):\n")
    assert "def forward" in code and "def __init__" not in code and "fmt: skip" not in code
    assert source(COURSE, "coursekit.plain.vit.PlainViT.forward").startswith("def forward")
    refusing = source(COURSE, "coursekit.analysis.vision.rollout")
    assert "raise" not in refusing and "check_" not in refusing
    with pytest.raises(LookupError, match="there is no 'backward'"):
        source(COURSE, "coursekit.plain.vit.PlainViT.backward")
    with pytest.raises(LookupError, match=r"but found 'coursekit\.attention'"):
        source(COURSE, "coursekit.attention")
