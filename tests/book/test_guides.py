"""Questions, terms and symbols lead where they say; a table that does not is found out."""

from __future__ import annotations

from pathlib import Path

import pytest

from coursekit._base.errors import CourseError
from coursetools.book import guides
from coursetools.book.contents import chapters, formulas, parts, sections, title, words

ROOT = Path(__file__).resolve().parents[2]
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
HEADER = ",".join(guides.COLUMNS)
GOOD = "amplitude,a,half of a height,(T),sec-waves-height,,"


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


def ask(root: Path, text: str) -> list[str]:
    guides.questions_path(root).write_text(text, encoding="utf-8")
    return guides.check_questions(root)


def explain(root: Path, *rows: str) -> list[str]:
    guides.terms_path(root).write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return guides.check_meanings(root)


# --- The course's own ---


def test_every_question_of_the_course_leads_to_a_section_of_its_chapter():
    assert guides.check_questions(ROOT) == []


def test_every_term_and_symbol_of_the_course_stands_where_the_table_says():
    assert guides.check_meanings(ROOT) == []


@pytest.mark.parametrize("page", ["questions", "notation"])
def test_every_part_has_its_place_on_the_page(page):
    text = (ROOT / "book" / f"{page}.md").read_text(encoding="utf-8")
    asked = [line.split("} ")[1] for line in text.splitlines() if line.startswith(f"```{{{page}}}")]
    assert asked == list(parts(ROOT))


# --- What the pages say ---


def test_chapters_are_those_of_the_numbered_parts(root):
    assert parts(root) == {"Part I. Water": {"waves": ["waves", "foam"], "tides": ["tides"]}}
    assert chapters(root) == {"waves": ["waves", "foam"], "tides": ["tides"]}
    assert title(root, "tides") == "Tides"


def test_a_section_ends_where_one_of_its_rank_begins(root):
    found = sections(root)
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


def test_true_questions_have_no_fault_but_their_number(root):
    three = '"A?" = "sec-waves-height"\n"B?" = "sec-waves-height"\n"C?" = "sec-foam"\n'
    more = [f'"{n}?" = "sec-tides-moon"\n' for n in range(57)]
    assert ask(root, f"[waves]\n{three}[tides]\n{''.join(more)}") == []
    assert ask(root, f"[waves]\n{three}[tides]\n{''.join(more[:-1])}") == [
        "there are 59 questions, at least 60 were expected"
    ]
    assert ask(root, f"[waves]\n{three}") == [
        "tides has 0 questions, at least 3 were expected",
        "there are 3 questions, at least 60 were expected",
    ]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('[waves]\n"Why" = "sec-waves-height"', "does not end with a question mark"),
        ('[waves]\n"Why?" = "sec-waves-depth"', "that chapter has no (sec-waves-depth)="),
        ('[waves]\n"Why?" = "sec-tides-moon"', "that chapter has no (sec-tides-moon)="),
        ('[sands]\n"Why?" = "sec-waves-height"', "there is no chapter sands"),
        ('[waves]\n"Why?" = "ch-waves"\n[tides]\n"WHY?" = "ch-tides"', "stands there twice"),
    ],
)
def test_each_fault_of_a_question_is_found(root, line, sentence):
    found = [fault for fault in ask(root, line) if "were expected" not in fault]
    assert len(found) == 1
    assert sentence in found[0]


def test_questions_of_another_form_are_refused(root):
    with pytest.raises(CourseError, match=r"questions\.toml is not valid TOML"):
        ask(root, '[waves]\n"Why?" = "a"\n"Why?" = "b"')
    guides.questions_path(root).unlink()
    with pytest.raises(CourseError, match=r"questions\.toml cannot be read"):
        guides.check_questions(root)


def test_a_true_table_of_terms_has_no_fault(root):
    other = ",a,pull of the moon,,sec-tides-moon,,"
    again = ",\\hat h_{ij},height of all,,sec-waves-height,,"
    further = ",u,how white it is,,sec-foam,,"
    letter = ",h,a letter is found with its index,,sec-waves-height,,"
    assert (
        explain(root, GOOD, other, again, further, letter, "Swell,,a long wave,,ch-waves,,") == []
    )


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("amplitude,a,", ",,", "neither a term nor a symbol"),
        ("half of a height", "", "a meaning is needed"),
        ("half of a height", "Half.", "a meaning is needed, without a full stop"),
        ("sec-waves-height", "sec-waves-depth", "no chapter has a section (sec-waves-depth)="),
        ("amplitude", "ebb", "the section sec-waves-height does not mention 'ebb'"),
        (",a,", ",b,", "no formula of waves has b"),
        (",a,", ",t,", "no formula of waves has t"),  # that of \hat is none
        (",a,", ",\\ha,", "no formula of waves has \\ha"),
        (",,", ",tides;sands,", "there is no chapter sands"),
        (",a,half of a height,(T),sec-waves-height,,", ",w,x,,ch-waves,tides,",
         "no formula of tides has w"),
    ],
)  # fmt: skip
def test_each_fault_of_a_term_is_found(root, old, new, sentence):
    (found,) = explain(root, GOOD.replace(old, new, 1))
    assert found.startswith(f"terms.csv, line 2: {sentence}")


def test_a_term_stands_there_once(root):
    assert explain(root, GOOD, "Amplitude,,again,,sec-waves-height,,") == [
        "terms.csv, line 3: 'Amplitude' stands in line 2 already"
    ]


def test_a_symbol_with_two_meanings_in_a_chapter_says_so(root):
    other = ",a,pull of the moon,,sec-tides-moon,waves,"
    said = "a has the meaning of line 2 too, in waves: the column besides must say so"
    assert explain(root, GOOD, other) == [f"terms.csv, line 3: {said}"]
    assert explain(root, GOOD, other + "half of a height") == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("term,symbol\n", "must begin with the columns"),
        (f"{HEADER}\nonly,two\n", "line 2: 2 cells were found, 7 were expected"),
    ],
)
def test_terms_of_another_form_are_refused(root, text, sentence):
    guides.terms_path(root).write_text(text)
    with pytest.raises(CourseError, match=sentence):
        guides.check_meanings(root)
