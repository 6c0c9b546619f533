"""Copies are found however they are dressed up, and what everybody writes is not."""

from __future__ import annotations

import html
import json
import random
import shutil
import time

import pytest

from coursekit._base.errors import CourseError
from coursetools.grading.fingerprints import fingerprints
from coursetools.grading.own_answers import OURS, Likeness
from coursetools.grading.results.similarity import find_similar, similar_pairs, write_similarity

COPIED = '''
def square(number):
    """The square, by a sum of odd numbers."""
    total = 0
    for position in range(abs(number)):
        total = total + 2 * position + 1
    if number == 0:
        return 0
    return total


def helper(values, shift=3):
    found = [value + shift for value in values if value % 2 == 1]
    return sorted(found, reverse=True)[:shift]
'''
DISGUISED = """
# my very own work
def zz(aaa, b = 3):
    cc = [q + b for q in aaa if q % 2 == 1]  # a comment
    return sorted(cc,
                  reverse=True)[:b]

def square(x: int) -> int:
    import math
    s = 0

    for i in range(abs(x)):
        # odd numbers
        s = s + 2 * i + 1
    if x == 0: return 0
    return s
"""
OTHER = """
def square(x):
    low, high = 0, x * x + 1
    while low < high - 1:
        middle = (low + high) // 2
        if middle > x * x:
            high = middle
        else:
            low = middle
    return low
"""
USUAL = (
    "def square(x):\n    y = x * x\n    if y < 0:\n        raise ValueError(y)\n    return y + 0\n"
)


def of(source: str) -> frozenset[int]:
    return frozenset(fingerprints({"square": source}))


def test_renaming_order_layout_and_comments_change_nothing() -> None:
    assert len(of(COPIED)) > 8
    assert of(COPIED) == of(DISGUISED)
    assert not of(COPIED) & of(OTHER)


def test_a_changed_line_leaves_the_rest_alike() -> None:
    changed = COPIED.replace("return 0", "return int(0.0)")
    assert len(of(COPIED) & of(changed)) > len(of(COPIED)) / 2
    assert of(changed) != of(COPIED)


@pytest.mark.parametrize("source", ["", "def (", "x = 1", "\0", "(" * 5000, "-" * 50_000 + "1",
                                    "a = " + "+".join("1" * 5000), "\ud800"])  # fmt: skip
def test_whatever_is_handed_in_has_fingerprints_or_none(source: str) -> None:
    assert isinstance(of(source), frozenset)


def test_copies_come_first_and_what_many_write_does_not_count(classroom, read_page) -> None:
    for position in range(12):
        classroom.hand_in(f"s{position:02}", classroom.partial(answers={"square": USUAL}))
    classroom.hand_in("copy", classroom.partial(answers={"square": DISGUISED}), first="Ann")
    classroom.hand_in("orig", classroom.partial(answers={"square": COPIED}))
    classroom.hand_in("own", classroom.partial(answers={"square": OTHER}))
    similar = find_similar(classroom.course, classroom.name)
    pairs, answers = similar.pairs, similar.answers
    assert [(pair.one, pair.other) for pair in pairs] == [("copy", "orig")]
    assert pairs[0].alike == 1
    assert answers["orig"]["square"].strip() == COPIED.strip()
    path, _ = write_similarity(classroom.course, classroom.name)
    page = read_page(path)
    assert "This is no proof" in page and "Ann" in page
    assert page.count('class="same"') > 10
    assert "<bdi>own</bdi>" not in page


def old(classroom, square: str) -> str:
    """Return a notebook of an earlier year."""
    notebook = json.loads((classroom.folders.source / "powers.ipynb").read_text())
    next(one for one in notebook["cells"] if one["id"] == "id-square")["source"] = square
    return json.dumps(notebook)


def test_earlier_years_are_compared_with_this_one_and_not_with_each_other(classroom, tmp_path):
    for position in range(12):
        classroom.hand_in(f"s{position:02}", classroom.partial(answers={"square": USUAL}))
    classroom.hand_in("copy", classroom.partial(answers={"square": DISGUISED}))
    assert find_similar(classroom.course, classroom.name).pairs == []
    years = tmp_path / "2025"
    for place, text in (
        ("submitted/ann/powers/powers.ipynb", old(classroom, COPIED)),
        ("submitted/bob/powers/powers.ipynb", old(classroom, OTHER)),
        ("submitted/cat/powers/powers.ipynb", old(classroom, OTHER)),
        ("submitted/dee/powers/powers.ipynb", "no notebook"),
        ("submitted/eve/powers/powers.ipynb", old(classroom, COPIED)),  # ann's group
        ("attempts/ann/powers/first/powers.ipynb", old(classroom, DISGUISED)),
        ("submitted/ann/other/other.ipynb", old(classroom, DISGUISED)),
    ):
        (years / place).parent.mkdir(parents=True)
        (years / place).write_text(text)
    shutil.make_archive(str(tmp_path / "kept"), "zip", years)
    loose = tmp_path / "loose"
    loose.mkdir()
    (loose / "ann smith.ipynb").write_text(old(classroom, COPIED))
    for path, name in (
        (years, "2025: ann, eve"),
        (tmp_path / "kept.zip", "kept.zip: ann, eve"),
        (loose, "loose: ann smith.ipynb"),
    ):
        similar = find_similar(classroom.course, classroom.name, also=[path])
        assert [(one.one, one.other) for one in similar.pairs] == [(name, "copy")] or [
            (one.one, one.other) for one in similar.pairs
        ] == [("copy", name)]
        assert similar.earlier == (1 if path == loose else 2)
        assert similar.answers[name]["square"].strip() == COPIED.strip()
    write_similarity(classroom.course, classroom.name, also=[years])
    for path, said in ((tmp_path / "none", "cannot be read"), (loose / "x", "cannot be read")):
        with pytest.raises(CourseError, match=said):
            find_similar(classroom.course, classroom.name, also=[path])
    (tmp_path / "empty").mkdir()
    with pytest.raises(CourseError, match="has no readable notebook of powers"):
        find_similar(classroom.course, classroom.name, also=[tmp_path / "empty"])


def test_the_stub_of_the_release_is_nobodys_own(classroom) -> None:
    path = classroom.folders.source / "powers.ipynb"
    notebook = json.loads(path.read_text())
    given = COPIED.replace("    return total", "    ### BEGIN SOLUTION\n    pass\n"
                           "    ### END SOLUTION\n    return total")  # fmt: skip
    next(one for one in notebook["cells"] if one["id"] == "id-square")["source"] = given
    path.write_text(json.dumps(notebook))
    kept = given.replace("### ", "# ").replace("    pass\n", "")
    for who, answer in (("ada", kept), ("bob", kept), ("cem", USUAL), ("dan", OTHER)):
        classroom.hand_in(who, classroom.partial(answers={"square": answer, "cube": ""}))
    pairs = find_similar(classroom.course, classroom.name).pairs
    assert pairs == []


def test_hostile_source_is_shown_as_text(classroom, read_page) -> None:
    hostile = f"'</span></pre><script>PWNED</script>'\n{COPIED}"
    classroom.hand_in("<b>a", classroom.partial(answers={"square": hostile}), gradebook=False)
    classroom.hand_in("b", classroom.partial(answers={"square": hostile}))
    for position in range(4):
        classroom.hand_in(f"s{position}", classroom.partial())
    page = read_page(write_similarity(classroom.course, classroom.name)[0])
    assert "PWNED" in page and "<script" not in page


def test_time_grows_with_the_class_and_not_with_its_square() -> None:
    """Ten copies hidden among 4,000 students are found in seconds."""
    dice = random.Random(0)
    common = [dice.getrandbits(64) for _ in range(200)]
    prints = {}
    for position in range(4000):
        own = {dice.getrandbits(64) for _ in range(15)}
        prints[f"s{position:04}"] = own | set(dice.sample(common, 25))
    for position in range(10):
        prints[f"s{position * 2:04}"] = set(prints[f"s{position * 2 + 1:04}"])
    start = time.process_time()
    pairs = similar_pairs(prints)
    assert time.process_time() - start < 10
    assert {(pair.one, pair.other) for pair in pairs} == {
        (f"s{2 * p:04}", f"s{2 * p + 1:04}") for p in range(10)
    }


def test_answers_that_are_the_courses_own_come_first(classroom, read_page, monkeypatch) -> None:
    """What counts as one is in test_own_answers.py; these two lines would be too short."""

    class Ours:
        def like(self, answers):
            if "x * x" in answers["square"]:
                yield Likeness("square", OURS, 0.9)

    monkeypatch.setattr("coursetools.grading.results.similarity._ours", lambda folders: Ours())
    classroom.hand_in("ada", classroom.partial())
    own = {"square": "def square(x):\n    return x * x"}
    classroom.hand_in("bob", classroom.partial(answers=own))
    similar = find_similar(classroom.course, classroom.name)
    assert similar.own == [("bob", Likeness("square", OURS, 0.9))]
    page = read_page(write_similarity(classroom.course, classroom.name)[0])
    assert "Like the course's own" in page and OURS in html.unescape(page)
