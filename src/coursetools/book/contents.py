"""What the book holds: its parts and chapters, and each page with its front matter and sections.

A page may begin with YAML between two lines `---`. It holds what a chapter says of itself
(`needs`, `questions`, `terms`), and on the home page what holds for all of them (`routes`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from coursekit._base.errors import CourseError
from coursetools.book.values import written_out
from coursetools.course import Course

FRONT = re.compile(r"\A---\n(.*?)^---\n", re.MULTILINE | re.DOTALL)
LABELLED = re.compile(r"^\(([^()\s]+)\)=\n+(#+) (.+)$", re.MULTILINE)
HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
FENCE = re.compile(r"^(`{3,}|:{3,}|~{3,})[^\n]*\n.*?^\1[ \t]*$\n?", re.MULTILINE | re.DOTALL)
MARKED = re.compile(r"(?:\{[\w:]+\})?`[^`\n]+`")  # a role or a piece of code


@dataclass(frozen=True)
class Section:
    """A labelled section: its chapter, the page that holds it, its title, and all of its text."""

    chapter: str
    page: str
    title: str
    text: str


def parts(course: Course) -> dict[str, dict[str, list[str]]]:
    """Return the chapters of each numbered part, by the part's caption.

    A chapter has the stem of its first page, and behind it the list of all of its pages; what has
    none, a notebook alone, is no chapter.
    """

    def pages(chapter: dict) -> list[str]:
        files = [chapter["file"], *(below["file"] for below in chapter.get("sections", []))]
        return [file.removeprefix("book/") for file in files if file.startswith("book/")]

    return {
        part["caption"]: {listed[0]: listed for listed in map(pages, part["chapters"]) if listed}
        for part in course.contents.get("parts", [])
        if part.get("numbered")
    }


def chapters(course: Course) -> dict[str, list[str]]:
    """Return the pages of each chapter by the chapter's stem, in reading order."""
    return {stem: pages for part in parts(course).values() for stem, pages in part.items()}


def whole(course: Course, stem: str) -> str:
    """Return the text of a page as it is, with the numbers that it reads from code."""
    try:
        return written_out(course, course.page(stem).read_text(encoding="utf-8"))
    except OSError as error:
        raise CourseError(f"the page book/{stem}.md cannot be read: {error.strerror}") from error


def page(course: Course, stem: str) -> str:
    """Return the text of a page, without its front matter."""
    return FRONT.sub("", whole(course, stem))


def front_matter(course: Course, stem: str) -> dict[str, Any]:
    """Return what is between the lines `---` at the top of a page; nothing if they do not."""
    front = FRONT.search(whole(course, stem))
    if front is None:
        return {}
    import yaml

    repeated = _repeated(front[1])
    if repeated:
        raise CourseError(f"book/{stem}.md: its front matter has {repeated} twice")
    try:
        read = yaml.load(front[1], getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise CourseError(f"book/{stem}.md: its front matter is not YAML: {reason}") from error
    if not isinstance(read, dict):
        raise CourseError(f"book/{stem}.md: its front matter is not a table of names and values")
    return read


def title(course: Course, stem: str) -> str:
    """Return the title of a page."""
    heading = HEADING.search(page(course, stem))
    if heading is None:
        raise CourseError(f"book/{stem}.md has no title")
    return heading.group(2)


def sections(course: Course) -> dict[str, Section]:
    """Return the labelled sections of all chapters, by label."""
    by_label = {}
    listed = [(stem, name) for stem, names in chapters(course).items() for name in names]
    for stem, name in listed:
        text = page(course, name)
        for label, marks, heading in LABELLED.findall(text):
            rest = text.split(f"({label})=", 1)[1].split(f"{marks} {heading}", 1)[1]
            # A line of a program may begin like a heading.
            outside = FENCE.sub(lambda block: re.sub("[^\n]", " ", block.group()), rest)
            end = re.search(rf"^#{{1,{len(marks)}}} ", outside, re.MULTILINE)
            by_label[label] = Section(stem, name, heading, rest[: end.start()] if end else rest)
    return by_label


def formulas(text: str) -> list[str]:
    """Return the formulas of a page, displayed ones and those within sentences."""
    text = MARKED.sub(" ", FENCE.sub(_keep_words, text)).replace(r"\$", "")
    displayed = re.findall(r"\$\$(.+?)\$\$", text, re.DOTALL)
    return displayed + re.findall(r"\$([^$\n]+)\$", re.sub(r"\$\$.+?\$\$", "", text, flags=re.S))


def words(text: str) -> int:
    """Count the words of a page up to its further reading; a formula or a number counts as one."""
    text = FENCE.sub(_keep_words, text.split("\n## Further reading")[0])
    text = re.sub(r"\{(?:glue:text|cite:[pt])\}`[^`]*`", "1", text)
    text = re.sub(r"\$\$.+?\$\$|(?<!\\)\$[^$\n]+\$", "1", text, flags=re.DOTALL)
    text = re.sub(r"^(?:\(\S+\)=|%.*|:\w+:.*|\|[-| ]+\|)$", "", text, flags=re.MULTILINE)
    return sum(any(letter.isalnum() for letter in word) for word in text.split())


def _repeated(text: str) -> str:
    """Return the first name that occurs twice at one place; YAML would drop the former."""
    names: dict[int, set[str]] = {}
    for spaces, name in re.findall(r"^( *)(?:- |([\w-]+):(?=\s))", text, re.MULTILINE):
        names = {depth: held for depth, held in names.items() if depth <= len(spaces)}
        if name in names.setdefault(len(spaces), set()):
            return name
        names[len(spaces)] |= {name} if name else set()
    return ""


def _keep_words(fence: re.Match) -> str:
    """Return what a reader reads of a block: folded text, captions and lists, and no program."""
    first, *inside, _ = fence.group(0).rstrip("\n").split("\n")
    return "\n".join(inside) + "\n" if "{" in first else "\n"
