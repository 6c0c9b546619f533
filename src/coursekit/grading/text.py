"""Strangers' text, made fit for files, databases and pages; what a page shows it must escape."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import unicodedata
from functools import lru_cache
from pathlib import Path

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")
JOINERS = "\u200c\u200d"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def clean(text: str) -> str:
    """Take out terminal escapes, control and direction characters, and halves of characters.

    And where the instructor's Python lives: a student who reads a warning from
    `torch/functional.py` need not know whose home that is in.
    """
    text = CONTROL.sub("", ESCAPES.sub("", text))
    if os.sep in text:
        for folder in _homes(tuple(sys.path)):
            text = text.replace(folder, "")
    return text.encode("utf-8", "replace").decode()


@lru_cache(maxsize=4)
def _homes(path: tuple[str, ...]) -> list[str]:
    """Return the folders of Python and its packages, with a slash behind, the innermost first."""
    kept = ("stdlib", "platstdlib", "purelib", "platlib")
    found = {*path, *(sysconfig.get_paths()[name] for name in kept), sys.prefix, sys.base_prefix}
    found.add(str(Path(__file__).parents[2]))
    found |= {os.path.realpath(folder) for folder in found if folder}
    deep = {folder.rstrip(os.sep) + os.sep for folder in found if Path(folder).is_absolute()}
    return sorted((one for one in deep if one.count(os.sep) > 3), key=len, reverse=True)


def has_unseen(text: str) -> bool:
    """Say whether text has characters that nobody sees; the joiners of Persian may stay."""
    return any(unicodedata.category(one)[0] == "C" and one not in JOINERS for one in text)


def one_line(text: str, length: int = 300) -> str:
    """Return text for the middle of a sentence."""
    text = " ".join(clean(text).split())
    return text if len(text) <= length else text[: length - 1] + "…"
