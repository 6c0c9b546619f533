"""In the code of a page, what it imports from the package leads to its entry in the reference."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from coursetools.book.assignment_pages import PAGES as ASSIGNMENTS
from coursetools.book.code_words import Page, Scope, Words

IMPORTED = re.compile(  # as Pygments marks it: `from coursekit.masks import causal, padding`
    r'(<span class="nn">(coursekit[\w.]*)</span>(?:<span class="w"> </span>| )'
    r'<span class="kn">import</span> )(<span class="p">\(</span>[^()]*|[^\n]*)'
)
NAME = re.compile(r'<span class="n">(\w+)</span>')


def setup(app: Sphinx) -> None:
    """Connect what is here; `extension.setup` calls this."""
    app.connect("html-page-context", link_imports)


def link_imports(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Make the names in the imports of a page links."""
    if doctree is None or app.builder.format != "html":
        return
    words, scope = Words.of(app), Scope()
    if page.startswith(ASSIGNMENTS):
        scope = Page(words.course, page, doctree).scope()

    def imported(line: re.Match[str]) -> str:
        def name(match: re.Match[str]) -> str:
            target = words.find(f"{line[2]}.{match[1]}", scope)
            if target is None:
                return match[0]
            full, where, anchor = target
            to = app.builder.get_relative_uri(page, where)
            link = f'<a class="code-word" href="{to}#{anchor}" title="{full}">{match[1]}</a>'
            return f'<span class="n">{link}</span>'

        return line[1] + NAME.sub(name, line[3])

    context["body"] = IMPORTED.sub(imported, context["body"])
