"""Live figures in a browser: a page opened as a file, by hand, by keys and by its address."""

from __future__ import annotations

import json
import re
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import torch
from ipywidgets import DOMWidget

from coursekit.attention import attention_weights
from coursekit.figures.live import packed_models
from coursekit.figures.live.bundle import modules
from coursekit.figures.live.figure import HERE, Live
from coursekit.figures.live.soft_lookup import KEYS, QUERY, TITLES, VALUES
from coursekit.figures.live.writer import writer
from coursekit.kernels import cosine, dot, gaussian, scaled_dot
from coursekit.training.records import trained
from coursetools.notebooks.imports import read_notebook

ROOT = Path(__file__).parents[2]
LARGEST = 60_000  # bytes of a figure without the weights


def figures() -> list[str]:
    """Return the names of all figures that need nothing to be drawn; a new one is among them."""
    names = []
    for path in sorted(HERE.glob("*.js")):
        if "default" in modules(path)[path].exports:
            make = getattr(import_module(f"coursekit.figures.live.{path.stem}"), path.stem)
            if all(p.default is not p.empty for p in signature(make).parameters.values()):
                names.append(path.stem)
    return names


FIGURES = figures()
# All that is seen and set in a figure, without what it says aloud and how long it took.
SEEN = """() => {
  const box = document.querySelector(".live-box");
  const copy = box.cloneNode(true);
  copy.querySelectorAll("[role=status], style").forEach((e) => e.remove());
  const all = (name, get) => [...box.querySelectorAll(name)].map(get);
  return {
    text: copy.textContent.replace(/\\d+ ms/, ""),
    values: all("input, select", (e) => e.value),
    pressed: all("[aria-pressed]", (e) => e.getAttribute("aria-pressed")),
    drawn: all("svg *", (e) => ["d", "cx", "cy", "x", "y"].map((n) => e.getAttribute(n)).join()),
  };
}"""
# Values of an address that are JSON of the right kind and nonsense, by the kind that is there.
NONSENSE = {
    bool: ["true", "false", "true"],
    int: ["-1e9", "1e9", "0.37"],
    float: ["-1e9", "1e9", "0.37"],
    str: ["toString", "", "constructor"],
    list: ["[]", "[null,[99,0,1],-1]", '["x",1.5,1e9]'],
}


def made_by(name: str) -> Live:
    return getattr(import_module(f"coursekit.figures.live.{name}"), name)()


def change_all(page: Any) -> None:
    """Press and move what there is, except what runs on and a bet, which is not linked."""
    buttons = page.locator(".live-box .buttons button:visible")
    for n in range(buttons.count()):
        button = buttons.nth(n)
        if button.is_enabled() and not in_bet(button) and button.inner_text() != "Run":
            button.click()
    sliders = page.locator(".live-box input[type=range]:visible:enabled")
    for n in range(sliders.count()):
        slider = sliders.nth(n)
        if in_bet(slider):
            continue
        slider.focus()
        before = slider.input_value()
        page.keyboard.press("ArrowRight")
        if slider.input_value() == before:
            page.keyboard.press("ArrowLeft")
    choices = page.locator(".live-box select:visible")
    for n in range(choices.count()):
        choices.nth(n).select_option(index=choices.nth(n).locator("option").count() - 1)
    pressed = page.locator(".live-box button[aria-pressed]:visible:enabled")
    if pressed.count():
        pressed.last.click()


def seen_in(page: Any) -> dict[str, Any]:
    """Return what is seen once nothing is computed any more."""
    before, now = None, page.evaluate(SEEN)
    while before != now:
        page.wait_for_timeout(300)
        before, now = now, page.evaluate(SEEN)
    return now


def in_bet(control: Any) -> bool:
    return control.evaluate("(e) => e.closest('.bet') !== null")


def bars(page: Any) -> list[tuple[str, str]]:
    rows = page.locator(".bars button")
    return [
        (rows.nth(n).locator(".token").inner_text(), rows.nth(n).locator(".share").inner_text())
        for n in range(rows.count())
    ]


def move(page: Any, name: str, place: int) -> None:
    page.get_by_label(name).fill(str(place))


def address(page: Any) -> str:
    """Return what the address says once it has followed, which it does after 300 ms."""
    waited = "new Promise((done) => setTimeout(() => done(location.search + location.hash), 400))"
    return page.evaluate(waited)


# --- All of them ---


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_small_and_its_picture_says_what_it_shows(name):
    made = made_by(name)
    assert len(made.html().encode()) <= LARGEST
    alt = re.search(r'role="img" aria-label="([^"]+)"', made.still)[1]
    assert len(alt) > 60 and "<script" not in made.still
    assert not set(made.state) & set(dir(DOMWidget))  # a widget has `keys` of its own


@pytest.mark.parametrize("name", FIGURES)
def test_without_scripts_and_on_paper_the_picture_is_seen(open_page, name):
    still = open_page(name, ready=False, java_script_enabled=False)
    assert still.locator(".live-still svg").is_visible()
    page = open_page(name)
    assert not page.locator(".live-still svg").is_visible()
    page.emulate_media(media="print")
    assert page.locator(".live-still svg").is_visible()
    assert not page.locator(".live-box").is_visible()


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_is_wider_than_a_telephone_or_too_small_for_a_finger(open_page, name):
    page = open_page(name, viewport={"width": 390, "height": 800}, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    low = page.evaluate(
        """() => [...document.querySelectorAll(".live-box :is(button, input, select)")]
          .filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 24)
          .map((e) => e.outerHTML)"""
    )
    assert low == []


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("name", FIGURES)
def test_what_is_below_stays_where_it_is_when_a_figure_begins(open_page, name, width):
    page = open_page(name, "#below", viewport={"width": width, "height": 900})
    top = page.evaluate("document.getElementById('below').getBoundingClientRect().top")
    assert abs(top) < 60


@pytest.mark.parametrize("name", FIGURES)
def test_a_link_leads_to_all_that_was_set(open_page, name):
    page = open_page(name)
    first = seen_in(page)
    change_all(page)
    followed = address(page)
    changed = seen_in(page)
    assert changed != first and f"{name}." in followed and followed.endswith("#fig")
    assert seen_in(open_page(name, followed)) == changed


@pytest.mark.parametrize("name", FIGURES)
def test_an_address_of_another_kind_changes_nothing_and_nonsense_breaks_nothing(open_page, name):
    """That no script fails is checked by `open_page`."""
    made = made_by(name)
    linked = {key: type(made.state[key]) for key in made.linked}
    other = {f"{name}.{key}": '{"a":1}' for key, kind in linked.items() if kind is not str}
    plain = seen_in(open_page(name))
    assert seen_in(open_page(name, f"?{urlencode(other)}")) == plain
    for n in range(3):
        odd = {f"{name}.{key}": NONSENSE[kind][n] for key, kind in linked.items()}
        page = open_page(name, f"?{urlencode(odd)}")
        seen = seen_in(page)
        text = f"{seen['text']} {seen['values']} {seen['drawn']}"
        assert not re.search(r"NaN|undefined|Infinity|\[object", text), text
        chosen = page.locator(".live-box select").evaluate_all("(a) => a.map((e) => e.value)")
        ready = page.get_by_label("Or one of these").count()  # its first option is no text
        assert chosen.count("") <= ready


def test_a_model_that_does_not_come_leaves_the_picture_and_says_so(browser, tmp_path):
    alone = tmp_path / "writer.html"
    text = f'<!doctype html><html data-content_root="../">{writer().html()}'
    alone.write_text(text, encoding="utf-8")
    page = browser.new_page()
    page.goto(alone.as_uri())
    page.get_by_text("The figure stays still: the model of writer did not come.").wait_for()
    assert page.locator(".live-still svg").is_visible()
    page.close()


# --- The writer ---


def test_the_bars_are_the_models_own(open_page):
    found = bars(open_page("writer"))
    tokenizer = packed_models.tokenizer_of("writer")
    read = [n for c in "1815:" for n in tokenizer.encode(c)] + tokenizer.encode(
        " The United States have"
    )
    with torch.no_grad():
        best = trained("writer")(torch.tensor([read]))[0, -1].softmax(dim=-1).topk(10)
    expected = [
        (tokenizer.decode([token]).replace(" ", "·"), f"{100 * share:.1f}%")
        for share, token in zip(best.values.tolist(), best.indices.tolist())
    ]
    assert found == expected
    still = writer().still
    for token, share in expected[:5]:
        assert f"{token.strip('·')} {float(share[:-1]):.0f}%" in still


def test_the_knobs_cut_and_the_line_says_what_is_left(open_page):
    page = open_page("writer")
    move(page, "Top-k", 2)  # 3
    assert [share for _, share in bars(page)[3:]] == ["cut"] * 7
    assert page.get_by_role("status").inner_text().startswith("3 of 2,000 tokens can be drawn.")
    before = bars(page)[0]
    move(page, "Temperature", 0)
    assert bars(page)[0][0] == before[0] and float(bars(page)[0][1][:-1]) > float(before[1][:-1])
    assert page.get_by_label("Temperature").get_attribute("aria-valuetext") == "0.1"
    move(page, "Top-k", 9)  # off
    assert page.get_by_label("Top-k").get_attribute("aria-valuetext") == "off"


def test_another_token_is_taken_by_hand_and_given_back(open_page):
    page = open_page("writer")
    begun = page.locator(".text").inner_text()
    page.locator(".bars button").nth(1).focus()
    page.keyboard.press("Enter")
    assert page.locator(".text").inner_text() == f"{begun} not"
    assert "“·not” was taken" in page.get_by_role("status").inner_text()
    assert page.evaluate("document.activeElement.closest('.bars') !== null")  # and the next one
    one = page.locator(".text").inner_text()
    page.locator(".bars button").first.click()
    assert page.locator(".written").count() == 2
    page.get_by_role("button", name="Back").click()
    assert page.locator(".text").inner_text() == one
    page.get_by_role("button", name="Back").click()
    assert page.locator(".text").inner_text() == begun


def test_it_runs_to_the_end_of_its_window_and_the_same_seed_writes_the_same(open_page):
    page = open_page("writer", reduced_motion="reduce")
    page.get_by_role("button", name="Run").click()
    page.get_by_text("The window is full.").wait_for()
    text = page.locator(".text").inner_text()
    assert page.locator(".written").count() == 256 - 5 - 4
    assert page.get_by_role("button", name="Step").is_disabled()
    page.get_by_role("button", name="Start again").click()
    page.get_by_role("button", name="Step").click()
    first = page.locator(".text").inner_text()
    assert text.startswith(first) and len(first) > len("1815: The United States have")
    page.get_by_role("button", name="Other random numbers").click()
    page.get_by_role("button", name="Run").click()
    page.get_by_text("The window is full.").wait_for()
    assert page.locator(".text").inner_text() != text


def test_a_run_can_be_stopped(open_page):
    page = open_page("writer")
    page.get_by_role("button", name="Run").click()
    page.locator(".written").nth(2).wait_for(state="attached")
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("tokens were written.").wait_for()
    count = page.locator(".written").count()
    page.wait_for_timeout(300)
    assert page.locator(".written").count() == count < 200


def test_the_first_year_of_the_question(open_page):
    """ "Find out": after “The United States have”, when has “ been” less than a fifth?"""
    page = open_page("writer")
    below = []
    for n in range(47):
        move(page, "Year", n)
        token, percent = bars(page)[0]
        assert token == "·been"
        if float(percent[:-1]) < 20:
            below.append(1790 + 5 * n)
    assert below == list(range(1900, 2025, 5))


def test_tokens_and_knobs_of_an_address_that_cannot_be_are_left_out_or_cut(open_page):
    odd = "?writer.year=%22x%22&writer.temperature=[1]&writer.tokens=[-1,99999,%22a%22,1.5]"
    plain, wrong = open_page("writer"), open_page("writer", odd)
    assert bars(wrong) == bars(plain)
    assert wrong.locator(".text").inner_text() == plain.locator(".text").inner_text()
    far = open_page("writer", "?writer.year=5000&writer.temperature=-3&writer.top_p=0")
    assert far.locator(".text").inner_text().startswith("2020:")


def test_a_beginning_may_be_empty_long_or_foreign(open_page):
    page = open_page("writer")
    for text in ("", "   ", "日本 👍🏽", "word " * 80):
        page.get_by_label("How the speech begins").fill(text)
        assert len(bars(page)) == 10 and bars(page)[0][1].endswith("%")
        page.get_by_role("button", name="Step").click()
        assert page.locator(".written").count() == 1


# --- The library ---


def shares(page: Any) -> torch.Tensor:
    rows = page.locator("tbody tr:not(.sum)")
    cells = [rows.nth(n).locator("td").nth(2).inner_text() for n in range(rows.count())]
    return torch.tensor(list(map(float, cells)))


def expected_shares(query: tuple[float, float], kernel: Any) -> torch.Tensor:
    return attention_weights(torch.tensor([query]), torch.tensor(KEYS), kernel=kernel)[0]


KERNELS = {"gaussian": gaussian, "cosine": cosine, "dot": dot, "scaled_dot": scaled_dot}


@pytest.mark.parametrize("name", KERNELS)
def test_the_shares_are_those_of_the_package(open_page, name):
    page = open_page("soft_lookup")
    page.get_by_label("Kernel").select_option(name)
    expected = expected_shares(QUERY, KERNELS[name])
    torch.testing.assert_close(shares(page), expected, rtol=0, atol=6e-4)
    place = [float(text) for text in page.locator(".sum td").all_inner_texts()[-2:]]
    torch.testing.assert_close(
        torch.tensor(place), expected @ torch.tensor(VALUES), rtol=0, atol=6e-3
    )
    assert page.get_by_label("Bandwidth h").is_visible() == (name == "gaussian")


def test_its_bandwidth_is_the_kernels(open_page):
    page = open_page("soft_lookup")
    move(page, "Bandwidth h", 3)  # 0.5
    expected = expected_shares(QUERY, lambda q, k: gaussian(q, k, 0.5))
    torch.testing.assert_close(shares(page), expected, rtol=0, atol=6e-4)


def test_a_query_is_moved_by_hand_by_finger_and_by_keys(open_page, drag):
    page = open_page("soft_lookup")
    asked = page.get_by_role("button", name="The query at")
    asked.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowUp")
    assert asked.get_attribute("aria-label").startswith("The query at 1.9, 2.7;")
    assert "The query is at 1.9, 2.7." in page.get_by_role("status").inner_text()
    drag(asked, (0, 0))  # farther than the plane goes
    assert asked.get_attribute("aria-label").startswith("The query at 0.0, 4.0;")
    expected = expected_shares((0.0, 4.0), gaussian)
    torch.testing.assert_close(shares(page), expected, rtol=0, atol=6e-4)
    touch = page.locator("g.asked").evaluate("(e) => getComputedStyle(e).touchAction")
    assert touch == "none"  # a finger moves the point and not the page


def test_a_key_is_moved_and_all_is_put_back(open_page):
    page = open_page("soft_lookup")
    before = shares(page)
    page.get_by_role("button", name="Gardening at").focus()
    for _ in range(5):
        page.keyboard.press("Shift+ArrowRight")
    assert shares(page)[5] > before[5]
    page.get_by_role("button", name="Put all back").click()
    assert torch.equal(shares(page), before) and address(page) == "#fig"


def test_the_answer_to_its_question(open_page):
    """ "Find out": on Statistics itself, both dot products give another book more."""
    query = json.dumps(KEYS[TITLES.index("Statistics")])
    other = []
    for name in KERNELS:
        page = open_page("soft_lookup", f"?soft_lookup.query={query}&soft_lookup.kernel={name}")
        found = shares(page)
        if found.max() > found[TITLES.index("Statistics")]:
            other.append(name)
    assert other == ["dot", "scaled_dot"]


def test_the_books_are_those_of_the_notebook():
    cells = read_notebook(ROOT / "notebooks" / "kernels.ipynb")["cells"]
    source = next("".join(c["source"]) for c in cells if c["id"] == "lookup-by-hand")
    found: dict[str, Any] = {"torch": torch}
    exec(source.split("squared =")[0], found)
    assert found["titles"] == list(TITLES)
    for name, points in {"keys": KEYS, "values": VALUES}.items():
        assert torch.equal(found[name], torch.tensor(points))
    assert torch.equal(found["queries"][1], torch.tensor(QUERY))
