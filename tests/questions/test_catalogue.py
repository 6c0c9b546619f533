"""What the files of a question say is read, and what they fail to say is said in one sentence."""

from __future__ import annotations

import json
import re

import ours
import pytest

from coursekit._base.errors import CourseError
from coursetools.assignments.sources import source
from coursetools.questions import catalogue
from coursetools.questions.mistakes import read
from coursetools.questions.question import Case, Misconception, hidden, visible
from coursetools.questions.wrong import Edit, Whole

NAME = "a01_kernels"
FILES = dict(catalogue.texts(ours.OURS, NAME))
NOTEBOOK = source(ours.OURS, NAME).read_text(encoding="utf-8")
TEXT = """page: kernels.html#sec-kernels-regression
forbidden: attention, scipy
needs: shares, predict

Look at the rows.
Then at the columns.

## half
2 * x  ->  x
Twice as much
is asked for.

## nothing
x + y  ->

## several lines
- first
-     second
+ third
Not so.

## "another"
+ wrong = becomes(str)(mix)
"""


def mix(x):
    return 2 * x


def test_a_text_says_page_hint_and_mistakes():
    said = read(TEXT, "mix.md", mix)
    assert (said.page, said.needs) == ("kernels.html#sec-kernels-regression", ("shares", "predict"))
    assert said.hint == "Look at the rows. Then at the columns."
    assert {"scipy", "coursekit"} < set(said.forbidden)
    assert any("scaled_dot_product_attention" in name for name in said.forbidden)
    assert said.mistakes == (
        Misconception("half", Edit(mix, (("2 * x", "x"),)), "Twice as much is asked for."),
        Misconception("nothing", Edit(mix, (("x + y", ""),))),
        Misconception("several lines", Edit(mix, (("first\n    second", "third"),)), "Not so."),
        Misconception('"another"', Whole(mix, "wrong = becomes(str)(mix)")),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Look at the rows.\n", "'Look at the rows.' should be one of page, forbidden, needs"),
        ("pages: kernels\n", "'pages: kernels' should be one of page, forbidden, needs"),
        ("needs: shares\n\nLook.\n", "its first line should be page: and where the book explains"),
        ("page: a\n\nLook.\n\n## half\nTwice.\n", "below ## half should stand what our answer has"),
        ("page: a\n\nLook.\n\n## half\nx -> y\n", "below ## half should stand what our answer has"),
        ("page: a\n\nLook.\n\n## half", "below ## half should stand what our answer has"),
    ],
)
def test_a_malformed_text_is_one_sentence(text, said):
    with pytest.raises(CourseError, match="^" + re.escape(f"solutions/{NAME}/shares.md: {said}")):
        ours.reread(NAME, {"shares.md": text})


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"nobody.md": "page: a\n"}, "nobody.md belongs to no question of the notebook"),
        ({"shares.md": None}, "shares.md is missing: the page, the first hint and the mistakes"),
        ({"shares.py": None, "shares.md": None}, "shares.py is missing, the question shares"),
        ({"shares.py": "x = 1\n"}, "shares.py should define shares, our answer"),
        ({"shares.py": "def shares(:\n"}, "shares.py cannot be read: SyntaxError: "),
        ({"shares.py": "import maths\n"}, "shares.py cannot be read: ModuleNotFoundError: "),
    ],
)
def test_files_that_do_not_fit_are_one_sentence(files, said):
    with pytest.raises(CourseError, match="^" + re.escape(f"solutions/{NAME}/{said}")):
        ours.reread(NAME, files)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("easy · 15", "simple · 15", "shares is 'simple', not easy, medium, hard"),
        (
            "*3 points · easy",
            "3 points, easy",
            "above the cell shares should stand ## 1. Its",
        ),
    ],
)
def test_a_heading_that_says_too_little_is_one_sentence(old, new, said):
    with pytest.raises(CourseError, match=f"^{NAME}: {re.escape(said)}"):
        catalogue.of(NAME, NOTEBOOK.replace(old, new, 1), tuple(FILES.items()))


def test_a_notebook_says_what_a_question_is_worth():
    first, *_, last = ours.load(NAME).questions
    facts = first.title, first.points, first.difficulty, first.minutes
    assert facts == ("Scores become shares", 3, 1, 15) and last.needs
    cells = {cell["id"]: cell for cell in json.loads(NOTEBOOK)["cells"]}
    for written in ours.load(NAME).written:
        assert cells[written.name]["metadata"]["nbgrader"]["points"] == written.points


def test_nobody_asks_for_what_is_not_there():
    with pytest.raises(CourseError, match=r"^No question foretell"):
        ours.find("foretell")
    assert catalogue.of(NAME, NOTEBOOK, ()) is None


def test_a_case_is_an_ordinary_function_that_says_more():
    seen = visible("one key", tolerance=1e-3)(mix)
    assert seen is mix and mix(3) == 6 and mix.visible == Case("one key", mix, 1.0, 1e-3)
    hidden("two keys", weight=2)(mix)
    assert mix.hidden == Case("two keys", mix, 2, 1e-5)
