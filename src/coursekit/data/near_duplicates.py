"""Nearly equal texts: found once when data is made, and searched for again by the tests.

Two texts are compared by the words and pairs of neighbouring words that they share (Jaccard:
shared / all). Comparing everything with everything would take hours. But if two sets share 90% of
their members, then at least one of the rarest 10% (and one more) of each is in the other too; so we
compare only texts that meet in a rare member. Nothing is missed.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from coursekit._base.checks import check_int, check_number


def shingles(text: str) -> set[str]:
    """Return the words of a text, and its pairs of neighbouring words."""
    words = re.findall(r"\w+", text.lower())
    return {*words, *(f"{a} {b}" for a, b in pairwise(words))}


def jaccard(a: set[str], b: set[str]) -> float:
    """Return which share of the members of both is in both; 1 if both are empty."""
    return len(a & b) / len(a | b) if a or b else 1.0


def near_pairs(texts: Sequence[str], at_least: float = 0.9) -> Iterator[tuple[int, int]]:
    """Yield every pair of indices whose texts have a Jaccard of `at_least` or more."""
    check_number(at_least=at_least)
    if not 0 < at_least <= 1:
        raise ValueError(f"at_least must lie above 0 and not above 1, found {at_least}")
    ids: dict[str, int] = {}
    sets = [[ids.setdefault(word, len(ids)) for word in shingles(text)] for text in texts]
    count = Counter(member for members in sets for member in members)
    met: dict[int, list[int]] = {}
    for i, members in enumerate(sets):
        members.sort(key=lambda member: (count[member], member))
        rare = members[: len(members) - math.ceil(at_least * len(members) - 1e-9) + 1]
        rare = [member for member in rare if count[member] > 1]
        own = set(members)
        for j in sorted({j for member in rare for j in met.get(member, ())}):
            small, large = sorted((len(members), len(sets[j])))
            if small >= at_least * large - 1e-9:
                both = len(own.intersection(sets[j]))
                if both >= at_least * (small + large - both) - 1e-9:
                    yield j, i
        for member in rare:
            met.setdefault(member, []).append(i)


def leaders(count: int, pairs: Iterable[tuple[int, int]]) -> list[int]:
    """Return for each of `count` items the first item that a chain of pairs connects it with."""
    check_int(0, count=count)
    first = list(range(count))

    def find(i: int) -> int:
        while first[i] != i:
            first[i] = first[first[i]]
            i = first[i]
        return i

    for i, j in pairs:
        a, b = sorted((find(i), find(j)))
        first[b] = a
    return [find(i) for i in range(count)]
