"""Patterns: where byte-level BPE cuts a text into words, before anything is merged.

Merges never cross a word, so the pattern decides what can become a token. GPT-2's keeps a space
with the word after it. GPT-4's, called cl100k by its vocabulary, takes capitals in 'S and 'LL for
what they are, lets any sign lead a word, cuts numbers after three digits, and keeps the ends of
lines together (from the authors' code, `tiktoken`). The book explains the first in "Tokenization".
"""

from __future__ import annotations

import functools
import re

from coursekit.tokenizers.unicode_classes import ASTRAL, WHITE_SPACE, unicode_class

Pattern = str | re.Pattern[str]  # a name of `PATTERNS`, or a pattern of one's own


@functools.cache
def gpt2_pattern() -> re.Pattern[str]:
    """Return GPT-2's pattern: contractions, words, numbers, other signs, spaces.

    With the classes by name it reads
    `'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+`.
    The three in the middle are here twice. First with the basic plane only, which is fast and
    right unless a character beyond it follows; then in full. Letters come before contractions:
    none starts with an apostrophe, and most words are letters.
    """
    letter, number, space = unicode_class("L"), unicode_class("N"), WHITE_SPACE
    basic_letter, basic_number = (unicode_class(kind, end=0x10000) for kind in "LN")
    return re.compile(
        f" ?[{basic_letter}]++(?![{ASTRAL}])"
        "|'(?:[sdmt]|ll|ve|re)"
        f"| ?[{basic_number}]++(?![{ASTRAL}])"
        f"| ?[^{space}{basic_letter}{basic_number}{ASTRAL}]++(?![{ASTRAL}])"
        f"| ?[{letter}]+| ?[{number}]+| ?[^{space}{letter}{number}]+"
        f"|[{space}]+(?![^{space}])|[{space}]+"
    )


@functools.cache
def cl100k_pattern() -> re.Pattern[str]:
    """Return GPT-4's pattern: contractions, words, numbers, other signs, ends of lines, spaces.

    With the classes by name it reads
    `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}`
    `| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`.
    """
    letter, number, space = unicode_class("L"), unicode_class("N"), WHITE_SPACE
    return re.compile(
        "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
        f"|[^\\r\\n{letter}{number}]?[{letter}]+"
        f"|[{number}]{{1,3}}"
        f"| ?[^{space}{letter}{number}]+[\\r\\n]*"
        f"|[{space}]*[\\r\\n]+|[{space}]+(?![^{space}])|[{space}]+"
    )


PATTERNS = {"gpt2": gpt2_pattern, "cl100k": cl100k_pattern}
# White space before which no word goes on; of a pattern of one's own that is not known.
STOPS: dict[Pattern, tuple[str, ...]] = {"gpt2": (" ", "\n"), "cl100k": (" ",)}


def find_pattern(pattern: Pattern) -> re.Pattern[str]:
    """Return the pattern of a name, or the reader's own."""
    if isinstance(pattern, str) and pattern in PATTERNS:
        return PATTERNS[pattern]()
    try:
        compiled = re.compile(pattern)
    except (re.error, TypeError) as error:
        raise ValueError(
            f"pattern must be {', '.join(PATTERNS)} or a pattern that Python's re reads, "
            f"found {pattern!r} ({error})"
        ) from None
    if compiled.groups:
        raise ValueError(
            f"a pattern must have no groups, (?:...) for (...), found {compiled.pattern!r}"
        )
    return compiled
