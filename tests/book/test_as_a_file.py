"""The book as files: all of it is in the PDF, the EPUB and the zip, and links lead somewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from posixpath import join, normpath
from types import SimpleNamespace

import pikepdf
import pytest
from lxml import etree

from coursetools.book import assets
from coursetools.book.build import build_book, pages
from coursetools.book.contents import chapters, title
from coursetools.book.formats import articles
from coursetools.book.formats.chromium import find_chromium
from coursetools.book.formats.epub import write_epub
from coursetools.book.formats.offline import write_offline
from coursetools.book.formats.pdf import write_pdf
from coursetools.course import Course
from coursetools.notebooks.run import run_notebooks, stale

ROOT = Path(__file__).resolve().parents[2]
OURS = Course(ROOT)
MOST = 25_000_000  # bytes of the PDF
FOOT = 20 / 25.4 * 72  # points: where the text of a page ends
XHTML = "{http://www.w3.org/1999/xhtml}"
OPF = {"opf": "http://www.idpf.org/2007/opf"}

pytestmark = [
    pytest.mark.timeout(1800),
    pytest.mark.xdist_group("files"),  # in one process, which reads what it has written only once
]


@pytest.fixture(scope="module")
def book() -> Path:
    """Return the folder of the book, with what Chromium needs to print it."""
    try:
        assets.ensure()
    except assets.AssetsMissing as error:
        pytest.skip(f"the pages need the network here, since {error}")
    run_notebooks(stale(OURS), timeout=1700)
    return build_book(OURS, quiet=True).parent


@pytest.fixture(scope="module")
def chromium() -> str:
    program = find_chromium()
    if program is None:
        pytest.skip("Chromium is missing; `coursekit doctor` says how to install it")
    return program


@pytest.fixture(scope="module")
def read(book) -> list[articles.Page]:
    """The pages that the files have, as they are gathered from the site."""
    return articles.gather(OURS)


def plain_formulas(read: list[articles.Page]) -> list[str]:
    found = [e for page in read for e in page.element.xpath(".//*[@data-tex]")]
    return [articles.text(element) for element in found]


def numbers(read: list[articles.Page]) -> list[str]:
    """Return "Figure 1.1" and all the like."""
    found = [e for page in read for e in page.element.find_class("caption-number")]
    return [articles.text(element).rstrip(".") for element in found]


# --- PDF ---


@pytest.fixture(scope="module")
def pdf(book, chromium) -> Iterator[SimpleNamespace]:
    """The PDF: its file, what pikepdf reads in it, and all dictionaries."""
    path = write_pdf(OURS, chromium, quiet=True)
    with pikepdf.open(path) as printed:
        every = [one for value in printed.objects for one in dictionaries(value)]
        yield SimpleNamespace(path=path, printed=printed, dictionaries=every)


def dictionaries(value: object) -> Iterator[pikepdf.Dictionary]:
    """Yield a dictionary of a PDF and those that are written inside it."""
    if isinstance(value, pikepdf.Stream):
        value = value.stream_dict
    inside = ()
    if isinstance(value, pikepdf.Dictionary):
        yield value
        inside = [member for _, member in value.items()]
    elif isinstance(value, pikepdf.Array):
        inside = list(value)
    for member in inside:
        if isinstance(member, pikepdf.Object) and not member.is_indirect:
            yield from dictionaries(member)


def strings(pdf: SimpleNamespace, name: str) -> list[str]:
    """Return the strings that dictionaries of a PDF have under a name."""
    found = (one[name] for one in pdf.dictionaries if name in one)
    return [str(value) for value in found if isinstance(value, pikepdf.String)]


@pytest.fixture(scope="module")
def texts(pdf) -> list[str]:
    """The text of each page."""
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext, of poppler, is missing")
    command = ["pdftotext", "-layout", str(pdf.path), "-"]
    done = subprocess.run(command, capture_output=True, check=True, encoding="utf-8")
    return done.stdout.split("\f")


def widths(printed: pikepdf.Pdf) -> list[float]:
    """Return the widths that pages of a PDF have, in points."""
    return [*{float(page.mediabox[2]) for page in printed.pages}]


def test_the_pdf_is_a_book_of_its_size(pdf):
    assert len(pdf.printed.pages) > 300
    assert pdf.path.stat().st_size <= MOST
    assert widths(pdf.printed) == [pytest.approx(594.96, abs=0.5)]


def test_us_paper_has_its_own_size_and_file(pdf, book, chromium, read, monkeypatch):
    monkeypatch.setattr(articles, "gather", lambda course: read[:1])  # a page shows the size
    letter = write_pdf(OURS, chromium, paper="letter", quiet=True)
    with pikepdf.open(letter) as printed:
        assert widths(printed) == [pytest.approx(612, abs=0.5)]
    assert letter != pdf.path and "letter" in letter.name
    letter.unlink()  # it is not the book


def test_the_pdf_names_no_folder_of_this_machine(pdf):
    written = b"\n".join(one.unparse(resolved=True) for one in pdf.dictionaries)
    for trace in (b"file:", str(ROOT).encode(), str(Path.home()).encode() + b"/"):
        assert trace not in written
    links = strings(pdf, "/URI")
    assert len(links) > 100
    assert [link for link in links if not re.match("https?://", link) or ".invalid" in link] == []


def test_the_pdf_is_by_the_author_and_not_by_the_browser(pdf):
    assert strings(pdf, "/Author") == [OURS.settings["author"]]
    assert [text for _, text in pdf.printed.docinfo.items() if "Chrome" in str(text)] == []


def test_the_outline_of_the_pdf_has_every_chapter(pdf):
    entries = strings(pdf, "/Title")
    titles = [f"{n}. {title(OURS, stem)}" for n, stem in enumerate(chapters(OURS), start=1)]
    assert len(titles) >= 21
    assert [one for one in titles if one not in entries] == []
    assert [one for one in entries if one == one[: len(one) // 2] * 2] == []


def test_every_link_in_the_pdf_leads_somewhere(pdf):
    wanted = (one["/Dest"] for one in pdf.dictionaries if "/Dest" in one)
    links = [str(place) for place in wanted if isinstance(place, pikepdf.Name)]
    places = set(pdf.printed.Root.Dests.keys())
    assert len(links) > 2000
    assert sorted({link for link in links if link not in places}) == []


def test_no_heading_stands_at_the_foot_of_a_page(pdf):
    entries = [one for one in pdf.dictionaries if "/Title" in one and "/Dest" in one]
    heights = [(str(one["/Title"]), one["/Dest"][3]) for one in entries]
    assert len(heights) > 300
    assert [text for text, height in heights if float(height) < FOOT + 36] == []


def test_every_formula_and_every_picture_can_be_heard(pdf, read):
    said = Counter(strings(pdf, "/Alt"))
    wanted = plain_formulas(read)
    wanted += [image.get("alt") for page in read for image in page.element.iter("img")]
    assert len(wanted) > 2000
    assert Counter(wanted) - said == Counter()


def test_fonts_are_in_the_pdf(pdf):
    if shutil.which("pdffonts") is None:
        pytest.skip("pdffonts, of poppler, is missing")
    done = subprocess.run(["pdffonts", str(pdf.path)], capture_output=True, check=True, text=True)
    head, _, *fonts = done.stdout.splitlines()
    embedded = head.index("emb")
    assert [font for font in fonts if font[embedded:].split()[0] != "yes"] == []
    assert {"STIXGeneral-Regular", "DejaVuSansMono"} <= {f.split()[0][7:] for f in fonts}


def test_every_figure_number_is_on_paper(texts, read):
    text = " ".join(" ".join(texts).split())
    wanted = numbers(read)
    assert len(wanted) > 400
    assert [number for number in wanted if number not in text] == []


def test_the_contents_say_on_which_page_a_chapter_begins(texts, read):
    for stem in chapters(OURS):
        name = next(page.title for page in read if page.stem == stem)
        listed = next(re.finditer(rf"^\s*{re.escape(name)} +(\d+)$", "\f".join(texts[1:9]), re.M))
        begins = texts[int(listed[1]) - 1]
        lines = [line.strip() for line in begins.splitlines() if line.strip()]
        assert lines[0].split() == [*name.split(), listed[1]]  # the head of the page
        assert name in lines[1:3]


def test_every_answer_stands_at_the_end_and_nowhere_else(book, read, texts):
    answers = next(page for page in read if page.stem == articles.ANSWERS)
    places = {e.get("id") for page in read for e in page.element.iter() if e.get("id")}
    asked = 0
    for stem in (page.stem for page in read if (book / f"book/{page.stem}.html").is_file()):
        page = (book / f"book/{stem}.html").read_text(encoding="utf-8")
        section = page.partition('<section id="check-yourself">')[2].partition("</section>")[0]
        asked += section.count("<details")
        for n in range(1, section.count("<details") + 1):
            assert {f"{stem}--question-{n}", f"{stem}--answer-{n}"} <= places
    assert asked > 60 and len(answers.element.find_class("answer")) == asked
    assert sum(text.count("Question 1, page ") for text in texts) == len(
        answers.element.xpath(".//section/section")
    )


# --- EPUB ---


@pytest.fixture(scope="module")
def epub(book, chromium) -> Path:
    return write_epub(OURS, chromium, quiet=True)


@pytest.fixture(scope="module")
def files(epub) -> Iterator[dict[str, bytes]]:
    """What is in the EPUB, by name."""
    with zipfile.ZipFile(epub) as archive:
        yield {name: archive.read(name) for name in archive.namelist()}


def test_an_epub_says_first_what_it_is(epub):
    with zipfile.ZipFile(epub) as archive:
        first = archive.infolist()[0]
        assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
        assert not first.extra and archive.read(first) == b"application/epub+zip"
    assert epub.read_bytes()[38:58] == b"application/epub+zip"


def test_the_package_of_the_epub_lists_every_file(files, read):
    package = etree.fromstring(files["book/package.opf"])
    items = {one.get("id"): one for one in package.iterfind(".//opf:item", OPF)}
    listed = sorted(f"book/{one.get('href')}" for one in items.values())
    others = {"mimetype", "META-INF/container.xml", "book/package.opf"}
    assert listed == sorted(set(files) - others)
    spine = [items[one.get("idref")].get("href") for one in package.iterfind(".//opf:itemref", OPF)]
    assert spine == ["title.xhtml", "contents.xhtml", *(f"{page.stem}.xhtml" for page in read)]
    for one in items.values():
        content = files[f"book/{one.get('href')}"]
        if one.get("href").endswith(".xhtml"):
            held = {"mathml": b"<math ", "svg": b"<svg ", "nav": b"<nav "}
            said = {word for word, sign in held.items() if sign in content}
            assert set((one.get("properties") or "").split()) == said, one.get("href")


def test_pages_of_the_epub_are_xhtml_with_their_formulas_and_without_programs(files, read):
    formulas = 0
    for name, content in files.items():
        if not name.endswith(".xhtml"):
            continue
        page = etree.fromstring(content)
        formulas += len(page.findall(".//{http://www.w3.org/1998/Math/MathML}math"))
        assert page.find(f".//{XHTML}script") is None
        assert not any(key.startswith("on") for e in page.iter() for key in e.attrib)
        for element in page.iter(f"{XHTML}img", f"{XHTML}link"):
            source = element.get("src") or element.get("href")
            assert normpath(join("book", source)) in files
        assert all(image.get("alt") for image in page.iter(f"{XHTML}img"))
    assert formulas == len(plain_formulas(read)) > 2000
    text = b" ".join(content for name, content in files.items() if name.endswith(".xhtml")).decode()
    assert [number for number in numbers(read) if number not in text] == []


def test_every_link_in_the_epub_leads_somewhere(files):
    trees = {n: etree.fromstring(text) for n, text in files.items() if n.endswith(".xhtml")}
    places = {name: {e.get("id") for e in tree.iter()} for name, tree in trees.items()}
    dead, inside = [], 0
    for name, tree in trees.items():
        for link in (one.get("href") for one in tree.iter(f"{XHTML}a")):
            if re.match("https?://", link) and ".invalid" not in link:
                continue
            inside += 1
            path, _, anchor = link.partition("#")
            target = normpath(join("book", path))
            if anchor not in places.get(target, ()):
                dead.append(f"{name}: {link}")
    assert dead == [] and inside > 2000


def test_epubcheck_finds_nothing_wrong(epub):
    program = shutil.which("epubcheck")
    if program is None:
        pytest.skip("epubcheck is missing")
    jar = Path(program).read_bytes()[:2] == b"PK"  # Debian's is the jar itself
    command = ["java", "-jar", str(Path(program).resolve())] if jar else [program]
    done = subprocess.run([*command, str(epub)], capture_output=True, text=True, check=False)
    assert "0 fatals / 0 errors / 0 warnings" in done.stdout + done.stderr
    assert done.returncode == 0


# --- The site as a zip ---


@pytest.fixture(scope="module")
def unpacked(book, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("offline")
    zipfile.ZipFile(write_offline(OURS, quiet=True)).extractall(folder)
    return folder / articles.slug(OURS)


def test_the_zip_is_one_folder_with_all_that_its_pages_show(unpacked):
    assert [path.name for path in unpacked.parent.iterdir()] == [articles.slug(OURS)]
    assert [name for name in pages(OURS) if not (unpacked / f"{name}.html").is_file()] == []
    shown = set()
    for page in unpacked.rglob("*.html"):
        sources = re.findall(r'<img [^>]*?src="([^":]+)"', page.read_text(encoding="utf-8"))
        shown |= {(page.parent / source).resolve() for source in sources}
    pictures = {path.resolve() for path in (unpacked / "_images").iterdir()}
    assert [path for path in shown if not path.is_file()] == []
    assert len(pictures & shown) > 150 and len(pictures - shown) < 20


def test_the_unpacked_site_needs_no_server_and_no_network(unpacked, chromium):
    from playwright.sync_api import sync_playwright

    faults: list[str] = []
    flags = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        page = browser.new_page()
        page.set_default_timeout(120_000)
        page.on("requestfailed", lambda request: faults.append(f"failed: {request.url}"))
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on("console", lambda m: m.type == "error" and faults.append(f"said: {m.text}"))
        page.on(
            "request",
            lambda r: r.url.startswith(("file:", "data:", "blob:")) or faults.append(r.url),
        )
        for name in ("index", "book/gpt", "notebooks/masking", "book/api/parts", "genindex"):
            page.goto((unpacked / f"{name}.html").as_uri())
            page.wait_for_load_state("networkidle")
            page.evaluate("() => window.MathJax?.startup?.promise")
            assert page.locator("article, .bd-article").first.inner_text().strip()
            assert page.locator("[data-tex]").count() == 0
        page.goto(f"{(unpacked / 'search.html').as_uri()}?q=why+divide+by+sqrt+d")
        result = page.locator("#search-results li a").first
        result.click()
        page.wait_for_url("**/scaling.html#sec-scaling-variance")
        browser.close()
    assert faults == []
