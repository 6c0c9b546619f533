"""What the code of a page imports from the package leads to its entry."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("sphinx", reason="Jupyter Book is not installed")
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from coursetools.book.code_links import link_imports
from coursetools.book.code_words import Words
from coursetools.course import Course

OURS = Course(Path(__file__).resolve().parents[2])
CODE = """import torch
from math import causal
from coursekit.masks import causal, nothing  # of masks
from coursekit.figures import (
    causal as drawn,
    show,
)

causal(3)
"""


def test_imported_names_are_links_and_nothing_else_is():
    entries = {
        name: {name: (name, "book/api/parts", name)}
        for name in ("coursekit.masks.causal", "coursekit.figures.show", "causal")
    }
    app = SimpleNamespace(coursekit_words=Words(OURS, entries), builder=SimpleNamespace())
    app.builder.format = "html"
    app.builder.get_relative_uri = lambda page, to: f"{page}-{to}.html"
    context = {"body": highlight(CODE, PythonLexer(), HtmlFormatter())}
    before = context["body"]
    link_imports(app, "here", "page.html", context, SimpleNamespace())
    links = [part.partition("</a>")[0] for part in context["body"].split("<a ")[1:]]
    assert links == [
        f'class="code-word" href="here-book/api/parts.html#{name}" title="{name}">{shown}'
        for name, shown in (
            ("coursekit.masks.causal", "causal"),
            ("coursekit.figures.show", "show"),
        )
    ]
    assert context["body"].count("causal") == before.count("causal") + 2
