"""The names of a notebook, and what they were when each question was checked.

What a cell below a check does cannot undo an answer that stood above it: each question is asked
with the names that there were at its check. A question that had no answer there is asked with those
at the end.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any


class Checked:
    """Goes back and forth between what `names`, the globals of all cells, has held."""

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names
        self._kept: dict[str, dict[str, Any]] = {}  # by the question; "" for the end
        self._now = ""  # whose names there are

    def keep(self, questions: Collection[str]) -> None:
        """Remember the names that there are now, for questions whose check is here."""
        for question in questions:
            if question in self._names:
                self._kept[question] = dict(self._names)

    def turn_to(self, question: str) -> None:
        """Let the names be what they were at a question's check."""
        question = question if question in self._kept else ""
        if question == self._now:
            return
        self._kept[self._now] = dict(self._names)
        kept = self._kept[question]
        self._names.update(kept)
        for name in self._names.keys() - kept.keys():
            del self._names[name]
        self._now = question

    def kinds(self, questions: Collection[str]) -> dict[str, str]:
        """Return, for each question that has an answer, what kind of thing that is."""
        names = {name: self._kept.get(name, self._names) for name in questions}
        return {name: type(at[name]).__name__[:100] for name, at in names.items() if name in at}

    def put(self, values: dict[str, Any]) -> None:
        """Put other values in the place of some names, for all questions."""
        for names in (self._names, *self._kept.values()):
            names.update(values)
