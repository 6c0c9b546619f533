"""Optimisers in the valley: the page's steps are PyTorch's, on the noise that its state has."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from coursekit.figures.live.valley_walks import (
    CURVATURES,
    DRAWS,
    MINIMUM,
    NOISE,
    SHOWN,
    START,
    STEPS,
    Walker,
    draws,
    scaled,
    walk,
)
from coursetools.notebooks.imports import read_notebook

ROOT = Path(__file__).parents[2]
NAME = "valley_walks"
PLAIN = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
WALKERS = (
    Walker("sgd", rate=0.01),
    Walker("sgd", rate=0.02, warmup=5),
    Walker("momentum", rate=0.01),
    Walker("momentum", rate=0.02, warmup=40),
    *(Walker("adam", warmup=w, beta2=b, corrected=c)
      for w, b, c in [(0, 0.999, True), (10, 0.98, True), (0, 0.9, False), (20, 0.999, False)]),
    Walker("adamw", decay=0.0),
    Walker("adamw", decay=1.0, warmup=5),
    Walker("adamw", decay=0.5, beta2=0.98, corrected=False),
)  # fmt: skip


def test_the_steps_are_those_of_pytorch(page_with):
    page = page_with("valley_walks")
    around = {"curvatures": CURVATURES, "minimum": MINIMUM, "start": START}
    for n, walker in enumerate(WALKERS):
        noise = scaled(draws()[n % DRAWS], noise=n % 3)
        found = page.evaluate(
            "([walker, around]) => walk(walker, around)",
            [walker._asdict(), {**around, "noise": noise.tolist()}],
        )
        expected = walk(walker, start=START, noise=noise)
        assert expected.shape == (STEPS + 1, 2)
        torch.testing.assert_close(
            torch.tensor(found, dtype=torch.float64), expected, rtol=1e-9, atol=1e-9
        )


def numbers(page: Any, n: int = 0) -> list[float]:
    """Return a row of the table: first and longest step along and across, loss, mean loss."""
    cells = page.locator("tbody").nth(n).locator("td").all_inner_texts()
    plain = [text.replace("·10", "e").translate(PLAIN) for text in cells]
    return [float(text) for text in plain]


def expected(
    walker: Walker, start: Any = START, draw: int = 1, noise: float = NOISE, steps: int = SHOWN
) -> list[float]:
    walks = [walk(walker, start=start, noise=scaled(one[:steps], noise)) for one in draws()]
    lengths = walks[draw - 1].diff(dim=0).abs()  # (steps, 2)
    ends = torch.stack([places[-1] for places in walks]) - torch.tensor(MINIMUM)
    losses = 0.5 * (ends.square() * torch.tensor(CURVATURES)).sum(dim=1)
    taken = [f(lengths[:, axis]) for axis in (0, 1) for f in (lambda x: x[0], torch.max)]
    return [float(x) for x in (*taken, losses[draw - 1], losses.mean())]


def close(found: list[float], wanted: list[float]) -> None:
    assert found == pytest.approx(wanted, rel=6e-3, abs=6e-4)


def test_the_table_says_what_the_walks_do(open_page):
    page = open_page(NAME)
    close(numbers(page), expected(Walker()))
    close(numbers(page, 1), expected(Walker(warmup=20)))
    page.get_by_role("button", name="Other noise").click()
    close(numbers(page), expected(Walker(), draw=2))
    page.get_by_label("Optimiser").select_option("sgd")
    assert page.get_by_role("slider", name="Rate").get_attribute("aria-valuetext") == "0.01"
    close(numbers(page), expected(Walker("sgd", rate=0.01), draw=2))
    assert not page.get_by_label("Bias correction").is_visible()
    page.get_by_role("slider", name="Rate").fill("5")
    page.get_by_role("slider", name="Rate").dispatch_event("change")
    assert "Thrown out of the valley by step" in page.get_by_role("status").inner_text()


def test_the_start_is_moved_and_a_walk_goes_step_by_step(open_page, drag):
    page = open_page(NAME, reduced_motion="reduce")
    start = page.get_by_role("button", name="The start at")
    start.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    assert start.get_attribute("aria-label").startswith("The start at 1.1, 0.0;")
    close(numbers(page), expected(Walker(), start=(1.1, 0.0)))
    drag(start, (0, 0))  # farther than the picture goes
    assert start.get_attribute("aria-label").startswith("The start at −4.0, 3.0;")
    page.get_by_role("button", name="Step", exact=True).click()
    assert f", {SHOWN + 1} steps. The first is" in page.get_by_role("status").inner_text()
    assert page.locator(".plots .now").first.locator("circle").count() == SHOWN + 2
    page.get_by_role("button", name="Run").click()
    page.get_by_text(f"{STEPS} steps. The first is").wait_for()
    close(numbers(page), expected(Walker(), start=(-4.0, 3.0), steps=STEPS))


def test_a_walk_is_kept_and_removed_and_an_odd_address_is_cut(open_page):
    page = open_page(NAME)
    page.get_by_label("Optimiser").select_option("adamw")
    page.get_by_label("Bias correction").select_option("no")
    page.get_by_role("slider", name="Warm-up").fill("2")
    page.get_by_role("button", name="Keep this walk").click()
    page.get_by_role("button", name="Start at the minimum").click()
    walker = Walker("adamw", warmup=10, corrected=False)
    for n in (0, 1):
        close(numbers(page, n), expected(walker, start=MINIMUM))
    page.get_by_role("button", name="Remove the kept walk").click()
    assert page.locator("tbody").count() == 1 and page.locator(".plots .kept").count() == 0
    odd = "optimiser=toString&rate=-1e9&kept=adam x&start=[1]&draw=99&steps=1e9&corrected=perhaps"
    query = "&".join(f"{NAME}.{one}" for one in odd.split("&"))
    last = expected(Walker(rate=0.001), draw=DRAWS, steps=STEPS)
    close(numbers(open_page(NAME, f"?{query}")), last)


def test_what_it_lets_one_try_and_the_answer_to_its_question(open_page):
    """ "Find out": without correction the first step is longer than the rate at 0.999 only."""
    minimum = f"{NAME}.start=[1,0.5]&{NAME}.steps=10"
    page = open_page(NAME, f"?{minimum}")
    cold, warm = (
        [walk(Walker(warmup=w), start=MINIMUM, noise=scaled(draw)[:10]) for draw in draws()]
        for w in (0, 20)
    )
    far = [max(float((p - p[0]).norm(dim=1).max()) for p in walks) for walks in (cold, warm)]
    assert far[0] > 2 * far[1]
    assert numbers(page)[0] == pytest.approx(20 * numbers(page, 1)[0], rel=1e-2)
    firsts = {}
    for beta2 in (0.9, 0.98, 0.99, 0.999):
        query = f"?{NAME}.corrected=no&{NAME}.beta2={beta2}"
        firsts[beta2] = numbers(open_page(NAME, query))[0] / Walker().rate
        assert firsts[beta2] == pytest.approx(0.1 / math.sqrt(1 - beta2), rel=6e-3)
    assert firsts[0.9] < firsts[0.98] < 1 < 3 < firsts[0.999]
    assert firsts[0.99] == pytest.approx(1, rel=1e-6)


def test_what_is_seen_first_is_that_a_warm_up_spares_the_first_steps():
    cold, warm = (expected(Walker(warmup=warmup)) for warmup in (0, 20))
    assert cold[-1] > 1.5 * warm[-1]  # the mean over the draws, after the steps that are shown
    for steps in range(1, SHOWN + 1):
        cold, warm = (expected(Walker(warmup=warmup), steps=steps) for warmup in (0, 20))
        assert cold[-1] > warm[-1]


def test_at_the_end_of_the_valley_walks_a_warm_up_makes_no_difference_to_the_mean():
    cold, warm = (expected(Walker(warmup=warmup), steps=STEPS) for warmup in (0, 20))
    assert abs(cold[-1] - warm[-1]) < 0.1


def test_the_valley_is_that_of_the_chapter():
    cells = read_notebook(ROOT / "notebooks" / "training.ipynb")["cells"]
    source = next("".join(c["source"]) for c in cells if c["id"] == "valley-walks")
    assert f"torch.tensor({list(CURVATURES)})" in source and f"2.0]), {STEPS}" in source
