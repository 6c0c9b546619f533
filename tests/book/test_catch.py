"""Games on pages: one in each chapter, played in a browser, whole without scripts."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from coursekit.check.games import GAMES
from coursekit.check.games.game import written
from coursetools.book import contents
from coursetools.book.ask import fences
from coursetools.book.catch import question, versions
from coursetools.course import Course

ROOT = Path(__file__).resolve().parents[2]
COURSE = Course(ROOT)
CHAPTERS = [name for names in contents.chapters(COURSE).values() for name in names]
ON_PAGES = [
    (page.stem, game, options["name"])
    for page in sorted((ROOT / "book").glob("*.md"))
    for game, options, _ in fences(page.read_text(encoding="utf-8"), "catch")
]
FOUR = [game for game in GAMES.values() if len(game.mistakes) > 1]
ONE = [game for game in GAMES.values() if len(game.mistakes) == 1]


def test_each_chapter_has_a_game_and_each_game_a_chapter():
    pages = {page for page, _, _ in ON_PAGES}
    assert pages <= set(CHAPTERS)
    assert sorted(game for _, game, _ in ON_PAGES) == sorted(GAMES)
    order = sorted(ON_PAGES, key=lambda one: CHAPTERS.index(one[0]))
    assert [game for _, game, _ in order] == list(GAMES)  # as `catch()` lists them
    for page, _, name in ON_PAGES:
        assert f"{name}-".startswith(f"catch-{page}-")
    without = [page for page in CHAPTERS if page not in pages]
    where = "write one in src/coursekit/check/games"
    assert not without, f"not finished yet: book/{without[0]}.md has no game of `catch`, {where}"


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_a_game_is_a_question_whose_values_are_computed(game):
    asked = question(game, "catch-a")
    assert asked.kind == "choice" and len(asked.choices) == 4
    asked._check()  # what holds for the questions that a page writes
    why = "\n".join(asked.why)
    for mistake in game.mistakes:
        call = game.telling(mistake)
        values = [written(game.run(call, one).value) for one in (mistake, None)]
        assert f"`{call}` gives `{values[0]}`, and should give `{values[1]}`" in why
        assert mistake.says in why
    for reply in asked.replies.values():
        assert any(reply.startswith(one.says) for one in game.mistakes) or reply.startswith("Here")


def test_where_the_right_one_stands_says_nothing():
    places = Counter(question(game, "catch-a").answer for game in FOUR)
    assert len(places) == 4 and max(places.values()) <= len(FOUR) / 2
    asked = [question(game, "catch-a") for game in ONE]
    assert len({one.choices.index(one.answer) for one in asked}) >= 3


# --- In a browser ---

PLAIN = """<!doctype html><html lang="en"><meta charset="utf-8">
<link rel="stylesheet" href="_static/pygments.css">
<link rel="stylesheet" href="_static/custom.css">
<article class="bd-content">{{ body }}</article><script src="_static/ask.js"></script></html>"""
PAGE = """# Games

```{catch} RMSNorm
:name: catch-versions
```

```{catch} masked softmax
:name: catch-input
```

```{ask} 2
:name: ask-number
:code: 1 + 1

What is 1 + 1?

---

It is.
```
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory, run_sphinx) -> Path:
    """A page with two games and a question, by Sphinx and our directives alone."""
    folder = tmp_path_factory.mktemp("games")
    (folder / "templates").mkdir()
    (folder / "templates" / "page.html").write_text(PLAIN)
    (folder / "index.md").write_text(PAGE)
    settings = {
        "extensions": ["myst_parser", "sphinx_design", "coursetools.book.ask",
                       "coursetools.book.catch"],
        "myst_enable_extensions": ["colon_fence"],
        "html_theme": "basic",
        "templates_path": [str(folder / "templates")],
    }  # fmt: skip
    out = folder / "out"
    assert run_sphinx(folder, out, settings) == ""
    for name in ("ask.js", "custom.css"):
        shutil.copy(ROOT / "book" / "_static" / name, out / "_static")
    return out / "index.html"


def test_two_games_are_played_in_a_browser(browser, site):
    """By pointer and by keyboard, on a telephone; what is right is remembered with the answers."""
    page = browser.new_page(viewport={"width": 390, "height": 844})
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(site.as_uri())
    four, one = page.locator("#catch-versions"), page.locator("#catch-input")
    marked = "e => getComputedStyle(e).backgroundColor !== 'rgba(0, 0, 0, 0)'"
    right = question(GAMES["RMSNorm"], "").answer
    wrong, mistake = next(item for item in versions(GAMES["RMSNorm"]).items() if item[1])
    assert four.locator("li > button").count() == one.locator("li > button").count() == 4
    four.get_by_role("button", name=wrong).click()
    assert four.locator(".ask-said").inner_text().startswith(mistake.says)
    assert four.locator(".hll").count() == 3 and not four.locator(".hll").first.evaluate(marked)
    four.get_by_role("button", name=right).press("Enter")
    assert four.locator(".ask-said").inner_text() == "Right."
    assert four.locator("details[open]").count() == 1
    assert four.locator(".hll").first.evaluate(marked)
    assert four.locator("li", has_text=right).locator(".hll").count() == 0

    one.get_by_role("button", name="9.0").click()
    assert one.locator(".ask-said").inner_text() == "Here it gives what it should: [1, 0]."
    one.get_by_role("button", name="-20000.0").press("Space")
    assert one.locator(".ask-said").inner_text() == "Right."
    assert one.locator("details li").count() == 4  # the inputs again, which are no choices
    assert page.locator(".ask-progress").inner_text().startswith("2 of 3 answered")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.reload()
    assert page.locator(".ask-progress").inner_text().startswith("2 of 3 answered")
    assert four.locator(".hll").first.evaluate(marked) and not faults
    page.close()


def test_without_scripts_a_game_is_whole(browser, site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site.as_uri())
    four, one = page.locator("#catch-versions"), page.locator("#catch-input")
    assert page.locator("button").count() == 0
    assert four.locator("> ul > li pre").count() == 4
    assert one.locator("> ul > li").count() == 4
    for game in (four, one):
        game.locator("summary").click()
        fold = game.locator("details").inner_text()
        assert "and should give" in fold and "from coursekit.check" in fold
    assert question(GAMES["RMSNorm"], "").answer in four.locator("details").inner_text()
    context.close()


def test_a_game_that_nobody_knows_is_named(tmp_path, run_sphinx):
    (tmp_path / "index.md").write_text("# Games\n\n```{catch} nothing\n:name: catch-a\n```\n")
    settings = {"extensions": ["myst_parser", "coursetools.book.catch"], "html_theme": "basic"}
    warnings = run_sphinx(tmp_path, tmp_path / "out", settings)
    assert "catch needs a game and a :name:, but found 'nothing'" in warnings


def test_a_question_s_own_block_is_not_a_game_s():
    text = "```{ask} 2\n:name: a\n\nWhat?\n```\n\n```{catch} heads\n:name: b\n```\n"
    assert list(fences(text, "catch")) == [("heads", {"name": "b"}, "")]
    assert [name for name, _, _ in fences(text, "ask")] == ["2"]
