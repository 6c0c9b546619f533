"""Questions, terms and symbols lead where they say; a table that does not is found out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coursekit._base.errors import CourseError
from coursetools.book import questions_and_terms
from coursetools.book.contents import (
    FRONT,
    chapters,
    formulas,
    front_matter,
    page,
    parts,
    sections,
    title,
    words,
)
from coursetools.book.moved import moved
from coursetools.course import Course

ROOT = Path(__file__).resolve().parents[2]
OURS = Course(ROOT)
TOC = """format: jb-book
root: book/index
parts:
  - caption: Part I. Water
    numbered: 1
    chapters:
      - file: book/waves
        sections:
          - file: notebooks/waves
          - file: book/foam
      - file: book/tides
  - caption: The course
    chapters:
      - file: book/status
"""
WAVES = """(ch-waves)=
# Waves

(sec-waves-height)=
## How *high* is a wave?

The **amplitude** is $a$, `$b$` and {ref}`$c$ <ch-tides>`.

### Of all waves

A swell, $$\\hat h_{ij}
= a$$ in `code`.

(sec-waves-length)=
## How long is it?

```python
# swash
x = "$z$"
```

Long: \\$5.

## Further reading

More about $w$ and words.
"""
TIDES = "(ch-tides)=\n# Tides\n\n(sec-tides-moon)=\n## The moon\n\nIt *pulls* with $a$ and $d$.\n"
GOOD = """terms:
  sec-waves-height:
    - {term: amplitude, symbol: a, meaning: half of a height, shape: (T)}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "book").mkdir()
    for name, text in {
        "_toc.yml": TOC,
        "book/waves.md": WAVES,
        "book/foam.md": "# Foam\n\n(sec-foam)=\n## White\n\nOf $u$.\n",
        "book/tides.md": TIDES,
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def put(root: Path, **front: str) -> Course:
    """Give pages their front matter."""
    for stem in ("waves", "foam", "tides"):
        path = root / "book" / f"{stem}.md"
        text = FRONT.sub("", path.read_text(encoding="utf-8"))
        before = f"---\n{front[stem]}---\n" if stem in front else ""
        path.write_text(before + text, encoding="utf-8")
    return Course(root)


def ask(root: Path, **questions: str) -> list[str]:
    """Return the faults of questions, given as `section: question` by page."""
    front = {}
    for stem, lines in questions.items():
        by_section: dict[str, list[str]] = {}
        for line in lines.splitlines():
            by_section.setdefault(line.split(": ")[0], []).append(line.split(": ")[1])
        listed = [f"  {s}: {json.dumps(asked)}\n" for s, asked in by_section.items()]
        front[stem] = "questions:\n" + "".join(listed)
    return questions_and_terms.check_questions(put(root, **front))


def explain(root: Path, **front: str) -> list[str]:
    return questions_and_terms.check_meanings(put(root, **front))


# --- The course's own ---


def test_every_question_of_the_course_leads_to_a_section_of_its_chapter():
    assert questions_and_terms.check_questions(OURS) == []


def test_every_term_and_symbol_of_the_course_stands_where_the_table_says():
    assert questions_and_terms.check_meanings(OURS) == []


@pytest.mark.parametrize("page", ["questions", "notation"])
def test_every_part_has_its_place_on_the_page(page):
    text = (ROOT / "book" / f"{page}.md").read_text(encoding="utf-8")
    asked = [line.split("} ")[1] for line in text.splitlines() if line.startswith(f"```{{{page}}}")]
    assert asked == list(parts(OURS))


# --- What the pages say ---


def test_chapters_are_those_of_the_numbered_parts(root):
    assert parts(Course(root)) == {
        "Part I. Water": {"waves": ["waves", "foam"], "tides": ["tides"]}
    }
    assert chapters(Course(root)) == {"waves": ["waves", "foam"], "tides": ["tides"]}
    assert title(Course(root), "tides") == "Tides"


def test_a_notebook_without_a_page_is_no_chapter(root):
    alone = TOC.replace("      - file: book/tides\n", "      - file: notebooks/tides\n")
    (root / "_toc.yml").write_text(alone, encoding="utf-8")
    assert chapters(Course(root)) == {"waves": ["waves", "foam"]}


def test_the_first_page_of_a_chapter_knows_what_stands_on_the_others(root):
    labels = {"sec-waves-height": ("book/waves", "sec-waves-height"),
              "sec-foam": ("book/foam", "sec-foam"), "foam": ("book/foam", "sec-foam"),
              "fig_foam": ("book/foam", "fig-foam"),
              "sec-tides-moon": ("book/tides", "sec-tides-moon")}  # fmt: skip
    course = Course(root)
    assert moved(course, "waves", labels) == [("book/foam", "fig-foam"), ("book/foam", "sec-foam")]
    assert moved(course, "foam", labels) == moved(course, "tides", labels) == []


def test_a_section_ends_where_one_of_its_rank_begins(root):
    found = sections(Course(root))
    assert list(found) == [
        "ch-waves", "sec-waves-height", "sec-waves-length", "sec-foam", "ch-tides", "sec-tides-moon"
    ]  # fmt: skip
    height = found["sec-waves-height"]
    assert (height.chapter, height.page) == ("waves", "waves")
    assert (found["sec-foam"].chapter, found["sec-foam"].page) == ("waves", "foam")
    assert height.title == "How *high* is a wave?"
    assert "A swell" in height.text
    assert "Long" not in height.text
    assert "Long" in found["ch-waves"].text


def test_formulas_are_no_code_and_no_price():
    assert formulas(WAVES) == ["\\hat h_{ij}\n= a", "a", "w"]


def test_words_are_those_that_are_read():
    text = (
        "(sec-x)=\n## Two words\n\nA {glue:text}`../n.ipynb::x:.1f` and $a + b = c$, — that\nis "
        "all.\n\n```python\nnot = 'read'\n```\n\n```{notebook-figure} ../n.ipynb::f\n:name: fig-f\n"
        "A caption.\n```\n\n:::{dropdown} Asked\nAnswered.\n:::\n\n## Further reading\n\nLater.\n"
    )
    read = "Two words A 1 and 1 that is all A caption Answered"
    assert words(text) == 1 + read.count(" ")


# --- Faults ---


THREE = "sec-waves-height: A?\nsec-waves-height: B?\nsec-waves-length: C?\n"


def test_true_questions_have_no_fault_but_their_number(root):
    more = [f"sec-tides-moon: {n}?\n" for n in range(56)]
    white = "sec-foam: D?\n"
    assert ask(root, waves=THREE, foam=white, tides="".join(more)) == []
    assert ask(root, waves=THREE, tides="".join(more)) == [
        "there are 59 questions, at least 60 were expected"
    ]
    assert ask(root, waves=THREE) == [
        "tides has 0 questions, at least 3 were expected",
        "there are 3 questions, at least 60 were expected",
    ]


@pytest.mark.parametrize(
    ("waves", "tides", "sentence"),
    [
        ("sec-waves-height: Why", "", "does not end with a question mark"),
        ("sec-waves-depth: Why?", "", "that chapter has no (sec-waves-depth)="),
        ("sec-tides-moon: Why?", "", "that chapter has no (sec-tides-moon)="),
        ("ch-waves: Why?", "ch-tides: WHY?", "appears twice"),
    ],
)
def test_each_fault_of_a_question_is_found(root, waves, tides, sentence):
    found = [fault for fault in ask(root, waves=waves, tides=tides) if "expected" not in fault]
    assert len(found) == 1
    assert sentence in found[0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("questions: [Why?]\n", "`questions` must be lists by the label of a section"),
        ("questions:\n  ch-waves: Why?\n", "`questions` must be lists by the label of a section"),
        ("questions: {\n", "its front matter is not YAML"),
        ("Why?\n", "its front matter is not a table of names and values"),
        ("questions:\n  a:\n    - A?\n  b:\n    - B?\n  a:\n    - C?\n", "has a twice"),
        ("terms:\n  ch-waves: [{name: x}]\n", r"are expected, found \['name'\]"),
        ("terms:\n  ch-waves: [wave]\n", "are expected, found 'wave'"),
    ],
)
def test_front_matter_of_another_form_is_refused(root, text, sentence):
    course = put(root, waves=text)
    with pytest.raises(CourseError, match=rf"book/waves\.md.*{sentence}"):
        questions_and_terms.check_questions(course)
        questions_and_terms.check_meanings(course)


def test_the_same_name_at_two_places_is_no_repetition(root):
    text = "questions:\n  ch-waves:\n    - A?\nterms:\n  ch-waves:\n    - {symbol: a}\n"
    assert front_matter(put(root, waves=text), "waves").keys() == {"questions", "terms"}
    assert page(Course(root), "waves") == WAVES


def test_a_page_that_is_missing_is_named(root):
    (root / "book" / "foam.md").unlink()
    with pytest.raises(CourseError, match=r"book/foam\.md cannot be read"):
        questions_and_terms.check_questions(Course(root))


def test_true_terms_have_no_fault(root):
    waves = (
        f"{GOOD}    - {{symbol: '\\hat h_{{ij}}', meaning: height of all}}\n"
        "    - {symbol: h, meaning: a letter is found with its index}\n"
        "  ch-waves:\n    - {term: Swell, meaning: a long wave}\n"
    )
    foam = "terms:\n  sec-foam:\n    - {symbol: u, meaning: how white it is}\n"
    tides = "terms:\n  sec-tides-moon:\n    - {symbol: a, meaning: pull of the moon}\n"
    assert explain(root, waves=waves, foam=foam, tides=tides) == []


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("term: amplitude, symbol: a, ", "", "'a term': neither a term nor a symbol"),
        ("meaning: half of a height, ", "", "'amplitude': a meaning is needed"),
        ("half of a height", "Half.", "'amplitude': a meaning is needed, without a full stop"),
        ("sec-waves-height", "sec-deep", "'amplitude': no chapter has a section (sec-deep)="),
        ("amplitude", "ebb", "'ebb': the section sec-waves-height does not mention it"),
        (": a,", ": b,", "'amplitude': no formula of waves has b"),
        (": a,", ": t,", "'amplitude': no formula of waves has t"),  # that of \hat is none
        (": a,", ": \\ha,", "'amplitude': no formula of waves has \\ha"),
        ("shape", "also: [tides, sands], shape", "'amplitude': there is no chapter sands"),
        ("term: amplitude, symbol: a,", "symbol: w, also: [tides],",
         "'w': no formula of tides has w"),
    ],
)  # fmt: skip
def test_each_fault_of_a_term_is_found(root, old, new, sentence):
    (found,) = explain(root, waves=GOOD.replace(old, new, 1))
    assert found.startswith(f"book/waves.md, {sentence}")


def test_a_term_is_explained_once(root):
    again = f"{GOOD}    - {{term: Amplitude, meaning: again}}\n"
    assert explain(root, waves=again) == ["book/waves.md, 'Amplitude': waves explains it already"]


def test_a_symbol_with_two_meanings_in_a_chapter_says_so(root):
    tides = (
        "terms:\n  sec-tides-moon:\n    - {symbol: a, meaning: pull of the moon, also: [waves]}\n"
    )
    assert explain(root, waves=GOOD, tides=tides) == [
        "book/tides.md, 'a': a has the meaning of book/waves.md, 'amplitude' too, in waves: "
        "`besides` must say so"
    ]
    said = tides.replace("}", ", besides: half of a height}")
    assert explain(root, waves=GOOD, tides=said) == []
