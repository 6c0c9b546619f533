"""Two tables that lead into the chapters: the questions of learners, and terms with their symbols.

`book/questions.toml` has a line a question, by chapter: the question, and the label of the section
that answers it. `book/terms.csv` has a line a meaning: a term or a symbol or both, what it means,
its shape where it has one, and the section that introduces it. A symbol holds in the chapter of
that section and in those that are listed. The pages "Questions", "Glossary" and "Notation" are made
from them (`guide_pages`), and every claim of theirs is checked here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from coursetools.book.contents import chapters, formulas, page, sections
from coursetools.book.read import columns, read_csv, read_toml

EACH, ALTOGETHER = 3, 60  # the fewest questions of a chapter and of the book


@dataclass(frozen=True)
class Question:
    """A learner's question, the chapter it is listed under, and the section that answers it."""

    text: str
    chapter: str
    section: str


@dataclass(frozen=True)
class Meaning:
    """A term, a symbol or both, and what it means; `line` is where it stands in the file."""

    term: str
    symbol: str
    meaning: str
    shape: str
    section: str
    chapters: str
    besides: str
    line: int

    @property
    def further(self) -> list[str]:
        """The chapters, beside that of the section, in which the symbol has this meaning."""
        return [part.strip() for part in self.chapters.split(";") if part.strip()]


COLUMNS = columns(Meaning)


def questions_path(root: Path) -> Path:
    """Return where the questions stand."""
    return Path(root) / "book" / "questions.toml"


def terms_path(root: Path) -> Path:
    """Return where the terms and symbols stand."""
    return Path(root) / "book" / "terms.csv"


def read_questions(root: Path) -> list[Question]:
    """Return the questions in the order of the file."""
    table = read_toml(questions_path(root))
    return [
        Question(text, chapter, section)
        for chapter, lines in table.items()
        for text, section in lines.items()
    ]


def check_questions(root: Path) -> list[str]:
    """Return one sentence for each fault of the questions; none means that all is well."""
    known, places, faults = chapters(root), sections(root), []
    seen: set[str] = set()
    count = dict.fromkeys(known, 0)
    for question in read_questions(root):
        said = f"{question.text!r} of {question.chapter}"
        if question.chapter not in known:
            faults.append(f"{said}: there is no chapter {question.chapter}")
            continue
        count[question.chapter] += 1
        if not question.text.endswith("?"):
            faults.append(f"{said} does not end with a question mark")
        if question.text.casefold() in seen:
            faults.append(f"{said} stands there twice")
        seen.add(question.text.casefold())
        place = places.get(question.section)
        if place is None or place.chapter != question.chapter:
            faults.append(f"{said}: that chapter has no ({question.section})=")
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


def read_meanings(root: Path) -> list[Meaning]:
    """Return the rows of the table of terms and symbols."""
    return read_csv(terms_path(root), Meaning)


def check_meanings(root: Path) -> list[str]:
    """Return one sentence for each claim of the table that is not true."""
    rows, places, known = read_meanings(root), sections(root), chapters(root)
    written = {
        stem: [formula for name in names for formula in formulas(page(root, name))]
        for stem, names in known.items()
    }
    faults: list[tuple[int, str]] = []
    terms: dict[str, int] = {}
    for row in rows:
        found = []
        if not row.term and not row.symbol:
            found.append("neither a term nor a symbol")
        if not row.meaning or row.meaning.endswith("."):
            found.append("a meaning is needed, without a full stop")
        if row.term and terms.setdefault(row.term.casefold(), row.line) != row.line:
            found.append(f"{row.term!r} stands in line {terms[row.term.casefold()]} already")
        place = places.get(row.section)
        if place is None:
            found.append(f"no chapter has a section ({row.section})=")
        elif row.term and not _mentions(place.title + " " + place.text, row.term):
            found.append(f"the section {row.section} does not mention {row.term!r}")
        for chapter in _holds(row, places) if row.symbol else ():
            if chapter not in known:
                found.append(f"there is no chapter {chapter}")
            elif not any(_stands_in(row.symbol, formula) for formula in written[chapter]):
                found.append(f"no formula of {chapter} has {row.symbol}")
        faults += [(row.line, fault) for fault in found]
    for one, other in combinations((row for row in rows if row.symbol), 2):
        both = _holds(one, places) & _holds(other, places)
        if one.symbol == other.symbol and both and not other.besides:
            said = f"{one.symbol} has the meaning of line {one.line} too, in {', '.join(both)}"
            faults.append((other.line, f"{said}: the column besides must say so"))
    return [f"{terms_path(root).name}, line {line}: {fault}" for line, fault in sorted(faults)]


def _holds(row: Meaning, places: dict) -> set[str]:
    """Return the chapters in which the row's symbol has the row's meaning."""
    place = places.get(row.section)
    return {*row.further, *([place.chapter] if place else [])}


def _stands_in(symbol: str, formula: str) -> bool:
    before = r"(?<![A-Za-z\\])" if symbol[0].isalpha() else ""
    after = r"(?![A-Za-z])" if symbol[-1].isalpha() else ""
    return re.search(before + re.escape(symbol) + after, formula) is not None


def _mentions(text: str, term: str) -> bool:
    """Say whether the words of a term stand in a text, whatever their case, marks and endings."""

    def plain(words: str) -> str:
        return " ".join(re.sub(r"[*`_{}()\[\]–—-]+", " ", words.casefold()).split())

    return plain(term) in plain(text)
