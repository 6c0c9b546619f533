"""A chapter has one name in docstrings, lecture map and README, and a paper has one of its own."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from coursetools.book import lecture_map
from coursetools.course import Course

ROOT = Path(__file__).resolve().parents[2]
HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)


def headings() -> dict[str, set[str]]:
    """Return the title of each page of the book, and the titles of its sections."""
    found = {}
    for page in (ROOT / "book").glob("*.md"):
        title, *sections = (text for _, text in HEADING.findall(page.read_text(encoding="utf-8")))
        found[title] = set(sections)
    return found


def planned() -> set[str]:
    """Return the chapters that are not written yet, as the lecture map calls them."""
    rows = lecture_map.read_rows(Course(ROOT))
    return {row.chapter for row in rows if row.state == "coming"} - set(headings())


def named(docstring: str) -> Iterator[tuple[str, str]]:
    """Yield each chapter that a docstring names, and the section behind it, "" for none."""
    for sentence in re.split(r"(?<=\.)\s+", " ".join(docstring.split())):
        _, book, after = sentence.partition("The book ")
        if book:
            yield from re.findall(r'(?<!section )"([^"]+)"(?:, section "([^"]+)")?', after)
        else:
            yield from ((t, "") for t in re.findall(r'\b(?:chapter|page) "([^"]+)"', sentence))


def in_docstrings() -> list[tuple[str, str, str]]:
    """Return file, chapter and section for each chapter that a docstring of the source names."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [
        (path.relative_to(ROOT).as_posix(), chapter, section)
        for path in sorted((ROOT / "src").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, kinds)
        for chapter, section in named(ast.get_docstring(node) or "")
    ]


@pytest.mark.parametrize(
    ("docstring", "chapters"),
    [
        ('One. The book explains it in "Many heads".', [("Many heads", "")]),
        ('The book explains all\nof it in "BERT". Shapes: "B".', [("BERT", "")]),
        ('The book explains it in "DETR", section "Boxes".', [("DETR", "Boxes")]),
        ('The book explains it in "A" (look-up), "B" (why).', [("A", ""), ("B", "")]),
        ('The pictures of the chapter "Scaling".', [("Scaling", "")]),
        ('Reads "x" or "y".', []),
    ],
)
def test_chapters_are_found_in_a_docstring(docstring, chapters):
    assert list(named(docstring)) == chapters


def test_docstrings_name_chapters_that_exist_or_are_planned():
    pages, coming, found = headings(), planned(), in_docstrings()
    assert len(found) > 40  # the search itself must not go blind
    for path, chapter, section in found:
        assert chapter in pages or chapter in coming, f"{path}: no chapter is called {chapter!r}"
        if section and chapter in pages:
            assert section in pages[chapter], f"{path}: {chapter!r} has no section {section!r}"


def test_the_readme_lists_the_chapters_to_come_by_the_same_names():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| Part") and line.endswith("| coming |")]
    listed = [name for row in rows for name in row.split("|")[1].split(":")[1].strip().split(", ")]
    assert set(listed) == planned()
    assert len(listed) == len(set(listed))


def test_no_two_papers_are_cited_alike():
    from pybtex.database import parse_file

    alike = defaultdict(list)
    for key, entry in parse_file(str(ROOT / "book" / "references.bib")).entries.items():
        people = [" ".join(p.prelast_names + p.last_names) for p in entry.persons.get("author", "")]
        who = f"{people[0]} et al." if len(people) > 2 else " and ".join(people)
        alike[who, entry.fields.get("year")].append(key)
    assert {label: keys for label, keys in alike.items() if len(keys) > 1} == {}
