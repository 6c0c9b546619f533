"""What becomes of pages in a document of its own, on four pages written by hand."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pikepdf
import pytest
from lxml import html

from coursekit._base.errors import CourseError
from coursetools.book.formats import articles, chromium, epub, offline, pdf
from coursetools.cli import main
from coursetools.course import Course

CONFIG = "title: Waves, and more\nauthor: Somebody\nrepository:\n  url: {url}\n"
SET, UNSET = "https://github.com/somebody/waves", "https://address-not-set.invalid/course"
TOC = """format: jb-book
root: book/index
parts:
  - caption: Begin
    chapters:
      - file: book/start
  - caption: Part I. Water
    numbered: 1
    chapters:
      - file: book/waves
        sections:
          - file: notebooks/waves
          - file: book/foam
  - caption: The course
    chapters:
      - file: book/grading
      - file: book/references
"""
FOLD = "<details><summary><span>{title}</span></summary><div><p>{text}</p></div></details>"
PAGES = {
    "book/index": '<section id="home"><h1>Waves<a class="headerlink">#</a></h1></section>',
    "book/start": '<section id="start"><h1>Start</h1><p><a href="waves.html">w</a></p></section>',
    "book/waves": f"""<section id="waves"><span id="ch-waves"></span><h1>1. Waves</h1>
<p><a href="#fig-wave" title="here">a wave</a> <a href="foam.html#fig-wave">its foam</a>
<a href="../notebooks/waves.html">a notebook</a> <a href="grading.html#marks">marks</a>
<a href="https://example.org/x">elsewhere</a> <a href="{UNSET}/x">nowhere</a></p>
<figure id="fig-wave"><img src="../_images/wave.png" loading="lazy" alt="a wave"></figure>
{FOLD.format(title="More", text="left open")}
<section id="check-yourself"><h2>Check yourself</h2><p>How high?</p>
{FOLD.format(title="Answer", text="Seven.")}tail {FOLD.format(title="How wide?", text="Nine.")}
</section></section>""",
    "book/foam": '<section id="foam"><h1>Foam</h1><figure id="fig-wave"></figure></section>',
    "book/grading": '<section id="grading"><h1>Grading</h1></section>',
    "book/references": '<section id="references"><h1>References</h1></section>',
    "notebooks/waves": '<section id="n"><h1>Hands on</h1></section>',
}  # fmt: skip


def make_course(root: Path, url: str = UNSET) -> Course:
    """Write a course of which only the built pages are there."""
    (root / "notebooks").mkdir(parents=True)
    (root / "_config.yml").write_text(CONFIG.format(url=url), encoding="utf-8")
    (root / "_toc.yml").write_text(TOC, encoding="utf-8")
    site = root / "_build" / "html"
    for name, article in PAGES.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        page = f"<html><body><article>{article}</article></body></html>"
        (site / f"{name}.html").write_text(page, encoding="utf-8")
    (site / "index.html").write_text("", encoding="utf-8")
    return Course(root)


def print_of(pages: int, destinations: dict[str, int]) -> pikepdf.Pdf:
    """Return a PDF of blank pages as Chromium writes it, with destinations by name."""
    made = pikepdf.new()
    for _ in range(pages):
        made.add_blank_page()
    places = {
        f"/{name}": pikepdf.Array([made.pages[number - 1].obj, pikepdf.Name.XYZ, 0, 700, 0])
        for name, number in destinations.items()
    }
    made.Root.Dests = made.make_indirect(pikepdf.Dictionary(places))
    made.docinfo["/Creator"] = "Mozilla/5.0 HeadlessChrome/156.0.0.0"
    return made


@pytest.fixture
def course(tmp_path) -> Course:
    return make_course(tmp_path)


def pages_of(course: Course) -> dict[str, articles.Page]:
    return {page.stem: page for page in articles.gather(course)}


def links(page: articles.Page) -> dict[str, str]:
    return {articles.text(a): a.get("href") for a in page.element.iter("a")}


def test_pages_that_are_read_come_in_order_and_answers_behind_the_chapters(course):
    order = ["index", "start", "waves", "foam", "answers", "references"]
    assert list(pages_of(course)) == order
    contents = [(one.depth, one.title) for one in articles.contents(articles.gather(course))]
    assert contents == [
        (2, "Welcome"), (2, "Start"), (1, "Part I. Water"), (2, "1. Waves"), (3, "Check yourself"),
        (3, "Foam"), (2, "Answers"), (2, "References"),
    ]  # fmt: skip


def test_ids_are_their_page_s_and_links_follow(course):
    pages = pages_of(course)
    ids = [e.get("id") for page in pages.values() for e in page.element.iter() if e.get("id")]
    assert len(ids) == len(set(ids)) and {"waves--fig-wave", "foam--fig-wave", "waves"} <= set(ids)
    found = links(pages["waves"])
    assert found["a wave"] == "#waves--fig-wave" and found["its foam"] == "#foam--fig-wave"
    assert links(pages["start"]) == {"w": "#waves"}
    heading = pages["waves"].element.find(".//h2")
    assert heading.get("id") == "waves--waves" and heading[0].get("id") == "waves--ch-waves"


def test_a_link_to_what_only_the_site_has_needs_an_address(course, tmp_path):
    found = links(pages_of(course)["waves"])
    assert found.keys() == {"a wave", "its foam", "elsewhere", "Answer 1", "Answer 2"}
    found = links(pages_of(make_course(tmp_path / "other", SET))["waves"])
    home = "https://somebody.github.io/waves"
    assert found["a notebook"] == f"{home}/notebooks/waves.html"
    assert found["marks"] == f"{home}/book/grading.html#marks"
    assert "nowhere" not in found


def test_folds_are_open_and_answers_are_elsewhere_with_links_both_ways(course):
    pages = pages_of(course)
    waves, answers = pages["waves"], pages["answers"]
    said = [word.strip() for word in waves.element.itertext() if word.strip()]
    assert said[-8:] == [
        "More", "left open", "Check yourself", "How high?", "Answer 1", "tail", "How wide?",
        "Answer 2",
    ]  # fmt: skip
    assert list(answers.element.itertext()) == [
        "Answers", "1. Waves", "Question 1", "Seven.", "Question 2", "Nine.",
    ]  # fmt: skip
    assert links(waves)["Answer 2"] == "#waves--answer-2"
    assert links(answers)["Question 2"] == "#waves--question-2"
    for place in ("waves--answer-2", "waves--question-2"):
        owner = answers if "answer" in place else waves
        assert owner.element.xpath(f".//*[@id='{place}']")


def test_pictures_do_not_wait_and_lie_below_the_site(course):
    picture = pages_of(course)["waves"].element.find(".//img")
    assert dict(picture.attrib) == {"src": "_images/wave.png", "alt": "a wave"}


def test_a_book_that_is_not_built_is_one_sentence(course, capsys):
    (course / "_build/html/book/foam.html").unlink()
    for name in ("pdf", "epub", "offline"):
        assert main(["book", name, "--quiet", "--root", str(course)]) == 1
        said = capsys.readouterr().err
        assert "_build/html/book/foam.html is not there; `coursekit book` builds it" in said
        assert said.count("\n") == 1


def test_pages_that_load_mathjax_from_the_network_are_one_sentence(course):
    for write in (lambda: pdf.write_pdf(course, None), lambda: epub.write_epub(course, None),
                  lambda: offline.write_offline(course)):  # fmt: skip
        with pytest.raises(CourseError, match="load MathJax from a CDN"):
            write()
    assert [path.name for path in (course / "_build").iterdir()] == ["html"]


def test_without_chromium_there_is_one_sentence(course):
    opened = chromium.opened("", {"": course.root}, None)
    with pytest.raises(CourseError, match="Chromium was not found"), opened:
        pass


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--paper a4", "book pdf --paper"),
        ("epub --paper letter", "book pdf --paper"),
        ("pdf --force", "--force"),
        ("epub offline --language de", "epub and offline"),
        ("pfd", "Did you mean pdf?"),
    ],
)
def test_what_does_not_fit_together_is_refused(course, line, said, capsys):
    assert main(["book", *line.split(), "--root", str(course)]) == 2
    assert said in capsys.readouterr().err


def test_the_zip_has_what_a_reader_needs(course):
    site = course / "_build" / "html"
    for name in ("_static/mathjax/tex-mml-chtml.js", "404.html", ".buildinfo", "_images/wave.png",
                 "_images/older.png"):  # fmt: skip
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text("", encoding="utf-8")
    path = offline.write_offline(course, quiet=True)
    assert path == course / "_build" / "waves-and-more-offline.zip"
    names = {f"waves-and-more/{page}.html" for page in [*PAGES, "index"]}
    names |= {"waves-and-more/_static/mathjax/tex-mml-chtml.js", "waves-and-more/_images/wave.png"}
    assert set(zipfile.ZipFile(path).namelist()) == names


PLACES = {"a/b": 2, "waves": 3}


def test_destinations_are_numbered_by_their_pages():
    assert pdf.page_numbers(print_of(3, PLACES)) == PLACES


def test_a_pdf_without_destinations_is_one_sentence():
    empty = pikepdf.new()
    empty.add_blank_page()
    with pytest.raises(CourseError, match="names no destinations"):
        pdf.page_numbers(empty)


def test_a_packed_pdf_is_smaller_by_its_author_and_leads_to_the_same_places():
    many = PLACES | {f"place-{n}": 1 + n % 3 for n in range(500)}
    loose = io.BytesIO()
    print_of(3, many).save(loose, object_stream_mode=pikepdf.ObjectStreamMode.disable)
    content = pdf.packed(pikepdf.open(loose), author="Zoë Wolf")
    assert len(content) < 0.75 * len(loose.getvalue())
    assert content == pdf.packed(pikepdf.open(loose), author="Zoë Wolf")
    with pikepdf.open(io.BytesIO(content)) as again:
        assert pdf.page_numbers(again) == many
        assert dict(again.docinfo.items()) == {"/Author": pikepdf.String("Zoë Wolf")}


def test_the_head_of_a_page_may_have_any_sign(course):
    page = articles.Page("a_b", 'Say "why" \\ how', html.fromstring("<div></div>"))
    assert list(pdf._page_styles([page], "letter"))[1:] == [
        "[id='a_b'] { page: page-a-b; }",
        '@page page-a-b { @top-left { content: "Say \\"why\\" \\\\ how"; } }',
    ]
