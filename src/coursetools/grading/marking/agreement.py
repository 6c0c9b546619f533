"""How far two markers agree about the answers that both have read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Agreement:
    """Of `answers` that two have marked: how many alike, and what the one gives more on average."""

    answers: int
    same: float  # share
    more: float  # points that the first gives above the second, on average
    kappa: float | None  # Cohen's, with squared weights; None where nobody told answers apart

    @classmethod
    def of(cls, first: Sequence[float], second: Sequence[float]) -> Self:
        """Compare the points that two have given to the same answers."""
        count = len(first)
        same = sum(one == other for one, other in zip(first, second)) / count
        more = sum(one - other for one, other in zip(first, second)) / count
        return cls(count, same, more, weighted_kappa(first, second))


def weighted_kappa(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Cohen's kappa, in which a difference counts by its square.

    1 is the same points everywhere, 0 no more agreement than by chance: than if each had given
    their own points to answers drawn by lot.
    """
    count = len(first)
    seen = sum((one - other) ** 2 for one, other in zip(first, second)) / count
    chance = sum(
        (one - other) ** 2 * n * m
        for one, n in Counter(first).items()
        for other, m in Counter(second).items()
    ) / (count * count)
    return 1 - seen / chance if chance else None
