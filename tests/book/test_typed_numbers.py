"""No page types a number for which nobody vouches."""

from __future__ import annotations

from pathlib import Path

import pytest

from coursetools.book.contents import words
from coursetools.book.typed_numbers import Block, blocks, pages, typed_numbers
from coursetools.course import Course

ROOT = Path(__file__).resolve().parents[2]
OURS = Course(ROOT)


@pytest.mark.parametrize("page", pages(OURS), ids=lambda page: page.stem)
def test_every_number_of_a_page_is_vouched_for(page):
    assert list(typed_numbers(page)) == []


@pytest.mark.parametrize(
    ("prose", "numbers"),
    [
        ("We trained it for a quarter of an hour.", ["quarter"]),
        ("It has two layers, 3 heads and 7 marks; twenty are drawn.", ["7", "twenty"]),
        ("Up to 0.58, or 1,024 tokens.", ["0.58", "1,024"]),
        ("GPT-2, T5, ViT-B/16 and `range(10)` and $d = 64$ are names.", []),
        ("It has {glue:text}`../notebooks/x.ipynb::y_64:.1f` points in {numref}`fig-x-12`.", []),
        ("{cite:t}`devlin2019` hide 15%. We hide 20%.", ["20"]),
        ("It has {value}`masking::train batch` rows, {value}`masking::train steps:word`.", []),
        ("See {ref}`the four heads <sec-bert-heads>` and {numref}`tab-a-six`.", ["four"]),
        ("See {ref}`sec-training-eleven`.", []),
        (
            "A {glue:text}`x::y:d` of 17, a {ref}`sixth <sec-x>`, `8` of nine.",
            ["17", "sixth", "nine"],
        ),
        ("```python\nx = 12\n```\n", []),
        (
            "```{notebook-figure} ../notebooks/x.ipynb::y\n:name: fig-9\nAll six curves.\n```",
            ["six"],
        ),
        ("```{notebook-figure} ../notebooks/x.ipynb::decoder\nOver six heads.\n```", ["six"]),
        ("```{code-block} python\nx = 12\n```\n", []),
        ("| width | 512 |\n| --- | --- |\n| loss | 4.5 |", ["512", "4.5"]),
        ("$$\nx = 17\n$$\n", []),
        (":::{dropdown} Answer\nIt has 19.\n:::", ["19"]),
    ],
)
def test_numbers_of_a_paragraph(prose, numbers):
    assert [one for block in blocks(prose) for one in block.numbers()] == numbers


def page_of(folder: Path, text: str) -> list[str]:
    path = folder / "page.md"
    path.write_text(text, encoding="utf-8")
    return list(typed_numbers(path))


def test_a_number_stays_where_somebody_vouches_for_it(tmp_path):
    vows = "% typed (example): 12, six\n% typed (known): 1,024\n"
    assert page_of(tmp_path, vows + "Take 12 or six of 1,024.\n") == []
    assert blocks(vows + "Take 12.").__next__().marks["example"] == ["12", "six"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("All six.\n", "line 1 types six; glue it, read it with {value}, or say why it may stay"),
        ("% typed (example): 6\n\nAll six.\n", "line 3 vouches for 6, which is not typed there"),
        ("% typed (luck): six\nAll six.\n", "line 2 gives 'luck' as a reason; there are example, "),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, text, sentence):
    assert any(found.startswith(sentence) for found in page_of(tmp_path, text))


def test_a_vow_counts_for_its_own_paragraph_only():
    first, second = blocks("% typed (example): 6\nTake 6.\n\nTake 7.\n")
    assert (first.marks, second.marks) == ({"example": ["6"]}, {})
    assert isinstance(first, Block)


def test_vows_are_no_words_of_a_page():
    assert words("% typed (example): 12, six\nTake 12 or six.\n") == 4
