r"""A formula as a line of text: `\frac{QK^\top}{\sqrt d}` is (QKᵀ)/(√d).

A page shows it until MathJax has set the formula, and without scripts; it is also the text of the
search, of the EPUB's `alttext` and of a copied line. A formula that has no faithful line of text
stays TeX source, set as code.
"""

from __future__ import annotations

import html
import re
import unicodedata

SIGNS = {
    "top": "ᵀ", "infty": "∞", "sum": "Σ", "prod": "Π", "int": "∫", "ldots": "…", "dots": "…",
    "cdots": " … ", "partial": "∂", "nabla": "∇", "ell": "ℓ", "circ": "∘", "ast": "*", "star": "⋆",
    "prime": "′", "emptyset": "∅", "varnothing": "∅", "neg": "¬", "forall": "∀", "exists": "∃",
    "imath": "ı", "jmath": "ȷ", "lVert": "‖", "rVert": "‖", "|": "‖", "lvert": "|", "rvert": "|",
    "vert": "|", "langle": "⟨", "rangle": "⟩", "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈",
    "rceil": "⌉", "{": "{", "}": "}", "%": "%", "$": "$", "#": "#", "_": "_", "colon": ": ",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "zeta": "ζ", "eta": "η", "theta": "θ", "vartheta": "ϑ", "iota": "ι", "kappa": "κ",
    "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "upsilon": "υ", "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
    "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ",
    "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
    "cdot": " · ", "times": " × ", "div": " ÷ ", "le": " ≤ ", "leq": " ≤ ", "ge": " ≥ ",
    "geq": " ≥ ", "to": " → ", "rightarrow": " → ", "leftarrow": " ← ", "mapsto": " ↦ ",
    "Rightarrow": " ⇒ ", "in": " ∈ ", "notin": " ∉ ", "subset": " ⊂ ", "subseteq": " ⊆ ",
    "setminus": " ∖ ", "approx": " ≈ ", "equiv": " ≡ ", "odot": " ⊙ ", "oplus": " ⊕ ",
    "otimes": " ⊗ ", "pm": " ± ", "ne": " ≠ ", "neq": " ≠ ", "mid": " | ", "sim": " ∼ ",
    "propto": " ∝ ", "cap": " ∩ ", "cup": " ∪ ", "ll": " ≪ ", "gg": " ≫ ", "succ": " ≻ ",
    "prec": " ≺ ", "land": " ∧ ", "wedge": " ∧ ", "lor": " ∨ ", "vee": " ∨ ",
}  # fmt: skip
FUNCTIONS = {
    "arg", "cos", "cosh", "deg", "det", "dim", "exp", "gcd", "inf", "ker", "lim", "ln", "log",
    "max", "min", "sin", "sinh", "sup", "tan", "tanh",
}  # fmt: skip
ACCENTS = {
    "hat": "\u0302", "widehat": "\u0302", "bar": "\u0304", "overline": "\u0305",
    "tilde": "\u0303", "widetilde": "\u0303", "vec": "\u20d7", "dot": "\u0307", "ddot": "\u0308",
}  # fmt: skip
FRACTIONS = {"frac", "tfrac", "dfrac"}
WORDS = {"text", "textrm", "textit", "textbf", "mathrm", "operatorname", "mathit", "boldsymbol"}
STYLES = {"mathbb": "DOUBLE-STRUCK", "mathbf": "BOLD", "mathcal": "SCRIPT"}  # as Unicode names them
DIGITS = ("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE")
SPACES = {",", ";", ":", " ", "quad", "qquad", "\n"}
NOTHING = {"!", "left", "right", "big", "Big", "bigl", "bigr", "Bigl", "Bigr", "limits",
           "displaystyle", "textstyle", "scriptstyle"}  # fmt: skip
ENCLOSED = {"bmatrix": ("[", "]"), "pmatrix": ("(", ")"), "vmatrix": ("|", "|"),
            "cases": ("{", "}")}  # in one line  # fmt: skip
LINES = {"gathered", "aligned", "align", "split", "equation", "array"}

LOW = str.maketrans("0123456789aehijklmnoprstuvx+-=()", "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ₊₋₌₍₎")
HIGH = str.maketrans(
    "0123456789abcdefghijklmnoprstuvwxyz+-=()T", "⁰¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ⁺⁻⁼⁽⁾ᵀ"
)
MATH = re.compile(
    r'(<(span|div) class="math notranslate nohighlight"[^>]*>)(.*?)(</\2>)', re.DOTALL
)
INLINE, DISPLAYED = re.compile(r"\\\((.*?)\\\)", re.DOTALL), re.compile(r"\\\[(.*?)\\\]", re.DOTALL)
LIMITS, TALL = re.compile(r"\\(?:sum|prod)"), re.compile(r"\\(?:frac|int|binom|underbrace)")
ROW = re.compile(r"\\\\(?:\[[^\]]*\])?")
AROUND = re.compile(r"^\s*\\[(\[]|\\[)\]]\s*$|\$|\\(?:begin|end)\{\w+\*?\}(?:\{[lcr]*\})?")
TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|\s+|.", re.DOTALL)
OPERAND = re.compile(r"[\w)\]}‖|′*ᵀ∞\u0300-\u036f\u20d7]\s*\Z")


class Unsayable(ValueError):
    """Raised for a formula that has no faithful line of text."""


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
    try:
        plain = "<br> ".join(html.escape(line) for line in _lines(tex))
    except Unsayable:
        plain = f"<code>{html.escape(_source(tex))}</code>"
    if not displayed:
        return f'<span data-tex="{attribute}">{plain}</span>'
    rows = [row for row in ROW.split(tex) if AROUND.sub("", row).strip()]
    height = sum(4.0 if LIMITS.search(r) else 3.4 if TALL.search(r) else 1.8 for r in rows)
    style = f"min-height: {height:.1f}rem"
    return f'<span class="displayed" data-tex="{attribute}" style="{style}">{plain}</span>'


def plain_formula(tex: str) -> str:
    r"""Return a formula as a line of text: `\frac{QK^\top}{\sqrt d}` is (QKᵀ)/(√d).

    If a line of text would lose something, return the TeX source.
    """
    try:
        return " ".join(_lines(tex))
    except Unsayable:
        return _source(tex)


def _source(tex: str) -> str:
    return " ".join(tex.split())


def _lines(tex: str) -> list[str]:
    tex = re.sub(r"^\s*(?:\\[(\[]|\$+)|(?:\\[)\]]|\$+)\s*$", "", tex)
    text = unicodedata.normalize("NFC", _Formula(tex).text())
    rows = (re.sub(r" ([.,;])(?=\s|\Z)", r"\1", " ".join(row.split())) for row in text.split("\n"))
    return [row for row in rows if row]


class _Formula:
    """A reader of TeX, from left to right."""

    def __init__(self, tex: str) -> None:
        self.tokens = TOKEN.findall(tex)
        self.at = 0

    def text(self, *ends: str) -> str:
        """Return the text up to and past one of the tokens `ends`; without any, all of it."""
        out, apart = "", ""  # a pattern: what follows needs a space
        while self.at < len(self.tokens):
            token = self._next()
            if token in ends:
                return out
            if token == "}":
                raise Unsayable("a brace that nothing opens")
            atom, apart_next = self._atom(token, out)
            atom += self._scripts()
            if re.search(r"[_^]\w+\Z", atom):
                apart_next = r"\w"
            space = " " if apart and atom and re.match(apart, atom) else ""
            out += space + atom
            apart = apart_next if atom else apart
        if ends:
            raise Unsayable(f"the formula lacks {ends[0]}")
        return out

    def _next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _pass_space(self) -> None:
        while self._peek().isspace():
            self._next()

    def _atom(self, token: str, before: str) -> tuple[str, str]:
        """Return the text of the atom that starts with `token`, and what needs a space after it."""
        name = token.removeprefix("\\") if len(token) > 1 and token[0] == "\\" else ""
        if token.isspace() or name in SPACES or token == "~":
            return " ", ""
        if token == "{":
            return self.text("}"), ""
        if token in ("^", "_"):  # a script without a base
            self.at -= 1
            return "", ""
        if name in FUNCTIONS or name in WORDS or name in STYLES:
            return self._word(name, before)
        if name in FRACTIONS or name == "binom":
            return self._fraction(name), r"[\w(√‖]"
        if name in ACCENTS:
            return _accented(self._argument(), ACCENTS[name]), ""
        if name == "sqrt":
            return self._root(), r"[\w(]"
        if name in ("underset", "overset"):
            mark = self._argument()
            return self._argument().strip() + _script("_" if name == "underset" else "^", mark), ""
        if name == "underbrace":
            return self._braced(), ""
        if name == "begin":
            return self._environment(), ""
        if name == "\\":
            self._spacing()
            return "\n", ""
        if name in NOTHING:
            if self._peek() == "." and name in ("left", "right"):
                self._next()
            return "", ""
        if name:
            if name not in SIGNS:
                raise Unsayable(f"there is no sign for {token}")
            self._pass_space()
            return SIGNS[name], ""
        return self._character(token, before), ""

    def _character(self, token: str, before: str) -> str:
        if token in "=<>":
            return f" {token} "
        if token in "+-" and OPERAND.search(before):
            return f" {token} ".replace("-", "−")
        return {"-": "−", "'": "′", "&": " "}.get(token, token)

    def _word(self, name: str, before: str) -> tuple[str, str]:
        if name in STYLES:
            return "".join(_styled(letter, STYLES[name]) for letter in self._argument()), ""
        text = name if name in FUNCTIONS else self._words()
        if name not in FUNCTIONS and (len(text) < 2 or name.startswith("text")):
            return text, ""
        return (" " if OPERAND.search(before) else "") + text, r"[\w√Σ]"

    def _words(self) -> str:
        """Return the words of `\\text{pass@}`, as they are."""
        if self._peek() == "*":
            self._next()
        self._pass_space()
        if self._peek() != "{":
            return self._next()
        self._next()
        words = []
        while (token := self._next() if self.at < len(self.tokens) else "}") != "}":
            if token in ("{", "$", "\\(") or (token[0] == "\\" and token[1:].isalpha()):
                raise Unsayable("a formula inside words")
            words.append(token.removeprefix("\\") or token)
        return "".join(words)

    def _argument(self) -> str:
        """Return the text of the next group, or of the next sign."""
        self._pass_space()
        if not self._peek():
            raise Unsayable("an argument is missing")
        return self._atom(self._next(), "")[0].strip()

    def _fraction(self, name: str) -> str:
        parts = []
        for _ in range(2):
            self._pass_space()
            braced = self._peek() == "{" and name != "binom"
            part = self._argument()
            parts.append(f"({part})" if braced else part)
        return f"({parts[0]} choose {parts[1]})" if name == "binom" else "/".join(parts)

    def _root(self) -> str:
        degree = ""
        if self._peek() == "[":
            self._next()
            degree = _script("^", self.text("]")).removeprefix("^")
        inside = self._argument()
        return f"{degree}√{inside}" if re.fullmatch(r"\w", inside) else f"{degree}√({inside})"

    def _braced(self) -> str:
        inside, label = self._argument(), ""
        if self._peek() == "_":
            self._next()
            label = f" [{self._argument()}]"
        return inside + label

    def _scripts(self) -> str:
        """Return the subscript, then the superscript."""
        scripts: list[str] = []
        while self._peek() in ("^", "_"):
            below = self._peek() == "_"
            scripts.insert(0 if below else len(scripts), _script(self._next(), self._argument()))
        return "".join(scripts)

    def _environment(self) -> str:
        name = self._words().removesuffix("*")
        if name == "array":
            self._argument()
        if name not in LINES | ENCLOSED.keys():
            raise Unsayable(f"there is no line of text for {name}")
        rows, cells = [], [""]
        while True:
            text = self.text("&", "\\\\", "\\end")
            end = self.tokens[self.at - 1]
            cells[-1] = text.strip().rstrip("," if name in ENCLOSED else "")
            if end == "&":
                cells.append("")
                continue
            rows.append(cells)
            cells = [""]
            if end == "\\end":
                break
            self._spacing()
        self._words()
        if name in LINES:
            return "\n" + "\n".join(" ".join(row) for row in rows) + "\n"
        start, stop = ENCLOSED[name]
        return start + "; ".join(", ".join(row) for row in rows if any(row)) + stop

    def _spacing(self) -> None:
        """Pass the `[4pt]` after the end of a row."""
        if self._peek() == "[":
            while self._next() != "]":
                pass


def _script(sign: str, text: str) -> str:
    """Return a subscript or superscript, in Unicode's own characters if all of it has them."""
    table = LOW if sign == "_" else HIGH
    tight = re.sub(r"\s*([=+−<>])\s*", r"\1", text)
    ours = tight.replace("−", "-")
    word = ours.isalpha() and len(ours) > 2  # `_opponent` is easier to read, and is found
    if not text:
        return ""
    if not word and all(ord(character) in table for character in ours):
        return ours.translate(table)
    if sign == "^" and text in ("*", "′", "ᵀ", "∘"):
        return text.replace("∘", "°")
    if re.fullmatch(r"[^\W_]+[′*]*|[<>]?\w|\W", tight) or re.fullmatch(r"\([^()]*\)", text):
        return sign + (text if text[0] == "(" else tight)
    return f"{sign}({text})"


def _accented(text: str, mark: str) -> str:
    base, rest = text[:1].replace("ı", "i").replace("ȷ", "j"), text[1:]
    if mark == ACCENTS["overline"] and text.isalnum():
        return "".join(letter + mark for letter in text)
    if not base.isalpha() or not all(one in LOW.values() for one in map(ord, rest)):
        raise Unsayable(f"no mark goes over {text}")
    return base + mark + rest


def _styled(letter: str, style: str) -> str:
    kind = f"CAPITAL {letter}" if letter.isupper() else f"SMALL {letter.upper()}"
    if letter.isdecimal():
        kind = f"DIGIT {DIGITS[int(letter)]}"
    for name in (f"{style} {kind}", f"MATHEMATICAL {style} {kind}"):
        try:
            return unicodedata.lookup(name)
        except KeyError:
            pass
    raise Unsayable(f"there is no {style.lower()} {letter}")
