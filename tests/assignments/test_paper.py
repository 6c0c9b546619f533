"""An assignment on paper: the questions and room to write, and no answer unless it is asked for."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from coursetools.assignments import paper
from coursetools.assignments.paper import FEWEST, as_paper, write_paper
from coursetools.assignments.sources import source
from coursetools.book import assets
from coursetools.book.formats.chromium import find_chromium
from coursetools.cli import main
from coursetools.course import Course

ROOT = Path(__file__).resolve().parents[2]
OURS = Course(ROOT)


def test_the_paper_asks_and_does_not_answer():
    title, body = as_paper(OURS, "a01_kernels")
    assert title == "Assignment 1: attention kernels" and body.count("<h2>") == 6
    assert "<th>points</th><td>of 3</td><td>of 3</td><td>of 4</td>" in body
    assert "<td>of 22</td>" in body and "Name <span></span>" in body
    assert body.count('class="line"') == 15 + 15 + 20 + 24 + 20 + 15  # a minute a line, 24 at most
    assert "def shares(scores):" in body and "raise NotImplementedError" not in body
    for word in ("raised", "check(", "submit_check", "YOUR", "SOLUTION", "find_spec", "<img"):
        assert word not in body, word
    assert 'data-tex="w_{ts}' in body and "$" not in body


def test_with_answers_it_is_for_whoever_marks():
    _, body = as_paper(OURS, "a01_kernels", answers=True)
    assert "return raised / raised.sum(" in body and 'class="line"' not in body
    assert "SOLUTION" not in body and "Name <span>" not in body
    assert body.count('<div class="answer">') == 6


def test_other_people_s_assignments_have_a_paper(classroom, capsys):
    _, body = as_paper(classroom.course, "ps1")
    assert "hidden-secret" not in body and "return x * x" not in body
    assert body.count('class="line"') == 3 * FEWEST and "<td>of 10</td>" in body
    assert main(["assignment", "paper", "ps9", "--root", str(classroom.root)]) == 1
    assert "No assignment ps9" in capsys.readouterr().err


def test_it_is_written_with_and_without_chromium(classroom):
    text = classroom.source / "ps1.ipynb"
    text.write_text(text.read_text().replace("Because.", "Because of <script> and $x^2$."))
    (path,) = write_paper(classroom.course, "ps1", answers=True, paper="letter")
    html = path.read_text()
    assert "size: letter" in html and "&lt;script&gt;" in html and "x²" in html
    program = find_chromium()
    if program is None:
        pytest.skip("needs Chromium")
    path, printed = write_paper(classroom.course, "ps1", program=program)
    assert path.name == "ps1.html" and printed.read_bytes().startswith(b"%PDF-")


@pytest.mark.parametrize(
    ("name", "number"), [("a14_t5", "first = 3"), ("a16_sagan", "margin = 1.0")]
)
def test_a_question_with_own_numbers_says_those_of_the_model_answer(name, number):
    _, body = as_paper(OURS, name)
    assert f"<code>{number}</code>" in body and "in the line below" in body
    for word in ("cell below", "variant(", "student ="):
        assert word not in body, word


def fresh(tmp_path, name: str) -> Course:
    """Return a course without a built book."""
    for folder in (f"solutions/notebooks/{name}", f"solutions/{name}"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "_config.yml", tmp_path)
    (tmp_path / "notebooks").mkdir()
    return Course(tmp_path)


@pytest.mark.parametrize("name", ["a16_sagan", "a02_scaling", "a01_kernels"])
def test_formulas_are_set_without_a_built_book(tmp_path, name, capsys):
    if assets.find() is None or find_chromium() is None:
        pytest.skip("needs Chromium, and MathJax in the cache")
    course = fresh(tmp_path, name)
    _, body = as_paper(course, name)
    assert main(["assignment", "paper", name, "--root", str(tmp_path)]) == 0
    html = (tmp_path / "_build" / "paper" / f"{name}.html").read_text()
    assert html.count("<math") == body.count("data-tex") > 0 and "data-tex" not in html
    assert "lines of text" not in capsys.readouterr().err
    if name == "a16_sagan":
        assert html.count("<munder") >= 3 and "<mfrac" in html


def test_without_mathjax_a_formula_is_a_line_of_text_and_said_to_be(tmp_path, monkeypatch, capsys):
    course = fresh(tmp_path, "a16_sagan")
    monkeypatch.setattr(paper, "_with_mathjax", lambda site: None)
    typed = ["assignment", "paper", "a16_sagan", "--root", str(tmp_path)]
    assert main(typed) == 0
    html = (tmp_path / "_build" / "paper" / "a16_sagan.html").read_text()
    assert "max(0, μ − d(x))" in html and "underset" not in re.sub('data-tex="[^"]*"', "", html)
    assert "lines of text" in capsys.readouterr().err
    path = source(course, "a16_sagan")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(r"\\sqrt{K}", r"\\xrightarrow{K}"), encoding="utf-8")
    assert main(typed) == 1  # there is no line of text for it
    assert "printed as TeX" in capsys.readouterr().err
