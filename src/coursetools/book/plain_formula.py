r"""A formula as a line of text has it: `\frac{QK^\top}{\sqrt d}` is (QKᵀ)/(√d).

A page says so until MathJax has set the formula, and where scripts do not run; the search shows it.
"""

from __future__ import annotations

import html
import re

SIGNS = {
    "sqrt": "√", "top": "ᵀ", "infty": "∞", "sum": "Σ", "prod": "Π", "ldots": "…", "dots": "…",
    "cdots": "…", "partial": "∂", "nabla": "∇", "ell": "ℓ", "circ": "∘", "lVert": "‖", "rVert": "‖",
    "lvert": "|", "rvert": "|", "langle": "⟨", "rangle": "⟩", "varnothing": "∅",
    "alpha": "α", "beta": "β", "gamma": "γ",
    "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ",
    "kappa": "κ", "lambda": "λ", "mu": "μ", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "phi": "φ", "varphi": "φ", "psi": "ψ", "omega": "ω", "Delta": "Δ", "Phi": "Φ",
    "cdot": " · ", "times": " × ", "le": " ≤ ", "leq": " ≤ ", "ge": " ≥ ", "geq": " ≥ ",
    "to": " → ", "rightarrow": " → ", "leftarrow": " ← ", "in": " ∈ ", "approx": " ≈ ",
    "odot": " ⊙ ", "oplus": " ⊕ ", "pm": " ± ", "ne": " ≠ ", "neq": " ≠ ", "mid": " | ",
    "sim": " ∼ ", "propto": " ∝ ", "cap": " ∩ ", "cup": " ∪ ", "ll": " ≪ ", "gg": " ≫ ",
}  # fmt: skip
LOW = str.maketrans("0123456789aehijklmnoprstuvx+-=()", "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ₊₋₌₍₎")
HIGH = str.maketrans(
    "0123456789abcdefghijklmnoprstuvwxyz+-=()T", "⁰¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ⁺⁻⁼⁽⁾ᵀ"
)
LETTERS = "text|mathrm|mathbf|mathit|mathbb|mathcal|boldsymbol|operatorname|hat|bar|tilde|overline"
MATH = re.compile(
    r'(<(span|div) class="math notranslate nohighlight"[^>]*>)(.*?)(</\2>)', re.DOTALL
)
INLINE, DISPLAYED = re.compile(r"\\\((.*?)\\\)", re.DOTALL), re.compile(r"\\\[(.*?)\\\]", re.DOTALL)
LIMITS, TALL = re.compile(r"\\(?:sum|prod)"), re.compile(r"\\(?:frac|int|binom|underbrace)")
ROW = re.compile(r"\\\\(?:\[[^\]]*\])?")


def show_plain(page: str) -> str:
    """Return a page whose formulas can be read before MathJax comes; see `formulas.js`."""

    def formula(match: re.Match[str]) -> str:
        start, kind, content, end = match.groups()
        pattern = INLINE if kind == "span" else DISPLAYED
        return start + pattern.sub(lambda tex: _place(tex[1], kind == "div"), content) + end

    return MATH.sub(formula, page)


def _place(escaped: str, displayed: bool) -> str:
    tex = html.unescape(escaped)
    attribute = html.escape(tex.strip(), quote=True).replace("\n", " ")
    if not displayed:
        return f'<span data-tex="{attribute}">{_as_html(tex)}</span>'
    rows = [row for row in ROW.split(tex) if plain_formula(row)]
    plain = "<br>".join(map(_as_html, rows))
    height = sum(4.0 if LIMITS.search(r) else 3.4 if TALL.search(r) else 1.8 for r in rows)
    style = f"min-height: {height:.1f}rem"
    return f'<span class="displayed" data-tex="{attribute}" style="{style}">{plain}</span>'


def _as_html(tex: str) -> str:
    plain = html.escape(plain_formula(tex))
    plain = re.sub(r"_(\w+)", r"<sub>\1</sub>", plain)
    return re.sub(r"\^(\w+)", r"<sup>\1</sup>", plain)


def plain_formula(tex: str) -> str:
    r"""Return a formula as a line of text has it: `\frac{QK^\top}{\sqrt d}` is (QKᵀ)/(√d)."""
    tex = re.sub(r"\\[()\[\]]|\$|\\(?:begin|end)\{\w+\*?\}(?:\{[lcr]*\})?", " ", tex)
    tex = re.sub(rf"\\(?:{LETTERS})\*?\s*\{{([^{{}}]*)\}}", r"\1", tex)
    tex = re.sub(r"\\(?:hat|bar|tilde|vec)\s+(\w)", r"\1", tex).replace(r"\tfrac", r"\frac")
    tex = re.sub(r"\\frac\s*(\w)\s*(\w)", r"\1/\2", tex)
    for _ in range(3):  # what is inside first
        tex = re.sub(r"\\sqrt\s*\{(\w)\}", r"√\1", tex)
        tex = re.sub(r"\\sqrt\s*\{([^{}]*)\}", r"√(\1)", tex)
        tex = re.sub(r"([_^])(?:\{([^{}]*)\}|(\w))", _moved, tex)
        tex = re.sub(r"\\frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"(\1)/(\2)", tex)
    tex = re.sub(r"\\(?:left|right|big|Big|,|;|!|quad|qquad|displaystyle)\b|\\[,;! ]", " ", tex)
    tex = re.sub(r"\\([A-Za-z]+)\s*", lambda match: SIGNS.get(match[1], f"{match[1]} "), tex)
    tex = re.sub(r"(?<=[\w)\]'ᵀ])\s*([=+<>])\s*", r" \1 ", tex)
    tex = re.sub(r"(?<=[\w)\]])\s*-\s*(?=[\w(])", " − ", tex).replace("-", "−")
    tex = tex.replace("^ᵀ", "ᵀ").replace("\\", " ")
    return " ".join(re.sub(r"[{}&\u2060]", "", tex).split())


def _moved(match: re.Match[str]) -> str:
    """Return what stands low or high, with its own signs where all of it has some."""
    text, table = (match[2] or match[3]).strip(), LOW if match[1] == "_" else HIGH
    moved = text.translate(table)
    if text and all(ord(character) in table for character in text):
        return moved
    return f"{match[1]}\u2060{text}"  # done: its first letter is not moved once more
