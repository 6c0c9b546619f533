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

    def moved(self, questions: Collection[str]) -> dict[str, list[str]]:
        """Return, for each question, which others are not there as they are graded.

        They were answered further down, or their names were given to something else in between.
        """
        found = {}
        for question in questions:
            names = self._at(question)
            others = [
                name
                for name in questions
                if name in self._at(name) and names.get(name, self) is not self._at(name)[name]
            ]
            found[question] = others
        return {question: others for question, others in found.items() if others}

    def put(self, values: dict[str, Any], graded: Collection[str] = ()) -> None:
        """Let all questions find other values by some names, and some answers as they are graded.

        With such an answer comes what there was at its check, by names that are free.
        """
        more: dict[str, Any] = {}
        for question in graded:
            more.update({**self._at(question), **more})
        answers = {name: self._at(name)[name] for name in graded if name in self._at(name)}
        for names in (self._names, *self._kept.values()):
            names.update({**more, **names, **answers, **values})

    def _at(self, question: str) -> dict[str, Any]:
        """Return the names with which a question is asked."""
        at = question if question in self._kept else ""
        return self._names if at == self._now else self._kept[at]
