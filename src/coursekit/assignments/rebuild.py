"""The notebook that is graded: the instructor's cells, with only the student's answers put in.

Cleaning what a stranger sends can be forgotten somewhere; building from the master cannot. Test
cells, their points and their tags always come from the instructor. From the student come the
sources of the solution cells and the cells that they added themselves, where they stand: helper
functions and imports often live there.

How a solution cell is found: by its grade_id; else by its cell id; else, where an upload lost all
of that, by the names that it defines, by the words it shares with the stub, and by its place
between cells that are known. Of several copies the last that is more than the stub and defines what
is asked for is the answer; the others run where they stand.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol

from coursekit.assignments import around, intake, regions
from coursekit.assignments.limits import Limits
from coursekit.assignments.regions import Cell
from coursekit.assignments.turned import turned_back

STOPS_EXECUTION = {"skip-execution", "raises-exception"}  # tags that Jupyter's tools act upon
BY_PLACE = "some cells had lost their names and were matched by their order and content"


class _Master(Protocol):
    notebook: str


@dataclass(frozen=True)
class Rebuilt:
    """The notebook in plain data, and what was found on the way.

    `answers` has an entry for each solution cell that was handed in, "" where it is blank; a cell
    that is not there has none, and the notebook keeps its stub.
    """

    notebook: dict[str, Any]
    answers: dict[str, str]
    flags: list[str] = field(default_factory=list)


def rebuild(
    master: _Master, submission: bytes | dict[str, Any], limits: Limits | None = None
) -> Rebuilt:
    """Rebuild a submission; raises `intake.Malformed` where there is nothing to build from.

    The notebook has the form of the release: no solution and no hidden test is in it.
    """
    if not isinstance(submission, dict):
        submission = intake.read(submission, limits)
    return _Rebuilding(_released(master.notebook), submission["cells"]).result()


def release_of(master: _Master) -> dict[str, Any]:
    """Return the master as students get it, nothing filled in; a new copy each time."""
    return json.loads(_released(master.notebook).text)


def ids_of(master: _Master) -> Collection[str]:
    """Return the ids of the master's cells."""
    return _released(master.notebook).by_id.keys()


@dataclass(frozen=True)
class _Release:
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
def _released(text: str) -> _Release:
    source = intake.master(text)
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
    return _Release(
        text=json.dumps(notebook),
        cells=cells,
        by_id={cell["id"]: at for at, cell in enumerate(cells)},
        by_grade_id={regions.grade_id(c): at for at, c in enumerate(cells) if regions.grade_id(c)},
        names=[regions.defined(cell["source"]) for cell in cells],
        words=[regions.words(cell["source"]) for cell in cells],
        metadata=metadata,
        sources=frozenset(cell["source"] for cell in cells),
        usual=frozenset(way for cell in cells for way in around.around(cell["source"])),
    )


class _Rebuilding:
    """One submission on its way; the positions are those of master and student cells."""

    def __init__(self, release: _Release, cells: list[Cell]) -> None:
        self.release = release
        self.cells, turned = turned_back(release, cells)
        self.place: list[int | None] = [None] * len(cells)  # of each student cell in the master
        self.copies: dict[int, list[int]] = {}  # master position -> student positions
        self.asked = frozenset().union(*(release.names[at] for at, _ in self._answers()))
        self.flags: list[str] = turned
        self.tampered: list[str] = []

    def result(self) -> Rebuilt:
        self._match_named()
        self._match_unnamed()
        chosen = {at: self._choose(at) for at, _ in self._answers()}
        return self._assemble(chosen)

    def _answers(self) -> list[tuple[int, Cell]]:
        return [(at, cell) for at, cell in enumerate(self.release.cells) if _answerable(cell)]

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
            if at not in self.copies:
                key = cell["cell_type"], regions.tidy(cell["source"])
                waiting.setdefault(key, []).append(at)
        found_tests = 0
        for here, cell in enumerate(self.cells):
            if self.place[here] is None:
                same = waiting.get((cell["cell_type"], regions.tidy(cell["source"])))
                if same:
                    at = same.pop(0)
                    found_tests += bool(regions.grade_id(release.cells[at]))
                    self._match(here, at)
        missing = [at for at, _ in self._answers() if at not in self.copies]
        by_name = [at for at in missing if self._definers(at)]
        by_gap = [at for at in missing if at not in by_name and self._match_in_gap(at)]
        if found_tests or by_name or by_gap:
            self.flags.append(BY_PLACE)

    def _definers(self, at: int) -> list[int]:
        """Return the student's own cells that define what the stub defines."""
        names = self.release.names[at]
        return [
            here
            for here, cell in enumerate(self.cells)
            if self.place[here] is None
            and cell["cell_type"] == "code"
            and names & regions.defined(cell["source"])
        ]

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
            and not (self.asked & self._names(here))
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

    def _choose(self, at: int) -> int | None:
        """Return which of the student's cells is the answer: the last that is one."""
        stub, name = self.release.cells[at], regions.grade_id(self.release.cells[at])
        copies, own = self.copies.get(at, []), self._definers(at)
        written = sorted(here for here in [*copies, *own] if not self._blank(here, stub))
        complete = [here for here in written if self.release.names[at] <= self._names(here)]
        answer = (complete or written or sorted(copies) or own or [None])[-1]
        if len(copies) > 1:
            self.flags.append(
                f"solution cell {name} was there {len(copies)} times; the last answer counts"
            )
        if copies and answer in own:
            self.flags.append(f"the answer to {name} stood in another cell")
        return answer

    def _blank(self, here: int, stub: Cell) -> bool:
        return regions.is_blank(stub["source"], self.cells[here]["source"], stub["cell_type"])

    def _names(self, here: int) -> frozenset[str]:
        return regions.defined(self.cells[here]["source"])

    def _assemble(self, chosen: dict[int, int | None]) -> Rebuilt:
        """Walk through the master; after each of its cells, what the student has put there."""
        # An answer in a cell of the student's own runs there, unless the stub would undo it later.
        inside = {
            at: here
            for at, here in chosen.items()
            if here is not None
            and (self.place[here] == at or not any(h < here for h in self.copies.get(at, [])))
        }
        own = self._own_cells(set(inside.values()))
        cells = [self._own(here) for here in own.get(-1, [])]
        answers: dict[str, str] = {}
        for at, stub in enumerate(self.release.cells):
            cell, name = _copy(stub), regions.grade_id(stub)
            here = chosen.get(at)
            if here is not None:
                source = self.cells[here]["source"]
                answers[name] = "" if self._blank(here, stub) else source
                cell["source"] = source if at in inside else stub["source"]
            elif at in chosen:
                self.flags.append(f"solution cell {name} is not there")
            elif at in self.copies:
                cell["source"] = self._kept_source(at)
            elif regions.is_test(stub):
                self.flags.append(f"test cell {name} was deleted; it was put back")
            cells.append(cell)
            cells += [self._own(extra) for extra in own.get(at, [])]
        flags = ["TAMPERED", *self.tampered] if self.tampered else []
        notebook = {
            "cells": cells,
            "metadata": self.release.metadata,
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        codes = [cell["source"] if cell["cell_type"] == "code" else "" for cell in cells]
        self.flags += around.flags(codes, self.release.sources, self.release.usual)
        return Rebuilt(notebook, answers, list(dict.fromkeys(flags + self.flags)))

    def _kept_source(self, at: int) -> str:
        """Return the source of a master cell that is no answer, and note what was done to it."""
        stub = self.release.cells[at]
        name, kind = regions.grade_id(stub), stub["cell_type"]
        copies = [self.cells[here] for here in self.copies[at]]
        free = not (regions.is_locked(stub) or regions.is_task(stub))
        if free:  # code between the questions is the student's to change, the text is not
            return copies[-1]["source"] if kind == "code" else stub["source"]
        for cell in copies:
            changed = not regions.same_source(stub["source"], cell["source"], kind)
            if regions.is_test(stub):
                if changed or cell["cell_type"] != kind or _defused(stub, cell):
                    self.tampered.append(f"test cell {name} was changed; the original was used")
            elif changed:
                self.flags.append(f"locked cell {name} was changed; the original was used")
        if len(copies) > 1 and regions.is_test(stub):
            self.flags.append(f"test cell {name} was there {len(copies)} times")
        return stub["source"]

    def _own_cells(self, inside: set[int]) -> dict[int, list[int]]:
        """Return the student's further cells, by the master cell that they follow; -1 is none."""
        own: dict[int, list[int]] = {}
        answer_of = {at: here for here in inside if (at := self.place[here]) is not None}
        last = -1
        for here, cell in enumerate(self.cells):
            at = self.place[here]
            if here in inside:
                last = last if at is None else at
            elif at is None:
                if cell["cell_type"] != "raw" and cell["source"].strip():
                    own.setdefault(last, []).append(here)
            elif not _answerable(self.release.cells[at]):
                last = max(at, last)
            elif not self._blank(here, self.release.cells[at]):
                # Another copy of an answer: it runs where it stands, the answer has the last word.
                own.setdefault(at - 1 if here < answer_of.get(at, -1) else at, []).append(here)
        return own

    def _own(self, here: int) -> Cell:
        cell = self.cells[here]
        made: Cell = {
            "cell_type": cell["cell_type"],
            "id": self._own_id(here),
            "metadata": {},
            "source": cell["source"],
        }
        if cell["cell_type"] == "code":
            made |= {"outputs": [], "execution_count": None}
        return made

    def _own_id(self, here: int) -> str:
        name = f"own-{here}"
        while name in self.release.by_id:
            name += "x"
        return name


def _copy(cell: Cell) -> Cell:
    """Return a cell that may be written into; the release is shared by all submissions."""
    copied = {**cell, "metadata": dict(cell["metadata"])}
    if "nbgrader" in copied["metadata"]:
        copied["metadata"]["nbgrader"] = dict(copied["metadata"]["nbgrader"])
    return copied | {"outputs": []} if "outputs" in cell else copied


def _answerable(cell: Cell) -> bool:
    return regions.is_solution(cell) and bool(regions.grade_id(cell))


def _defused(stub: Cell, cell: Cell) -> bool:
    """Say whether metadata of a test cell was changed in a way that other graders fall for."""
    tags, mine = cell["metadata"].get("tags"), stub["metadata"].get("tags") or []
    if isinstance(tags, list):
        added = {tag for tag in tags if isinstance(tag, str)} - set(mine)
        if added & STOPS_EXECUTION:
            return True
    about, original = regions.meta(cell), regions.meta(stub)
    return any(
        name in about and about[name] != original.get(name, about[name])
        for name in ("points", "grade", "solution", "locked")
    )
