"""Functions of JavaScript on a page are those of the file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coursetools.book.listings import script_source

ROOT = Path(__file__).parents[2]
LAYERS = ROOT / "src/coursekit/figures/live/models/layers.js"
PAGE = ROOT / "book/heads.md"


def test_the_attention_that_a_page_shows_is_the_one_that_figures_run():
    target = re.search(r"\{listing\} (\S+\.js)::(.+)", PAGE.read_text(encoding="utf-8"))
    assert (PAGE.parent / target[1]).resolve() == LAYERS
    names = target[2].split()
    assert names == ["attentionScores", "masked", "attentionWeights", "weightedMeans"]
    whole = LAYERS.read_text(encoding="utf-8")
    # They stand one behind the other, between a heading and the first class behind them.
    part = whole.partition("// --- Attention ---\n\n")[2].partition("\n\n/** The keys and values")[
        0
    ]
    assert "\n\n".join(script_source(LAYERS, name) for name in names) == part


@pytest.mark.parametrize(
    ("file", "name", "words"),
    [
        (LAYERS, "nobody", "layers.js exports no function 'nobody'"),
        (LAYERS, "mask", "exports no function 'mask'"),
        (LAYERS.with_name("none.js"), "masked", "there is no file none.js"),
    ],
)
def test_what_is_not_there_is_named(file, name, words):
    with pytest.raises(LookupError, match=words):
        script_source(file, name)
