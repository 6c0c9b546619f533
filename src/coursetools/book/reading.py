"""How a page reads: its words, numbers and sections outside folds, and terms that come too early.

A number is a digit that stands in prose, a glued value, or a number word above ten. Citations,
references, formulas, code, captions, tables and the conditions of a measurement do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from coursetools.book import contents
from coursetools.course import Course

GLUED = re.compile(r"\{glue:text\}`(?:[^`]*?/)?([\w-]+)\.ipynb::([\w-]+)(?::[^`]*)?`")
FENCE = re.compile(r"^\s*(:{3,}|`{3,}|~{3,})\s*(?:\{([\w-]+)\})?")
LEFT_OUT = re.compile(r"^(?:%.*|:[\w-]+:.*|\([\w-]+\)=|\|.*|#+ .*)$")
ABOVE_TEN = r"eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred"
NUMBER = re.compile(
    rf"(?<![\w.])\d+(?:,\d{{3}})*(?:\.\d+)?(?![\w])|(?<!\w)(?:{ABOVE_TEN}|thousand|million|billion)s?(?!\w)",
    re.IGNORECASE,
)
EVERYDAY = {"Transformer", "cell", "offset", "patience", "shortcut", "stage"}  # known words
READ = ("note", "tip", "admonition", "important")  # boxes whose text is prose


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of prose outside folds: its first line, and its words with values as `#`."""

    line: int
    raw: str
    text: str

    @property
    def words(self) -> int:
        """How many words it has; a value or a formula is one."""
        return sum(any(letter.isalnum() or letter in "#§" for letter in word)
                   for word in self.text.split())  # fmt: skip

    @property
    def numbers(self) -> int:
        """How many numbers it tells."""
        return self.text.count("#") + len(NUMBER.findall(self.text))


def paragraphs(text: str) -> Iterator[Paragraph]:
    """Yield the paragraphs of a page that a reader meets who opens no fold."""
    lines: list[str] = []
    start = 0
    fences: list[str] = []  # what is open, the outermost first
    maths = False
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        fence = FENCE.match(line)
        if fence:
            marks = fence[1]
            if fences and not fence[2] and line.strip() == fences[-1].split()[0]:
                fences.pop()
            elif not (line.count(marks) > 1 and len(line.strip()) > len(marks)):
                fences.append(f"{marks} {fence[2] or 'code'}")
        bare = line.strip()
        if bare.startswith("$$"):
            maths = not maths if bare.count("$$") == 1 else maths
            bare = ""
        hidden = maths or fence or any(one.split()[1] not in READ for one in fences)
        if bare and not hidden and not LEFT_OUT.match(bare):
            start = start or number
            lines.append(bare)
        elif lines and (not bare or hidden):
            raw = " ".join(lines)
            yield Paragraph(start, raw, plain(raw))
            lines, start = [], 0


def plain(text: str) -> str:
    """Return prose with `#` for a glued value and `§` for formulas, references and citations."""
    text = GLUED.sub("#", text)
    text = re.sub(r"\{(?:ref|doc|term)\}`([^`<]*?)\s*(?:<[^>]*>)?`", r"\1", text)
    text = re.sub(r"\{[\w:-]+\}`[^`]*`", "§", text)
    text = re.sub(r"`[^`]*`", "§", text)
    text = re.sub(r"(?<!\\)\$[^$]+\$", "§", text)
    return re.sub(r"\]\([^)]*\)", "]", text)


def section_count(text: str) -> int:
    """Return how many sections a page has below its title."""
    return len(re.findall(r"^## ", contents.FENCE.sub("", text), re.MULTILINE))


def values(text: str) -> set[str]:
    """Return the values that a page shows, `notebook::name` each."""
    return {f"{notebook}::{name}" for notebook, name in GLUED.findall(text)}


def early_terms(course: Course, page: str) -> Iterator[str]:
    """Yield a sentence for each term that a page uses before the book has explained it.

    A paragraph that links to the term or to its section has said where it is explained.
    """
    from coursetools.book.questions_and_terms import read_meanings

    order = {name: n for n, name in enumerate(
        name for names in contents.chapters(course).values() for name in names)}  # fmt: skip
    places = contents.sections(course)
    text = contents.FRONT.sub(
        lambda front: "\n" * front[0].count("\n"), contents.whole(course, page)
    )
    prose = list(paragraphs(text))
    for row in read_meanings(course):
        if row.term in {"", *EVERYDAY} or row.section not in places or page not in order:
            continue
        home = places[row.section].page
        if order[home] < order[page]:
            continue
        end = text[: text.index(f"({row.section})=")].count("\n") if home == page else len(text)
        word = re.compile(rf"(?<![\w-]){re.escape(row.term)}s?(?![\w-])", re.IGNORECASE)
        for one in prose:
            if one.line > end:
                break
            if word.search(one.text) or f"`{row.term}`" in one.raw:
                marks = ("{term}`", f"`{row.section}`", f"<{row.section}>")
                if not any(mark in one.raw for mark in marks):
                    yield f"line {one.line} uses {row.term!r}, which {row.section} explains later"
                break
