"""A formula as a line of text says what the formula says, or stays its source."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest

from coursetools.book.contents import formulas
from coursetools.book.plain_formula import ACCENTS, FUNCTIONS, plain_formula, show_plain
from coursetools.course import Course
from coursetools.notebooks.imports import read_notebook

OURS = Course(Path(__file__).resolve().parents[2])
COMMAND = re.compile(r"\\([A-Za-z]+)")
MARKS = re.compile(rf"\\({'|'.join(ACCENTS)})(?![A-Za-z])")


def all_formulas() -> list[str]:
    """Return the formulas of the pages, the notebooks and the assignments, each once."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((OURS / "book").rglob("*.md"))]
    for folder in ("notebooks", "solutions"):  # the second is not in the public course
        for path in sorted((OURS / folder).rglob("*.ipynb")):
            cells = read_notebook(path)["cells"]
            texts += [cell["source"] for cell in cells if cell["cell_type"] == "markdown"]
    return list(dict.fromkeys(formula for text in texts for formula in formulas(text)))


@pytest.fixture(scope="module")
def ours() -> list[str]:
    found = all_formulas()
    assert len(found) > 1500
    return found


def test_no_command_is_left_as_a_word(ours):
    for tex in ours:
        plain = plain_formula(tex)
        assert "\\" not in plain, tex
        words = re.sub(r"\\[A-Za-z]+", " ", tex)  # `\text{in the passage}` has a word "in"
        for name in set(COMMAND.findall(tex)) - FUNCTIONS:
            if not re.search(rf"\b{name}\b", words):
                assert not re.search(rf"(?<![^\W_]){name}(?![^\W_])", plain), (tex, plain)


def test_every_mark_over_a_letter_survives(ours):
    marked = 0
    for tex in ours:
        plain = unicodedata.normalize("NFD", plain_formula(tex))
        names = MARKS.findall(tex)
        marked += len(names)
        for mark in set(ACCENTS.values()):
            wanted = sum(ACCENTS[name] == mark for name in names)
            assert plain.count(mark) == wanted, (tex, plain)
    assert marked > 50


@pytest.mark.parametrize(
    ("tex", "plain"),
    [
        (r"(x - \bar x)W + \bar y", "(x − x̄)W + ȳ"),
        (r"\hat A_l = \tfrac12 \bar A_l + \tfrac12 I", "Âₗ = 1/2 Āₗ + 1/2 I"),
        (r"\bar\theta_t", "θ̄ₜ"),
        (r"\|b_i - \hat b_j\|_1", "‖bᵢ − b̂ⱼ‖₁"),
        (r"P(a \succ b)", "P(a ≻ b)"),
        (r"\bigl(\operatorname{silu}(x W_g) \odot x W_u\bigr)", "(silu(x W_g) ⊙ x Wᵤ)"),
        (r"1 - \binom{n-c}{k} \Big/ \binom{n}{k}", "1 − (n − c choose k) / (n choose k)"),
        (r"\underset{x}{\text{mean}}\, \max\bigl(0, x\bigr)", "meanₓ max(0, x)"),
        (r"\underbrace{2dn}_{\text{scores}} + 1", "2dn [scores] + 1"),
        (r"e^{f(x, z)}", "e^(f(x, z))"),  # not e^f (x, z)
        (r"W_q x", "W_q x"),
        (r"W_qx", "W_q x"),
        (r"z_L^0 + p^t_k", "z_L⁰ + pₖᵗ"),
        (r"\sqrt[4]{p_1\, p_2}", "⁴√(p₁ p₂)"),
        (r"\lfloor N (1 - r) \rfloor", "⌊N (1 − r) ⌋"),
        (r"\begin{bmatrix} a \\ b \end{bmatrix}", "[a; b]"),
        (r"\begin{cases} 0 & \text{if } t,\\ 1 & \text{else} \end{cases}", "{0, if t; 1, else}"),
        (r"\text{Pre-LN}", "Pre-LN"),
        (r"\overline{AB}", "A̅B̅"),
        (r"\widehat{AB}", r"\widehat{AB}"),  # no sign goes over two letters
        (r"\unknown{x} + 1", r"\unknown{x} + 1"),
        (r"\frac{1}{", r"\frac{1}{"),
    ],
)
def test_a_formula_in_a_line(tex, plain):
    assert plain_formula(tex) == unicodedata.normalize("NFC", plain)


def test_lines_stay_apart_and_what_cannot_be_said_is_code():
    start, rows = '<div class="math notranslate nohighlight">', "a\\\\b"
    page = f"{start}\\[\\begin{{gathered}}{rows}\\end{{gathered}}\\]</div>"
    assert ">a<br> b</span>" in show_plain(page)
    page = '<span class="math notranslate nohighlight">\\(\\widehat{AB}\\)</span>'
    assert "><code>\\widehat{AB}</code></span>" in show_plain(page)
