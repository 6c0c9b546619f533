"""Chapter after chapter for those who read, with the notebook as a side step.

The arrows at the foot of a page lead along the prose; a notebook lies beside its page, and leads on
to where that page would. The line below a chapter's title leads to its notebook and assignment.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from coursetools.book.assignment_pages import PAGES as ASSIGNMENTS
from coursetools.book.assignment_pages import assignments
from coursetools.book.build import pages
from coursetools.book.tables import doc_link
from coursetools.course import Course

NOTEBOOKS = "notebooks/"


class SideSteps(nodes.Admonition, nodes.paragraph):
    """A line of links, which is no part of what the page says (a description leaves it out)."""


def setup(app: Sphinx) -> None:
    """Connect what is here; `extension.setup` calls this."""
    start = lambda writer, node: writer.body.append('<p class="side-steps">')  # noqa: E731
    end = lambda writer, node: writer.body.append("</p>\n")  # noqa: E731
    app.add_node(SideSteps, html=(start, end))
    app.connect("doctree-read", add_side_steps)
    app.connect("html-page-context", lead_along_the_prose, priority=400)  # before the theme


def add_side_steps(app: Sphinx, doctree: nodes.document) -> None:
    """Put links to its notebook and assignment below the title of a page that has them."""
    name, course = app.env.docname, Course(Path(app.srcdir))
    notebook = name.replace("book/", NOTEBOOKS, 1)
    title = next(iter(doctree.findall(nodes.title)), None)
    if not name.startswith("book/") or notebook not in app.env.found_docs or title is None:
        return
    steps = [("the notebook of this page", notebook)]
    steps += [(one.title, one.page) for one in assignments(course) if f"book/{one.chapter}" == name]
    line = SideSteps("", "Hands on: ")
    for number, (text, page) in enumerate(steps):
        line += nodes.Text(" · " if number else "")
        line += doc_link(name, f"/{page}", text)
    title.parent.insert(title.parent.index(title) + 1, line)


def lead_along_the_prose(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Give a page the neighbours that a reader of the prose expects."""
    order = pages(Course(Path(app.srcdir)))
    if pagename in order and not pagename.startswith(ASSIGNMENTS):
        before, after = neighbours(order, pagename)
        context["prev"] = _link(app, pagename, before)
        context["next"] = _link(app, pagename, after)


def neighbours(order: list[str], name: str) -> tuple[str | None, str | None]:
    """Return what comes before and after a page; notebooks are beside the way."""
    place = order.index(name)
    before = [other for other in order[:place] if not other.startswith(NOTEBOOKS)]
    after = [other for other in order[place + 1 :] if not other.startswith(NOTEBOOKS)]
    return (before[-1] if before else None), (after[0] if after else None)


def _link(app: Sphinx, here: str, name: str | None) -> dict[str, str] | None:
    if name is None:
        return None
    number = app.env.toc_secnumbers.get(name, {}).get("", ())
    text = app.env.titles[name].astext()
    shown = f"{'.'.join(map(str, number))}. {text}" if number else text
    return {"link": app.builder.get_relative_uri(here, name), "title": shown}
