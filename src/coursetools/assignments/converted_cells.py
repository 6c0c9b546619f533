"""Solution cells that were turned into another kind of cell, one key in Jupyter, are turned back.

A human is told. What is in such a cell is still the student's answer where it is code; prose in
the place of code is no answer, and nobody runs it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from coursekit.submission import regions
from coursekit.submission.regions import Cell

FENCE = re.compile(r"`{3,}|~{3,}")


class _Release(Protocol):
    @property
    def cells(self) -> list[Cell]: ...
    @property
    def by_id(self) -> dict[str, int]: ...
    @property
    def by_grade_id(self) -> dict[str, int]: ...
    @property
    def names(self) -> Sequence[Collection[str]]: ...


def turned_back(release: _Release, cells: list[Cell]) -> tuple[list[Cell], list[str]]:
    """Return the student's cells with answers in the kind that was asked for, and flags."""
    places = [_place(release, cell) for cell in cells]
    there = {at for at, cell in zip(places, cells) if at is not None and _fits(release, at, cell)}
    result, flags = list(cells), []
    for here, (cell, at) in enumerate(zip(cells, places)):
        if at is None or _fits(release, at, cell):
            continue
        if at in there:  # a note beside the answer, made of a copy of it
            result[here] = {**cell, "metadata": {}}
            continue
        result[here], flag = _turned(release, at, cell)
        flags.append(flag)
    known = {at for at in places if at is not None}
    lost = _lost(release, known, cells)
    for here, cell in enumerate(cells):
        if lost and places[here] is None and cell["cell_type"] != "code":
            source = _unfenced(cell["source"])
            for at in [at for name, at in lost.items() if name in regions.defined(source)]:
                if _is_code(source, release.names[at]):
                    result[here], flag = _turned(release, at, cell)
                    flags.append(flag)
                    lost = {name: place for name, place in lost.items() if place != at}
                    break
    return result, flags


def _place(release: _Release, cell: Cell) -> int | None:
    """Return which of the instructor's answer cells this is by its names, None for no such."""
    at = release.by_grade_id.get(regions.grade_id(cell))
    at = release.by_id.get(cell["id"]) if at is None else at
    return at if at is not None and regions.is_solution(release.cells[at]) else None


def _fits(release: _Release, at: int, cell: Cell) -> bool:
    return release.cells[at]["cell_type"] == cell["cell_type"]


def _lost(release: _Release, known: Collection[int], cells: list[Cell]) -> Mapping[str, int]:
    """Return what answers should define and no code cell does: name -> the answer's place."""
    lost = {
        name: at
        for at, stub in enumerate(release.cells)
        if at not in known and stub["cell_type"] == "code" and regions.is_solution(stub)
        for name in release.names[at]
    }
    for cell in cells if lost else []:
        if cell["cell_type"] == "code":
            for name in regions.defined(cell["source"]) & lost.keys():
                del lost[name]
    return lost


def _turned(release: _Release, at: int, cell: Cell) -> tuple[Cell, str]:
    stub, was = release.cells[at], cell["cell_type"]
    name = regions.grade_id(stub)
    turned = {
        "cell_type": stub["cell_type"],
        "id": cell["id"],
        "metadata": {"nbgrader": dict(regions.meta(stub))},
        "source": cell["source"],
    }
    flag = f"solution cell {name} was turned into a {was} cell; its text was read anyway"
    if stub["cell_type"] == "code":
        turned |= {"outputs": [], "execution_count": None, "source": _unfenced(cell["source"])}
        if not _is_code(turned["source"], release.names[at]):
            turned["source"] = ""
            flag = f"solution cell {name} was turned into a {was} cell, and holds no code"
    return turned, flag


def _unfenced(source: str) -> str:
    """Return the code between two fences, if that is all there is; else the text as it is."""
    first, _, rest = source.strip().partition("\n")
    fence = FENCE.match(first)
    code = rest.rstrip(first[:1])
    if fence is None or len(rest) - len(code) < 3:
        return source
    return code.removesuffix("\n")


def _is_code(source: str, names: Collection[str]) -> bool:
    """Return whether text is code: it defines one of `names`, or is Python and more than a word."""
    if regions.defined(source) & set(names):
        return True
    if len(source) > regions.LONG:
        return False
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(
        not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Name | ast.Constant))
        for node in body
    )
