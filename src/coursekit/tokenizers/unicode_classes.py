"""What a letter is: classes of characters for Python's `re`, which lacks the names \\p{L}, \\p{N}.

The ranges come from the interpreter's own Unicode tables (`unicodedata.unidata_version`); a letter
that is newer than they are counts as unassigned. Other libraries bring tables of their own year.
"""

from __future__ import annotations

import functools
import sys
import unicodedata
from itertools import groupby

# The property White_Space. Python's \s also takes U+001C to U+001F, other regex engines do not.
WHITE_SPACE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"

# Everything beyond the basic plane. A class of many ranges there is slow at the characters that it
# does NOT hold, so patterns try the basic plane alone first, where `re` looks up a bit map.
ASTRAL = "\U00010000-\U0010ffff"


@functools.cache
def unicode_class(*categories: str, end: int = sys.maxunicode + 1) -> str:
    """Return the inside of a bracket class, like "A-Za-z", of all characters below `end`.

    A category is named by its two letters ("Mn") or by the first alone ("L": every letter).
    """
    runs = [run for run in _runs() if run[2].startswith(categories) and run[0] < end]
    ranges: list[list[int]] = []
    for first, last, _ in runs:
        if ranges and ranges[-1][1] == first - 1:
            ranges[-1][1] = last
        else:
            ranges.append([first, last])
    return "".join(f"\\U{first:08x}-\\U{min(last, end - 1):08x}" for first, last in ranges)


@functools.cache
def _runs() -> list[tuple[int, int, str]]:
    """Return (first, last, category) of all runs of one category."""
    planes = range(0x40000)  # the planes beyond hold neither letters nor digits
    runs = []
    for category, group in groupby(planes, lambda number: unicodedata.category(chr(number))):
        numbers = list(group)
        runs.append((numbers[0], numbers[-1], category))
    return runs
