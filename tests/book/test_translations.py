"""The book in German: messages of every page, one page of ours and one in miniature translated."""

from __future__ import annotations

import io
import json
import re
import shutil
from contextlib import redirect_stderr
from pathlib import Path
from urllib.parse import unquote

import pytest
from lxml import html

from coursekit._base.errors import CourseError
from coursetools.book import assets, build, translations
from coursetools.book.build import pages
from coursetools.book.translations import build_in, read_catalogue, translate
from coursetools.cli import main
from coursetools.course import Course

ROOT = Path(__file__).resolve().parents[2]
OURS = "book/parameters"
LINES = f"""  - file: {OURS}
    sections:
      - file: notebooks/parameters
  - file: book/blocks
  - file: book/references
"""
GERMAN = {
    "Waves": "Wellen",
    "The value is {glue:text}`../notebooks/waves.ipynb::answer:.1f` and $a^2 + b^2 = c^2$.":
        "Der Wert ist {glue:text}`../notebooks/waves.ipynb::answer:.0f`, und $a^2 + b^2 = c^2$.",
    "A wave that rises, then falls.": "Eine Welle, die steigt und fällt.",
    "A wave and **its** period.": "Eine Welle und **ihre** Periode.",
    "See {numref}`fig-sine`.": "Siehe {numref}`fig-sine`.",
}  # fmt: skip


def catalogue(course: Path, page: str) -> Path:
    return course / "translations" / "de" / "LC_MESSAGES" / f"{page}.po"


def fill(path: Path, german: dict[str, str]) -> None:
    """Write translations into a catalogue, as an editor of such files does."""
    for message, translation in german.items():
        text = path.read_text(encoding="utf-8")
        old = f'msgid {json.dumps(message)}\nmsgstr ""'
        assert old in text
        new = f"msgid {json.dumps(message)}\nmsgstr {json.dumps(translation, ensure_ascii=False)}"
        path.write_text(text.replace(old, new), encoding="utf-8")


def page(course: Path, name: str, language: str = "de") -> html.HtmlElement:
    path = course / "_build" / language / "_build" / "html" / f"{name}.html"
    return html.fromstring(path.read_text(encoding="utf-8"))


def text(course: Path, name: str) -> str:
    """Return what a German page says, without its other machinery."""
    return " ".join(page(course, name).find(".//article").text_content().split())


@pytest.fixture(autouse=True)
def no_npm(monkeypatch, tmp_path_factory):
    """These builds need no scripts; with none they are quicker."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setattr(assets.shutil, "which", lambda name: None)


@pytest.fixture(scope="module")
def first(executed_course, tmp_path_factory) -> tuple[Path, Path, list[str], list[str]]:
    """Return a course with its German book, a copy, and what was said of its catalogues."""
    folder = tmp_path_factory.mktemp("german")
    course = shutil.copytree(executed_course, folder / "course")
    toc = (
        (course / "_toc.yml")
        .read_text()
        .replace("chapters:", "parts:\n- caption: Sea\n  chapters:")
    )
    (course / "_toc.yml").write_text(toc + LINES)
    (course / "book" / "blocks.md").write_text("# Blocks\n\nWhat models are made of.\n")
    for name in (f"{OURS}.md", "notebooks/parameters.ipynb", "book/references.md",
                 "book/references.bib", "translations/de/settings.yml",
                 f"translations/de/LC_MESSAGES/{OURS}.po"):  # fmt: skip
        (course / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, course / name)
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(io.StringIO()):
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.setattr(assets.shutil, "which", lambda name: None)
        begun = translate(Course(course), "de", ["book/waves", "book/index"], quiet=True)[1]
        fill(catalogue(course, "book/waves"), GERMAN)
        fill(catalogue(course, "book/index"), {"Sea": "Das Meer"})
        index, said = build_in(Course(course), "de", quiet=True)
    assert index == course / "_build" / "de" / "_build" / "html" / "index.html"
    return course, shutil.copytree(course, folder / "copy"), begun, said


@pytest.fixture
def built(first) -> Path:
    """Return the course with its German book, both as they were after the first build."""
    place, copy, *_ = first
    shutil.rmtree(place)
    return shutil.copytree(copy, place)


def test_there_are_messages_of_every_page(built):
    folder = built / "_build" / "catalogues" / "_build" / "gettext"
    found = {p.relative_to(folder).with_suffix("").as_posix() for p in folder.rglob("*.pot")}
    assert found == set(pages(Course(built)))
    messages = {name: [m.id for m in read_catalogue(folder / f"{name}.pot")] for name in found}
    assert messages["notebooks/waves"][1:3] == [
        "A wave", "This notebook draws $\\sin x$ and turns pages.",
    ]  # fmt: skip
    assert messages["book/index"][1:] == ["Sea", "Welcome"]  # and no sentence of our own code
    assert set(GERMAN) <= set(messages["book/waves"])
    for name, ids in messages.items():
        assert ids[0] == "" and "" not in ids[1:], name  # the header, and no other empty message


def test_every_catalogue_is_told_of(first):
    begun, said = first[2:]
    rest = "messages are out of date or not translated; the page has them in English"
    assert begun[1:] == [f"book/waves: 5 of 5 {rest}", f"book/index: 2 of 2 {rest}"]
    assert said[0] == f"book/index: 1 of 2 {rest}"
    assert said[2] == "book/waves: all 5 messages are translated"
    for states in (begun[:1], said[1:2]):  # English pages may run ahead of ours, and be told so
        assert re.match(rf"{OURS}: (all|\d+ of) \d+ messages are ", states[0])


def test_a_page_has_its_german_words_and_the_numbers_of_its_notebook(built):
    words = text(built, "book/waves")
    assert "Der Wert ist 41, und" in words and "Siehe Abbildung 1." in words
    figure = page(built, "book/waves").find(".//figure")
    assert "Eine Welle und ihre Periode." in " ".join(figure.text_content().split())
    assert figure.find(".//img").get("alt") == GERMAN["A wave that rises, then falls."]
    assert "Nothing but the word wombat and Wellen." in text(built, "book/other")
    assert "Im Buch suchen" in html.tostring(page(built, "book/waves"), encoding="unicode")
    assert "Das Meer" in page(built, "book/other").text_content()  # at its side
    assert page(built, "book/waves").get("lang") == "de"
    (canonical,) = page(built, "book/waves").xpath("//link[@rel='canonical']/@href")
    assert canonical == "https://somebody.github.io/attention/de/book/waves.html"


def test_our_page_has_the_numbers_of_today(built):
    executed = json.loads((built / "_build/executed/parameters.ipynb").read_text("utf-8"))
    glued = {
        output["metadata"]["scrapbook"]["name"]: output["data"]
        for cell in executed["cells"]
        for output in cell.get("outputs", [])
        if "scrapbook" in output.get("metadata", {})
    }
    words = text(built, OURS)
    messages = [m for m in read_catalogue(catalogue(built, OURS)) if m.id and not m.fuzzy]
    assert len(messages) > 20
    shown = 0
    for message in messages:
        for name, form in re.findall(r"parameters\.ipynb::(\w+):([^`]+)`", message.string):
            data = glued[name]
            (key,) = (key for key in data if key.endswith("text/plain"))
            number = format(float(data[key]) if "f" in form else int(data[key]), form)
            assert re.search(rf"(?<!\d){re.escape(number)}(?!\d)", words), (name, number)
            shown += 1
    assert shown > 10


@pytest.mark.parametrize("name", ["book/waves", OURS])
def test_links_and_figures_lead_somewhere(built, name):
    folder = built / "_build" / "de" / "_build" / "html"
    article = page(built, name).find(".//article")
    checked = 0
    for link in article.xpath(".//a/@href | .//img/@src"):
        if re.match(r"https?:|mailto:", link):
            continue
        file, _, anchor = unquote(link).partition("#")
        target = (folder / name).parent / file if file else folder / f"{name}.html"
        assert target.is_file(), link
        if anchor:
            ids = html.fromstring(target.read_text(encoding="utf-8")).xpath("//@id")
            assert anchor in ids, link
        checked += 1
    assert checked > 3


def test_what_has_changed_is_english_again_and_said(built):
    path = built / "book" / "waves.md"
    old, new = "The value is {glue", "The value of today is {glue"
    path.write_text(path.read_text().replace(old, new))
    (said,) = (s for s in build_in(Course(built), "de", quiet=True)[1] if "waves" in s)
    assert said.startswith("book/waves: 1 of 5 messages are out of date or not translated")
    words = text(built, "book/waves")
    assert "The value of today is 41.0 and" in words and "Siehe Abbildung 1." in words

    # The catalogue learns the message of today; the translation waits for somebody who looks.
    before = catalogue(built, "book/waves").read_text()
    said = translate(Course(built), "de", quiet=True)[1]
    assert [state for state in said if "waves: 1 of 5" in state]
    after = catalogue(built, "book/waves").read_text()
    (changed,) = (m for m in read_catalogue(catalogue(built, "book/waves")) if m.fuzzy and m.id)
    assert changed.id.startswith(new) and changed.string.startswith("Der Wert ist {glue")
    assert f'#| msgid "{old}' in after and before.count("msgstr") == after.count("msgstr")
    build_in(Course(built), "de", quiet=True)
    assert "The value of today is 41.0 and" in text(built, "book/waves")

    # Somebody has looked.
    catalogue(built, "book/waves").write_text(after.replace("#, fuzzy\n", ""))
    assert (
        "book/waves: all 5 messages are translated" in build_in(Course(built), "de", quiet=True)[1]
    )
    assert "Der Wert ist 41, und" in text(built, "book/waves")


def test_nothing_is_done_twice(built, monkeypatch):
    monkeypatch.setattr(build, "run_jupyter_book", None)
    assert (
        "book/waves: all 5 messages are translated" in build_in(Course(built), "de", quiet=True)[1]
    )


def test_a_number_that_is_lost_or_typed_stops_the_build(built):
    path = catalogue(built, "book/waves")
    number = "{glue:text}`../notebooks/waves.ipynb::answer:.0f`"
    path.write_text(path.read_text().replace(f"Der Wert ist {number}", "Der Wert ist 41"))
    with pytest.raises(
        CourseError, match=r"book/waves in de: .*lacks \.\./notebooks/waves\.ipynb::ans"
    ):
        build_in(Course(built), "de", quiet=True)


def test_bad_input_gets_a_sentence_and_writes_nothing(course, capsys):
    before = sorted(course.rglob("*"))

    def ask(*words: str) -> str:
        assert main([*words, "--root", str(course)]) == 1
        assert sorted(course.rglob("*")) == before
        return capsys.readouterr().err

    assert "No translation fr. There is none yet." in ask("book", "--language", "fr")
    assert "the language is 'German'; a code such as de" in ask("translate", "German")
    assert "expected, and not en" in ask("translate", "en")
    said = ask("translate", "fr", "book/nowhere")
    assert "No page book/nowhere." in said
    assert "A page of _toc.yml is expected, such as book/index" in said
    broken = catalogue(course, "book/waves")
    broken.parent.mkdir(parents=True)
    for content, said in {
        'msgid "Waves"\nmsgstr "Wellen\n': 'line 2: msgstr "Wellen is not a quoted string',
        'msgid "Waves"\nmsgstr "sagt "Wellen""\n': "line 2: msgstr",
        'msgid "Waves"\nmsgstring "Wellen"\n': "waves.po is not a gettext catalogue",
    }.items():
        broken.write_text(content)
        before = sorted(course.rglob("*"))
        for words in (("translate", "de"), ("book", "--language", "de")):
            assert said in ask(*words)
        assert broken.read_text() == content


@pytest.mark.parametrize("language", sorted(p.name for p in (ROOT / "translations").iterdir()))
def test_committed_catalogues_keep_their_numbers(language):
    course = Course(ROOT)
    assert list(translations.other_numbers(course, language)) == []
    known = set(pages(course))
    folder = ROOT / "translations" / language / "LC_MESSAGES"
    found = {p.relative_to(folder).with_suffix("").as_posix() for p in folder.rglob("*.po")}
    assert found and found <= known
