"""The way through the book can be walked, its times are true, and the course is counted rightly."""

from __future__ import annotations

import graphlib
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from coursekit.check import compiled
from coursetools.book import drawings, routes
from coursetools.book.contents import chapters, page, words
from coursetools.course import Course
from coursetools.questions import catalogue

ROOT = Path(__file__).resolve().parents[2]
OURS = Course(ROOT)
TOC = """root: book/index
parts:
  - caption: Part I. Water
    numbered: 1
    chapters:
      - file: book/waves
        sections:
          - file: notebooks/waves
          - file: book/foam
      - file: book/tides
      - file: book/seas
"""
HOME = """---
routes:
  - name: All
    about: Of everything.
    chapters: [waves, tides, seas]
  - name: Quick
    about: In two days.
    days:
      - [waves]
      - [tides]
---
# The sea
"""
NEEDS = {"waves": "needs: []\n", "foam": "", "tides": "needs: [waves]\n",
         "seas": "needs: [waves, tides]\n"}  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "book").mkdir()
    (tmp_path / "_toc.yml").write_text(TOC)
    for stem, needs in NEEDS.items():
        text = f"---\n{needs}x: 1\n---\n# About {stem}\n\nThere are some.\n"
        (tmp_path / "book" / f"{stem}.md").write_text(text)
    (tmp_path / "book" / "index.md").write_text(HOME)
    return tmp_path


# --- The course's own ---


def test_the_way_of_the_course_can_be_walked():
    assert routes.check_way(OURS) == []


def test_needs_have_no_circle_and_the_book_stands_in_their_order():
    way, order = routes.read_way(OURS), list(chapters(OURS))
    list(graphlib.TopologicalSorter(way.needs).static_order())  # raises on a circle
    assert list(way.needs) == order
    for stem, needs in way.needs.items():
        assert all(order.index(need) < order.index(stem) for need in needs), stem


def test_every_chapter_is_on_a_route():
    on = {stem for route in routes.read_way(OURS).routes for stem in route.chapters}
    assert on == set(chapters(OURS))


def test_every_assignment_belongs_to_a_chapter():
    given = routes.assignments(OURS)
    assert sorted(path.stem for path in given.values()) == compiled.names()
    assert set(given) <= set(chapters(OURS))


@pytest.mark.skipif(not catalogue.names(OURS), reason="the public tree has no solutions/")
def test_times_to_solve_are_those_of_the_questions():
    given, spent = routes.assignments(OURS), routes.times(OURS)
    assert sorted(path.stem for path in given.values()) == catalogue.names(OURS)
    for stem, path in given.items():
        assignment = catalogue.load(OURS, path.stem)
        asked = [*assignment.questions, *assignment.written]
        assert spent[stem].solve == sum(question.minutes for question in asked), path.stem


def test_times_to_read_are_those_of_the_words():
    rate = routes.WORDS_A_MINUTE
    for stem, time in routes.times(OURS).items():
        pages = [words(page(OURS, name)) for name in chapters(OURS)[stem]]
        assert time.read == sum(pages) / rate
        assert 5 < time.read < 90, stem


def test_the_home_page_has_as_many_doors_as_it_says():
    home = (ROOT / "book" / "index.md").read_text(encoding="utf-8")
    assert home.split("## Four doors")[1].split("\n## ")[0].count("{grid-item-card}") == 4


def test_readme_counts_the_course_as_the_home_page_does():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert routes.counted(OURS) in readme
    assert "```{course-count}\n```" in (ROOT / "book" / "index.md").read_text(encoding="utf-8")


# --- Faults ---


def test_a_true_way_has_no_fault(root):
    assert routes.check_way(Course(root)) == []
    assert routes.read_way(Course(root)).routes[1].chapters == ["waves", "tides"]


@pytest.mark.parametrize(
    ("page", "old", "new", "sentences"),
    [
        ("waves", "[]", "[tides]", ["waves needs tides, which does not stand before it"]),
        ("waves", "[]", "[waves]", ["waves needs waves, which does not stand before it"]),
        ("seas", "[waves, tides]", "[sands]",
         ["seas needs sands, which does not stand before it",
          "All: seas needs sands, which is not on it"]),
        ("waves", "needs: []\n", "",
         ["the front matter of book/waves.md does not say what it `needs`"]),
        ("index", ", seas]", "]", ["seas is on no route"]),
        ("index", "      - [waves]\n", "", ["Quick: tides needs waves, which is not on it"]),
        ("index", "      - [waves]\n      - [tides]", "      - [tides]\n      - [waves]",
         ["Quick: a chapter is unknown, or out of order, or there twice"]),
        ("index", "- [tides]", "- [waves]",
         ["Quick: a chapter is unknown, or out of order, or there twice"]),
    ],
)  # fmt: skip
def test_each_fault_of_the_way_is_found(root, page, old, new, sentences):
    path = root / "book" / f"{page}.md"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    assert routes.check_way(Course(root)) == sentences


# --- Times ---


def test_times_come_from_words_records_and_questions(root, monkeypatch):
    monkeypatch.setattr(routes, "WORDS_A_MINUTE", 2)
    record = root / "_build" / "executed" / "waves.json"
    given = root / "notebooks" / "assignments" / "a01_sea" / "a01_sea.ipynb"
    for path in (record, given):
        path.parent.mkdir(parents=True)
    record.write_text(json.dumps({"seconds": 90.0}))
    record.with_suffix(".ipynb").write_text("{}")
    cells = [
        "# Sea\n\nIt goes with [the page](https://x.invalid/book/waves.html).",
        "## 1.\n\n*2 points · easy · 15 minutes*\n\nOf *3 points · 99 minutes* no more.",
        "*1 point · in words · 20 minutes*",
    ]
    sources = [{"cell_type": "markdown", "source": [text]} for text in cells]
    code = {"cell_type": "code", "source": "*9 points · 50 minutes*"}
    given.write_text(json.dumps({"cells": [*sources, code]}))
    spent = routes.times(Course(root))
    assert spent["waves"] == routes.Times(read=5.0, run=90.0, solve=35.0)
    assert spent["waves"].minutes == 5 + 1.5 + 35
    assert spent["tides"] == routes.Times(read=2.5, run=None, solve=None)
    assert routes.total(spent.values()) == routes.Times(read=10.0, run=90.0, solve=35.0)


@pytest.mark.parametrize(
    ("minutes", "said"),
    [(1, "5 min"), (22, "20 min"), (57, "55 min"), (58, "1 h"), (89, "1½ h"), (165, "3 h"),
     (170, "3 h"), (2730, "45½ h")],
)  # fmt: skip
def test_a_duration_is_what_one_plans_with(minutes, said):
    assert routes.duration(minutes) == said


# --- Pictures ---


def test_pieces_are_drawn_as_words():
    words_ = drawings.whole_words(["The", " wa", "ve", ",", " is"])
    assert words_ == [[0], [1, 2, 3], [4]]
    weights = [[0.1, 0.2, 0.3, 0.1, 0.3], [0.5, 0.1, 0.1, 0.1, 0.2]]
    (row,) = drawings.by_words(weights, [[0, 1]], words_)
    assert row == pytest.approx([0.3, 0.45, 0.25])


def test_the_map_that_is_most_alike_has_its_largest_weights_there():
    pattern = [[0.6, 0.4], [0.1, 0.9]]
    other, half, same = [[0, 1], [1, 0]], [[0.9, 0.1], [0.8, 0.2]], [[0.51, 0.49], [0.4, 0.6]]
    assert drawings.most_alike([other, half, same, pattern], pattern) == 2


def test_each_weight_is_a_line_as_wide_as_it_is_large():
    weights = [[0.5, 0.48, 0.02], [0.0, 0.0, 1.0]]
    svg = drawings.attention_lines(["a", "<b>", "c"], ["x", "y"], weights, describe='"so" & so')
    tree = ElementTree.fromstring(svg)
    assert tree.attrib["aria-label"] == '"so" & so'
    assert [text.text for text in tree.iter("text")] == ["a", "<b>", "c", "x", "y"]
    widths = [[float(p.attrib["stroke-width"]) for p in g.iter("path")] for g in tree.iter("g")]
    assert widths == [[5.0, 4.8], [10.0]]
    first, second = (path.attrib for path in tree.find("g").iter("path"))
    assert first["stroke"] != second["stroke"]


def test_each_need_is_a_curve_and_each_stop_a_dot():
    rows = [None, "waves", "tides", None, "seas"]
    needs = {"waves": [], "tides": ["waves"], "seas": ["waves", "tides"]}
    tree = ElementTree.fromstring(
        drawings.way_lines(rows, needs, [["waves", "seas"], ["waves", "tides"]])
    )
    curves = [p.attrib for p in tree.findall("path")]
    assert [curve["class"] for curve in curves] == ["need to-tides", "need to-seas", "need to-seas"]
    assert curves[1]["d"].startswith("M70 72 ")
    assert curves[1]["d"].endswith(" 216 70 216")
    stops = [[c.attrib["cy"] for c in g.iter("circle")] for g in tree.findall("g")]
    assert stops == [["72", "216"], ["72", "120"]]
    assert tree.attrib["viewBox"] == "0 0 120 240"


def test_each_ratio_is_a_bar_from_the_line_at_one():
    rows = [("work", "slow", 4.0), ("work", "quick & small", 0.5), ("more", "slower", 16.0)]
    drawn = ElementTree.fromstring(drawings.ratio_lines(rows, describe="three bars"))
    line = float(drawn.find("path").get("d").split()[0][1:])
    bars = [(float(r.get("x")), float(r.get("width")), r.get("class")) for r in drawn.iter("rect")]
    (a, wide, _), (b, narrow, _), (c, widest, _) = bars
    assert a == pytest.approx(line) == pytest.approx(c) == pytest.approx(b + narrow)
    assert wide == pytest.approx(2 * narrow, abs=0.2) and widest == pytest.approx(2 * wide, abs=0.2)
    assert [kind for *_, kind in bars] == ["slower", "faster", "slower"]
    said = [text.text for text in drawn.iter("text")]
    assert said.count("work") == 1 and "quick & small" in said and "0.50" in said
