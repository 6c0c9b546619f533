"""Every page of the built book in a real browser, with every other host out of reach."""

from __future__ import annotations

import functools
import http.server
import json
import re
import threading
import zipfile
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import pytest
from lxml.html import HtmlElement, fromstring

from coursekit._base import address
from coursekit.check.compiled import FOLDER
from coursetools.book import assets, assignment_pages, lecture_map, questions_and_terms
from coursetools.book.build import build_book, pages
from coursetools.book.contents import chapters, sections, title
from coursetools.book.formats.chromium import find_chromium
from coursetools.course import Course
from coursetools.notebooks.imports import imports_of_cells, read_notebook
from coursetools.notebooks.run import executed_copy, run_notebooks, stale

ROOT = Path(__file__).resolve().parents[2]
OURS = Course(ROOT)
PAGES = pages(OURS)
CHAPTERS = [page for page in PAGES if page.replace("book/", "notebooks/", 1) in set(PAGES) - {page}]
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]  # fmt: skip

pytestmark = pytest.mark.timeout(1800)  # the first test may have to execute every notebook

# The lowest contrast that WCAG 2 asks of ordinary text, for what stands on a plain background.
FAINT_TEXT = """() => {
  const channel = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) =>
    0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const colour = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const over = (top, below) => {
    const a = top.length > 3 ? top[3] : 1;
    return [0, 1, 2].map(i => a * top[i] + (1 - a) * below[i]);
  };
  const behind = element => {
    if (!element) return [255, 255, 255];
    const own = colour(getComputedStyle(element).backgroundColor);
    return own[3] === 0 ? behind(element.parentElement)
      : own.length > 3 ? over(own, behind(element.parentElement)) : own;
  };
  const faint = [];
  const apart = "mjx-container, script, style, .headerlink";
  for (const element of document.querySelectorAll("article *")) {
    const text = [...element.childNodes].filter(n => n.nodeType === 3).map(n => n.data).join("");
    if (!text.trim() || !element.checkVisibility() || element.closest(apart)) continue;
    const back = behind(element);
    const pair = [light(over(colour(getComputedStyle(element).color), back)), light(back)];
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (ratio < 4.5) faint.push(ratio.toFixed(2) + " " + text.trim().slice(0, 40));
  }
  return faint;
}"""

RAW_FORMULAS = """() => {
  const copy = document.querySelector("article").cloneNode(true);
  copy.querySelectorAll("pre, code, script, style, mjx-container").forEach(e => e.remove());
  return copy.textContent.match(/\\\\[(\\[].{0,40}|\\$\\$.{0,40}/g) || [];
}"""

WIDE_CODE = """() => [...document.querySelectorAll(".cell_input pre")]
  .filter(e => e.offsetParent && e.scrollWidth > e.clientWidth + 1)
  .map(e => [e.scrollWidth, e.clientWidth, e.textContent.slice(0, 40)])"""
WIDE_FORMULAS = """() => [...document.querySelectorAll("article mjx-container[display=true]")]
  .filter(e => e.scrollWidth > e.clientWidth + 1)
  .map(e => [e.scrollWidth, e.clientWidth, e.closest("section")?.id])"""

# What axe sees of colours, beyond our own computation, is how pages are made: one of each kind.
IN_BOTH_THEMES = {"book/index", "book/translation", "notebooks/kernels"}
LINK, ID = re.compile(r'<a [^>]*href="([^"]+)"'), re.compile(r'\bid="([^"]+)"')
ROLE = re.compile(r"(?<!\\text)\{(?:glue:text|ref|numref|doc|cite:[pt])\}")


@pytest.fixture(scope="module")  # and no longer: other tests count processes, or start their own
def browser() -> Iterator:
    chromium = find_chromium()
    if chromium is None:
        pytest.skip("Chromium is missing; `coursekit doctor` says how to install it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield running
        running.close()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64  # a browser opens many connections at once


@pytest.fixture(scope="module")
def serve() -> Iterator[Callable[[Path], str]]:
    """Return a function that serves a folder and gives its address."""
    servers = []

    def start(folder: Path) -> str:
        handler = functools.partial(Quiet, directory=str(folder))
        server = Server(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def local_scripts() -> None:
    try:
        assets.ensure()
    except assets.AssetsMissing as error:
        pytest.skip(f"the pages need the network here, since {error}")


@pytest.fixture(scope="module")
def book() -> Path:
    """Return the folder of the book, which is built only once for all tests."""
    run_notebooks(stale(OURS), timeout=1700)  # what is enough for each on a quiet machine is not
    return build_book(OURS, quiet=True).parent


@pytest.fixture(scope="module")
def site(browser, serve, local_scripts, book) -> str:
    return serve(book)


@pytest.fixture(scope="module")
def context(browser) -> Iterator:
    """What the tabs share; above all the scripts, which are read from the disk once."""
    shared = browser.new_context(viewport={"width": 1280, "height": 900})
    shared.add_init_script("localStorage.mode = localStorage.theme = 'light'")
    yield shared
    shared.close()


@pytest.fixture
def visit(context) -> Iterator[Callable]:
    """Return a function that opens a page and gathers what goes wrong on it, in `faults`."""
    tabs = []

    def go(address: str, *, width: int = 1280) -> SimpleNamespace:
        page, faults = context.new_page(), []
        tabs.append(page)
        page.set_default_timeout(120_000)  # of ten busy processes each gets little
        page.set_viewport_size({"width": width, "height": 900})
        host = "/".join(address.split("/")[:3]) + "/"

        def note(request) -> None:
            if not request.url.startswith((host, "data:", "blob:")):
                faults.append(f"asks another host: {request.url}")

        def hear(message) -> None:
            if message.type == "error":
                faults.append(f"{message.text} {message.location}")

        page.on("request", note)
        page.on("requestfailed", lambda request: faults.append(f"failed: {request.url}"))
        page.on("response", lambda r: r.status < 400 or faults.append(f"{r.status}: {r.url}"))
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on("console", hear)
        page.goto(address, timeout=120_000)
        page.wait_for_load_state("networkidle", timeout=120_000)
        page.evaluate("() => window.MathJax?.startup?.promise")
        return SimpleNamespace(page=page, faults=faults)

    yield go
    for tab in tabs:
        tab.close()


@pytest.fixture(scope="module")
def axe() -> str | None:
    try:
        return (assets.ensure(assets.CHECKS) / "axe.min.js").read_text(encoding="utf-8")
    except assets.AssetsMissing:
        return None  # our own computation sees most of what axe does


def test_every_page_of_the_contents_is_there(book):
    html = book
    assert (html / "index.html").is_file()
    assert [page for page in PAGES if not (html / f"{page}.html").is_file()] == []


def test_the_pages_that_axe_sees_in_both_themes_are_there():
    assert set(PAGES) >= IN_BOTH_THEMES


def test_letters_of_figures_can_be_read_on_a_telephone(book):
    low = {}
    for path in OURS.lectures:
        for cell in read_notebook(executed_copy(path))["cells"]:
            for output in cell.get("outputs", ()):
                about = output.get("metadata", {})
                height = about.get("lowest_letters", 9)
                if not isinstance(height, str) and height < 8.9:  # text says that there are none
                    low[f"{path.stem}: {about['scrapbook']['name']}"] = height
    assert low == {}


def test_no_role_is_left_as_text(book):
    html = book
    left = {page: ROLE.findall((html / f"{page}.html").read_text("utf-8")) for page in PAGES}
    assert {page: roles for page, roles in left.items() if roles} == {}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_and_readable(visit, site, axe, name):
    """One visit: everything is there, both themes can be read, and all fits on a telephone."""
    seen = visit(f"{site}/{name}.html")
    page = seen.page
    assert page.title() and page.evaluate("() => document.documentElement.lang") == "en"
    formulas = page.locator("article .math").count()
    assert formulas > 0 or name not in CHAPTERS
    assert page.locator("article mjx-container").count() >= formulas
    assert page.locator("mjx-merror, [data-mjx-error]").count() == 0
    assert page.evaluate(RAW_FORMULAS) == []
    assignment = name.startswith("notebooks/assignments/")  # there a long line is moved sideways
    assert assignment or page.evaluate(WIDE_CODE) == []

    page.add_style_tag(content="* { transition: none !important }")
    colours = set()
    for theme in ("light", "dark"):
        page.evaluate(f"() => document.documentElement.dataset.theme = '{theme}'")
        colours.add(page.evaluate("() => getComputedStyle(document.body).backgroundColor"))
        assert page.evaluate(FAINT_TEXT) == []
        if axe is not None and (theme == "light" or name in IN_BOTH_THEMES):
            if not page.evaluate("() => 'axe' in window"):
                page.add_script_tag(content=axe)
            found = page.evaluate("() => axe.run({resultTypes: ['violations']})")
            wrong = [(v["id"], node["html"][:200]) for v in found["violations"]
                     if v["impact"] != "minor" for node in v["nodes"]]  # fmt: skip
            assert wrong == []
    assert len(colours) == 2

    page.set_viewport_size({"width": 390, "height": 900})
    assert assignment or page.evaluate(WIDE_FORMULAS) == []
    assert page.evaluate("() => document.scrollingElement.scrollWidth") <= 390
    bare = "() => [...document.images].filter(i => !i.alt?.trim()).map(i => i.src.slice(0, 80))"
    assert page.evaluate(bare) == []
    broken = "() => [...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
    assert page.evaluate(broken) == []
    assert seen.faults == []


def test_a_picture_is_enlarged_with_its_caption_by_mouse_and_keyboard(visit, site):
    page = visit(f"{site}/book/kernels.html", width=390).page
    figure = page.locator("figure").first
    small, button = figure.locator("img"), figure.locator("button.enlarge")
    large, close = page.locator("dialog.enlarged img"), page.locator("dialog.enlarged .close")
    width = small.bounding_box()["width"]
    assert large.count() == 0
    assert button.get_attribute("aria-label") == "Enlarge Figure 1.1"
    for enlarge in (small.click, lambda: button.press("Enter"), lambda: button.press("Space")):
        enlarge()
        assert large.get_attribute("alt") == small.get_attribute("alt")
        assert large.bounding_box()["width"] > 2 * width
        caption = page.locator("dialog.enlarged .caption").inner_text()
        assert caption.startswith("Figure 1.1") and len(caption) > 30
        page.keyboard.press("Escape")
        large.wait_for(state="hidden")
    small.click()
    close.press("Space")
    large.wait_for(state="hidden")


def test_paper_has_every_answer_and_every_picture(visit, site):
    """What `beforeprint` leaves is what is printed; afterwards the answers are folded again."""
    page = visit(f"{site}/book/masking.html").page
    folded = page.locator("article details:not([open])").count()
    assert folded > 2
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("article details:not([open])").count() == 0
    missing = (
        "() => [...document.querySelectorAll('article img')].filter(i => !i.naturalWidth).length"
    )
    page.wait_for_function(f"({missing})() === 0")
    page.emulate_media(media="print")
    assert page.locator("article h1").inner_text().startswith("3.")
    assert not page.locator("#jb-print-docs-body").is_visible()
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("article details:not([open])").count() == folded


def test_an_answer_is_taken_in_the_page_and_remembered(browser, book):
    """A number, a shape, a choice; by keyboard, as a file, on a telephone.

    Without the script of `context`, which writes into what the browser remembers as a page begins:
    Chromium 156 then forgets, at times, what the page before had written.
    """
    context = browser.new_context(viewport={"width": 390, "height": 900})
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{book.as_uri()}/book/kernels.html", timeout=120_000)
    ask = lambda name: page.locator(f"#ask-kernels-{name}")  # noqa: E731
    said = lambda name: ask(name).locator(".ask-said").inner_text()  # noqa: E731
    ask("equal").locator("input").fill("0,25")
    page.keyboard.press("Enter")
    assert said("equal").startswith("That is the weight of each key")
    ask("shape").locator("input").fill("3 x 5")
    ask("shape").get_by_role("button", name="Check").click()
    assert said("shape") == "Right." and ask("shape").locator("details[open]").count() == 1
    choices = ask("length").locator("li button")
    assert choices.count() == 4
    choices.filter(has_text="all of them").click()
    assert said("length").startswith("Only one of them")
    choices.filter(has_text="the cosine kernel").press("Enter")
    assert said("length") == "Right."
    progress = page.locator(".ask-progress")
    assert progress.inner_text().startswith("2 of 5 answered")
    page.reload()
    assert progress.inner_text().startswith("2 of 5 answered")
    progress.get_by_role("button").click()
    assert progress.inner_text().startswith("0 of 5 answered")
    assert page.locator(".ask.answered").count() == 0
    page.goto(f"{book.as_uri()}/book/masking.html")  # where code in choices is code of ours
    page.locator(".catch li button").first.wait_for()
    assert page.locator(".ask p > a code").count() and not page.locator(".ask button a").count()
    context.close()


def test_a_number_opens_to_its_source(visit, book):
    page = visit((book / "book" / "bert.html").as_uri()).page
    note = page.locator(".number-source")
    assert not note.is_visible()
    number = page.locator("p > .sourced").first
    number.click()
    assert "the notebook bert" in note.inner_text() and "runs it again" in note.inner_text()
    box, width = note.bounding_box(), page.viewport_size["width"]
    assert box["x"] >= 0 and box["x"] + box["width"] <= width
    page.keyboard.press("Escape")
    assert not note.is_visible()
    fold = page.locator("details.number-sources")
    fold.locator("summary").focus()
    page.keyboard.press("Enter")
    assert "coursekit train bert --profile cpu" in fold.inner_text()
    page.emulate_media(media="print")
    assert not fold.is_visible()


def test_without_scripts_formulas_can_be_read(browser, site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}/book/scaling.html")
    text = page.locator("article").inner_text()
    context.close()
    assert "attention(Q, K, V) = softmax" in text and "√d" in text
    assert not re.search(r"\\[a-zA-Z(\[]", text)


def test_a_deep_link_stays_where_it_landed(visit, site):
    """Formulas and pictures that come later take the place that was kept for them."""
    page = visit(f"{site}/book/heads.html#sec-heads-cost").page
    page.evaluate("() => window.MathJax.startup.promise")
    where = "document.getElementById('sec-heads-cost').getBoundingClientRect().top"
    page.wait_for_function(f"() => {where} > -5 && {where} < 200")  # a busy machine takes longer
    page.wait_for_timeout(500)
    assert -5 < page.evaluate(where) < 200


def test_the_address_of_what_has_moved_leads_there(visit, site):
    """All these stood on the page "GPT" before it became three."""
    for anchor, stem in {
        "sec-gpt-examples": "gpt_prompts", "tab-gpt-sums": "gpt_prompts",
        "fig-gpt-shots": "gpt_prompts", "sec-gpt-scaling": "gpt_size", "fig-gpt-law": "gpt_size",
        "tab-gpt-papers": "gpt_size",
    }.items():  # fmt: skip
        page = visit(f"{site}/book/gpt.html#{anchor}").page
        page.wait_for_url(f"**/{stem}.html#{anchor}", timeout=120_000)
        assert page.locator(f"#{anchor}").count() == 1
    page = visit(f"{site}/book/gpt.html#sec-gpt-cache").page
    page.wait_for_timeout(500)
    assert page.url.endswith("/gpt.html#sec-gpt-cache")


def test_code_of_ours_leads_to_its_entry(book):
    """No word of code that names a file and something in it is left without a link.

    On the page of an assignment it stays without one, so that no question leads to its answer.
    """
    own = re.compile(
        r'(<a class="code-word[^>]*>)?<code class="docutils[^>]*>(.*?)</code>', re.DOTALL
    )
    dead = []
    for name in PAGES:
        if name.startswith(assignment_pages.PAGES):
            continue
        article = (book / f"{name}.html").read_text("utf-8").partition("<article")[2]
        for linked, code in own.findall(article):
            word = unescape(re.sub(r"<[^>]+>|\u200b", "", code)).partition("(")[0]
            dotted = f"coursekit.{word.removeprefix('coursekit.')}"
            if linked or "." not in word or not re.fullmatch(r"[\w.]+", word):
                continue
            if lecture_map.find_object(dotted, OURS.packages) and not name.startswith("book/api"):
                dead.append(f"{name}: {word}")
    assert dead == []


def code_words(article: HtmlElement) -> list[HtmlElement]:
    return article.xpath('.//a[contains(concat(" ", @class, " "), " code-word ")]')


def test_no_page_of_an_assignment_leads_to_an_answer(book):
    asked = 0
    for name in PAGES:
        if name.startswith(assignment_pages.PAGES):
            with zipfile.ZipFile(FOLDER / f"{name.rpartition('/')[2]}.zip") as file:
                questions = json.loads(file.read("index.json"))["questions"]
            names = {question["name"] for question in questions}
            asked += len(names)
            page = fromstring((book / f"{name}.html").read_text("utf-8"))
            imported = imports_of_cells(read_notebook(ROOT / f"{name}.ipynb")["cells"])
            allowed = {one[-1] for one in imported if one[0] == "coursekit"} | {"catch"}
            for link in code_words(page.find(".//article")):
                to = link.get("href").rpartition(".")[2]
                assert to not in names and to in allowed, (name, link.text_content())
    assert asked > 90


def test_no_entry_of_the_reference_links_its_own_parameters(book):
    entries = 0
    for path in sorted((book / "book" / "api").glob("*.html")):
        article = fromstring(path.read_text("utf-8")).find(".//article")
        for entry in article.xpath(".//dt[@id][following-sibling::dd]"):
            named = entry.xpath('.//em[@class="sig-param"]/span[@class="n"][1]')
            parameters = {"".join(one.itertext()) for one in named}
            entries += bool(parameters)
            for link in code_words(entry.getnext()):
                word = link.text_content().replace("\u200b", "").partition("(")[0]
                assert word not in parameters, (entry.get("id"), word)
    assert entries > 500


def test_a_stored_result_is_named_wherever_a_number_comes_from_it(book):
    missing = re.compile(r"reads the training (\w+), of which no result is kept")
    for name in PAGES:
        for training in missing.findall((book / f"{name}.html").read_text("utf-8")):
            stored = sorted((ROOT / "results" / training).glob("*.json"))
            assert stored == [], f"{name} does not find {stored}"


def test_no_formula_is_shown_as_its_source(book):
    """Every formula of the book can be said in a line of text."""
    shown = re.compile(r'<span[^>]* data-tex="[^"]*"[^>]*>([^<]*)<')
    formulas = [text for name in PAGES
                for text in shown.findall((book / f"{name}.html").read_text("utf-8"))]  # fmt: skip
    assert len(formulas) > 2000
    assert [text for text in formulas if not text.strip() or "\\" in text] == []


def test_every_link_inside_the_book_leads_somewhere(book):
    html = book
    texts = {p: p.read_text("utf-8") for p in html.rglob("*.html") if "_static" not in p.parts}
    names = {page: set(ID.findall(text)) for page, text in texts.items()}
    dead, home = [], urlsplit(OURS.book_address.removesuffix("book")).path or "/"
    for page, text in texts.items():
        for link in {unescape(found) for found in LINK.findall(text)}:
            if re.match(r"[a-z]+:|//", link):
                continue  # another host's, or a file that stands in the page
            path, _, anchor = unquote(link).partition("#")
            path, above = path.partition("?")[0], page.parent
            if path.startswith(home):  # the page of a wrong address does not know where it stands
                path, above = path.removeprefix(home), html
            target = (above / path).resolve() if path else page
            if not target.exists() or (anchor and anchor not in names.get(target, {anchor})):
                dead.append(f"{page.relative_to(html)}: {link}")
    assert dead == []


def test_the_ways_into_the_book_are_on_their_pages(book):
    def links(page: str) -> dict[str, str]:
        text = (book / "book" / f"{page}.html").read_text(encoding="utf-8")
        article = text.partition("<article")[2].partition("</article>")[0]
        found = re.findall(r'<a [^>]*href="([^"]+)"[^>]*>(.*?)</a>', article, re.DOTALL)
        return {unescape(re.sub("<[^>]+>", "", shown)): where for where, shown in found}

    places, asked = sections(OURS), links("questions")
    for question in questions_and_terms.read_questions(OURS):
        text = question.text.replace("'", "’")  # as the pages set it
        assert asked[text] == f"{places[question.section].page}.html#{question.section}"
    home = links("index")
    for number, stem in enumerate(chapters(OURS), start=1):
        assert home[f"{number} {title(OURS, stem)}"] == f"{stem}.html"
        assert home[title(OURS, stem)] == f"{stem}.html"  # on a route
    terms = {row.term for row in questions_and_terms.read_meanings(OURS) if row.term}
    glossary = (book / "book" / "glossary.html").read_text(encoding="utf-8")
    assert len(re.findall(r'<dt id="term-', glossary)) == len(terms)
    symbols = [row for row in questions_and_terms.read_meanings(OURS) if row.symbol]
    notation = (book / "book" / "notation.html").read_text(encoding="utf-8")
    assert len(re.findall(r"<tbody>.*?</tbody>", notation, re.DOTALL)) > 10
    assert notation.count("<tr") - notation.count("<thead") == len(symbols)


ASKED = {  # what a reader may type -> where the first answer must be
    "why divide by sqrt d": "book/scaling#sec-scaling-variance",
    "divide scores by the square root": "book/scaling#sec-scaling-variance",
    "how to run the notebook": "book/start",
    "beam search": "book/glossary#term-beam-search",
    "MultiHeadAttention": "book/api/parts#coursekit.heads.MultiHeadAttention",
    "pre-ln vs post-ln": "book/blocks#sec-blocks-placement",
    "rotary positions": "book/positions#sec-positions-relative",
    "rope": "book/glossary#term-rotary",
    "temperature top-k top-p": "book/gpt#sec-gpt-sampling",
    "how are assignments graded": "book/check#how-assignments-are-graded",
    "hungarian matching": "book/detr#sec-detr-matching",
}


def test_search_answers(visit, site):
    """Each question of the book leads to its section, and so do words that a reader may use."""
    page = visit(f"{site}/search.html").page
    places = sections(OURS)
    wanted = {q.text: f"{places[q.section].page}#{q.section}"
              for q in questions_and_terms.read_questions(OURS)}  # fmt: skip
    wanted = {text: f"book/{place}" for text, place in wanted.items()} | ASKED
    first = page.evaluate(
        "queries => queries.map(query => findSections(query)[0]?.place.at)", list(wanted)
    )
    missed = {q: found for (q, want), found in zip(wanted.items(), first) if found != want}
    assert missed == {}
    assert page.evaluate("findSections('zzyzx')") == []


def test_search_is_reached_from_a_page_and_leads_to_a_section(visit, site):
    page = visit(f"{site}/{PAGES[0]}.html").page
    page.keyboard.press("Control+k")
    page.keyboard.type("why divide by sqrt d")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=why*", timeout=120_000)
    result = page.locator("#search-results li a").first
    result.wait_for(timeout=120_000)
    assert result.inner_text() == "Why divide by √d?"
    assert page.locator(".bd-search-container input").input_value() == "why divide by sqrt d"
    shown = page.locator("#search-results").inner_text()
    assert not re.search(r"\\[a-z(]|\.pdf|\.md", shown)
    result.click()
    page.wait_for_url("**/scaling.html#sec-scaling-variance", timeout=120_000)


def test_there_is_one_bar_one_search_and_one_switch(visit, site):
    page = visit(f"{site}/{PAGES[1]}.html").page
    for part in (
        ".bd-header-article",
        ".search-button-field, .search-button",
        ".theme-switch-button",
    ):
        assert page.locator(f":is({part}):visible").count() == 1, part
    assert page.locator("header.bd-header:visible").count() == 0
    before = page.evaluate("() => document.documentElement.dataset.mode")
    page.locator(".theme-switch-button:visible").click()
    assert page.evaluate("() => document.documentElement.dataset.mode") != before


def test_every_notebook_opens_in_colab_once_the_course_has_an_address(book):
    html, ours = book, address.repository(OURS.address)
    colab = f"https://colab.research.google.com/github/{ours}/blob/main"
    for name in PAGES:
        button = f'<a href="{colab}/{name}.ipynb"'
        page = (html / f"{name}.html").read_text(encoding="utf-8")
        assert (button in page) == (bool(ours) and name.startswith("notebooks/")), name
        # Without an address there is none of somebody else's, and no button that leads nowhere.
        assert ours or not re.search(r'href="[^"]*(colab\.research|\.invalid)', page), name


def test_a_flipbook_turns_without_a_kernel(visit, serve, course, local_scripts):
    seen = visit(
        f"{serve(build_book(Course(course), quiet=True).parent)}/notebooks/waves.html", width=390
    )
    page = seen.page
    shown = page.locator(".flipbook img:visible")
    handle = page.get_by_role("slider", name="height")
    handle.wait_for()
    for label in ("1", "2", "3"):
        page.locator(".flipbook output", has_text=label).wait_for()
        assert handle.get_attribute("aria-valuetext") == label
        assert shown.count() == 1
        assert shown.get_attribute("alt") == f"A line (height: {label})"
        assert shown.evaluate("image => image.naturalWidth") > 100
        handle.focus()
        page.keyboard.press("ArrowRight")
    assert page.evaluate("() => document.scrollingElement.scrollWidth") <= 390
    assert seen.faults == []
