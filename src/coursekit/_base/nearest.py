"""The name that was probably meant, for messages about one that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

ALIKE = 0.7  # difflib's ratio, from which two names count as similar
PART = 4  # letters of a name that may be only a part of the one that was meant


def nearest(name: str, *groups: Iterable[str]) -> str:
    """Return the known name most like `name`, from the first group that has one; else ""."""
    plain = name.strip().lower()[:100]
    for group in groups:
        known = {one.lower(): one for one in group}
        if close := difflib.get_close_matches(plain, known, n=1, cutoff=ALIKE):
            return known[close[0]]
        whole = [one for lower, one in known.items() if plain in lower]
        if len(whole) == 1 and len(plain) >= PART:
            return whole[0]
    return ""


def did_you_mean(name: str, *groups: Iterable[str]) -> str:
    """Return "; did you mean X?", or "" where no known name is similar."""
    close = nearest(name, *groups)
    return f"; did you mean {close}?" if close else ""
