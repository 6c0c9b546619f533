"""What the contents and the pages say about the book: its parts, chapters, titles and sections."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from coursekit._base.errors import CourseError

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


def parts(root: Path) -> dict[str, dict[str, list[str]]]:
    """Return the chapters of each numbered part, by the part's caption.

    A chapter has the stem of its first page, and behind it the list of all of its pages.
    """
    import yaml

    def pages(chapter: dict) -> list[str]:
        files = [chapter["file"], *(below["file"] for below in chapter.get("sections", []))]
        return [file.removeprefix("book/") for file in files if file.startswith("book/")]

    toc = yaml.safe_load((Path(root) / "_toc.yml").read_text(encoding="utf-8"))
    return {
        part["caption"]: {listed[0]: listed for listed in map(pages, part["chapters"])}
        for part in toc.get("parts", [])
        if part.get("numbered")
    }


def chapters(root: Path) -> dict[str, list[str]]:
    """Return the pages of each chapter by the chapter's stem, in reading order."""
    return {stem: pages for part in parts(root).values() for stem, pages in part.items()}


def page(root: Path, stem: str) -> str:
    """Return the text of a page."""
    path = Path(root) / "book" / f"{stem}.md"
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise CourseError(f"the page book/{stem}.md cannot be read: {error.strerror}") from error


def title(root: Path, stem: str) -> str:
    """Return the title of a page."""
    return HEADING.search(page(root, stem)).group(2)


def sections(root: Path) -> dict[str, Section]:
    """Return the labelled sections of all chapters, by label."""
    found = {}
    listed = [(stem, name) for stem, names in chapters(root).items() for name in names]
    for stem, name in listed:
        text = page(root, name)
        for label, marks, heading in LABELLED.findall(text):
            rest = text.split(f"({label})=", 1)[1].split(f"{marks} {heading}", 1)[1]
            # A line of a program may begin like a heading.
            outside = FENCE.sub(lambda block: re.sub("[^\n]", " ", block.group()), rest)
            end = re.search(rf"^#{{1,{len(marks)}}} ", outside, re.MULTILINE)
            found[label] = Section(stem, name, heading, rest[: end.start()] if end else rest)
    return found


def formulas(text: str) -> list[str]:
    """Return the formulas of a page, displayed ones and those within sentences."""
    text = MARKED.sub("", FENCE.sub(_keep_words, text)).replace(r"\$", "")
    displayed = re.findall(r"\$\$(.+?)\$\$", text, re.DOTALL)
    return displayed + re.findall(r"\$([^$\n]+)\$", re.sub(r"\$\$.+?\$\$", "", text, flags=re.S))


def words(text: str) -> int:
    """Count the words of a page up to its further reading; a formula or a number counts as one."""
    text = FENCE.sub(_keep_words, text.split("\n## Further reading")[0])
    text = re.sub(r"\{(?:glue:text|cite:[pt])\}`[^`]*`", "1", text)
    text = re.sub(r"\$\$.+?\$\$|(?<!\\)\$[^$\n]+\$", "1", text, flags=re.DOTALL)
    text = re.sub(r"^(?:\(\S+\)=|%.*|:\w+:.*|\|[-| ]+\|)$", "", text, flags=re.MULTILINE)
    return sum(any(letter.isalnum() for letter in word) for word in text.split())


def _keep_words(fence: re.Match) -> str:
    """Return what a reader reads of a block: folded text, captions and lists, and no program."""
    first, *inside, _ = fence.group(0).rstrip("\n").split("\n")
    return "\n".join(inside) + "\n" if "{" in first else "\n"
