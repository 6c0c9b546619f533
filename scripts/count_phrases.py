"""Count the phrases that the project leaves behind, by where they occur.

    python scripts/count_phrases.py             a table: phrase, counts, what to write instead
    python scripts/count_phrases.py PATH ...    each occurrence in these files, line by line

A phrase marked `!` is wrong wherever it occurs, so its count should be 0. The others are right in
some sentences ("the figure tells two models apart"), and a reader decides.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
AREAS = ("docstrings", "messages", "book", "notebooks", "assignments")


class Phrase(NamedTuple):
    """A pattern, what to write instead, and whether it is always wrong."""

    pattern: str
    instead: str
    wrong: bool = False


PHRASES = (
    Phrase(r"\b(some|every)body\b", "someone, everyone, or the role", wrong=True),
    Phrase(r"\bnobody\b", "no one, or the role", wrong=True),
    Phrase(r"\btrainings\b", "training runs", wrong=True),
    Phrase(r"\bin (the )?place of\b", "instead of", wrong=True),
    Phrase(r"\bonce more\b", "again", wrong=True),
    Phrase(r"\bmend(s|ed|ing)?\b", "fix", wrong=True),
    Phrase(r"\bbelongs? into\b", "belongs in", wrong=True),
    Phrase(r"\bbehind the point\b", "after the decimal point", wrong=True),
    Phrase(r"\bas the notebook has it\b", "as in the notebook", wrong=True),
    Phrase(r"\bby heart\b", "memorise", wrong=True),
    Phrase(r"\bhand(s|ed|ing)?[- ]in\b", "submit, submission", wrong=True),
    Phrase(r"\bclass list\b", "roster", wrong=True),
    Phrase(r"\bquestions? in words\b", "written question", wrong=True),
    Phrase(r"\bsays? for itself\b", "speaks for itself", wrong=True),
    Phrase(r"\bwhat shape (has|have)\b", "what is the shape of", wrong=True),
    Phrase(r"\bwhoever\b", "anyone who, students who, if you", wrong=True),
    Phrase(r"\bWho (?=[a-z]+s\b[^?]*\.)", "students who, if you"),
    Phrase(r"\b[Ww]hat (is|was|comes|came|has|stands|goes)\b(?![^.:]*\?)", "the noun"),
    Phrase(r"\b(stands?|stood)\b", "is, appears, goes"),
    Phrase(r"\b(told|tells?)\b(?! \w+ apart)", "shows, reports, explains"),
    Phrase(r"\bbeside\b", "next to, along with, compared with"),
    Phrase(r"\b(is|are) no [a-z]+", "is not a"),
    Phrase(r"\bplaces?\b", "position, slot, location"),
    Phrase(r"\bpictures?\b", "image (data), figure (drawing)"),
    Phrase(r"\bbegins?\b", "start"),
    Phrase(r"\bof (its|their|your|our) own\b", "its own X, a separate X"),
    Phrase(r"\bgo(es)? on\b(?! (the|a|to)\b)", "continue"),
    Phrase(r"\b(lies|lie)\b", "is, are"),
    Phrase(r"\bsays? of\b", "says about"),
    Phrase(r"\bshares?\b", "attention weight, proportion"),
    Phrase(r"\blooks?\b", "evaluation, attend"),
    Phrase(r"\bcards?\b", "GPU"),
    Phrase(r"\bblanks?\b", "masked token"),
    Phrase(r"\band so for\b", "and likewise for"),
    Phrase(r", too[.;:]", "also, before the verb"),
)


def compiled(phrase: Phrase) -> re.Pattern[str]:
    """Return the pattern; upper case counts only where the pattern spells it."""
    flags = re.NOFLAG if re.search(r"\b[A-Z]", phrase.pattern) else re.IGNORECASE
    return re.compile(phrase.pattern, flags)


def python(path: Path) -> Iterator[tuple[str, int, str]]:
    """Yield docstrings and comments, then the other strings of a module, with their lines."""
    text = path.read_text(encoding="utf-8")
    documented: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                documented.add(value.lineno)
                yield "docstrings", value.lineno, value.value
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Constant) or node.lineno in documented:
            continue
        if isinstance(node.value, str):
            yield "messages", node.lineno, node.value
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield "docstrings", token.start[0], token.string


def notebook(path: Path, area: str) -> Iterator[tuple[str, int, str]]:
    """Yield the text cells of a notebook, and its comments and strings as they are."""
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        yield area, number, "".join(cell["source"])


def texts(path: Path) -> Iterator[tuple[str, int, str]]:
    """Yield (area, line, text) for everything in a file that a person reads."""
    inside = path.resolve().relative_to(ROOT)
    if path.suffix == ".py":
        yield from python(path)
    elif path.suffix == ".ipynb":
        taught = inside.parts[0] == "notebooks" and "assignments" not in inside.parts
        yield from notebook(path, "notebooks" if taught else "assignments")
    elif path.suffix == ".md":
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            yield "assignments" if inside.parts[0] == "solutions" else "book", number, line


def files() -> Iterator[Path]:
    """Yield the package, the book, the notebooks and the assignments."""
    taught = ("notebooks/*.ipynb", "notebooks/*.md", "notebooks/training/*.ipynb")
    assigned = ("solutions/**/*.ipynb", "solutions/**/*.md")
    for folder in ("src/**/*.py", "book/*.md", "*.md", *taught, *assigned):
        yield from sorted(ROOT.glob(folder))


def occurrences(path: Path) -> Iterator[tuple[Phrase, str, int, str]]:
    """Yield each phrase of a file with its area, its line (or cell) and its surroundings."""
    for area, number, text in texts(path):
        for phrase in PHRASES:
            for match in compiled(phrase).finditer(text):
                around = text[max(0, match.start() - 45) : match.end() + 45].replace("\n", " ")
                yield phrase, area, number, around


def main(paths: list[str]) -> None:
    """Print the table, or the occurrences in the given files."""
    if paths:
        for path in map(Path, paths):
            for phrase, _, number, around in occurrences(path):
                print(f"{path}:{number}: {'!' if phrase.wrong else ' '} … {around} …")
        return
    counts: Counter[tuple[Phrase, str]] = Counter()
    for path in files():
        if path.name != "CHANGELOG.md" and path.resolve() != Path(__file__).resolve():
            counts.update((phrase, area) for phrase, area, _, _ in occurrences(path))
    print(f"  {'phrase':<48}" + "".join(f"{area:>13}" for area in AREAS))
    for phrase in PHRASES:
        row = "".join(f"{counts[phrase, area]:13}" for area in AREAS)
        print(f"{'!' if phrase.wrong else ' '} {phrase.pattern[:47]:<48}{row}   {phrase.instead}")


if __name__ == "__main__":
    main(sys.argv[1:])
