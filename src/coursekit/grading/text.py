"""Strangers' text, made fit for files, databases and pages; what a page shows it must escape."""

from __future__ import annotations

import re
import unicodedata

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")
JOINERS = "\u200c\u200d"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def clean(text: str) -> str:
    """Take out terminal escapes, control and direction characters, and halves of characters."""
    text = CONTROL.sub("", ESCAPES.sub("", text))
    return text.encode("utf-8", "replace").decode()


def has_unseen(text: str) -> bool:
    """Say whether text has characters that nobody sees; the joiners of Persian may stay."""
    return any(unicodedata.category(one)[0] == "C" and one not in JOINERS for one in text)


def one_line(text: str, length: int = 300) -> str:
    """Return text for the middle of a sentence."""
    text = " ".join(clean(text).split())
    return text if len(text) <= length else text[: length - 1] + "…"
