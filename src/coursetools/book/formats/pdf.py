"""The book as one PDF, printed by Chromium from the articles of the built pages.

It is printed twice: Chromium cannot say in the contents on which page a section begins, so the
first print is read for that, and the second has the numbers.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import matplotlib
import pikepdf
from lxml import html
from lxml.html import HtmlElement
from lxml.html import builder as E

from coursekit import __version__
from coursekit._base.errors import CourseError
from coursekit._base.progress import Progress, track
from coursetools.book.formats import articles, chromium
from coursetools.book.formats.articles import Page
from coursetools.course import Course, write_whole

PAPERS = {"a4": ("A4", 210), "letter": ("letter", 215.9)}  # its name in CSS, its width in mm
ATTEMPTS = 4  # two are enough unless a number of one digit more moves a line
MARGIN = 24  # mm, left and right
PAGE = 800  # CSS pixels of height; what is less can be moved to the next page as a whole
STYLE = Path(__file__).with_name("print.css")
SCRIPT = Path(__file__).with_name("print.js")
FONTS = Path(matplotlib.get_data_path()) / "fonts" / "ttf"  # the same on every machine
NUMBERED = ".contents a, .questions a, .to-answer a, .to-question a"  # with a page number


def write_pdf(
    course: Course, program: str | None, *, paper: str = "a4", quiet: bool = False
) -> Path:
    """Print the built book of a course with the Chromium `program` and return the file.

    `paper` is "a4" or "letter". A formula that cannot be set is a `CourseError`.
    """
    folder, pages = articles.built(course), articles.gather(course)
    document = _document(course, folder, pages, paper)
    formulas = document.count("data-tex=")
    ending = "" if paper == "a4" else f"-{paper}"
    path = course / "_build" / f"{articles.slug(course)}{ending}.pdf"
    with track(4, "pdf", quiet) as progress:
        progress.advance(f"{len(pages)} pages of the site gathered")
        with chromium.opened(document, {"": folder, "fonts": FONTS}, program) as page:
            page.set_viewport_size({"width": _width(paper), "height": 1000})
            page.emulate_media(media="print")
            chromium.set_formulas(page, formulas)
            page.evaluate("prepare", [_plain(pages), PAGE])
            progress.advance(f"{formulas:,} formulas set")
            printed = _print_numbered(page, progress)
        content = packed(printed, author=str(course.settings.get("author") or ""))
        write_whole(path, content)
        progress.advance(f"{len(content) / 1e6:.1f} MB written")
    return path


def _print_numbered(page: Any, progress: Progress) -> pikepdf.Pdf:
    """Print until the page numbers in a document are those of what they lead to."""
    numbers: dict[str, int] = {}
    for attempt in range(ATTEMPTS):
        page.evaluate("number", [NUMBERED, numbers])
        content = page.pdf(
            prefer_css_page_size=True, print_background=True, tagged=True, outline=True
        )
        printed = pikepdf.open(io.BytesIO(content))
        before, numbers = numbers, page_numbers(printed)
        if numbers == before:
            return printed
        if not attempt:
            progress.advance(f"{max(numbers.values(), default=0)} pages, once more with numbers")
    raise CourseError(f"printed {ATTEMPTS} times, and page numbers still move what they number")


def page_numbers(printed: pikepdf.Pdf) -> dict[str, int]:
    """Return the number of the page, from 1, of each named destination."""
    if "/Dests" not in printed.Root:
        raise CourseError("Chromium's PDF names no destinations: its pages cannot be numbered")
    pages = {page.obj.objgen: number for number, page in enumerate(printed.pages, start=1)}
    return {
        name.removeprefix("/"): pages[destination[0].objgen]
        for name, destination in printed.Root.Dests.items()
    }


def packed(printed: pikepdf.Pdf, *, author: str) -> bytes:
    """Return the PDF as a file of a quarter less, by the author and not by the browser.

    Tens of thousands of its objects, the tags for screen readers, are only a few words long; they
    are compressed together.
    """
    if "/Creator" in printed.docinfo:
        del printed.docinfo["/Creator"]
    printed.docinfo["/Author"] = author
    pikepdf.settings.set_flate_compression_level(9)
    file = io.BytesIO()
    printed.save(
        file,
        object_stream_mode=pikepdf.ObjectStreamMode.generate,
        recompress_flate=True,
        deterministic_id=True,
    )
    return file.getvalue()


def _width(paper: str) -> int:
    """Return the width of the text in CSS pixels."""
    return int((PAPERS[paper][1] - 2 * MARGIN) / 25.4 * 96)


def _plain(pages: list[Page]) -> list[str]:
    """Return all formulas as lines of text, in order."""
    return [articles.text(e) for page in pages for e in page.element.xpath(".//*[@data-tex]")]


# --- The document ---


def _document(course: Course, folder: Path, pages: list[Page], paper: str) -> str:
    title = articles.title(course)
    body = E.BODY(_title_page(course, folder), _contents(pages), *(p.element for p in pages))
    body.set("class", "bd-content")
    style = STYLE.read_text(encoding="utf-8") + "\n".join(_page_styles(pages, paper))
    return (
        f'<!doctype html>\n<html lang="en" data-theme="light" data-mode="light">\n<head>\n'
        f'<meta charset="utf-8">\n{_tag(E.TITLE(title))}\n'
        f'<link rel="stylesheet" href="_static/joined.css">\n<style>{style}</style>\n'
        f"<script>{SCRIPT.read_text(encoding='utf-8')}</script>\n"
        f"{chromium.mathjax(folder, typeset=True)}</head>\n{_tag(body)}\n</html>\n"
    )


def _tag(element: HtmlElement) -> str:
    return html.tostring(element, encoding="unicode")


def _page_styles(pages: list[Page], paper: str) -> Iterator[str]:
    """Yield the size of the paper, and a kind of page with a running head for each page."""
    yield f"@page {{ size: {PAPERS[paper][0]}; margin: 23mm {MARGIN}mm 20mm; }}"
    for page in pages:
        name = f"page-{page.stem.replace('_', '-')}"
        yield f"[id='{page.stem}'] {{ page: {name}; }}"
        head = json.dumps(page.title, ensure_ascii=False)
        yield f"@page {name} {{ @top-left {{ content: {head}; }} }}"


def _title_page(course: Course, folder: Path) -> HtmlElement:
    day = datetime.fromtimestamp((folder / "index.html").stat().st_mtime)
    home = course.book_address.removesuffix("/book")
    lines = [
        E.P(articles.title(course), {"class": "book-title"}),
        E.P(str(course.settings.get("author") or ""), {"class": "book-author"}),
        E.P(f"{day.day} {day:%B %Y}, version {__version__}", {"class": "book-edition"}),
        E.P(f"Text and figures: {articles.LICENCE}", {"class": "book-edition"}),
    ]
    if home:
        lines.append(E.P(E.A(home, href=home), {"class": "book-edition"}))
    return E.DIV(*lines, {"class": "title-page"})


def _contents(pages: list[Page]) -> HtmlElement:
    """Return the contents: links that get page numbers."""
    entries = [
        E.P(E.A(E.SPAN(one.title), href=f"#{one.place}"), {"class": f"entry-{one.depth}"})
        for one in articles.contents(pages)
    ]
    return E.DIV(E.H1("Contents"), *entries, {"class": "contents", "id": "contents"})
