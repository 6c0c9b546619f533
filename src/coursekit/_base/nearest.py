"""The name that was probably meant, for messages about one that does not exist."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

ALIKE = 0.66  # difflib's ratio, from which two names count as similar; "cvs" and "csv" do
PART = 4  # letters of a name that may be only a part of the one that was meant
LISTED = 30  # names that a message lists at most
WORD = re.compile(r"\d+|[^\W\d_]+")


def nearest(name: str, *groups: Iterable[str]) -> str:
    """Return the known name most like `name`, from the first group that has one; else "".

    `a1` is the start of `a01_kernels` alone: numbers are compared as numbers.
    """
    plain = name.strip().lower()[:100]
    for group in groups:
        known = {one.lower(): one for one in group}
        begun = _starting(plain, known)
        if len(begun) == 1 and any(map(str.isdecimal, plain)):
            return known[begun[0]]
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


def no_such(what: str, name: str, *groups: Iterable[str], tell: bool = True) -> str:
    """Return the message about a name that is not known: "No unit a1. Did you mean a01_kernels?"

    Where no known name is similar, it lists them, unless `tell` is false.
    """
    known = [list(group) for group in groups]
    shown = name if name and name.isprintable() and " " not in name else repr(name)
    start = f"No {what} {shown[:100]}."
    if close := nearest(name, *known):
        return f"{start} Did you mean {close}?"
    names = [one for group in known for one in group]
    if not tell:
        return start
    if not names:
        return f"{start} There is none yet."
    more = ", …" if len(names) > LISTED else ""
    return f"{start} Choose from {', '.join(names[:LISTED])}{more}."


def _starting(plain: str, known: Iterable[str]) -> list[str]:
    """Return the names whose first words are those of `plain`, 1 for 01."""
    words = _words(plain)
    return [one for one in known if words and _words(one)[: len(words)] == words]


def _words(name: str) -> list[str]:
    return [word.lstrip("0") or "0" if word.isdecimal() else word for word in WORD.findall(name)]
