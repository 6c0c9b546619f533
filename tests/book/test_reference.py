"""The reference of `coursekit`: all of it is there, and says where the book explains it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from coursetools.book import contents
from coursetools.book.reference import chapters_of, for_docutils, home_of
from coursetools.course import Course

ROOT = Path(__file__).resolve().parents[2]
OURS = Course(ROOT)
LISTED = re.compile(r"automodule:: (\S+)(\n   :no-members:)?")
INSIDE = ("_base", "submission")  # rooms that no learner imports
NO_CHAPTER = "coursekit.figures."  # how all chapters draw


def listed() -> list[str]:
    """Return the files whose functions and classes stand on a page of the reference."""
    pages = sorted((ROOT / "book" / "api").glob("*.md"))
    return [name for page in pages for name, introduced in LISTED.findall(page.read_text())
            if not introduced]  # fmt: skip


def public(path: Path) -> list[str]:
    kinds = (ast.FunctionDef, ast.ClassDef)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [n.name for n in tree.body if isinstance(n, kinds) and not n.name.startswith("_")]


def test_every_public_file_is_on_one_page():
    files = set()
    for path in (ROOT / "src" / "coursekit").rglob("*.py"):
        parts = path.relative_to(ROOT / "src").with_suffix("").parts
        if parts[1].startswith("__") or parts[1] in INSIDE or not public(path):
            continue
        files.add(".".join(parts).removesuffix(".__init__"))
    files -= {name for name in files if name.startswith("coursekit.check.")}
    named = listed()
    assert len(named) == len(set(named))
    missing = ", ".join(sorted(files - set(named)))
    assert not missing, (
        f"not finished yet: no page of book/api has an `automodule` line for {missing}"
    )
    shown = {f"coursekit.check.{name}" for name in ("catching", "checking", "handin")}
    assert set(named) - files == shown


def test_every_file_says_where_the_book_explains_it():
    silent = [name for name in listed() if not chapters_of(OURS, name)]
    assert all(name.startswith(NO_CHAPTER) for name in silent)


def test_a_title_in_a_docstring_is_the_title_of_a_page():
    """`The book explains it in "Masking"`: the names behind it are pages."""
    titles = {contents.title(OURS, path.stem) for path in (ROOT / "book").glob("*.md")}
    titles |= {section.title for section in contents.sections(OURS).values()}
    said = re.compile(r"[Bb]ook (?:explains|shows|draws)[^.]*? in ((?:[^.]|\.\S)*)\.")
    for name in listed():
        path = ROOT / "src" / Path(*name.split("."))
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        docstring = " ".join((ast.get_docstring(ast.parse(path.read_text())) or "").split())
        for sentence in said.findall(docstring):
            for title in re.findall(r"\"([^\"]+)\"", sentence):
                assert title in titles, (name, title)


def test_weights_are_explained_where_their_model_is():
    assert chapters_of(OURS, "coursekit.models.weights.swin") == [("swin", "Swin")]


def test_a_name_that_a_room_hands_out_is_at_home_in_its_file():
    assert home_of(OURS, "coursekit.models.GPT") == "coursekit.models.gpt.GPT"
    assert home_of(OURS, "coursekit.data.punctuation.tag_pieces") == (
        "coursekit.data.punctuation.tag_pieces"  # the room hands out a function of that name, too
    )


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("`mask` is boolean", "``mask`` is boolean"),
        ("*args and a | b", r"\*args and a \| b"),
        ("`x_` ends with _", r"``x_`` ends with \_"),
        ("snake_case stays", "snake_case stays"),
        (r"the names \p{L}", r"the names \\p{L}"),
    ],
)
def test_a_docstring_has_one_kind_of_markup(docstring, expected):
    assert for_docutils(docstring) == expected
