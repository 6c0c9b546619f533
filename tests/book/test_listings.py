"""Code on a page: JavaScript is that of the file, Python imports what it uses."""

from __future__ import annotations

import ast
import builtins
import re
from pathlib import Path

import pytest

from coursetools.book.listings import script_source

ROOT = Path(__file__).parents[2]
LAYERS = ROOT / "src/coursekit/figures/layers.js"
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


PAGES = sorted((ROOT / "book").glob("*.md"))
BLOCK = re.compile(
    r"^(?:`{3,})(?:python|\{code-block\} python)\n(.*?)^`{3,}$", re.DOTALL | re.MULTILINE
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_on_a_page_imports_what_it_uses(page):
    """Its classes, in its block or in one above it; small names may be those of the prose."""
    known = set(dir(builtins))
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        tree = ast.parse(block)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                known |= {(name.asname or name.name).split(".")[0] for name in node.names}
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                known.add(node.name)
                known |= {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}
            elif isinstance(node, ast.arg):
                known.add(node.arg)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                known.add(node.id)
        used = {node.id for node in ast.walk(tree)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
                and node.id[0].isupper()}  # fmt: skip
        assert used <= known, f"{page.name}: nobody has imported {', '.join(sorted(used - known))}"
