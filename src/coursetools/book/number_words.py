"""A number as prose has it: "four", "nine tenths", "forty-eighth", "ten thousand"."""

from __future__ import annotations

import re
from fractions import Fraction

from coursekit.figures import in_words

SIZES = {10**9: "billion", 10**6: "million", 1000: "thousand", 100: "hundred"}
ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
            "nine": "ninth", "twelve": "twelfth"}  # fmt: skip


def formatted(number: float | str, style: str) -> str:
    """Return a number as a page has it."""
    if not style or isinstance(number, str):
        return str(number)
    written = {"word": words, "ordinal": ordinal}.get(style.lower())
    if written is None:
        whole = style.endswith("d") and number == int(number)
        return format(int(number) if whole else number, style)
    text = written(number)
    return text[0].upper() + text[1:] if style[0].isupper() else text


def words(number: float) -> str:
    """Return "four", "ten thousand", "hundred", "quarter" or "nine tenths"."""
    if number != int(number):
        part = Fraction(number).limit_denominator(10**6)
        below = {2: "half", 4: "quarter"}.get(part.denominator, ordinal(part.denominator))
        below = below.replace(" ", "-")
        return below if part.numerator == 1 else f"{words(part.numerator)} {below}s"
    for size, name in SIZES.items():
        if number >= size and number % size == 0:
            return name if number == size else f"{words(number // size)} {name}"
    return in_words(int(number))


def ordinal(number: float) -> str:
    """Return "fourth" or "forty-eighth"."""
    if number != int(number):
        raise ValueError(f"{number} is not whole, so it has no :ordinal")
    *first, last = re.split(r"([ -])", words(number))  # "forty", "-", "eight"
    last = ORDINALS.get(last, f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")
    return "".join([*first, last])
