"""The placements to choose from: the file is what PyTorch measures, the page shows the file."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from coursekit.figures.live.norm_placement import DEPTHS, DRAWS, HEADS, WIDTH, measure, measured
from coursetools.notebooks.imports import read_notebook

ROOT = Path(__file__).parents[2]
NAME = "norm_placement"
NAMES = {"post": "Post-LN", "pre": "Pre-LN", "normformer": "NormFormer", "dlcl": "DLCL"}
NAMES |= {"none": "no norm"}
PLAIN = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def row(page: Any, n: int = 0) -> list[str]:
    return page.locator("tbody tr").nth(n).locator("th, td").all_inner_texts()


def number(text: str) -> float:
    """Read 0.1, 10¹³ or 1.8·10⁻⁸."""
    power = re.fullmatch(r"(?:([\d.]+)·)?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", text)
    if power is None:
        return float(text)
    return float(power[1] or 1) * 10 ** int(power[2].translate(PLAIN))


def told(norm: str, depth: int, matrix: str) -> list[float]:
    values = measured()[norm][str(depth)]
    first, last = values[matrix][0], values[matrix][-1]
    return [first, last, last / first, values["size"][-1]]


def drawn(page: Any, plot: int, kind: str = "now") -> list[float]:
    """The logarithms that a curve shows, read off the scale."""
    svg = page.locator(".plots svg").nth(plot)
    levels = svg.locator(".level").evaluate_all(
        "(all) => all.map((one) => parseFloat(one.getAttribute('d').split(' ')[1]))"
    )
    texts = svg.locator("g").first.locator("text").all_text_contents()
    ten = [math.log10(number(text)) for text in texts]
    slope = (ten[-1] - ten[0]) / (levels[-1] - levels[0])
    path = svg.locator(f".{kind} .curve").get_attribute("d")[1:].split("L")
    heights = [float(point.split(",")[1]) for point in path]
    return [ten[0] + slope * (height - levels[0]) for height in heights]


@pytest.mark.parametrize(("norm", "depth"), [("post", 4), ("pre", 8), ("none", 2), ("dlcl", 2)])
def test_the_file_is_what_is_measured(norm, depth):
    again = measure(norm, depth)
    for name, values in measured()[norm][str(depth)].items():
        assert again[name] == pytest.approx(values, rel=2e-3), name


def test_it_measures_as_the_notebook_does():
    cells = read_notebook(ROOT / "notebooks" / "blocks.ipynb")["cells"]
    source = next("".join(c["source"]) for c in cells if c["id"] == "gradients-by-depth")
    assert f"Stack(depth=layers, width={WIDTH}, heads={HEADS}, norm=norm)" in source
    assert f"seeds = (2, 4, 8, 16, 32), range({DRAWS})" in source
    assert {2, 4, 8, 12, 16, 32} == set(DEPTHS) and measured().keys() == NAMES.keys()


def test_the_page_shows_every_setting_of_the_file(open_page):
    page = open_page(NAME)
    for norm, name in NAMES.items():
        page.get_by_label("Placement of the norm").select_option(norm)
        for n, depth in enumerate(DEPTHS):
            page.get_by_role("slider", name="Layers").fill(str(n))
            shown = row(page)
            assert shown[0] == f"{name}, {depth} layers"
            numbers = [number(text) for text in shown[1:]]
            assert numbers == pytest.approx(told(norm, depth, "W2"), rel=0.051)
    page.get_by_label("Matrix of each layer").select_option("W1")
    assert [number(t) for t in row(page)[1:]] == pytest.approx(told("none", 32, "W1"), rel=0.051)
    assert (
        page.get_by_role("status").inner_text().startswith("no norm, 32 layers: the gradient of W₁")
    )


@pytest.mark.parametrize(("norm", "depth"), [("pre", 12), ("dlcl", 32), ("none", 32)])
def test_the_curves_are_those_of_the_file(open_page, norm, depth):
    page = open_page(NAME, f"?{NAME}.placement={norm}&{NAME}.depth={depth}")
    values = measured()[norm][str(depth)]
    for plot, name in enumerate(("W2", "size")):
        assert drawn(page, plot) == pytest.approx(list(map(math.log10, values[name])), abs=0.02)
    kept = measured()["post"]["12"]["W2"]
    assert drawn(page, 0, "kept") == pytest.approx(list(map(math.log10, kept)), abs=0.02)


def test_a_curve_is_kept_and_removed(open_page):
    page = open_page(NAME)
    assert row(page, 1)[0] == "Post-LN, 12 layers"
    page.get_by_role("slider", name="Layers").fill("5")
    page.get_by_role("button", name="Keep this curve").click()
    assert page.get_by_role("status").inner_text() == "Pre-LN, 32 layers is kept, as a broken line."
    page.get_by_label("Placement of the norm").select_option("dlcl")
    assert [row(page, n)[0] for n in (0, 1)] == ["DLCL, 32 layers", "Pre-LN, 32 layers"]
    page.get_by_role("button", name="Remove the kept curve").click()
    assert page.locator("tbody tr").count() == 1 and page.locator(".plots .kept").count() == 0
    odd = f"?{NAME}.placement=toString&{NAME}.depth=3&{NAME}.matrix=W3&{NAME}.kept=post x"
    odd_page = open_page(NAME, odd)
    assert row(odd_page)[0] == "Pre-LN, 12 layers" and odd_page.locator("tbody tr").count() == 1


def test_the_answer_to_its_question():
    """ "Find out": DLCL, whose last gradient falls to a tenth; Pre-LN's falls to three eighths."""
    falls = {
        norm: measured()[norm]["32"]["W2"][-1] / measured()[norm]["2"]["W2"][-1] for norm in NAMES
    }
    assert min(falls, key=falls.__getitem__) == "dlcl"
    assert falls["dlcl"] == pytest.approx(0.1, abs=0.01)
    assert falls["pre"] == pytest.approx(3 / 8, abs=0.01)
