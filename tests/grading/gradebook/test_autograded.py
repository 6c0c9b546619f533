"""What a student writes is shown by nbgrader's pages, and never run by them."""

from __future__ import annotations

import bs4
import pytest

from coursetools.grading.gradebook.autograded import _safe
from coursetools.text import harmless_markdown


@pytest.mark.parametrize(
    "text",
    [
        "<script>PWNED()</script>",
        "a <img src=x onerror=PWNED()> b",
        "<svg/onload=PWNED()>",
        "[x](javascript:PWNED())",
        "[x](&#106;avascript:PWNED())",
        "[x](&#x6A;avascript&colon;PWNED())",
        "[x](javascript\\:PWNED())",
        "[x](  JavaScript:PWNED())",
        "[x]\n\n[x]: vbscript:PWNED()",
        "![x](data:image/svg+xml;base64,PHN2Zz4=)",
        "[x](data:text/html,<script>PWNED()</script>)",
        "$$<img src=x onerror=PWNED()>$$",
        "`<b onload=PWNED()>`",
        "<javascript:PWNED()>",
    ],
)
def test_markdown_is_harmless_markdown(text):
    from nbconvert.filters.markdown_mistune import markdown2html_mistune

    page = bs4.BeautifulSoup(markdown2html_mistune(harmless_markdown(text)), "html.parser")
    for tag in page.find_all(True):
        assert tag.name in ("p", "a", "img", "code"), tag
        assert not [name for name in tag.attrs if name.startswith("on")]
        for link in (tag.get("href", ""), tag.get("src", "")):
            scheme = link.partition(":")[0].strip().lower()
            assert scheme not in ("javascript", "vbscript", "data"), link


def test_markdown_looks_as_it_was():
    text = "If a < b && c > d, then `x <= 3`; see [this](https://example.org/a?b=1) & *that*."
    assert harmless_markdown(text) == text


@pytest.mark.parametrize(
    "output",
    [
        {"output_type": "display_data", "data": {"text/html": "<script>1</script>"}},
        {"output_type": "display_data", "data": {"image/svg+xml": "<svg onload=1>"}},
        {"output_type": "display_data", "data": {"image/png": 'x" onerror="1'}},
        {"output_type": "execute_result", "data": {"application/javascript": "1"}},
        {"output_type": "update_display_data", "data": 5},
        {"output_type": "stream", "name": '"><script>', "text": ["a", 1]},
        {"output_type": "error", "ename": None, "evalue": [1], "traceback": "none"},
    ],
)
def test_outputs_are_harmless(output):
    import nbformat

    made = _safe(output)
    cell = nbformat.v4.new_code_cell("", outputs=[nbformat.from_dict(made)])
    nbformat.validate(nbformat.v4.new_notebook(cells=[cell]))
    assert "script" not in str(made) and "onerror" not in str(made) and "onload" not in str(made)


def test_a_picture_is_kept():
    output = {"output_type": "display_data", "data": {"image/png": "aGVsbG8=\n"}}
    assert _safe(output)["data"] == {"image/png": "aGVsbG8=\n"}
