"""A chapter that was just begun builds: form, tables, and its notebook runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest

from coursekit._base.errors import CourseError
from coursetools.book import questions_and_terms, routes
from coursetools.book.contents import chapters, title
from coursetools.book.new import new
from coursetools.book.typed_numbers import typed_numbers
from coursetools.cli import main
from coursetools.course import Course
from coursetools.notebooks.lint import lint

ROOT = Path(__file__).resolve().parents[2]


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
    code = main(["chapter", "new", "mixing", "How do tokens mix?", "--after", "masking",
                 "--root", str(course)])  # fmt: skip
    assert code == 0
    assert capsys.readouterr().out.split() == [
        "book/mixing.md", "notebooks/mixing.ipynb", "src/coursekit/figures/mixing.py",
        "_toc.yml", "book/index.md",
    ]  # fmt: skip
    order = list(chapters(Course(course)))
    assert order[order.index("mixing") - 1] == "masking" and title(Course(course), "mixing")
    assert (
        questions_and_terms.check_questions(Course(course)) == []
        and routes.check_way(Course(course)) == []
    )
    assert lint(course / "notebooks" / "mixing.ipynb") == []
    assert list(typed_numbers(course / "book" / "mixing.md")) == []


def test_its_notebook_and_its_figure_run(course):
    new(Course(course), "mixing", "How do tokens mix?", "detr")
    notebook = nbformat.read(course / "notebooks" / "mixing.ipynb", 4)
    nbformat.validate(notebook)
    figures: dict = {}
    exec((course / "src/coursekit/figures/mixing.py").read_text(), figures)
    names: dict = {}
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.id == "first":
            exec(f"import torch\n{cell.source}", names)
    assert figures["first"](names["values"]).axes[0].get_xlabel() == "position"


@pytest.mark.parametrize(
    ("name", "after", "words"),
    [
        ("Mixing!", "masking", "a word of small letters, found 'Mixing!'"),
        ("mixing", "nowhere", "there is no chapter nowhere; there are kernels"),
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
