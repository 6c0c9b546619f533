"""A wrong answer as an edit of ours, or whole: what comes of it, what is said if it fails."""

from __future__ import annotations

import inspect
import math
import traceback

import ours
import pytest

from coursekit._base.errors import CourseError
from coursetools.questions.wrong import Edit, Whole, as_cell

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


def edit(reference, old, new):
    return Edit(reference, ((old, new),))


def test_an_edit_is_ours_but_for_one_passage():
    assert edit(area, "a * b", "(a + b)").made(3, 4) == 14 and area(3, 4) == 24
    box = edit(Box, "3", "2").made(side=5)
    assert box.volume() == 25 and Box(side=5).volume() == 125
    assert edit(area, "ROOM * ", "").made(3, 4) == 12


def test_an_answer_that_calls_itself_calls_the_changed_one():
    assert edit(steps, "1 + ", "2 + ").made(5) == 10 and steps(5) == 5


def test_two_edits_make_a_third_where_they_fit_together():
    added, bare = edit(area, "a * b", "(a + b)"), edit(area, "ROOM * ", "")
    assert added.and_also(bare).made(3, 4) == bare.and_also(added).made(3, 4) == 7
    turned, short = edit(area, "ROOM * a", "a * ROOM"), edit(area, "a * b", "a")
    assert turned.and_also(short).made(3, 4) == 6  # the second first
    assert added.and_also(short) is None  # its passage is gone by then


def test_a_change_of_a_name_in_our_file_is_seen_and_ours_stays(monkeypatch):
    shorter = edit(area, "a * b", "a")
    monkeypatch.setitem(globals(), "ROOM", 10)
    assert shorter.made(3, 4) == 30
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
        edit(area, old, new).made  # noqa: B018


def test_another_answer_is_what_its_last_line_binds_and_may_use_ours():
    assert Whole(area, "def one_side(a, b):\n    return ROOM * a").made(3, 4) == 6
    assert Whole(area, "wrong = becomes(str)(area)").made(3, 4) == "24"  # of `forgotten_demands.py`
    with pytest.raises(CourseError, match=r"^a wrong area should end with the function or class"):
        Whole(area, "wrong = area\nprint()").made  # noqa: B018
    with pytest.raises(CourseError, match="is not a function or a class that a student could"):
        as_cell(Whole(area, "wrong = becomes(str)(area)"), "area")


def test_an_error_shows_the_line_of_the_edit():
    made = edit(area, "a * b", "a / 0").made
    with pytest.raises(ZeroDivisionError) as error:
        made(3, 4)
    assert "return ROOM * a / 0" in "".join(traceback.format_exception(error.value))
    assert "return ROOM * a / 0" in inspect.getsource(made)


def test_a_whole_version_brings_ours_along_into_a_cell():
    question = ours.find("MultiHead")[1]
    mistake = next(m for m in question.misconceptions if m.name.startswith("neither"))
    text = as_cell(mistake.wrong, "MultiHead")
    assert text.count("class right_MultiHead(") == text.count("class MultiHead(right_") == 1
    assert "super().__init__()" in text and "BothByView" not in text


def test_nothing_is_compiled_before_it_is_asked_for():
    """A notebook whose answers are right pays nothing for the wrong ones."""
    added = edit(area, "a * b", "(a + b)")
    assert vars(added).keys() == {"reference", "changes"}
    assert added.made is added.made
