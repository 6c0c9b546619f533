"""What the files `test_demands*.py` share: answers that forget one demand, and the test of them.

Each has a table of `(question, words, heedless)`: the words of the question's text that demand
something, and what makes of our answer one that heeds all of the text but them. `mistakes` of the
questions are what people do; these only forget. The words stand in the text, so that whoever
changes one finds the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from coursekit.assignments.release import read, source
from coursekit.exercises import catalogue, private
from coursekit.exercises.comparing.outcome import Known, observe
from coursekit.exercises.edits import Edit

ROOT = Path(__file__).parents[2]
Answer = Callable[..., Any]
Heedless = Callable[[Answer], Answer]


def becomes(change: Callable[[Any], Any]) -> Heedless:
    """Change what an answer returns."""
    return lambda answer: lambda *given, **named: change(answer(*given, **named))


def each(change: Callable[[Any], Any]) -> Heedless:
    """Change each of several results."""
    return becomes(lambda found: tuple(map(change, found)))


def at(place: int, change: Callable[[Any], Any]) -> Heedless:
    """Change one of several results."""
    return becomes(lambda found: tuple(change(x) if n == place else x for n, x in enumerate(found)))


def edit(old: str, new: str) -> Heedless:
    """Write `new` for `old` in our answer."""
    return lambda answer: Edit(answer, old, new).made


def single(answer: Answer) -> Answer:
    """Return single precision, whatever was given."""
    return lambda *given, **named: answer(*given, **named).float()


def rough(answer: Answer) -> Answer:
    """Compute in single precision and return the dtype that is asked for."""

    def call(first, *given, **named):
        given = [x.float() if torch.is_tensor(x) and x.is_floating_point() else x for x in given]
        return answer(first.float(), *given, **named).to(first.dtype)

    return call


def spoils(place: int) -> Heedless:
    """Return what is right, and write into what was given at this place."""

    def spoiled(answer):
        def call(*given, **named):
            found = answer(*given, **named)
            _spoil(given[place])
            return found

        return call

    return spoiled


def _spoil(given: Any) -> None:
    if torch.is_tensor(given):
        given.data.zero_()
    elif isinstance(given, dict):
        _spoil(next(iter(given.values())))
    elif given and isinstance(given[0], dict):
        _spoil(given[0])
    else:
        given.append(given[0] if given else 0)


def every(table: Sequence[tuple[str, str, Heedless]]) -> Callable[..., None]:
    """Return the test that each of these answers fails a case, visible or hidden."""

    @pytest.mark.parametrize(
        ("name", "words", "heedless"), table, ids=[f"{name}: {words}" for name, words, _ in table]
    )
    def test(name: str, words: str, heedless: Heedless) -> None:
        assignment, question = catalogue.find(name)
        cells = read(source(ROOT, assignment.name))["cells"]
        place = next(
            number
            for number, cell in enumerate(cells)
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == name
        )
        text = "\n".join(c["source"] for c in cells[:place] if c["cell_type"] == "markdown")
        assert words in " ".join(text.split())
        hidden = private.load(ROOT / "solutions" / assignment.name / "hidden.py")[name]
        student = catalogue.references(assignment, **{name: heedless(question.reference)})
        known = Known(assignment, question, [*question.cases, *hidden])
        assert any(
            known.difference(observe(case, student), number)
            for number, case in enumerate(known.cases)
        )

    return test
