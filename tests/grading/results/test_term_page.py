"""The page about a term: its rule names who falls behind, its numbers are those of the export."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

import pytest
from helpers import words
from hypothesis import given
from hypothesis import strategies as st

from coursekit._base.errors import CourseError
from coursetools.cli import main
from coursetools.grading.results.falling_behind import FAR, Step, behind, never
from coursetools.grading.results.term import read_term
from coursetools.grading.results.term_count import Question, count_term
from coursetools.grading.results.term_page import term_page, write_term

NAMES = ("powers", "q1", "q2", "q3")


def way(text: str) -> list[Step]:
    """Read "80 - ex open ?": percent, and the states that have none."""
    states = {"-": "missing", "ex": "excused", "open": "open", "?": "not graded"}
    return [
        Step(states[word], 0.0 if word in ("-", "open") else None)
        if word in states
        else Step("submitted", float(word) / 100)
        for word in text.split()
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("80 80 - -", "the last two not submitted"),
        ("80 80 60 60", "the last two far below their usual"),
        ("80 80 61 60", ""),
        ("80 80 - 50", "one not submitted, the other far below their usual"),
        ("80 80 - 70", ""),
        ("80 80 70 -", ""),
        ("- - 80 80", ""),  # who has caught up
        ("80 - 50 ex", "one not submitted, the other far below their usual"),
        ("80 - ex -", "the last two not submitted"),
        ("80 80 - open", ""),  # there is still time
        ("80 - - open", "the last two not submitted"),
        ("80 - ? -", "the last two not submitted"),
        ("- - - -", ""),  # who never came is listed elsewhere
        ("-", ""),
        ("20 10", ""),  # nothing earlier to compare with
        ("", ""),
    ],
)
def test_the_rule(text, why):
    steps = way(text)
    assert behind(steps, [0.7] * len(steps)) == why


@given(st.lists(st.floats(0.2, 0.8), min_size=1, max_size=8), st.floats(-0.2, 0.2))
def test_an_assignment_that_is_hard_for_everybody_brings_nobody_on_the_list(means, distance):
    steps = [Step("submitted", mean + distance) for mean in means]
    assert behind(steps, means) == ""


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.floats(0, 0.2))
def test_far_below_is_far_below(earlier, less):
    means = [0.5] * (len(earlier) + 2)
    usual = sum(earlier) / len(earlier)
    steps = [Step("submitted", share) for share in [*earlier, *[usual - FAR - less] * 2]]
    assert behind(steps, means)
    steps[-1] = Step("submitted", usual - FAR + 0.01)
    assert not behind(steps, means)


def test_never_is_never():
    assert never(way("- ex - open")) and not never(way("- 10 -"))
    assert not never(way("ex open")) and not never(way("? -")) and not never([])


@pytest.mark.parametrize(
    ("mean", "tells", "out", "said"),
    [
        (0.3, None, True, "hard; too few students, or all alike, to say more"),
        (0.3, -0.2, True, "hard, and no easier for strong students: look at the question itself"),
        (0.3, 0.2, True, "hard, and only a little easier for strong students"),
        (0.3, 0.6, True, "hard, and strong students solve it more often: more help may be all it"),
        (0.9, 0.05, True, "not hard, and no easier for strong students"),
        (0.9, 0.6, False, "not hard, and strong"),
        (0.9, None, False, "not hard; too few"),
    ],
)
def test_what_a_question_tells_is_said_in_words(mean, tells, out, said):
    question = Question("a01", "Squares", 3, mean, tells)
    assert question.stands_out is out and question.in_words.startswith(said)


@pytest.fixture
def term(classroom):
    """Four assignments; ada is steady, ben stops, cy sinks, dee never comes, eve is excused."""
    for name in NAMES[1:]:
        classroom.also(name)
    all_right = classroom.partial(right=("square", "cube"))
    for name in NAMES:
        for steady in ("ada", *(f"more{n}" for n in range(4))):
            classroom.hand_in(steady, all_right, manual=3, name=name, first=steady.title())
    for name in NAMES[:2]:
        once = all_right if name == "powers" else classroom.partial(right=("cube",))
        classroom.hand_in("ben", once, manual=3, name=name)
        classroom.hand_in("cy", all_right, manual=3, name=name)
    for name in NAMES[2:]:
        classroom.hand_in("cy", classroom.partial(), manual=0, name=name)
    classroom.student("dee")
    for name in NAMES[:3]:
        classroom.hand_in("eve", classroom.partial(right=("cube",)), manual=2, name=name)
    (classroom.folders.class_folder / "extensions.csv").write_text(
        "id,assignment,extension,why\neve,q3,excused,\nada,powers,48h,\n"
    )
    return classroom


def test_numbers_are_those_of_the_term(term):
    count = count_term(term.course, now=datetime(2030, 1, 1, tzinfo=UTC))
    assert [one.name for one in count.glances] == list(NAMES) and not count.by_deadline
    assert count.behind == {
        "ben": "the last two not submitted", "cy": "the last two far below their usual",
    }  # fmt: skip
    assert count.never == ["dee"]
    assert [step.state for step in count.ways["eve"]] == ["submitted"] * 3 + ["excused"]
    assert [step.more_time for step in count.ways["ada"]] == ["given", "", "", ""]
    assert count.sums == read_term(term.course).sums
    last = count.glances[-1]
    assert (last.handed_in, last.students) == (6, 8)
    assert last.mean == pytest.approx((5 + 3 / 9) / 6) and last.shares[0] == pytest.approx(3 / 9)
    (mistake,) = count.mistakes
    assert (mistake.name, mistake.students, mistake.again) == ("doubled", 3, 2)
    assert mistake.places == (
        ("powers", "Squares", 1), ("q1", "Squares", 2), ("q2", "Squares", 2), ("q3", "Squares", 1),
    )  # fmt: skip


def test_who_still_has_time_has_not_missed_anything(term):
    count = count_term(term.course, now=datetime(2026, 1, 1, tzinfo=UTC))
    assert count.ways["dee"][0].state == "open"  # `powers` alone has a deadline
    assert [step.state for step in count.ways["dee"][1:]] == ["missing"] * 3


def test_the_order_is_that_of_the_deadlines_where_all_have_one(classroom):
    (classroom.folders.private / "assignment.toml").write_text("due = 2026-11-20T12:00:00Z\n")
    classroom.also("q1", "2026-11-01T12:00:00Z")
    for name in ("powers", "q1"):
        classroom.hand_in("ada", classroom.partial(), name=name)
    count = count_term(classroom.course)
    assert [one.name for one in count.glances] == ["q1", "powers"] and count.by_deadline


def test_an_extension_is_used_by_whoever_comes_after_the_deadline(classroom):
    for who, late in (("ada", 5), ("bob", -5)):
        classroom.hand_in(who, classroom.partial(), hours_late=late)
    (classroom.folders.class_folder / "extensions.csv").write_text(
        "id,assignment,extension,why\nada,powers,48h,\nbob,powers,48h,\n"
    )
    count = count_term(classroom.course)
    assert {who: way[0].more_time for who, way in count.ways.items()} == {
        "ada": "used", "bob": "given",
    }  # fmt: skip
    assert "1 of 2 extensions used" in words(term_page(count))


def test_the_page_says_it(term, read_page, capsys):
    forged = dataclasses.replace(term.partial().questions[0], misconception="<script>x")
    verdict = term.partial()
    verdict = dataclasses.replace(verdict, questions=[forged, verdict.questions[1]])
    for name in NAMES[:2]:
        term.hand_in("mal", verdict, name=name, first="<b>Mal")
    assert main(["term", "--root", str(term.root), "--quiet"]) == 0
    path = term.folders.class_folder / "report" / "term.html"
    table = term.folders.export / "term.csv"
    assert capsys.readouterr().out.splitlines() == [str(path), str(table)] and table.is_file()
    page = read_page(path)
    assert "<script" not in page and "<b>Mal" not in page and "&lt;b&gt;Mal" in page
    assert 'href="../feedback/ada/q1/q1.html"' in page and 'href="q1.html"' not in page
    said = words(page)
    for part in ("10 students 4 assignments", "cy the last two far below their usual 100 100 33 33",
                 "ben the last two not submitted 100 89 – – 47.22 %",
                 "Ada ada 100 100 100 100 100 %",
                 "Nothing submitted, the whole term (1) dee", "eve 78 78 78 EX 77.78 %",
                 "Powers of numbers powers 9 of 10", "3 2 doubled powers Squares, 1",
                 "mal 33 33 – – ", "20 percentage points or more"):  # fmt: skip
        assert part in said, part


def test_an_assignments_own_page_is_linked_when_it_is_there(classroom, read_page):
    from coursetools.grading.results.report import write_report

    classroom.hand_in("ada", classroom.partial())
    write_report(classroom.course, "powers")
    page = read_page(write_term(classroom.course))
    assert 'href="powers.html"' in page and "One assignment says nothing about that yet" in page


def test_nothing_graded_is_said(classroom):
    with pytest.raises(CourseError, match="no graded assignments to add up yet"):
        write_term(classroom.course)
