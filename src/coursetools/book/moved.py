"""Old links lead on: what has moved from the first page of a chapter to another of its pages.

A section, a figure, a table or a listing keeps its label when it moves, and its address changes
from `gpt.html#sec-gpt-scaling` to `gpt_size.html#sec-gpt-scaling`. So the first page of a chapter
has a hidden link to every label of the chapter's other pages, and `page.js` follows the one that
the address of the page names.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from coursetools.book.contents import chapters
from coursetools.course import Course

Labels = Mapping[str, tuple[str, str]]  # a label -> its page, its anchor there


def setup(app: Sphinx) -> None:
    """Connect what is here; `extension.setup` calls this."""
    app.connect("html-page-context", add_links)


def add_links(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Put the links behind the text of a chapter's first page."""
    if doctree is None or not pagename.startswith("book/"):
        return
    labels = app.env.domaindata["std"]["anonlabels"]
    places = moved(Course(Path(app.srcdir)), pagename.removeprefix("book/"), labels)
    if places:
        addresses = (f"{app.builder.get_relative_uri(pagename, page)}#{anchor}"
                     for page, anchor in places)  # fmt: skip
        links = "".join(f'<a href="{escape(address)}"></a>' for address in addresses)
        context["body"] += f'<div class="moved" hidden>{links}</div>'


def moved(course: Course, stem: str, labels: Labels) -> list[tuple[str, str]]:
    """Return page and anchor of each label of the further pages of the chapter `stem`."""
    further = {f"book/{name}" for name in chapters(course).get(stem, [])[1:]}
    return sorted({(page, anchor) for page, anchor in labels.values() if page in further})
