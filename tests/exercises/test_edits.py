"""A wrong answer as an edit of ours: what comes of it, and what is said where it does not fit."""

from __future__ import annotations

import inspect
import math
import traceback

import pytest

from coursekit.errors import CourseError
from coursekit.exercises import catalogue
from coursekit.exercises.edits import Edit, as_cell
from coursekit.exercises.question import Question

ROOM = 2


def area(a, b):
    """A room larger than it is."""
    return ROOM * a * b


def steps(n):
    return 1 + steps(n - 1) if n else 0


class Box:
    def __init__(self, *, side):
        super().__init__()
        self.side = side

    def volume(self):
        return math.pow(self.side, 3)


def test_an_edit_is_ours_but_for_one_passage():
    assert Edit(area, "a * b", "(a + b)").made(3, 4) == 14 and area(3, 4) == 24
    box = Edit(Box, "3", "2").made(side=5)
    assert box.volume() == 25 and Box(side=5).volume() == 125
    assert Edit(area, "ROOM * ", "").made(3, 4) == 12


def test_an_answer_that_calls_itself_calls_the_changed_one():
    assert Edit(steps, "1 + ", "2 + ").made(5) == 10 and steps(5) == 5


def test_a_change_of_a_name_in_our_file_is_seen_and_ours_stays(monkeypatch):
    edit = Edit(area, "a * b", "a")
    monkeypatch.setitem(globals(), "ROOM", 10)
    assert edit.made(3, 4) == 30
    assert globals()["area"] is area


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("a - b", "a", "'a - b' stands 0 times in our area, expected once"),
        ("a", "b", "'a' stands 6 times in our area, expected once"),
        ("a * b", "a *", "'a *' in place of 'a * b' makes no Python of our area: invalid syntax"),
    ],
)
def test_what_does_not_fit_is_said(old, new, said):
    with pytest.raises(CourseError, match="^" + said.replace("*", r"\*")):
        Edit(area, old, new).made  # noqa: B018


def test_one_half_of_an_edit_is_said():
    question = Question(
        name="area", title="", points=1, difficulty=1, minutes=1, hint="", page="", reference=area
    )
    with pytest.raises(CourseError, match="the mistake 'sum' has one of old and new"):
        question.mistake("sum", old="a * b", hint="")
    question.mistake("sum", old="a * b", new="(a + b)", hint="A room is a product.")

    @question.mistake("one side", hint="Which other side?")
    def one_side(a, b):
        return 2 * a

    found = [(mistake.name, mistake.answer(3, 4)) for mistake in question.misconceptions]
    assert found == [("sum", 14), ("one side", 6)]


def test_an_error_shows_the_line_of_the_edit():
    made = Edit(area, "a * b", "a / 0").made
    with pytest.raises(ZeroDivisionError) as error:
        made(3, 4)
    assert "return ROOM * a / 0" in "".join(traceback.format_exception(error.value))
    assert "return ROOM * a / 0" in inspect.getsource(made)


def test_a_whole_version_loses_its_decorator_in_a_cell():
    question = catalogue.find("MultiHead")[1]
    mistake = next(m for m in question.misconceptions if m.name.startswith("neither"))
    text = as_cell(mistake.wrong, "MultiHead")
    assert text.count("class MultiHead(") == 2 and "QUESTION" not in text


def test_nothing_is_compiled_before_it_is_asked_for():
    """A notebook whose answers are right pays nothing for the wrong ones."""
    edit = Edit(area, "a * b", "(a + b)")
    assert vars(edit).keys() == {"reference", "old", "new"}
    assert edit.made is edit.made
