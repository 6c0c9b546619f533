"""The notebook that is graded: the instructor's cells, with only the student's answers put in.

Cleaning untrusted input can be forgotten somewhere; building from the master cannot. Test
cells, their points and their tags always come from the instructor. From the student come the
sources of the solution cells and the cells that they added themselves, in their order: run from top
to bottom, the rebuilt notebook computes what theirs does. There is one exception, in the student's
favour: a stub that was left as it was does not run where another cell has the answer. That may be
the cell of its test, of which the original runs after the answer. Of a solution cell that is there
several times the last answer counts (`matching`).
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Protocol

from coursekit.submission import parsing, regions
from coursekit.submission.regions import Cell
from coursekit.submission.resource_limits import Limits
from coursetools.assignments import evasions
from coursetools.assignments.matching import Matching, Release, answerable, released

STOPS_EXECUTION = {"skip-execution", "raises-exception"}  # tags that Jupyter's tools act upon
ELSEWHERE = "# The answer stands in another cell."  # in the place of a stub that would undo it


class _Master(Protocol):
    @property
    def notebook(self) -> str: ...


@dataclass(frozen=True)
class Rebuilt:
    """The notebook in plain data, and what was found on the way.

    `answers` has an entry for each solution cell that was submitted, the text of the cell that has
    the answer, "" where there is none; a cell that is not there has no entry.
    """

    notebook: dict[str, Any]
    answers: dict[str, str]
    flags: list[str] = field(default_factory=list)


def rebuild(
    master: _Master, submission: bytes | dict[str, Any], limits: Limits | None = None
) -> Rebuilt:
    """Rebuild a submission; raises `parsing.Malformed` where there is nothing to build from.

    The notebook has the form of the release: no solution and no hidden test is in it.
    """
    if not isinstance(submission, dict):
        submission = parsing.read(submission, limits)
    return _Rebuilding(released(master.notebook), submission["cells"]).result()


def release_of(master: _Master) -> dict[str, Any]:
    """Return the master as students get it, nothing filled in; a new copy each time."""
    return json.loads(released(master.notebook).text)


def ids_of(master: _Master) -> Collection[str]:
    """Return the ids of the master's cells."""
    return released(master.notebook).by_id.keys()


class _Rebuilding(Matching):
    """One submission on its way; the positions are those of master and student cells."""

    def __init__(self, release: Release, cells: list[Cell]) -> None:
        super().__init__(release, cells)
        self.tampered: list[str] = []

    def result(self) -> Rebuilt:
        """Walk through the master; after each of its cells, what the student has put there."""
        own: dict[int, list[Cell]] = {}
        for here in range(len(self.cells)):
            if self._is_own(here):
                own.setdefault(self.above[here], []).append(self._own(here))
        cells = own.get(-1, [])
        answers: dict[str, str] = {}
        for at, stub in enumerate(self.release.cells):
            cell, name = _copy(stub), regions.grade_id(stub)
            if at in self.homes:
                cell["source"] = self._answer_source(at, name, answers)
            elif at in self.copies:
                cell["source"] = self._kept_source(at)
            elif regions.is_test(stub):
                self.flags.append(f"test cell {name} was deleted and has been restored")
            cells.append(cell)
            cells += own.get(at, [])
        flags = ["TAMPERED", *self.tampered] if self.tampered else []
        notebook = {
            "cells": cells,
            "metadata": self.release.metadata,
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        codes = [cell["source"] if cell["cell_type"] == "code" else "" for cell in cells]
        self.flags += evasions.flags(codes, self.release.sources, self.release.usual)
        return Rebuilt(notebook, answers, list(dict.fromkeys(flags + self.flags)))

    def _kept_source(self, at: int) -> str:
        """Return the source of a master cell that is no answer, and note what was done to it."""
        stub = self.release.cells[at]
        name, kind = regions.grade_id(stub), stub["cell_type"]
        copies = [self.cells[here] for here in self.copies[at]]
        answers = {id(self.cells[here]) for here in self.copies[at] if self.has_answer(here)}
        free = not (regions.is_locked(stub) or regions.is_task(stub))
        if free:  # code between the questions is the student's to change, the text is not
            return copies[-1]["source"] if kind == "code" else stub["source"]
        for cell in copies:
            changed = not regions.same_source(stub["source"], cell["source"], kind)
            if id(cell) in answers and _is_longer(stub, cell):
                self.flags.append(
                    f"test cell {name} has an answer in it; it was run before the test"
                )
            elif regions.is_test(stub):
                if changed or cell["cell_type"] != kind or _defused(stub, cell):
                    self.tampered.append(f"test cell {name} was changed; the original was used")
            elif changed:
                self.flags.append(f"locked cell {name} was changed; the original was used")
        if len(copies) > 1 and regions.is_test(stub):
            self.flags.append(f"test cell {name} appears {len(copies)} times")
        return stub["source"]

    def _answer_source(self, at: int, name: str, answers: dict[str, str]) -> str:
        """Return what is in a solution cell, and note the answer, wherever that is."""
        stub, home, here = self.release.cells[at], self.homes[at], self.answer(at)
        if here is not None:
            answers[name] = self._written(here)
        elif home is not None:
            answers[name] = ""
        else:
            self.flags.append(f"solution cell {name} is missing")
        if here not in (None, home):
            self.flags.append(f"the answer to {name} was in another cell")
        source = stub["source"] if home is None else self.cells[home]["source"]
        if not regions.is_blank(stub["source"], source, stub["cell_type"]):
            return source
        others = [
            self.names(one)
            for one in self.definers(at)
            if one != home and not self.is_blank(one, stub)
        ]
        names = self.release.names[at]
        return ELSEWHERE if names and names <= frozenset().union(*others) else source

    def _is_own(self, here: int) -> bool:
        """Return whether a cell runs where it is: the student's, or another copy of an answer."""
        cell, at = self.cells[here], self.place[here]
        if at is None:
            return cell["cell_type"] != "raw" and bool(cell["source"].strip())
        if self.has_answer(here):
            return True
        stub = self.release.cells[at]
        return answerable(stub) and self.homes[at] != here and not self.is_blank(here, stub)

    def _own(self, here: int) -> Cell:
        cell = self.cells[here]
        made: Cell = {
            "cell_type": cell["cell_type"],
            "id": self._own_id(here),
            "metadata": {},
            "source": self._written(here),
        }
        if cell["cell_type"] == "code":
            made |= {"outputs": [], "execution_count": None}
        return made

    def _written(self, here: int) -> str:
        """Return what a student has written in a cell: of a test cell, all but the test."""
        source, at = self.cells[here]["source"], self.place[here]
        if at is None or not self.has_answer(here):
            return source
        text, test = regions.tidy(source), regions.tidy(self.release.cells[at]["source"])
        if text.startswith(test):
            return "\n" * test.count("\n") + text.removeprefix(test)  # each line where it was
        return text.removesuffix(test)

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


def _is_longer(stub: Cell, cell: Cell) -> bool:
    """Return whether a test cell is as it was, but for what was written above or below."""
    own, text = regions.tidy(stub["source"]), regions.tidy(cell["source"])
    return (text.startswith(own) or text.endswith(own)) and not _defused(stub, cell)


def _defused(stub: Cell, cell: Cell) -> bool:
    """Return whether metadata of a test cell was changed in a way that other graders fall for."""
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
