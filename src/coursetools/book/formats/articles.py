"""The articles of the built book in reading order, as one document that needs no site around it.

Each page of `_toc.yml` that is read and not run gives the article that Sphinx wrote, so the numbers
of chapters, figures and tables are those of the site. An id begins with its page's stem, since
pages share some; a link leads to such an id, or to the published book, or is plain text while the
course has no address. Folds are open, but for the answers of "Check yourself": these come together
on a page of their own behind the chapters.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lxml import html
from lxml.html import HtmlElement
from lxml.html import builder as E

from coursekit._base.errors import CourseError
from coursetools.book.build import pages
from coursetools.course import Course

# What one runs, solves or teaches with; the site has it.
LEFT_OUT = re.compile(
    r"notebooks/|book/(?:api/|(?:check|gpu|grading\w*|lecture_map|status|teaching)$)"
)
LAST = "book/references"
MACHINERY = (  # what is for a screen, or leads to what only the site has
    ".//script|.//style|.//button|.//input|.//*[@hidden]"
    "|.//*[contains(@class, 'headerlink') or contains(@class, 'viewcode-link')]"
    "|.//*[contains(@class, 'toctree-wrapper') or contains(@class, 'side-steps')]"
    "|.//*[contains(@class, 'sd-summary-state-marker')]"
)
ON_SCREEN = ("loading", "tabindex", "aria-controls", "for")
NAMING = ("aria-labelledby", "aria-describedby", "headers")
HEADINGS = tuple(f"h{depth}" for depth in range(1, 7))
ANSWERS = "answers"  # the stem of their page
DEEPEST = 3  # how deep the contents go
USUAL = 3  # a heading of more pages, as "Check yourself", is not in the contents
LICENCE = "CC BY 4.0, https://creativecommons.org/licenses/by/4.0/"  # see LICENSE-TEXT
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:")


@dataclass(frozen=True)
class Heading:
    """A heading: how deep it lies in the whole book, the id that leads to it, and its words."""

    depth: int
    place: str
    title: str


@dataclass(frozen=True)
class Page:
    """A page: its stem, its title, and an element of that id that holds its article.

    The first page of a part has the part's heading above its own.
    """

    stem: str
    title: str
    element: HtmlElement

    @property
    def headings(self) -> list[Heading]:
        """The headings of the page, in order."""
        return [
            Heading(HEADINGS.index(e.tag) + 1, e.get("id", ""), text(e))
            for e in self.element.iter(*HEADINGS)
        ]


@dataclass(frozen=True)
class _Listed:
    """A page as `_toc.yml` lists it: under which part, and whether below a chapter."""

    name: str
    part: str = ""
    numbered: bool = False
    below: int = 0

    @property
    def stem(self) -> str:
        return self.name.rpartition("/")[2]


def gather(course: Course) -> list[Page]:
    """Return the pages of the built book that are read, in order, with the answers behind them.

    A book that is not built, or not all of it, is a `CourseError`.
    """
    folder, listed = built(course), _listed(course)
    articles = {entry.name: _article(folder, entry) for entry in listed}
    links = _Links(course, articles)
    for name, article in articles.items():
        links.mend(name, article)
    answers = {entry: _take_answers(articles[entry.name], entry.stem) for entry in listed}
    many = Counter(entry.part for entry in listed)  # a part of one page needs no heading
    pages, headed = [], {""}
    for entry in listed:
        article = articles[entry.name]
        _open_folds(article)
        part = entry.part if many[entry.part] > 1 or entry.numbered else ""
        heading = "" if part in headed else part
        headed.add(part)
        depth = (1 if part else 0) + entry.below
        title = "Welcome" if entry.name == course.contents["root"] else ""
        pages.append(_page(entry.stem, article, depth, heading, title))
    place = max((n for n, entry in enumerate(listed, 1) if entry.numbered), default=len(listed))
    if any(answers.values()):
        pages.insert(place, _answers_page(answers, {page.stem: page.title for page in pages}))
    return pages


def contents(pages: list[Page]) -> list[Heading]:
    """Return the contents of the book: parts at depth 1, chapters and other pages, sections."""
    usual = Counter(heading.title for page in pages for heading in page.headings)
    entries = []
    for page in pages:
        lifted = page.headings[0].title == page.title and page.headings[0].depth == 1  # no part
        for one in page.headings:
            again = page.stem == ANSWERS and one.depth > 1  # the chapters' titles
            if one.depth + lifted <= DEEPEST and usual[one.title] <= USUAL and not again:
                entries.append(replace(one, depth=one.depth + lifted))
    return entries


def built(course: Course) -> Path:
    """Return the folder of the built book; all of its pages must be there."""
    folder = course / "_build" / "html"
    missing = [name for name in pages(course) if not (folder / f"{name}.html").is_file()]
    if missing:
        raise CourseError(
            f"the built book is needed, and {course.relative(folder)}/{missing[0]}.html is not "
            "there; `coursekit book` builds it"
        )
    return folder


def slug(course: Course) -> str:
    """Return the name of the book's files, from its title: `attention-from-the-kernel-up`."""
    return "-".join(re.findall(r"[a-z0-9]+", title(course).lower())) or "book"


def title(course: Course) -> str:
    """Return the title of the book."""
    return str(course.settings.get("title") or "The book")


def text(element: HtmlElement) -> str:
    """Return the words of an element on one line."""
    return " ".join(element.text_content().replace("\u200b", "").split())


# --- The pages ---


def _listed(course: Course) -> list[_Listed]:
    """Return the pages that are read; the references come last, wherever `_toc.yml` has them."""
    contents = course.contents
    entries = [_Listed(contents["root"])]
    for part in contents.get("parts") or [{"chapters": contents.get("chapters", [])}]:
        under = (str(part.get("caption") or ""), bool(part.get("numbered")))
        for chapter in part.get("chapters", []):
            entries.append(_Listed(chapter["file"], *under))
            entries += [_Listed(below["file"], *under, 1) for below in chapter.get("sections", [])]
    kept = [entry for entry in entries if not LEFT_OUT.match(entry.name)]
    return sorted(kept, key=lambda entry: entry.name == LAST)


def _article(folder: Path, entry: _Listed) -> HtmlElement:
    """Return the article of a page without what is for a screen, its ids made the book's."""
    page = (folder / f"{entry.name}.html").read_text(encoding="utf-8")
    article = html.fromstring(page).find(".//article")
    if article is None:
        raise CourseError(f"{entry.name}.html of the built book has no article")
    for part in article.xpath(MACHINERY):
        part.drop_tree()
    for label in article.xpath(".//label[contains(@class, 'sd-tab-label')]"):
        label.tag = "p"  # the tabs of a set stand one below the other
    for element in article.iter():
        for name in ON_SCREEN:
            element.attrib.pop(name, None)
        if element.get("id"):
            element.set("id", _id(entry.stem, element.get("id")))
        for name in NAMING:
            if element.get(name):
                element.set(name, " ".join(_id(entry.stem, n) for n in element.get(name).split()))
        for name, value in element.attrib.items():
            if "url(#" in value:
                element.set(name, value.replace("url(#", f"url(#{entry.stem}--"))
    return article


def _id(stem: str, own: str) -> str:
    return f"{stem}--{own}"


def _page(stem: str, article: HtmlElement, depth: int, part: str, title: str) -> Page:
    """Return the page of an article whose headings lie `depth` below where they were."""
    first = article.find(".//h1")
    if first is None:
        raise CourseError(f"the page {stem} of the built book has no title")
    if title:
        first.clear()
        first.text = title
    for heading in list(article.iter(*HEADINGS)):
        level = HEADINGS.index(heading.tag)
        heading.set("class", f"level-{level + 1}")
        heading.tag = HEADINGS[min(level + depth, len(HEADINGS) - 1)]
        _take_names(heading)
    element = E.DIV(*article, {"class": "page", "id": stem})
    if part:
        element.insert(0, E.H1(part, {"class": "part", "id": f"part-{stem}"}))
    return Page(stem, text(first), element)


def _take_names(heading: HtmlElement) -> None:
    """Give a heading the names of its section: where a page ends above it, they go with it."""
    section = heading.getparent()
    if section.tag != "section":
        return
    for label in list(heading.itersiblings("span", preceding=True)):
        words = heading.text
        heading.text = None
        heading.insert(0, label)
        label.tail = words
    if section.get("id"):
        heading.set("id", section.attrib.pop("id"))


# --- Links and pictures ---


class _Links:
    """Where links lead: into the book, to its address, or nowhere."""

    def __init__(self, course: Course, articles: dict[str, HtmlElement]) -> None:
        self.home = course.book_address.removesuffix("book")
        self.ids = {
            name: {element.get("id") for element in article.iter() if element.get("id")}
            for name, article in articles.items()
        }

    def mend(self, name: str, article: HtmlElement) -> None:
        """Mend the links of the page `name`, and say where its pictures are below the site."""
        for picture in article.iter("img"):
            picture.set("src", _beside(name, picture.get("src")))
        for link in article.iter("a"):
            target = self.target(name, link.get("href") or "")
            if target:
                link.set("href", target)
                continue
            link.tag = "span"
            for attribute in ("href", "title"):
                link.attrib.pop(attribute, None)

    def target(self, name: str, href: str) -> str:
        """Return where a link of the page `name` leads; nothing if that is nowhere."""
        if SCHEME.match(href):
            return "" if urlsplit(href).netloc.endswith(".invalid") else href
        path, _, anchor = href.partition("#")
        path = _beside(name, path) if path else f"{name}.html"
        page = path.removesuffix(".html")
        if page in self.ids:
            stem = page.rpartition("/")[2]
            place = _id(stem, unquote(anchor))
            return f"#{place}" if place in self.ids[page] else f"#{stem}"
        return f"{self.home}{path}{'#' if anchor else ''}{anchor}" if self.home else ""


def _beside(name: str, path: str) -> str:
    """Return a path of the page `name` as it is from the folder of the site."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


# --- Folds ---


def _take_answers(article: HtmlElement, stem: str) -> list[HtmlElement]:
    """Take the answers out of "Check yourself", leave a link to each, and return them.

    What one clicks on to see an answer is either the question or the word "Answer" below it.
    """
    taken = []
    folds = article.xpath(f".//section[@id='{_id(stem, 'check-yourself')}']//details")
    for number, fold in enumerate(folds, 1):
        question, answer = _id(stem, f"question-{number}"), _id(stem, f"answer-{number}")
        link = E.P(E.A(f"Answer {number}", href=f"#{answer}"), {"class": "to-answer"})
        asked = E.DIV(link, {"class": "question", "id": question})
        if text(fold[0]) != "Answer":
            asked.insert(0, _words(fold))
        back = E.P(E.A(f"Question {number}", href=f"#{question}"), {"class": "to-question"})
        taken.append(E.DIV(back, *fold[1:], {"class": "answer", "id": answer}))
        _replace(fold, asked)
    return taken


def _open_folds(article: HtmlElement) -> None:
    for fold in list(article.iter("details")):
        words = _words(fold)
        words.set("class", "fold-title")
        _replace(fold, E.DIV(words, *fold[1:], {"class": "fold"}))


def _words(fold: HtmlElement) -> HtmlElement:
    """Return what one clicks on to open a fold, as a paragraph."""
    words = E.P(*fold[0])
    words.text = fold[0].text
    return words


def _replace(old: HtmlElement, new: HtmlElement) -> None:
    """Put an element in the place of another, before the text that followed it."""
    new.tail, old.tail = old.tail, None
    old.getparent().replace(old, new)


def _answers_page(answers: dict[_Listed, list[HtmlElement]], titles: dict[str, str]) -> Page:
    """Return the page of all answers, under the titles of the pages that ask."""
    sections = []
    for entry, taken in answers.items():
        if taken:
            heading = E.H2(E.A(titles[entry.stem], href=f"#{entry.stem}"))
            sections.append(E.SECTION(heading, *taken, id=_id(ANSWERS, entry.stem)))
    article = E.DIV(E.SECTION(E.H1("Answers"), *sections, id=_id(ANSWERS, "top")))
    return _page(ANSWERS, article, 0, "", "")
