"""What of an instructor's cell a student may see: solutions, hidden tests, marking notes removed.

The markers are nbgrader's: `BEGIN SOLUTION` … `END SOLUTION` is replaced by a stub, `BEGIN HIDDEN
TESTS` and `BEGIN MARK SCHEME` are taken out with everything up to their `END`. Pure functions on
plain cells (dicts as in the file); everybody who needs to know what the release looks like asks
here.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from coursekit._base.errors import CourseError

CODE_STUB = "# YOUR CODE HERE\nraise NotImplementedError()"
TEXT_STUB = "YOUR ANSWER HERE"

LONG = 20_000  # characters; no answer is longer, and a hostile file may be

Cell = dict[str, Any]


def _strip_solutions(source: str, stub: str = CODE_STUB) -> tuple[str, bool]:
    """Put `stub` in the place of each solution region; say whether there was one."""
    return _without(source, "BEGIN SOLUTION", "END SOLUTION", stub)


def strip_hidden(source: str) -> str:
    """Take out the regions of hidden tests."""
    return _without(source, "BEGIN HIDDEN TESTS", "END HIDDEN TESTS", None)[0]


def strip_marking(source: str) -> str:
    """Take out the notes for whoever marks by hand."""
    return _without(source, "BEGIN MARK SCHEME", "END MARK SCHEME", None)[0]


def release_source(cell: Cell) -> str:
    """Return the source that students get for a cell of the instructor's notebook."""
    return strip_marking(strip_hidden(saved_source(cell)))


def saved_source(cell: Cell) -> str:
    """Return what nbgrader keeps in its database: without solutions, hidden tests still there."""
    stub = CODE_STUB if cell["cell_type"] == "code" else TEXT_STUB
    source, replaced = _strip_solutions(cell["source"], stub)
    return stub if is_solution(cell) and not replaced else source


def is_by_hand(cell: Cell) -> bool:
    """Return whether a human gives the points of a cell: for an answer in words, or a task."""
    return is_task(cell) or (is_grade(cell) and is_solution(cell))


def meta(cell: Cell) -> dict[str, Any]:
    """Return nbgrader's entry in the metadata of a cell, empty where there is none."""
    entry = cell.get("metadata", {}).get("nbgrader")
    return entry if isinstance(entry, dict) else {}


def grade_id(cell: Cell) -> str:
    """Return nbgrader's name of a cell, "" where it has none."""
    name = meta(cell).get("grade_id")
    return name if isinstance(name, str) else ""


def grade_ids(cells: Iterable[Cell]) -> set[str]:
    """Return nbgrader's names of cells: of answers, tests and texts."""
    return {grade_id(cell) for cell in cells} - {""}


def is_grade(cell: Cell) -> bool:
    """Return whether points are given for this cell."""
    return bool(meta(cell).get("grade"))


def is_solution(cell: Cell) -> bool:
    """Return whether the student writes this cell."""
    return bool(meta(cell).get("solution"))


def is_task(cell: Cell) -> bool:
    """Return whether this cell describes work that is marked by hand."""
    return bool(meta(cell).get("task"))


def is_test(cell: Cell) -> bool:
    """Return whether this is a cell of tests: it gives points and belongs to the instructor."""
    return is_grade(cell) and not is_solution(cell)


def is_locked(cell: Cell) -> bool:
    """Return whether the instructor's source always counts, as nbgrader decides it."""
    if is_solution(cell):
        return False
    return is_grade(cell) or bool(meta(cell).get("locked"))


def checksum(cell: Cell, source: str | None = None) -> str:
    """Return nbgrader's checksum of a cell, with `source` in the place of its own."""
    parts = [
        cell["source"] if source is None else source,
        cell["cell_type"],
        str(is_grade(cell)),
        str(is_solution(cell)),
        str(is_locked(cell)),
        grade_id(cell),
    ]
    if is_grade(cell):
        parts.append(str(float(meta(cell)["points"])))
    return hashlib.md5("".join(parts).encode(), usedforsecurity=False).hexdigest()


def same_source(one: str, other: str, cell_type: str = "code") -> bool:
    """Return whether two sources differ in nothing but layout and comments."""
    one, other = tidy(one), tidy(other)
    if one == other:
        return True
    if cell_type != "code":
        return False
    shape = _shape(one)
    return shape is not None and shape == _shape(other)


def is_blank(stub: str, answer: str, cell_type: str = "code") -> bool:
    """Return whether an answer is none: empty, nothing but comments, or still the stub."""
    if not answer.strip() or same_source(stub, answer, cell_type):
        return True
    return cell_type == "code" and _shape(tidy(answer)) == _shape("")


def tidy(source: str) -> str:
    """Return a source without what editors change on their own."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


@lru_cache(maxsize=1024)
def defined(source: str) -> frozenset[str]:
    """Return the functions and classes that a cell defines at its top level."""
    return frozenset(re.findall(r"^(?:async\s+)?(?:def|class)\s+(\w+)", source, re.MULTILINE))


def words(source: str) -> frozenset[str]:
    """Return the words of a cell, but for those of an empty stub."""
    plain = {"YOUR", "CODE", "ANSWER", "HERE", "raise", "NotImplementedError"}
    return frozenset(re.findall(r"\w+", source[:LONG])) - plain


@lru_cache(maxsize=512)
def _shape(source: str) -> str | None:
    """Return the syntax tree as text, None where there is none or it would take too long."""
    if len(source) > LONG:
        return None
    try:
        return ast.dump(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _without(source: str, begin: str, end: str, stub: str | None) -> tuple[str, bool]:
    """Replace each region by the indented stub, or by nothing."""
    if begin not in source:
        return source, False
    lines: list[str] = []
    inside = False
    for line in source.split("\n"):
        if begin in line:
            if inside:
                raise CourseError(f"a cell has {begin!r} inside {begin!r}; end the first one")
            inside = True
            indent = re.match(r"\s*", line)[0]  # type: ignore[index]
            lines += [] if stub is None else [indent + part for part in stub.split("\n")]
        elif end in line:
            inside = False
        elif not inside:
            lines.append(line)
    if inside:
        raise CourseError(f"a cell has {begin!r} and no {end!r} after it")
    return "\n".join(lines), True
