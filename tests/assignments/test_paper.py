"""An assignment on paper: the questions and room to write, and no answer unless it is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from coursetools.assignments.paper import FEWEST, as_paper, write_paper
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
    assert "there is no" in capsys.readouterr().err


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
