"""What leads into the chapters: the questions of learners, and terms with their symbols.

They are in the front matter of the chapters' pages, by the label of a section: `questions` that
the section answers, and `terms`, each a term or a symbol or both, with what it means and its shape
where it has one. A symbol holds in the chapter of its section and in those that `also` lists. The
pages "Questions", "Glossary" and "Notation" are made from them (`guide_directives`), and every
claim of theirs is checked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import combinations
from typing import Any

from coursekit._base.errors import CourseError
from coursetools.book.contents import Section, chapters, formulas, front_matter, page, sections
from coursetools.course import Course

EACH, ALTOGETHER = 3, 60  # the fewest questions of a chapter and of the book


@dataclass(frozen=True)
class Question:
    """A learner's question, the chapter it is listed under, and the section that answers it."""

    text: str
    chapter: str
    section: str


@dataclass(frozen=True)
class Meaning:
    """A term, a symbol or both, and what it means; `also` are further chapters of the symbol."""

    page: str
    section: str
    meaning: str = ""
    term: str = ""
    symbol: str = ""
    shape: str = ""
    also: tuple[str, ...] = ()
    besides: str = ""

    @property
    def name(self) -> str:
        """Where it is and what it explains, for a sentence about it."""
        return f"book/{self.page}.md, {self.term or self.symbol or 'a term'!r}"


NAMES = tuple(field.name for field in fields(Meaning))[2:]


def read_questions(course: Course) -> list[Question]:
    """Return the questions in the order of the book."""
    return [
        Question(str(text), stem, section)
        for stem, pages in chapters(course).items()
        for name in pages
        for section, text in _by_section(course, name, "questions")
    ]


def check_questions(course: Course) -> list[str]:
    """Return one sentence for each fault of the questions; none means that all is well."""
    places, faults = sections(course), []
    first: dict[str, str] = {}
    count = dict.fromkeys(chapters(course), 0)
    for question in read_questions(course):
        name = f"{question.text!r} of {question.chapter}"
        count[question.chapter] += 1
        if not question.text.endswith("?"):
            faults.append(f"{name} does not end with a question mark")
        if first.setdefault(question.text.casefold(), name) != name:
            faults.append(f"{name} appears twice")
        place = places.get(question.section)
        if place is None or place.chapter != question.chapter:
            faults.append(f"{name}: that chapter has no ({question.section})=")
    faults += [
        f"{chapter} has {n} questions, at least {EACH} were expected"
        for chapter, n in count.items()
        if n < EACH
    ]
    if sum(count.values()) < ALTOGETHER:
        faults.append(
            f"there are {sum(count.values())} questions, at least {ALTOGETHER} were expected"
        )
    return faults


def read_meanings(course: Course) -> list[Meaning]:
    """Return the terms and symbols in the order of the book."""
    rows = []
    for name in (name for pages in chapters(course).values() for name in pages):
        for section, entry in _by_section(course, name, "terms"):
            unknown = [key for key in entry if key not in NAMES] if isinstance(entry, dict) else []
            if not isinstance(entry, dict) or unknown:
                raise CourseError(
                    f"book/{name}.md, terms of {section}: {{{', '.join(NAMES)}}} are expected, "
                    f"found {unknown or entry!r}"
                )
            texts = {key: str(value) for key, value in entry.items() if key != "also"}
            rows.append(Meaning(name, section, also=tuple(entry.get("also") or ()), **texts))
    return rows


def check_meanings(course: Course) -> list[str]:
    """Return one sentence for each claim about a term or a symbol that is not true."""
    rows, places, pages_of = read_meanings(course), sections(course), chapters(course)
    formulas_of = {
        stem: [formula for name in names for formula in formulas(page(course, name))]
        for stem, names in pages_of.items()
    }
    faults: list[str] = []
    explained: dict[str, Meaning] = {}
    for row in rows:
        wrong = []
        if not row.term and not row.symbol:
            wrong.append("neither a term nor a symbol")
        if not row.meaning or row.meaning.endswith("."):
            wrong.append("a meaning is needed, without a full stop")
        first = explained.setdefault(row.term.casefold(), row) if row.term else row
        if first is not row:
            wrong.append(f"{first.page} explains it already")
        place = places.get(row.section)
        if place is None:
            wrong.append(f"no chapter has a section ({row.section})=")
        elif row.term and not _mentions(place.title + " " + place.text, row.term):
            wrong.append(f"the section {row.section} does not mention it")
        for chapter in _holds(row, places) if row.symbol else ():
            if chapter not in pages_of:
                wrong.append(f"there is no chapter {chapter}")
            elif not any(_stands_in(row.symbol, formula) for formula in formulas_of[chapter]):
                wrong.append(f"no formula of {chapter} has {row.symbol}")
        faults += [f"{row.name}: {sentence}" for sentence in wrong]
    for one, other in combinations((row for row in rows if row.symbol), 2):
        both = _holds(one, places) & _holds(other, places)
        if one.symbol == other.symbol and both and not other.besides:
            faults.append(
                f"{other.name}: {one.symbol} has the meaning of {one.name} too, in "
                f"{', '.join(both)}: `besides` must say so"
            )
    return faults


def _by_section(course: Course, stem: str, key: str) -> Iterator[tuple[str, Any]]:
    """Yield the entries of `questions` or `terms` of a page, each behind its section's label."""
    table = front_matter(course, stem).get(key) or {}
    if not isinstance(table, dict) or not all(isinstance(v, list) for v in table.values()):
        raise CourseError(f"book/{stem}.md: `{key}` must be lists by the label of a section")
    yield from ((section, entry) for section, entries in table.items() for entry in entries)


def _holds(row: Meaning, places: dict[str, Section]) -> set[str]:
    """Return the chapters in which the row's symbol has the row's meaning."""
    place = places.get(row.section)
    return {*row.also, *([place.chapter] if place else [])}


def _stands_in(symbol: str, formula: str) -> bool:
    before = r"(?<![A-Za-z\\])" if symbol[0].isalpha() else ""
    after = r"(?![A-Za-z])" if symbol[-1].isalpha() else ""
    return re.search(before + re.escape(symbol) + after, formula) is not None


def _mentions(text: str, term: str) -> bool:
    """Return whether the words of a term are in a text, whatever their case, marks and endings."""

    def plain(words: str) -> str:
        return " ".join(re.sub(r"[*`_{}()\[\]–—-]+", " ", words.casefold()).split())

    return plain(term) in plain(text)
