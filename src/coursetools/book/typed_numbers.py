"""Numbers typed into the prose of a page, each of which rots unless somebody has vouched for it.

A number of our own reaches the page as glue, or by `{value}` from the code that has it (`values`).
What stays typed is vouched for in a comment above its paragraph, one line a reason:

    % typed (example): 2, sixteen
    % typed (known): 1.58

`example` is a number that we chose for the reader to follow; `known` is arithmetic, history or a
paper's, true whatever we run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from coursetools.book.contents import FRONT
from coursetools.course import Course

REASONS = ("example", "known")
SMALL = {"0", "1", "2", "3"}  # so few that a reader counts them
_ONES = "four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_ONES += " seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_PARTS = "quarter fourth fifth sixth seventh eighth ninth tenth twentieth hundredth thousandth"
_WORDS = [*_ONES.split(), *_TENS.split(), *_PARTS.split(), "hundred", "thousand", "million"]
_WORDS += ["billion", "trillion", "dozen"]
NUMBER = re.compile(
    r"(?<![\w.,/·-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w]*\d)"
    rf"|(?<!\w)(?:{'|'.join(sorted(_WORDS, key=len, reverse=True))})s?(?!\w)",
    re.IGNORECASE,
)
MARK = re.compile(r"^%\s*typed\s*\(([^)]+)\):\s*(.*)$")
FENCE = re.compile(r"^\s*(`{3,}|~{3,})(.*)$")
SKIPPED = re.compile(r"\{[\w-]*code|\{ask\}")  # a question's answer is found by its own code
CITES = re.compile(r"\{(?:cite(?::\w+)?|footcite(?::\w+)?)\}`")
_CODE = re.compile(r"(\{[\w:-]+\}`[^`]*`)|(`+)(?!`).+?\2", re.DOTALL)  # or a role, which stays
_MATHS = re.compile(r"\$\$.*?\$\$|\$[^$]+\$", re.DOTALL)
_ROLE = re.compile(r"\{(?:ref|doc)\}`([^`<]*?)\s*<[^>]*>`|\{term\}`([^`<]*?)(?:\s*<[^>]*>)?`")
_OTHER_ROLE = re.compile(r"\{[\w:-]+\}`[^`]*`")
_TARGET = re.compile(r"\]\([^)]*\)|<https?://[^>]*>|https?://\S+")
_ENDS = re.compile(r"(?<=[.!?:;])[\"”’)*_]*\s+(?=[\"“‘(*_A-Z{])|\n\s*\n|\n(?=\s*(?:[-*|]|\d+\.)\s)")


@dataclass(frozen=True)
class Block:
    """Lines of a page up to an empty one, and what is vouched for above them."""

    line: int
    text: str
    marks: dict[str, list[str]] = field(default_factory=dict)

    def numbers(self) -> list[str]:
        """Return the numbers of all sentences without a citation, each once, as they are."""
        numbers = []
        for sentence in _ENDS.split(_MATHS.sub("§", _CODE.sub(_role_or_sign, self.text))):
            if sentence is None or CITES.search(sentence):
                continue
            plain = _OTHER_ROLE.sub("§", _ROLE.sub(r"\1\2", _TARGET.sub("]", sentence)))
            numbers += [one for one in NUMBER.findall(plain) if one not in SMALL]
        return list(dict.fromkeys(numbers))


def blocks(text: str) -> Iterator[Block]:
    """Yield the paragraphs, captions and tables of a page, without code and directives' options."""
    lines: list[str] = []
    marks: dict[str, list[str]] = {}
    start, code, maths = 0, "", False
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        bare = line.strip()
        fence = FENCE.match(line)
        if code:
            code = "" if bare.startswith(code) and not bare.strip("`~") else code
            continue
        if maths or (bare.startswith("$$") and bare.count("$$") == 1):
            maths = bare.count("$$") != 1 if maths else True
            continue
        if fence and not (fence[2].startswith("{") and not SKIPPED.match(fence[2])):
            code = fence[1] if fence[2] else ""
            continue
        mark = MARK.match(bare)
        if mark:
            marks.setdefault(mark[1].strip(), []).extend(_listed(mark[2]))
        elif bare and not bare.startswith(("%", ":::", "```", ":name:", ":", "(sec-", "(ch-")):
            start = start or number
            lines.append(line)
        elif not bare and lines:
            yield Block(start, "\n".join(lines), marks)
            lines, marks, start = [], {}, 0


def typed_numbers(page: Path) -> Iterator[str]:
    """Yield a sentence for each number that nobody vouches for, and each vow that is not needed."""
    text = page.read_text(encoding="utf-8")
    text = FRONT.sub(lambda front: "\n" * front[0].count("\n"), text)  # lines keep their numbers
    for block in blocks(text):
        numbers = block.numbers()
        vouched = [one for listed in block.marks.values() for one in listed]
        if missing := [one for one in numbers if one not in vouched]:
            yield (
                f"line {block.line} types {', '.join(missing)}; glue it, read it with {{value}}, "
                "or say why it may stay"
            )
        if stale := [one for one in vouched if one not in numbers]:
            yield f"line {block.line} vouches for {', '.join(stale)}, which is not typed there"
        for reason in block.marks:
            if reason not in REASONS:
                known = ", ".join(REASONS)
                yield f"line {block.line} gives {reason!r} as a reason; there are {known}"


def pages(course: Course) -> list[Path]:
    """Return the pages of the book."""
    return sorted((course / "book").glob("*.md"))


def _role_or_sign(match: re.Match[str]) -> str:
    """Return a role as it is, and a sign in place of code."""
    return match[1] or "§"


def _listed(text: str) -> list[str]:
    """Return "2, 1,024, six" as three numbers: a comma inside a number has no space behind it."""
    return [one.strip() for one in re.split(r",\s+", text) if one.strip()]
