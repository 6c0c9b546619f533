"""A chapter that was just begun builds: form, tables, and its notebook runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest

from coursekit._base.errors import CourseError
from coursetools.book import questions_and_terms, routes
from coursetools.book.contents import chapters, title
from coursetools.book.new_chapter import PAGE, new
from coursetools.book.typed_numbers import typed_numbers
from coursetools.cli import main
from coursetools.course import Course
from coursetools.notebooks.lint import lint

ROOT = Path(__file__).resolve().parents[2]
NAME = "begun_by_a_test"  # no chapter of the course will be called so
BEGUN = [line for line in PAGE.splitlines() if len(line) > 30 and "{" not in line]


@pytest.fixture
def course(tmp_path):
    """The pages and tables of the course, without its notebooks."""
    shutil.copytree(ROOT / "book", tmp_path / "book")
    for name in ("_config.yml", "_toc.yml", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "src" / "coursekit").mkdir(parents=True)
    for path in (ROOT / "src" / "coursekit").iterdir():
        if path.name != "figures":
            (tmp_path / "src" / "coursekit" / path.name).symlink_to(path)
    shutil.copytree(ROOT / "src" / "coursekit" / "figures", tmp_path / "src/coursekit/figures")
    return tmp_path


def test_a_new_chapter_has_no_fault(course, capsys):
    code = main(["chapter", "new", NAME, "How is it begun?", "--after", "masking",
                 "--root", str(course)])  # fmt: skip
    assert code == 0
    assert capsys.readouterr().out.split() == [
        f"book/{NAME}.md", f"notebooks/{NAME}.ipynb", f"src/coursekit/figures/{NAME}.py",
        "_toc.yml", "book/index.md", "book/api/figures.md",
    ]  # fmt: skip
    order = list(chapters(Course(course)))
    assert order[order.index(NAME) - 1] == "masking" and title(Course(course), NAME)
    assert (
        questions_and_terms.check_questions(Course(course)) == []
        and routes.check_way(Course(course)) == []
    )
    assert lint(course / "notebooks" / f"{NAME}.ipynb") == []
    assert list(typed_numbers(course / "book" / f"{NAME}.md")) == []


def test_its_figures_are_in_the_reference(course):
    page = course / "book" / "api" / "figures.md"
    before = page.read_text(encoding="utf-8")
    for name in ("aaa", NAME, "zzz"):
        new(Course(course), name, f"A title of {name}", "detr")
    after = page.read_text(encoding="utf-8")
    headings = [line for line in after.splitlines() if line.startswith("## ")]
    for name in ("aaa", NAME, "zzz"):
        heading, line = f"## `figures.{name}`", f".. automodule:: coursekit.figures.{name}"
        entry = f"{heading}\n\n```{{eval-rst}}\n{line}\n```\n"
        assert entry in after
        after = after.replace(entry, "").replace("\n\n\n", "\n\n")
    assert after.rstrip() == before.rstrip()
    assert headings[0] == "## `figures.aaa`" and headings.index(f"## `figures.{NAME}`") > 1


def test_its_notebook_and_its_figure_run(course):
    new(Course(course), NAME, "How is it begun?", "detr")
    notebook = nbformat.read(course / "notebooks" / f"{NAME}.ipynb", 4)
    nbformat.validate(notebook)
    figures: dict = {}
    exec((course / f"src/coursekit/figures/{NAME}.py").read_text(), figures)
    names: dict = {}
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.id == "first":
            exec(f"import torch\n{cell.source}", names)
    assert figures["first"](names["values"]).axes[0].get_xlabel() == "position"


@pytest.mark.parametrize(
    ("name", "after", "words"),
    [
        ("Mixing!", "masking", "a word of small letters, found 'Mixing!'"),
        (NAME, "nowhere", "No chapter nowhere. Choose from kernels"),
        ("masking", "kernels", "masking.md already exists"),
    ],
)
def test_bad_input_gets_a_sentence_and_writes_nothing(course, name, after, words):
    before = {path: path.stat().st_mtime_ns for path in course.rglob("*.*") if path.is_file()}
    with pytest.raises(CourseError, match=words):
        new(Course(course), name, "A title", after)
    assert before == {
        path: path.stat().st_mtime_ns for path in course.rglob("*.*") if path.is_file()
    }


@pytest.mark.parametrize("stem", chapters(Course(ROOT)))
def test_no_chapter_has_the_words_that_it_began_with(stem):
    lines = (ROOT / "book" / f"{stem}.md").read_text(encoding="utf-8").splitlines()
    left = [line for line in BEGUN if line in lines]
    assert len(BEGUN) > 4
    assert not left, f"not finished yet: book/{stem}.md still says {left[0]!r}"
