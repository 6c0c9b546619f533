"""Questions that take their answer in the page: how they are written, and that the answers hold."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from coursekit._base.errors import CourseError
from coursetools.book import contents
from coursetools.book.ask import Asked, kind, questions, value
from coursetools.course import Course

ROOT = Path(__file__).resolve().parents[2]
COURSE = Course(ROOT)
CHAPTERS = [name for names in contents.chapters(COURSE).values() for name in names]
ASKED = {
    one.name: (page.stem, one)
    for page in sorted((ROOT / "book").glob("*.md"))
    for one in questions(page.read_text(encoding="utf-8"))
}


@pytest.mark.parametrize("name", [name for name, (_, one) in ASKED.items() if one.code])
def test_the_code_finds_the_answer(name):
    asked = ASKED[name][1]
    found = asked.value()
    if asked.kind == "number":
        share = 100 if asked.answer.endswith("%") else 1
        assert abs(share * float(found) - value(asked.answer)) <= asked.within + 1e-12
    elif asked.kind == "shape":
        assert tuple(found) == value(asked.answer)
    else:
        assert found == asked.answer


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_asks_four_questions_that_take_their_answer(chapter):
    asked = [page for page, _ in ASKED.values() if page == chapter]
    fewer = f"not finished yet: book/{chapter}.md has {len(asked)} of at least 4 `ask` questions"
    assert len(asked) >= 4, fewer


def test_names_say_the_page_and_are_of_one_question():
    assert len(ASKED) == sum(
        len(list(questions(page.read_text(encoding="utf-8"))))
        for page in (ROOT / "book").glob("*.md")
    )
    for name, (page, _) in ASKED.items():
        assert name.startswith(f"ask-{page}-"), f"{name} stands on {page}"


def ask(answer: str = "0.5", *lines: str, name: str = "ask-a-b", code: str = "1 / 2") -> Asked:
    text = lines or ("What is half?", "", "- 2: That is", "  double.", "", "---", "", "Divide.")
    return Asked.read(answer, {"name": name, "code": code}, text)


def test_a_question_is_read():
    asked = ask()
    assert (asked.kind, asked.question[0]) == ("number", "What is half?")
    assert asked.replies == {"2": "That is double."}
    assert [line for line in asked.why if line] == ["Divide."]
    assert asked.within == pytest.approx(0.05) and asked.value() == 0.5
    lines = ["Which?", "- the last one: No.", "---", "So."]
    assert ask("the first", *lines, code="").choices == ["the first", "the last one"]


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("46", "46."),
        ("−0.5", "−0.5."),
        ("(2, 3)", "(2, 3)."),
        ("Why?", "Why?"),
    ],
)
def test_the_answer_is_a_sentence_and_no_list(answer, shown):
    asked = Asked("ask-a-b", answer, ["What?"], {}, ["So."])
    assert MarkdownIt().render(asked.sentence) == f"<p>{shown}</p>\n"


@pytest.mark.parametrize(
    ("answer", "kind_of", "is_"),
    [
        ("1,024", "number", 1024.0),
        ("−0.5", "number", -0.5),
        ("3/4", "number", 0.75),
        ("25%", "number", 25.0),
        ("(2, 3)", "shape", (2, 3)),
        ("(7,)", "shape", (7,)),
        ("it is causal", "choice", "it is causal"),
        ("2 or 3", "choice", "2 or 3"),
    ],
)
def test_kinds_of_answers(answer, kind_of, is_):
    assert kind(answer) == kind_of and value(answer) == is_


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": ""}, "needs a :name:"),
        ({"code": ""}, "needs :code: that finds '0.5'"),
        ({"lines": ("What?", "- 2: No.")}, "needs a line ---"),
        ({"lines": ("- 2: No.", "---", "So.")}, "asks nothing"),
        ({"lines": ("What?", "- 2: No.", "---", "")}, "does not say why"),
        ({"lines": ("What?", "- 0.50: No.", "---", "So.")}, "'0.50' should be a wrong number"),
        ({"lines": ("What?", "- (2, 3): No.", "---", "So.")}, "should be a wrong number"),
        ({"answer": "yes", "lines": ("What?", "---", "So.")}, "has one choice, 'yes'"),
    ],
)
def test_what_a_page_may_not_write(given, said):
    lines = given.pop("lines", ())
    answer = given.pop("answer", "0.5")
    with pytest.raises(CourseError, match=said.replace("(", r"\(")):
        ask(answer, *lines, **given)


# --- In another language ---

PAGE = """# Halves

```{ask} 0.5
:name: ask-halves-one
:code: 1 / 2

What is half?

- 2: That is <double>.
- 3: No.

---

Divide.
```
"""


@pytest.mark.parametrize("builder", ["gettext", "html"])
def test_replies_are_translated_like_the_rest_of_a_page(tmp_path, builder, run_sphinx):
    (tmp_path / "index.md").write_text(PAGE)
    catalogue = tmp_path / "locale" / "de" / "LC_MESSAGES" / "index.po"
    catalogue.parent.mkdir(parents=True)
    german = {"What is half?": "Was ist die Hälfte?", "That is <double>.": "Das ist <doppelt>."}
    catalogue.write_text(
        'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n'
        + "".join(f'\nmsgid "{old}"\nmsgstr "{new}"\n' for old, new in german.items()),
        encoding="utf-8",
    )
    settings = {
        "extensions": ["myst_parser", "sphinx_design", "coursetools.book.ask"],
        "myst_enable_extensions": ["colon_fence"],
        "html_theme": "basic",
        "language": "de",
        "locale_dirs": [str(tmp_path / "locale")],
    }
    out = tmp_path / "out"
    run_sphinx(tmp_path, out, settings, builder)
    if builder == "gettext":
        messages = (out / "index.pot").read_text(encoding="utf-8")
        assert all(f'msgid "{one}"' in messages for one in [*german, "No.", "Divide."])
    else:
        page = (out / "index.html").read_text(encoding="utf-8")
        about = json.loads(re.search(r'<script type="application/json">(.*?)</script>', page)[1])
        assert about["replies"] == {"2": "Das ist <doppelt>.", "3": "No."}
        assert "Was ist die Hälfte?" in page and "<doppelt>" not in page
