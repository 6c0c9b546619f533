"""Whether the variants of a question are equally hard, and whether they are variants at all.

Each known mistake must cost the same in all. And the right answer of one must not be right in
another, or a copied one would be as good as one's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from coursekit.check.outcome import observe
from coursetools.questions.catalogue import references
from coursetools.questions.known_answers import Known, share

EVEN = 0.05  # of the points


def uneven(variants: Sequence[Known]) -> list[str]:
    """Say which mistakes cost more in some variants, and which variants are none."""
    problems = []
    for place, mistake in enumerate(variants[0].question.misconceptions):
        earned = [_earned(known, place) for known in variants]
        if max(earned) - min(earned) > EVEN:
            problems.append(
                f"the misconception {mistake.name!r} earns {min(earned):.0%} with "
                f"{_numbers(variants[earned.index(min(earned))])} and {max(earned):.0%} with "
                f"{_numbers(variants[earned.index(max(earned))])}"
            )
    problems += [
        f"the right answer for {_numbers(one)} earns everything with {_numbers(other)}: its "
        "numbers decide nothing"
        for one, other in permutations(variants, 2)
        if _right(one, other)
    ]
    return problems


def _right(one: Known, other: Known) -> bool:
    """Return whether the right answer of one variant is right in another."""
    student = references(other.assignment, **{one.question.name: one.question.reference})
    return all(
        other.difference(observe(case.run, student), number) is None
        for number, case in enumerate(other.cases)
    )


def _earned(known: Known, place: int) -> float:
    return share(known, known.outcomes(known.question.misconceptions[place]))


def _numbers(known: Known) -> str:
    return str(known.question.variant)
