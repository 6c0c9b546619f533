"""`variant("hinge", student)`: shows a learner the numbers of a question that are theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coursekit._base.nearest import did_you_mean
from coursekit.check import compiled
from coursekit.check.shown import Shown
from coursekit.check.variants import Variant, id_of, number_of, plain


@dataclass(frozen=True)
class YourNumbers(Shown):
    """A sentence. An answer has its numbers written in it, so here they are only shown."""

    sentence: str

    def __repr__(self) -> str:
        return self.sentence


def variant(
    question: str, student: Any = "", of: str = "", numbers: Sequence[dict[str, Any]] = ()
) -> YourNumbers:
    """Show the numbers of `question` that belong to the id `student`.

    An exam's notebook says of which assignment it is, and all `numbers`: no package has them yet.
    """
    return YourNumbers(_told(str(question), student, of, numbers)).show()


def _told(question: str, student: Any, of: str, numbers: Sequence[dict[str, Any]]) -> str:
    if numbers:
        own = Variant(0, 1, numbers[number_of(of, student, len(numbers))])
        return f"{question}, {whose(student)}: {own}"
    home = compiled.asking(question)
    if home is None:
        assignments = map(compiled.load, compiled.names())
        every = [one for assignment in assignments for one in assignment.questions]
        with_numbers = [one.name for one in every if one.variants]
        close = did_you_mean(question, with_numbers, (one.name for one in every))
        return f"no question is called {question!r}{close}"
    asked = next(one for one in compiled.load(home).questions if one.name == question)
    if not asked.variants:
        return f"{question}: its numbers are the same for everybody"
    theirs = asked.of(number_of(home, student, asked.count)).variant
    return f"{question}, {whose(student)}: {theirs}"


def whose(student: Any) -> str:
    """Say whose numbers these are."""
    if plain(student):
        return f"the numbers of {id_of(student)!r}"
    return "numbers to practise with (your own come with your id in `student`, at the top)"
