"""What the search of the book looks through."""

from __future__ import annotations

import pytest

from coursetools.book.plain_formula import plain_formula, show_plain
from coursetools.book.search import rows_of

PAGE = """<html><body><nav>Menu</nav><article>
<section id="scaling"><span id="ch-scaling"></span><h1>2. Scaling<a class="headerlink">#</a></h1>
<p>Scores grow with <span class="math"><span data-tex="x">√d</span></span>.</p>
<section id="why"><span id="sec-why"></span><h2>Why?</h2><p>Because.</p><pre>code()</pre>
<section id="more"><h3>More</h3><p>Deep.</p></section></section></section>
</article></body></html>"""
ENTRIES = """<html><body><article><section id="parts"><h1>Parts</h1><p>All of them.</p>
<dl class="py"><dt class="sig" id="coursekit.heads.Heads">class Heads</dt><dd><p>Several.</p>
<dl><dt class="sig" id="coursekit.heads.Heads.forward">forward</dt><dd>Runs.</dd></dl></dd></dl>
<dl class="glossary"><dt id="term-key">key</dt><dd><p>What a query is compared with</p></dd></dl>
</section></article></body></html>"""


def test_a_place_is_a_section_with_its_questions():
    rows = list(rows_of("book/scaling", PAGE, {"sec-why": ["Why divide?"]}))
    assert [row["at"] for row in rows] == [
        "book/scaling",
        "book/scaling#sec-why",
        "book/scaling#more",
    ]
    assert rows[0]["title"] == "2. Scaling" and rows[0]["text"] == "Scores grow with √d."
    assert rows[1]["asked"] == ["Why divide?"] and rows[1]["text"] == "Because."
    assert rows[2]["above"] == ["2. Scaling", "Why?"]


def test_an_entry_and_a_term_are_places_and_a_method_is_in_its_class():
    rows = list(rows_of("book/api/parts", ENTRIES, {}))
    assert [row["at"].partition("#")[2] for row in rows] == [
        "coursekit.heads.Heads",
        "term-key",
        "",
    ]
    assert rows[0]["title"] == "heads.Heads" and rows[0]["asked"] == ["Heads"]
    assert rows[1]["title"] == "key" and rows[2]["text"] == "All of them."


def test_a_page_without_text_has_no_place():
    assert list(rows_of("search", "<html><body><p>Nothing</p></body></html>", {})) == []


@pytest.mark.parametrize(
    ("tex", "plain"),
    [
        (r"\(\sqrt{d}\)", "√d"),
        (r"\(\frac{QK^\top}{\sqrt{d_k}}\)", "(QKᵀ)/(√(dₖ))"),
        (r"\[\operatorname{softmax}(x)\]", "softmax(x)"),
        (r"\(x_{ij} \le 10^{-3}\)", "xᵢⱼ ≤ 10⁻³"),
        (r"\(W^O d_{\text{model}}\)", "W^O d_model"),
        (r"\(\lVert q-k\rVert^2\)", "‖q − k‖²"),
    ],
)
def test_a_formula_in_a_line_of_text(tex, plain):
    assert plain_formula(tex) == plain


def test_a_page_has_plain_signs_and_keeps_the_formula_for_mathjax():
    page = (
        '<p><span class="math notranslate nohighlight">\\(a &lt; \\text{"b"}\\)</span></p>'
        '<div class="math notranslate nohighlight" id="e"><span class="eqno">(1)</span>'
        "\\[\\frac{1}{2} \\\\\n x\\]</div>"
    )
    shown = show_plain(page)
    assert (
        '<span data-tex="a &lt; \\text{&quot;b&quot;}">a &lt; &quot;b&quot;</span></span></p>'
        in shown
    )
    assert '(1)</span><span class="displayed" data-tex="\\frac{1}{2} \\\\  x"' in shown
    assert 'style="min-height: 5.2rem">(1)/(2)<br> x</span></div>' in shown
