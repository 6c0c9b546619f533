"""The real table tells the truth, and a table that does not is found out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coursekit._base.errors import CourseError
from coursetools.book import lecture_map
from coursetools.course import Course

ROOT = Path(__file__).resolve().parents[2]
HEADER = ",".join(lecture_map.COLUMNS)
GOOD = (
    "L0,what a wave is,waves,sec-waves,rises and falls,coursekit.sea.Wave.height,"
    "tests/test_sea.py::test_up,built"
)
PAGE = """# Waves

Water rises and falls.

(sec-waves)=
## High ones

Water {term}`rises <tide>`
and *falls*, says {cite:t}`sailor`.

### By hand

% a comment about foam
It is {glue:text}`sea.ipynb::height:d` metres high.

```{notebook-figure} sea.ipynb::crest
:name: fig-crest
A breaker.
```

(sec-foam)=
### Foam

White.

## Check yourself

Is it white?
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in {
        "book/waves.md": PAGE,
        "src/coursekit/sea.py": (
            "from math import tau\nclass Wave:\n    deep: bool = True\n"
            "    def height(self): ...\nif tau:\n    def tide(): ...\n"
        ),
        "src/coursekit/shore/__init__.py": "SAND = 1\n",
        "tests/test_sea.py": (
            "def test_up(): ...\ndef helper(): ...\nclass TestDown:\n    def test_far(self): ...\n"
        ),
        "tests/empty.py": "def helper(): ...\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def check(root: Path, *rows: str) -> list[str]:
    lecture_map.table_path(Course(root)).write_text("\n".join([HEADER, *rows]) + "\n")
    return lecture_map.check_rows(Course(root))


def test_every_row_of_the_course_holds():
    assert lecture_map.check_rows(Course(ROOT)) == []


def test_the_course_has_rows_of_every_deck_and_all_are_built():
    rows = lecture_map.read_rows(Course(ROOT))
    assert {row.deck for row in rows} == set(lecture_map.DECKS)
    assert {row.state for row in rows} == {"built"}


def test_every_deck_has_its_place_on_the_page():
    page = (ROOT / "book" / "lecture_map.md").read_text(encoding="utf-8")
    for deck, title in lecture_map.DECKS.items():
        assert f"## {deck}: {title}\n\n```{{lecture-map}} {deck}\n" in page


def test_a_true_table_has_no_fault(root):
    coming = "L0,what a sea is,The sea,,,,,coming"
    several = GOOD.replace("wave is", "tide is").replace(
        "coursekit.sea.Wave.height", "coursekit.sea.tide; coursekit.shore.SAND;coursekit.sea.Wave"
    )
    several = several.replace("::test_up", "::TestDown::test_far;tests/test_sea.py")
    reported = "L0,what others measured of waves,waves,sec-waves,a breaker,,,built"
    assert check(root, GOOD, several, coming, reported) == []


def test_the_words_of_a_section_are_those_that_a_reader_sees(root):
    assert lecture_map.section_texts(Course(root), "waves") == {
        "sec-waves": "high ones water rises and falls, says sailor. by hand it is metres high. "
        "a breaker.",
        "sec-foam": "foam white.",
        "Check yourself": "check yourself is it white?",
    }


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("L0", "L9", "the deck 'L9' is none of L0, L1, L2, L3, L4"),
        ("what a wave is", "", "the topic is missing"),
        (",waves,", ",sands,", "there is no page book/sands.md"),
        (",waves,", ",,", "the chapter is missing"),
        ("sec-waves", "sec-sands", "book/waves.md has no section (sec-sands)="),
        ("sec-waves", "", "a built row must name its section"),
        ("rises and falls", "", "a built row must name its phrase"),
        ("rises and falls", "foam", "the section (sec-waves) does not contain 'foam'; (sec-foam)"),
        ("rises and falls", "spray", "the section (sec-waves) does not contain 'spray'"),
        ("sec-waves,rises and falls", "sec-foam,White", "'White' is also in (Check yourself)"),
        ("sea.Wave", "sea.Sand", "there is no object coursekit.sea.Sand.height in src"),
        ("Wave.height", "Wave.depth", "there is no object coursekit.sea.Wave.depth in src"),
        ("coursekit.sea", "coursekit.land", "there is no object coursekit.land.Wave.height in src"),
        ("coursekit.sea.Wave.height", "", "a built row must name its object"),
        ("test_up", "test_over", "there is no test tests/test_sea.py::test_over"),
        ("::test_up", "::helper", "there is no test tests/test_sea.py::helper"),
        ("test_sea.py::test_up", "empty.py", "there is no test tests/empty.py"),
        ("test_sea.py", "test_land.py", "there is no test tests/test_land.py::test_up"),
        ("tests/test_sea.py::test_up", "", "a built row must name its test"),
        ("built", "done", "the state 'done' is neither built nor coming"),
        ("built", "coming", "a coming row names nothing yet, but section and phrase"),
    ],
)
def test_each_kind_of_fault_is_found(root, old, new, sentence):
    faults = check(root, GOOD.replace(old, new, 1))
    assert len(faults) == 1
    assert faults[0].startswith(f"lecture_map.csv, line 2: {sentence}")


@pytest.mark.parametrize(
    ("cell", "source", "proves"),
    [
        ("checked", "x = 1\n  assert x", True),
        ("checked", "torch.testing.assert_close(x, y)", True),
        ("checked", "print('assert')", False),
        ("another", "assert x", False),
    ],
)
def test_a_cell_that_asserts_is_a_test(root, cell, source, proves):
    found = {"cell_type": "code", "id": cell, "metadata": {}, "outputs": [], "source": source}
    notebook = {"cells": [found], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (root / "notebooks").mkdir()
    (root / "notebooks" / "waves.ipynb").write_text(json.dumps(notebook))
    row = GOOD.replace("tests/test_sea.py::test_up", "notebooks/waves.ipynb::checked")
    assert (check(root, row) == []) is proves


def test_a_topic_stands_in_a_deck_once(root):
    assert check(root, GOOD, GOOD) == [
        "lecture_map.csv, line 3: the topic 'what a wave is' of L0 stands in line 2 already"
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("deck,topic\n", "must begin with the columns"),
        ("", "must begin with the columns .* not nothing"),
        (f"{HEADER}\nL0,only two\n", "line 2: 2 cells were found, 8 were expected"),
    ],
)
def test_a_table_of_another_form_is_refused(root, text, sentence):
    lecture_map.table_path(Course(root)).write_text(text)
    with pytest.raises(CourseError, match=sentence):
        lecture_map.check_rows(Course(root))


def test_a_missing_table_is_named(root):
    with pytest.raises(CourseError, match=r"lecture_map\.csv cannot be read"):
        lecture_map.read_rows(Course(root))
