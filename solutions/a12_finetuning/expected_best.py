"""What the best of n runs may be expected to score, from the scores of all runs."""

from __future__ import annotations

import math

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible


def expected_best(scores, n):
    """Scores of N runs, n from 1 to N -> mean and standard deviation of the best of n of them."""
    runs = len(scores)
    if n > runs:
        raise ValueError(f"n must be at most {runs}, the number of runs, found {n}")
    chances = [math.comb(i - 1, n - 1) / math.comb(runs, n) for i in range(1, runs + 1)]
    pairs = list(zip(chances, sorted(scores)))
    best = sum(chance * score for chance, score in pairs)
    spread = sum(chance * (score - best) ** 2 for chance, score in pairs)
    return best, math.sqrt(spread)


@visible("three runs, the best of two")
def three_runs(student):
    return student.expected_best([1.0, 2.0, 4.0], 2)


@visible("five runs in no order, the best of one, two, … five", weight=2)
def five_runs(student):
    return [student.expected_best([70.0, 90.0, 62.0, 85.0, 81.0], n) for n in range(1, 6)]


@visible("some runs have the same score, one has failed; the list stays as it was")
def same_scores(student):
    return after(student.expected_best, [0.8, 0.5, 0.9, 0.8, 0.8, 0.9, -0.2], 3)


@visible("more runs are asked for than were made", weight=0.5)
def more_than_made(student):
    try:
        return student.expected_best([0.5, 0.75, 0.25], 4)
    except ValueError:
        return "ValueError"


def scored(count, seed, digits=1):
    return [round(x, digits) for x in (85 + 3 * randn(count, seed=seed)).tolist()]


@hidden("twenty runs, every n", weight=2)
def best_every(student):
    scores = scored(20, seed=60)
    return [student.expected_best(scores[:], n) for n in range(1, 21)]


@hidden("one run, runs of one score, and the better of two")
def best_one(student):
    alone, alike = student.expected_best([0.5], 1), student.expected_best([2.0] * 6, 3)
    return alone, alike, student.expected_best([3.0, 8.0], 2)


@hidden("scores below zero")
def best_negative(student):
    return [student.expected_best([x - 90 for x in scored(9, seed=61)], n) for n in (1, 4, 9)]


@hidden("another order, the same result")
def best_order(student):
    scores = scored(12, seed=62, digits=0)
    return student.expected_best(scores[:], 5), student.expected_best(scores[::-1], 5)


@hidden("two hundred runs, the best of fifty")
def best_many(student):
    return student.expected_best(scored(200, seed=63, digits=3), 50)


@hidden("one more than were made", weight=0.5)
def best_too_many(student):
    said = []
    for scores, n in (([1.0], 2), (scored(7, seed=64), 8), (scored(7, seed=64), 70)):
        try:
            student.expected_best(scores, n)
            said.append("no error")
        except ValueError:
            said.append("ValueError")
    return said, student.expected_best(scored(7, seed=64), 7)


@hidden("the scores stay in their order", weight=0.5)
def best_keeps(student):
    return after(student.expected_best, scored(8, seed=65), 4)
