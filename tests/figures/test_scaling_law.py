"""The law that one fits by hand: frontier and fit are the package's; the bet comes first."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from coursekit.figures.live.scaling_law import WARM, law_of, law_runs, scaling_law
from coursetools.notebooks.imports import read_notebook

ROOT = Path(__file__).parents[2]
NAME = "scaling_law"
SIZES = list(dict.fromkeys(run.size for run in law_runs()))
LAST = [run.points[-1] for run in law_runs() if run.size == SIZES[-1]]
GOAL = sum(loss for _, loss in LAST) / len(LAST)
CHOICES = [list(some) for count in (1, 2, 5, 6) for some in combinations(range(6), count)]
FIT = """([taken]) => { const curves = runs.filter(({ size }) => taken.includes(size))
  .map(({ points }) => points); const points = frontier(curves);
  const { exponent, factor } = powerLaw(points); return { exponent, factor, points }; }"""


def test_frontier_and_law_are_the_packages_for_every_choice(page_with):
    page = page_with("scaling_law")
    page.evaluate("(runs) => { window.runs = runs; }", scaling_law().state["curves"])
    for taken in CHOICES:
        found = page.evaluate(FIT, [taken])
        edge, law = law_of([SIZES[n] for n in taken])
        expected = [list(one) for one in zip(edge.compute.tolist(), edge.loss.tolist())]
        assert found["points"] == expected
        assert found["exponent"] == pytest.approx(law.exponent, rel=1e-9)
        assert found["factor"] == pytest.approx(law.factor, rel=1e-9)


def told(page: Any) -> tuple[float, float, float, float]:
    """What the page says: points, factor, exponent, prediction."""
    text = page.locator(".live-box > p").first.inner_text().replace("−", "-").replace("\n", "")
    found = re.search(
        r"^(\d+) points.*L = ([\d.]+) · C\s*(-[\d.]+\d)\..*chosen says ([\d.]+\d),", text
    )
    return tuple(map(float, found.groups()))


def same(page: Any, sizes: list[str]) -> None:
    edge, law = law_of(sizes)
    assert told(page) == pytest.approx(
        (len(edge.loss), law.factor, law.exponent, law.at(LAST[0][0]).item()), abs=6e-3
    )


def size(page: Any, n: int) -> Any:
    return page.get_by_role("button", name=SIZES[n], exact=True)


def test_the_largest_run_is_hidden_until_one_has_bet(open_page):
    page = open_page(NAME)
    hidden = page.locator(".run.last, .law, .edge")
    assert [one.is_visible() for one in hidden.all()] == [False] * 4
    assert size(page, 5).is_disabled() and "2.83" not in page.locator(".live-box").inner_text()
    bet = page.get_by_role("slider", name="Your bet on 3×96")
    bet.fill("80")
    page.keyboard.press("ArrowUp")
    assert bet.get_attribute("aria-valuetext") == "a loss of 3.31"
    assert page.get_by_role("status").inner_text() == "You bet a loss of 3.31."
    page.get_by_role("button", name="Show the largest run").click()
    assert all(one.is_visible() for one in hidden.all())
    same(page, SIZES[:-1])
    reached = " and ".join(f"{loss:.2f}" for _, loss in LAST)
    said = page.get_by_role("status").inner_text()
    assert f"off by {100 * (3.31 / GOAL - 1):.1f}%" in said and reached in said
    page.get_by_role("button", name="Bet again").click()
    assert not page.locator(".run.last").first.is_visible()


def test_sizes_are_chosen(open_page):
    page = open_page(NAME, f"?{NAME}.shown=true")
    size(page, 5).click()
    same(page, SIZES)
    for n in (5, 4, 3, 2, 1):
        size(page, n).click()
    same(page, SIZES[:1])
    size(page, 0).click()
    assert page.get_by_role("status").inner_text() == "A law needs one size at least."
    size(page, 4).click()
    same(page, [SIZES[0], SIZES[4]])


@pytest.mark.parametrize("width", [1400, 390])
def test_a_bet_is_dragged_and_kept_in_bounds(open_page, width):
    page = open_page(NAME, viewport={"width": width, "height": 900})
    knob = page.locator(".handle .knob")
    knob.scroll_into_view_if_needed()
    box = knob.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 20, steps=3)
    lower = float(page.get_by_role("slider").get_attribute("aria-valuetext").split()[-1])
    page.mouse.move(x, y + 900, steps=3)
    page.mouse.up()
    assert 2.5 < lower < 3.5
    assert page.get_by_role("slider").get_attribute("aria-valuetext") == "a loss of 2.50"


def test_the_answer_to_its_question():
    """ "Find out": 2×32 and 2×48 predict worst, too low a loss; the two smallest do well."""
    off = {}
    for pair in combinations(SIZES[:-1], 2):
        off[pair] = law_of(list(pair))[1].at(LAST[0][0]).item() / GOAL - 1
    worst = max(off, key=lambda pair: abs(off[pair]))
    assert worst == ("2×32", "2×48") and off[worst] < -0.09
    assert sorted(map(abs, off.values()))[-2] < 0.07
    assert abs(off["1×16", "1×32"]) < 0.02


def test_an_address_that_nobody_can_read_changes_nothing(open_page):
    page = open_page(NAME, f'?{NAME}.taken=[9,"a"]&{NAME}.bet=99&{NAME}.shown=true')
    same(page, SIZES[:1])
    assert page.get_by_role("slider").get_attribute("aria-valuetext") == "a loss of 4.70"


def test_the_runs_are_those_of_the_notebook():
    cells = read_notebook(ROOT / "notebooks" / "gpt.ipynb")["cells"]
    source = next("".join(c["source"]) for c in cells if c["id"] == "gpt-law-read")
    found: dict[str, Any] = {}
    exec(source, found)
    assert found["WARM"] == WARM
    for name, runs in found["law_curves"].items():
        assert [run.points for run in law_runs() if run.size == name] == runs
