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
# Characters that turn the direction of text around can make code read as what it is not.
TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")
UNSHOWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")


def some(names: list[str]) -> str:
    """Return how many there are, and the first of them."""
    return f"{len(names)} ({', '.join(names[:10])}{', …' if len(names) > 10 else ''})"


def clean(text: str) -> str:
    """Take out terminal escapes, control and direction characters, and halves of characters.

    And where the instructor's Python lives: a student who reads a warning from
    `torch/functional.py` need not know whose home that is in.
    """
    text = CONTROL.sub("", TERMINAL.sub("", text))
    if os.sep in text:
        for folder in _homes(tuple(sys.path)):
            text = text.replace(folder, "")
    return text.encode("utf-8", "replace").decode()


@lru_cache(maxsize=4)
def _homes(path: tuple[str, ...]) -> list[str]:
    """Return the folders of Python and its packages, with a slash behind, the innermost first."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = {*path, *(sysconfig.get_paths()[name] for name in names), sys.prefix, sys.base_prefix}
    folders.add(str(Path(__file__).parents[1]))  # of both our packages
    folders |= {os.path.realpath(folder) for folder in folders if folder}
    deep = {folder.rstrip(os.sep) + os.sep for folder in folders if Path(folder).is_absolute()}
    return sorted((one for one in deep if one.count(os.sep) > 3), key=len, reverse=True)


def has_unseen(text: str) -> bool:
    """Return whether text has characters that nobody sees; the joiners of Persian may stay."""
    return any(unicodedata.category(one)[0] == "C" and one not in JOINERS for one in text)


def one_line(text: str, length: int = 300) -> str:
    """Return text for the middle of a sentence."""
    text = " ".join(clean(text).split())
    return text if len(text) <= length else text[: length - 1] + "…"


def sentence(text: str) -> str:
    """Return text that begins with a capital letter and ends with a full stop."""
    end = "" if text.endswith((".", "…")) else "."
    return f"{text[:1].upper()}{text[1:]}{end}"


def plain(value: str) -> str:
    """Return text without terminal colours and without characters that no page may hold."""
    value = TERMINAL.sub("", value)
    value = TURNS.sub(lambda match: f"\\u{ord(match[0]):04x}", value)
    return UNSHOWABLE.sub("\ufffd", value.replace("\r\n", "\n").replace("\r", "\n"))


def harmless_markdown(source: str) -> str:
    """Return Markdown that stays dead in programs that let HTML inside it live, as formgrader does.

    A space behind `<` makes text of every tag; links may lead to the web, mail and places of the
    page only; pictures become links; a formula cannot hold a link. Nothing is taken away.
    """
    source = re.sub(r"<(?=[A-Za-z/!?])", "< ", plain(source))
    source = source.replace("![", "! [")
    source = re.sub(r"\](?=[(:])(?![(:]\s*(?:https?://|mailto:|#))", "] ", source)
    return re.sub(r"\\(?=(?:href|class|style|cssId|require|unicode)\b)", r"\\ ", source)
