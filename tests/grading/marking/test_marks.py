"""What is taken of tables of marks and what is not, what counts of several, how they agree."""

from __future__ import annotations

import csv
import itertools
from types import SimpleNamespace

import pytest

from coursekit._base.errors import CourseError
from coursetools.grading.gradebook.enter_points import Given
from coursetools.grading.marking import marks_to_points as collecting
from coursetools.grading.marking.answers import Answer, InWords, alike, code_of
from coursetools.grading.marking.marks_csv import Mark, read_marks
from coursetools.grading.marking.marks_to_points import (
    agreed,
    check_marks,
    counted_mark,
    remark,
    weighted_kappa,
)
from coursetools.grading.results import scores
from coursetools.grading.results.outline import Part
from coursetools.questions.rubric import Item, Rubric

RUBRIC = Rubric((Item("signs", 1, "Signs."), Item("why", 2.5, "Why."), Item("odd", -1, "Odd.")))
CODE = code_of("ps1", "why", "Because.")
ANSWER = Answer(CODE, "Because.", ("ada",))
PART = Part(cell="why", title="Why", points=3, written=True)
ASKED = InWords("why", "ps1", PART, "", "", RUBRIC, (ANSWER,))
GOOD = [CODE, "why", "mia", "signs", "1", "Well."]


def read(tmp_path, *rows, header="code,question,marker,items,points,comment"):
    path = tmp_path / "m.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header.split(","), *rows])
    return read_marks([path], [ASKED])


def test_a_table_is_read(tmp_path):
    row = [CODE, "why", " mia ", "why  signs", "2,5", "Well,\nnearly."]
    marks, wrong = read(tmp_path, row, row)
    assert wrong == [] and marks["why", CODE] == [
        Mark("mia", ("signs", "why"), 2.5, "Well,\nnearly.")
    ]


@pytest.mark.parametrize(
    ("items", "points"), [("signs", 1), ("signs why", 3), ("odd", 0), ("why odd", 1.5)]
)
def test_points_that_are_left_out_follow_from_the_items(tmp_path, items, points):
    marks, wrong = read(tmp_path, [CODE, "why", "mia", items, "", ""])
    assert wrong == [] and marks["why", CODE][0].points == points


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        (
            0,
            "bbbbbbbbbb",
            "no answer to why has the code 'bbbbbbbbbb'; if the student has submitted",
        ),
        (1, "what", "'what' is not a written question of this assignment; it has why"),
        (2, "", "the column marker is empty; it should say who marked"),
        (3, "signs else", "'else' is not in the rubric of why, which has signs, why, odd"),
        (4, "3.5", "points must be a number from 0 to 3, got '3.5'"),
        (4, "nan", "points must be a number from 0 to 3, got 'nan'"),
        (4, "-1", "points must be a number from 0 to 3, got '-1'"),
        (4, "one", "points must be a number from 0 to 3, got 'one'"),
    ],
)
def test_a_row_that_is_not_clear_is_named(tmp_path, column, value, said):
    row = [*GOOD[:column], value, *GOOD[column + 1 :]]
    (told,) = read(tmp_path, GOOD, row)[1]
    assert told.startswith(f"{tmp_path}/m.csv, line 3: {said}")


def test_one_marker_gives_one_mark(tmp_path):
    (told,) = read(tmp_path, GOOD, [*GOOD[:4], "2", ""])[1]
    assert told.endswith("mia gives 2 points here, but 1 above; keep one of the "
                         "two rows")  # fmt: skip


def test_a_column_that_is_missing_is_named(tmp_path):
    with pytest.raises(CourseError, match=r"m\.csv, line 1: there is no column called marker"):
        read(tmp_path, header="code,question,items,points")


def mark(points, marker="mia", *items, comment=""):
    return Mark(marker, items, points, comment)


@pytest.mark.parametrize(
    ("points", "counts"),
    [((2,), 2), ((2, 3), 2.5), ((1, 3), None), ((0, 3, 1), 1), ((0, 3, 0), 0), ((3, 0, 2.5), 2.5)],
)
def test_the_median_counts_and_two_that_are_far_apart_wait(points, counts):
    marks = [mark(one, f"m{at}") for at, one in enumerate(points)]
    assert counted_mark(ASKED, marks).points == counts


@pytest.mark.parametrize(
    ("manual", "waits", "new", "differs"),
    [(None, True, 1, 0), (2, False, 1, 1), (2, True, 1, 0), (1, False, 0, 0)],
)
def test_points_count_as_given_until_the_student_hands_in_again(
    monkeypatch, manual, waits, new, differs
):
    there = scores.Mark(manual=manual, waits=waits)
    book = scores.Book({"ada": scores.Student("ada", marks={"ps1": {"why": there}})})
    monkeypatch.setattr(collecting, "read_gradebook", lambda _: book)
    given = {("ada", "ps1", "why"): Given(1.0, "", "mia")}
    found = collecting._new(SimpleNamespace(name="ps1"), [ASKED], given)
    assert (len(found[0]), len(found[1])) == (new, differs)


def test_the_student_reads_what_was_found_and_the_comments():
    said = remark(ASKED, [mark(1, "mia", "signs", comment="See <b>p. 3</b>.")], 1)
    assert said == (
        "What we looked for:\n\n- ✓ Signs. (1 point)\n- – Why. (2.5 points)\n\nSee < b>p. 3< /b>."
    )
    assert "- ✗ Odd. (-1 points)" in remark(ASKED, [mark(0, "mia", "odd")], 0)
    assert "As a whole it was given 2 points." in remark(ASKED, [mark(2, "mia", "signs")], 2)
    both = [mark(1, "mia", "signs", comment="Why?"), mark(0, "tom", comment="Why?")]
    assert remark(ASKED, both, 0.5) == (
        "What we looked for:\n\n- ✓ Signs. (1 point, found by 1 of 2 readers)\n"
        "- – Why. (2.5 points)\n\n2 people have read this answer; the mean counts.\n\nWhy?"
    )


def test_kappa_is_that_of_scikit_learn():
    first, second = [0, 1, 2, 3, 3, 2, 1, 0, 3, 3], [0, 2, 2, 3, 1, 2, 1, 1, 3, 2]
    expected = 0.6788990825688074  # sklearn.metrics.cohen_kappa_score(…, weights="quadratic")
    assert weighted_kappa(first, second) == pytest.approx(expected)
    assert weighted_kappa(second, first) == pytest.approx(expected)


def test_kappa_at_its_ends():
    assert weighted_kappa([0, 1, 2], [0, 1, 2]) == 1
    every = list(itertools.product((0, 1, 2), repeat=2))  # as if by lot
    assert weighted_kappa(*zip(*every)) == pytest.approx(0)
    assert weighted_kappa([0, 2], [2, 0]) == -1
    assert weighted_kappa([1, 1], [1, 1]) is None


def test_agreement_is_of_the_answers_that_both_have_read():
    marks = {("why", "a"): [mark(3), mark(3, "tom")], ("why", "b"): [mark(1)],
             ("why", "c"): [mark(0), mark(1, "tom")], ("other", "a"): [mark(3), mark(0, "tom")],
             ("why", "d"): [mark(2, "lea")]}  # fmt: skip
    assert agreed(ASKED, marks) == [
        "why, mia and tom: 2 answers, 50 % alike, mia -0.50 points on average, weighted kappa 0.86"
    ]


def answers(*texts):
    return [Answer(code_of("a", "q", text), text, ("x",)) for text in texts]


def test_answers_with_the_same_words_stand_together():
    one = "the rows of the result are shuffled in the same way as the rows of x and nothing else"
    other = "a weight depends on two words alone and never on the places at which these words stand"
    given = answers(one, other, one.replace("nothing", "Nothing"), "no", one + " changes", "!", "?")
    found = [[given.index(answer) for answer in group] for group in alike(given)]
    assert found == [[0, 2, 4], [1], [3], [5, 6]]


def test_a_code_is_letters_and_follows_from_the_text_alone():
    code = code_of("ps1", "why", "Because.")
    assert code == code_of("ps1", "why", "Because.") and code.isalpha() and len(code) == 10
    others = [("ps2", "why", "Because."), ("ps1", "what", "Because."), ("ps1", "why", "because")]
    assert len({code, *(code_of(*one) for one in others)}) == 4


# --- With a gradebook ---


def test_the_same_table_again_changes_nothing_and_other_points_are_not_written_over(desk, capsys):
    table = desk.table("mia", ada=("signs square cube", 5), eve=("", 1))
    desk.type("collect", "ps1", table)
    desk.type("collect", "ps1", table)
    assert capsys.readouterr().out == (
        f"{table}: marks (2 rows)\n2 distinct answers marked, covering 3 students\n"
        f"{table}: marks (2 rows)\n0 answers marked, 3 already had these points\n"
    )
    assert desk.formgrader("eve") == (1, False, "What we looked for:\n\n" + "\n".join(
        f"- – {item}" for item in (
            "A square is never negative; a cube has the sign of its number. (1 point)",
            "Two factors of one sign have a product that is not negative. (2 points)",
            "The third factor brings the sign back. (2 points)",
        )) + "\n\nAs a whole it was given 1 point.\n\n=1+1 is no reason.")  # fmt: skip
    desk.enter("ada", 4)
    desk.type("collect", "ps1", desk.table("mia", ada=("", 3), ben=("", 2)), code=1)
    said = capsys.readouterr().err
    ada = desk.codes["ada"]
    assert f"why {ada} already has 4 points by hand, but in this table 3; add --force" in said
    assert "no marks were stored" in said and "ada" not in said.replace(ada, "")
    assert desk.formgrader("ben")[:2] == (0, True)
    desk.type("collect", "ps1", "ps1-why-mia.csv", "--force")
    said = capsys.readouterr().out
    assert f"--force: replaced points given by hand: 1 (why {ada}: 4 points, now 3)" in said
    assert [desk.formgrader(who)[0] for who in ("ada", "ben", "cy")] == [3, 2, 3]


def test_an_override_stays_before_a_mark_which_comes_back_when_it_goes(desk, capsys):
    why = ("--student", "ben", "--why", "Asked.")
    desk.type("override", "ps1", "why", "4.5", *why)
    desk.type("collect", "ps1", desk.table("mia", ben=("signs", 4.5)))
    assert desk.formgrader("ben")[0] == 4.5
    desk.type("override", "ps1", "why", "none", *why[:2])
    assert desk.formgrader("ben")[:2] == (4.5, False)  # and not as it was before the override


def test_a_mark_for_who_is_not_in_the_gradebook_is_refused(desk, monkeypatch):
    monkeypatch.setattr(collecting, "read_gradebook", lambda _: scores.Book())
    with pytest.raises(CourseError, match="is not in the gradebook; run coursekit grade ps1 first"):
        check_marks(desk.folders, [desk.table("mia", ben=("signs", ""))], print)


def test_those_who_share_an_answer_have_one_line(desk, capsys):
    desk.type("collect", "ps1", desk.table("mia", ada=("", 5), eve=("", 1)))
    desk.type("collect", "ps1", desk.table("mia", ada=("", 3), eve=("", 2)), code=1)
    said = capsys.readouterr().err
    assert (
        said.count(f"why {desk.codes['ada']} already has 5 points by hand, but in this table 3")
        == 1
    )
    assert f"why {desk.codes['eve']} already has 1 point by hand, but in this table 2" in said
    assert "no marks were stored: fix the 2 rows" in said  # ada's answer is cy's, too
