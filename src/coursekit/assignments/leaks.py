"""Whether private text is where students can read it: solutions, and lines of hidden cases."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from coursekit.assignments.release import read, release, source, sources
from coursekit.course import private_folder, relative

SHORTEST = 24  # characters; shorter lines are in every program
LONG = 40  # a line that nobody writes twice by chance
READ = {".ipynb", ".py", ".md", ".toml", ".json", ".csv", ".yml", ".yaml", ".txt", ".html", ""}
MARKERS = ("BEGIN SOLUTION", "BEGIN HIDDEN TESTS", "BEGIN MARK SCHEME")


def leaks(root: Path, folder: Path) -> list[str]:
    """Return where in `folder` there is text from the private half of the course at `root`.

    A line of a solution counts in assignments only: lectures and references are public, and a
    solution may be like them. A line of a hidden case counts everywhere; two short ones are as
    bad as a long one.
    """
    solutions, everywhere = private_lines(root)
    found = []
    for path in sorted(Path(folder).rglob("*")):
        if not path.is_file() or path.suffix not in READ:
            continue
        text = _plain(path)
        name = relative(path, folder)
        if "solutions" in path.relative_to(folder).parts:
            found.append(f"{name} is private")
        if path.suffix == ".ipynb" and (marker := next((m for m in MARKERS if m in text), "")):
            found.append(f"{name} has {marker}")
        assignment = path.suffix == ".ipynb" and '"nbgrader"' in text
        told = sorted(line for line in solutions if assignment and line in text)
        hidden = sorted((line for line in everywhere if line in text), key=len)
        if hidden and (len(hidden) > 1 or len(hidden[-1]) >= LONG):
            told.append(hidden[-1])
        if told:
            found.append(f"{name} has the line {told[0]!r}")
    return found


def private_lines(root: Path) -> tuple[set[str], set[str]]:
    """Return the telling lines of all solutions, and those of all hidden cases and hidden tests."""
    solutions, hidden = set(), set()
    given = set()
    for name in sources(root):
        notebook = read(source(root, name))
        for before, behind in zip(notebook["cells"], release(notebook)["cells"]):
            shown = set(_telling(behind["source"]))
            given |= shown
            gone = set(_telling(before["source"])) - shown
            (solutions if "BEGIN SOLUTION" in before["source"] else hidden).update(gone)
        cases = private_folder(root, name) / "hidden.py"
        if cases.is_file():
            hidden.update(_telling(cases.read_text(encoding="utf-8")))
    return solutions - given, hidden - given


def _telling(text: str) -> Iterator[str]:
    """Yield the lines that would give something away: long enough, and not an import."""
    for line in text.split("\n"):
        line = line.strip()
        if len(line) >= SHORTEST and not re.match(r"(from|import)\s|#|\"\"\"|@hidden", line):
            yield line


def _plain(path: Path) -> str:
    """Return what a file says: a page without its tags, a notebook without JSON's escapes."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".html":
        return html.unescape(re.sub("<[^>]*>", "", text))
    return text.replace('\\"', '"').replace("\\\\", "\\") if path.suffix == ".ipynb" else text
