"""Reads `shares.md`: the page and the first hint of a question, and its wrong answers.

    page: kernels.html#sec-kernels-shares
    forbidden: softmax

Subtract something from each row first, ...

    ## not divided by the sum
    return raised / raised.sum(dim=-1, keepdim=True)  ->  return raised
    Your rows do not add up to one: ...

A mistake has a name, says what becomes of our answer, and ends with the hint for those who made it.
What comes before the arrow occurs in our answer once, and what comes after it takes its place.
Several lines have a minus or a plus in front instead, and no arrow. Lines with a plus alone are
another answer, which may use ours and what `forgotten_demands.py` has. A mistake without a hint is
not expected from anybody: it shows that a demand is looked at, and must lose points. Its name, in
quotation marks, quotes the demand from the question's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from coursekit._base.errors import CourseError
from coursekit.submission.forbidden import ATTENTION, BLOCKS, SOFTMAX
from coursetools.questions.question import Misconception
from coursetools.questions.wrong import Edit, Whole

FACTS = ("page", "forbidden", "needs", "parts")
GROUPS = {"softmax": SOFTMAX, "attention": ATTENTION, "blocks": BLOCKS}
EVERYWHERE = ("coursekit",)  # forbidden by all questions
ARROW = re.compile(r"(\S.*?)  ->(?:  (.*))?")
SIGNED = re.compile(r"[-+]( |$)")


@dataclass(frozen=True)
class About:
    """What the text of a question says."""

    page: str
    hint: str
    forbidden: tuple[str, ...]
    needs: tuple[str, ...]
    parts: tuple[str, ...]
    mistakes: tuple[Misconception, ...]


def read(text: str, where: str, reference: Any = None) -> About:
    """Read the text of a question; `where` is its file, for messages."""
    head, *parts = _parts(text)
    facts, hint = _facts(head, where)
    forbidden: list[str] = []
    for name in _names(facts.get("forbidden", "")):
        forbidden += GROUPS.get(name, (name,))
    return About(
        page=facts["page"],
        hint=hint,
        forbidden=tuple(dict.fromkeys((*forbidden, *EVERYWHERE))),
        needs=tuple(_names(facts.get("needs", ""))),
        parts=tuple(_names(facts.get("parts", ""))),
        mistakes=tuple(_mistake(part, where, reference) for part in parts),
    )


def _parts(text: str) -> Iterator[list[str]]:
    """Yield the lines before the first heading, and those from each heading on."""
    part: list[str] = []
    for line in text.split("\n"):
        if line.startswith("## "):
            yield part
            part = []
        part.append(line)
    yield part


def _facts(lines: list[str], where: str) -> tuple[dict[str, str], str]:
    end = lines.index("") if "" in lines else len(lines)
    facts = {}
    for line in lines[:end]:
        name, colon, value = line.partition(":")
        if not colon or name not in FACTS:
            raise CourseError(
                f"{where}: {line!r} should be one of {', '.join(FACTS)}, a colon and what it is; "
                "an empty line ends them"
            )
        facts[name] = value.strip()
    if "page" not in facts:
        raise CourseError(f"{where}: its first line should be page: and where the book explains it")
    return facts, _paragraph(lines[end:])


def _mistake(lines: list[str], where: str, reference: Any) -> Misconception:
    name, rest = lines[0].removeprefix("## ").strip(), lines[1:]
    count = next((n for n, line in enumerate(rest) if not SIGNED.match(line)), len(rest))
    changes, after = rest[:count], rest[count:]
    if not changes and rest and (arrow := ARROW.fullmatch(rest[0])):
        changes, after = [f"- {arrow[1]}", f"+ {arrow[2] or ''}"], rest[1:]
    if not changes:
        raise CourseError(
            f"{where}: below ## {name} should stand what our answer has, two spaces, an arrow ->, "
            "two spaces and what takes its place; or lines with a minus and lines with a plus"
        )
    old, new = ("\n".join(line[2:] for line in changes if line[0] == sign) for sign in "-+")
    wrong = Edit(reference, ((old, new),)) if old else Whole(reference, new)
    return Misconception(name, wrong, _paragraph(after))


def _paragraph(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
