"""Which of a student's cells is which cell of the instructor's notebook, and which has an answer.

How a solution cell is found: by its grade_id; else by its cell id; else, where an upload lost all
of that, by the names that it defines, by the words it shares with the stub, and by its place
between cells that are known. Of several copies the last that is more than the stub and defines what
is asked for takes the cell's place.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from coursekit.submission import parsing, regions
from coursekit.submission.regions import Cell
from coursetools.assignments import evasions
from coursetools.assignments.converted_cells import turned_back

BY_PLACE = "some cells had lost their names and were matched by their order and content"


@dataclass(frozen=True)
class Release:
    """The instructor's notebook as students get it; shared, never changed."""

    text: str
    cells: list[Cell]
    by_id: dict[str, int]  # cell id -> position
    by_grade_id: dict[str, int]
    names: list[frozenset[str]]  # what each cell defines at its top level
    words: list[frozenset[str]]
    metadata: dict[str, Any]
    sources: frozenset[str]
    usual: frozenset[str]  # what they do that would be remarkable in an answer


@lru_cache(maxsize=8)
def released(text: str) -> Release:
    """Return an instructor's notebook, given as the text of its file, as students get it."""
    source = parsing.master(text)
    cells = []
    for cell in source["cells"]:
        released = {
            "cell_type": cell["cell_type"],
            "id": cell["id"],
            "metadata": dict(cell["metadata"]),
            "source": regions.release_source(cell),
        }
        if regions.meta(cell):
            about = dict(regions.meta(cell))
            released["metadata"]["nbgrader"] = about
            about["checksum"] = regions.checksum(released)
        if cell["cell_type"] == "code":
            released |= {"outputs": [], "execution_count": None}
        cells.append(released)
    metadata = {
        key: value
        for key, value in source["metadata"].items()
        if key in ("kernelspec", "language_info")
    }
    notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return Release(
        text=json.dumps(notebook),
        cells=cells,
        by_id={cell["id"]: at for at, cell in enumerate(cells)},
        by_grade_id={regions.grade_id(c): at for at, c in enumerate(cells) if regions.grade_id(c)},
        names=[regions.defined(cell["source"]) for cell in cells],
        words=[regions.words(cell["source"]) for cell in cells],
        metadata=metadata,
        sources=frozenset(cell["source"] for cell in cells),
        usual=frozenset(way for cell in cells for way in evasions.around(cell["source"])),
    )


class Matching:
    """The cells of one submission; their positions, and those of the master's cells."""

    def __init__(self, release: Release, cells: list[Cell]) -> None:
        self.release = release
        self.cells, self.flags = turned_back(release, cells)
        self.place: list[int | None] = [None] * len(cells)  # of each student cell in the master
        self.copies: dict[int, list[int]] = {}  # master position -> student positions
        self.asked = frozenset().union(*(release.names[at] for at, _ in self._answers()))
        self._match_named()
        self._match_unnamed()
        # Of each solution cell what takes its place; of each student cell what it is below.
        self.homes = {at: self._home(at) for at, _ in self._answers()}
        self.above = self._above()
        for at, home in self.homes.items():
            here = self.answer(at) if home is None else None
            if here is not None and self.place[here] is None and self._in_gap(here, at):
                self.homes[at] = here  # a cell that has lost its names and is in its place
                self._match(here, at)
        self.above = self._above()

    def _answers(self) -> list[tuple[int, Cell]]:
        return [(at, cell) for at, cell in enumerate(self.release.cells) if answerable(cell)]

    def _match_named(self) -> None:
        """Match by grade_id, then by cell id; look at what was done to the tests."""
        for here, cell in enumerate(self.cells):
            at = self.release.by_grade_id.get(regions.grade_id(cell))
            if at is not None:
                self._match(here, at)
        for here, cell in enumerate(self.cells):
            at = self.release.by_id.get(cell["id"])
            if self.place[here] is None and at is not None and at not in self.copies:
                if self.release.cells[at]["cell_type"] != cell["cell_type"]:
                    continue
                if regions.grade_id(self.release.cells[at]) and regions.is_test(cell):
                    continue
                self._match(here, at)

    def _match_unnamed(self) -> None:
        """Match what has lost its names: equal sources first, then the most alike in each gap."""
        release = self.release
        waiting: dict[tuple[str, str], list[int]] = {}
        for at, cell in enumerate(release.cells):
            if at not in self.copies or regions.is_test(cell):
                key = cell["cell_type"], regions.tidy(cell["source"])
                waiting.setdefault(key, []).append(at)
        found_tests = 0
        for here, cell in enumerate(self.cells):
            if self.place[here] is None:
                same = waiting.get((cell["cell_type"], regions.tidy(cell["source"])))
                if same:
                    # Whoever types a check once more has another copy of that cell.
                    again = len(same) == 1 and regions.is_test(release.cells[same[0]])
                    at = same[0] if again else same.pop(0)
                    known = at in self.copies or not regions.grade_id(release.cells[at])
                    found_tests += not known
                    self._match(here, at)
        missing = [at for at, _ in self._answers() if at not in self.copies]
        by_name = [at for at in missing if self.definers(at)]
        by_gap = [at for at in missing if at not in by_name and self._match_in_gap(at)]
        if found_tests or by_name or by_gap:
            self.flags.append(BY_PLACE)

    def definers(self, at: int) -> list[int]:
        """Return the student's own cells that define what the stub defines."""
        names = self.release.names[at]
        return [
            here
            for here, cell in enumerate(self.cells)
            if cell["cell_type"] == "code"
            and names & regions.defined(cell["source"])
            and self._may_answer(here)
        ]

    def _may_answer(self, here: int) -> bool:
        """Return whether what a cell defines counts: it is the student's, or was written into."""
        at = self.place[here]
        return at is None or self._is_free(at) or self.has_answer(here)

    def has_answer(self, here: int) -> bool:
        """Return whether this is a test cell into which a student has written an answer."""
        at, cell = self.place[here], self.cells[here]
        if at is None or cell["cell_type"] != "code" or not regions.is_test(self.release.cells[at]):
            return False
        return bool(self.asked & (regions.defined(cell["source"]) - self.release.names[at]))

    def _is_free(self, at: int) -> bool:
        """Return whether a master cell is code between the questions, the student's to change."""
        cell = self.release.cells[at]
        return cell["cell_type"] == "code" and not (
            regions.is_locked(cell) or regions.is_task(cell) or regions.is_solution(cell)
        )

    def _match_in_gap(self, at: int) -> bool:
        """Take, between the known neighbours of the master's cell, the cell most like its stub."""
        before = [h for m, copies in self.copies.items() if m < at for h in copies]
        after = [h for m, copies in self.copies.items() if m > at for h in copies]
        low, high = max(before, default=-1), min(after, default=len(self.cells))
        kind, words = self.release.cells[at]["cell_type"], self.release.words[at]
        candidates = [
            (len(words & regions.words(self.cells[here]["source"])) / max(1, len(words)), -here)
            for here in range(low + 1, high)
            if self.place[here] is None
            and self.cells[here]["cell_type"] == kind
            and not (self.asked & self.names(here))
        ]
        if not candidates:
            return False
        best, here = max(candidates)
        if best < 0.5 and len(candidates) > 1 and kind == "code":
            return False
        self._match(-here, at)
        return True

    def _match(self, here: int, at: int) -> None:
        self.place[here] = at
        self.copies.setdefault(at, []).append(here)

    def _home(self, at: int) -> int | None:
        """Return which copy of a solution cell takes its place: the last that is an answer."""
        stub, copies = self.release.cells[at], sorted(self.copies.get(at, []))
        if len(copies) > 1:
            name = regions.grade_id(stub)
            self.flags.append(
                f"solution cell {name} appears {len(copies)} times; the last answer counts"
            )
        answered = [here for here in copies if not self.is_blank(here, stub)]
        complete = [here for here in answered if self._gives(here, at)]
        best = complete or answered or copies
        return best[-1] if best else None

    def _above(self) -> list[int]:
        """Return for each of the student's cells the last master cell at or above it, -1 for none.

        Cells that were moved away from their neighbours do not count: those that do are the longest
        chain in the master's order, and of two copies the second.
        """
        ends: list[int] = []  # the place where the shortest possible chain of each length ends
        lasts: list[int] = []  # and the cell
        before: dict[int, int] = {}
        for here, at in enumerate(self.place):
            if at is None or self.homes.get(at, here) != here:
                continue
            length = bisect_left(ends, at)
            before[here] = lasts[length - 1] if length else -1
            ends[length : length + 1], lasts[length : length + 1] = [at], [here]
        chain, here = set(), lasts[-1] if lasts else -1
        while here >= 0:
            chain.add(here)
            here = before[here]
        above, last = [], -1
        for here, at in enumerate(self.place):
            if here in chain and at is not None:
                last = at
            answers = here in chain and self.has_answer(here)  # and so is above its own check
            above.append(last - answers)
        return above

    def _in_gap(self, here: int, at: int) -> bool:
        """Return whether no known cell is between a student's cell and the place `at`."""
        matched = sorted(set(self.above))
        return bisect_right(matched, self.above[here]) == bisect_right(matched, at)

    def answer(self, at: int) -> int | None:
        """Return which of the student's cells has the answer: the last before its check."""
        stub = self.release.cells[at]
        candidates = [*self.copies.get(at, []), *self.definers(at)]
        candidates = [here for here in candidates if not self.is_blank(here, stub)]
        check = next(
            (n for n, cell in enumerate(self.release.cells) if n > at and regions.is_test(cell)),
            len(self.release.cells),
        )
        return max(
            candidates,
            key=lambda here: (self._gives(here, at), self.above[here] < check, here),
            default=None,
        )

    def _gives(self, here: int, at: int) -> bool:
        """Return whether a cell binds every name that the stub defines, be it by a lambda."""
        source, names = self.cells[here]["source"], self.release.names[at]
        bound = {name for name in names if re.search(rf"^{name}\s*=[^=]", source, re.MULTILINE)}
        return names <= self.names(here) | bound

    def is_blank(self, here: int, stub: Cell) -> bool:
        """Return whether a cell holds no more than the stub."""
        return regions.is_blank(stub["source"], self.cells[here]["source"], stub["cell_type"])

    def names(self, here: int) -> frozenset[str]:
        """Return what a cell defines."""
        return regions.defined(self.cells[here]["source"])


def answerable(cell: Cell) -> bool:
    """Return whether a student's answer belongs into a cell."""
    return regions.is_solution(cell) and bool(regions.grade_id(cell))
