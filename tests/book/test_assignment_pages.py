"""An assignment is a page: what is asked, points and time, what to read, and where to get it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from coursekit._base.errors import CourseError
from coursetools.book import assignment_pages
from coursetools.book.assignment_pages import as_page, assignments, read_assignment, reading
from coursetools.book.contents import chapters
from coursetools.course import Course

ROOT = Path(__file__).resolve().parents[2]
OURS = Course(ROOT)
NAMES = sorted(path.parent.name for path in (ROOT / "notebooks/assignments").glob("*/*.ipynb"))


def released(name: str) -> dict:
    return json.loads((OURS.released(name) / f"{name}.ipynb").read_text(encoding="utf-8"))


def test_every_assignment_is_in_the_contents():
    assert [one.name for one in assignments(OURS)] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_header_says_what_its_questions_add_up_to(name):
    one = read_assignment(OURS, name)
    assert sum(float(asked.points) for asked in one.asked) == one.points
    assert one.human == sum(float(a.points) for a in one.asked if a.kind == "in words")
    assert one.chapter in chapters(OURS)
    assert "\n" not in one.title and one.about
    assert len(reading(OURS, name)) == sum(asked.kind != "in words" for asked in one.asked)


@pytest.mark.parametrize("name", NAMES)
def test_the_chapter_ends_with_its_assignment(name):
    text = OURS.page(read_assignment(OURS, name).chapter).read_text(encoding="utf-8")
    end = text.split("## What to take away")[1]
    assert f"```{{assignment}} {name}\n" in end


def test_the_page_has_a_row_a_question_and_the_notebook_s_own_text():
    notebook = released("a02_scaling")
    page = as_page(OURS, "a02_scaling", notebook)
    first = "".join(page["cells"][0]["source"])
    one = read_assignment(OURS, "a02_scaling")
    assert first.startswith("(a02_scaling)=\n# Assignment 2: scaling\n")
    assert len(re.findall(r"^\| \d+\. \{ref\}", first, re.MULTILINE)) == len(one.asked)
    assert "{download}`Download the notebook <a02_scaling.ipynb>`" in first
    assert "colab" not in first.lower() and "install" not in first
    texts = ["".join(cell["source"]) for cell in page["cells"][1:]]
    labels = [text.split("\n")[0] for text in texts if text.startswith("(a02_scaling-")]
    assert labels == [f"(a02_scaling-{n})=" for n in range(1, len(one.asked) + 1)]
    kept = ["".join(cell["source"]) for cell in released("a02_scaling")["cells"][2:]]
    assert [re.sub(r"\A\(a02_scaling-\d+\)=\n", "", text) for text in texts] == kept


def test_with_an_address_there_is_a_button_for_colab(monkeypatch):
    link = "https://colab.research.google.com/github/some/body"
    monkeypatch.setattr(assignment_pages, "colab_link", lambda path, course: link)
    first = "".join(as_page(OURS, "a02_scaling", released("a02_scaling"))["cells"][0]["source"])
    assert f"[Open it in Colab]({link})" in first


def test_a_notebook_without_the_header_is_one_sentence(tmp_path):
    path = tmp_path / "notebooks" / "assignments" / "a99" / "a99.ipynb"
    with pytest.raises(CourseError, match="No assignment a99"):
        read_assignment(Course(tmp_path), "a99")
    path.parent.mkdir(parents=True)
    cell = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "# Title\n\nText."}
    path.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4}))
    with pytest.raises(CourseError, match=r"a99.ipynb must begin with `# Title`"):
        read_assignment(Course(tmp_path), "a99")


def test_without_its_compiled_file_a_page_names_no_section():
    assert reading(OURS, "no_such_assignment") == []
