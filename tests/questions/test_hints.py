"""The first hint of a question helps whoever has not begun, and leaves the answer to them."""

from __future__ import annotations

import re
from pathlib import Path

import ours
import pytest

from coursetools.assignments.sources import source
from coursetools.course import Course
from coursetools.notebooks.imports import read_notebook
from coursetools.questions.wrong import source_of

ROOT = Path(__file__).parents[2]
QUESTIONS = [
    pytest.param(assignment.name, question, id=question.name)
    for assignment, question in ours.everything()
]
GIVEN = 12  # characters of code, spaces left out; shorter ones are names and single calls


def bare(text):
    return re.sub(r"\s+", "", text)


def given_away(hint, answer):
    """Return the longest piece of code that the hint has in common with an answer."""
    hint, answer = bare(hint), bare(answer)
    found = ""
    for start in range(len(hint)):
        end = start + len(found) + 1
        while end <= len(hint) and hint[start:end] in answer:
            found = hint[start:end]
            end += 1
    return found


@pytest.mark.parametrize(("name", "question"), QUESTIONS)
def test_no_hint_has_a_piece_of_an_answer_in_it(name, question):
    cells = read_notebook(source(Course(ROOT), name))["cells"]
    theirs = next(
        cell["source"]
        for cell in cells
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == question.name
    )
    for answer in (source_of(question.reference), theirs):
        body = re.sub(r'"""[\s\S]*?"""|^ *(class|def) .*$|#.*$', "", answer, flags=re.M)
        piece = given_away(question.hint, body)
        assert len(piece) < GIVEN or not set(piece) & set("()[]=@*"), piece


def test_a_hint_that_gives_the_answer_away_is_seen():
    answer = "angles = places[:, None] * speeds  # (T, D / 2)"
    assert given_away("The angles are places[:, None] * speeds.", answer) == "places[:,None]*speeds"
    assert len(given_away("Each row has its place and each pair its speed.", answer)) < GIVEN
