"""What the search of the book looks through: its sections, and the questions that they answer.

Sphinx counts words on pages. A reader asks a question, or remembers a heading, and wants the place.
`sections.js` has each section with its heading, the questions of learners that it answers and its
text, each word of the glossary, and each entry of the reference; `search.js`, in the reader's
browser, finds the place whose question or heading is most like what was typed.
(Pagefind and lunr were looked at: neither has questions, and Pagefind is a program to install.)
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import html
from sphinx.application import Sphinx

from coursetools.book.build import pages
from coursetools.book.questions_and_terms import read_questions
from coursetools.course import Course

FILE = "sections.js"
APART = (  # what is not prose: programs, and the machinery of a page
    ".//pre|.//nav|.//script|.//style|.//button|.//summary|.//template|.//svg"
    "|.//*[contains(@class, 'headerlink') or contains(@class, 'viewcode-link')]"
)


def write_index(app: Sphinx, exception: Exception | None) -> None:
    """Write what is searched, once all pages are there."""
    if exception is not None or app.builder.format != "html":
        return
    course, folder = Course(Path(app.srcdir)), Path(app.outdir)
    asked = defaultdict(list)
    for question in read_questions(course):
        asked[question.section].append(question.text)
    rows = [
        row
        for page in pages(course)
        if (folder / f"{page}.html").is_file()
        for row in rows_of(page, (folder / f"{page}.html").read_text(encoding="utf-8"), asked)
    ]
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    (folder / "_static" / FILE).write_text(f"window.SECTIONS = {text};\n", encoding="utf-8")


def rows_of(page: str, text: str, asked: dict[str, list[str]]) -> Iterator[dict[str, Any]]:
    """Yield the places of a page: where, its title, the titles above, its questions and text."""
    article = html.fromstring(text).find(".//article")
    if article is None:
        return
    for part in [*article.xpath(APART), *article.xpath(".//comment()")]:
        part.drop_tree()
    yield from _entries(page, article)
    for section in article.iter("section"):
        heading = next((child for child in section if re.fullmatch("h[1-6]", child.tag)), None)
        if heading is None:
            continue
        above = [_text(h) for h in section.xpath("ancestor::section/*[self::h1 or self::h2]")]
        labels = [*_labels(section), section.get("id")]
        yield {
            "at": page if heading.tag == "h1" else f"{page}#{labels[0]}",
            "title": _text(heading),
            "above": above,
            "asked": [question for label in labels for question in asked.get(label, [])],
            "text": _own_text(section, heading),
        }


def _entries(page: str, article: Any) -> Iterator[dict[str, Any]]:
    """Yield the words of the glossary and the entries of the reference, and take them away."""
    for term in article.xpath(".//dt[@id]"):
        name = term.get("id")
        meaning = term.getnext()
        text = "" if meaning is None else _text(meaning)
        code = name.startswith("coursekit.")
        if code and name.split(".")[-2][0].isupper():
            continue  # a method is found with its class
        title = ".".join(name.split(".")[1:]) if code else _text(term)
        yield {"at": f"{page}#{name}", "title": title, "above": [_title(article)],
               "asked": [name.rpartition(".")[2]] if code else [], "text": text}  # fmt: skip
    for entries in article.xpath(".//dl[not(ancestor::dl)][.//dt[@id]]"):
        entries.drop_tree()


def _title(article: Any) -> str:
    heading = article.find(".//h1")
    return "" if heading is None else _text(heading)


def _labels(section: Any) -> list[str]:
    """Return the labels of a section, which its pages are linked by."""
    return [child.get("id") for child in section if child.tag == "span" and child.get("id")]


def _own_text(section: Any, heading: Any) -> str:
    parts = [_text(child) for child in section if child.tag != "section" and child is not heading]
    return " ".join(part for part in parts if part)


def _text(element: Any) -> str:
    return " ".join(element.text_content().replace("\u200b", "").split())
