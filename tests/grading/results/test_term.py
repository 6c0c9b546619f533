"""A term adds up to what a teaching assistant would say on a sheet of paper."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursekit._base.errors import CourseError
from coursetools.cli import main
from coursetools.grading.results.term import TermRules, read_term, total_of

SHARES = st.lists(
    st.tuples(st.uuids().map(str), st.floats(0, 1), st.floats(0.1, 10)), min_size=1, max_size=6
)


@given(SHARES, st.integers(0, 7))
def test_a_total_lies_between_the_lowest_and_the_highest_share(shares, drop):
    own = total_of(shares, drop)
    among = [share for _, share, _ in shares]
    assert 100 * min(among) - 0.01 <= own.total <= 100 * max(among) + 0.01
    assert own.total >= total_of(shares, 0).total - 0.01
    assert len(own.dropped) == min(drop, len(shares) - 1)
    assert total_of(shares[::-1], drop).dropped == own.dropped


def test_the_lowest_is_dropped_and_weights_count():
    shares = [("a", 0.5, 1.0), ("b", 1.0, 3.0), ("c", 0.0, 1.0)]
    assert total_of(shares, 0).total == 70
    assert (total_of(shares, 1).total, total_of(shares, 1).dropped) == (87.5, ("c",))
    assert total_of(shares, 5).total == 100  # one stays
    assert total_of([], 1).total is None and total_of([("a", 1.0, 0.0)], 0).total is None


def settings(classroom, text: str) -> None:
    (classroom.folders.class_folder / "class.toml").write_text(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[term]\ndrop = -1", "drop is -1; it should be a whole number"),
        ("[term]\ndrops = 1", "unknown drops; expected drop, weights"),
        ("[term.weights]\npower = 1", "unknown power; expected powers"),
        ("[term.weights]\npowers = -1", "powers is -1; it should be a number from 0"),
        ("[term]\nweights = 3", "should be a table"),
    ],
)
def test_settings_that_cannot_be_meant_are_named(classroom, text, said):
    settings(classroom, text)
    with pytest.raises(CourseError, match=r"class\.toml.*\[term") as error:
        TermRules.of(classroom.course)
    assert said in str(error.value)


def test_who_is_not_graded_has_no_total_and_is_named(classroom, capsys):
    with pytest.raises(CourseError, match="no graded assignments to add up yet"):
        read_term(classroom.course)
    classroom.hand_in("ada", classroom.partial(), manual=3)
    classroom.hand_in("int", classroom.empty("INTERNAL", "ours"))
    classroom.hand_in("bob", classroom.partial())
    classroom.student("never")
    term = read_term(classroom.course)
    assert {who: own.total for who, own in term.sums.items()} == {
        "ada": 66.67, "bob": 33.33, "int": None, "never": 0,
    }  # fmt: skip
    assert main(["export", "--all", "--root", str(classroom.root)]) == 0
    said = capsys.readouterr()
    assert "powers: not graded, so without a total: 1 (int)" in said.err
    assert "powers: 1 student with written answers that are not marked yet" in said.err
    assert said.out.strip().endswith("term.csv")
    rows = (classroom.folders.export / "term.csv").read_text(encoding="utf-8-sig").splitlines()
    assert '"int","","","","","","","",""' in rows


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name an assignment, or use --all"),
        (["powers", "--all"], "name an assignment, or use --all"),
        (["--all", "--title", "x"], "--title needs one assignment"),
        (["--all", "--format", "moodle"], "a term can be exported as csv or canvas, not as moodle"),
    ],
)
def test_what_does_not_go_together_is_said(classroom, capsys, words, said):
    assert main(["export", *words, "--root", str(classroom.root)]) == 1
    assert said in capsys.readouterr().err
