"""Start many runs, stop the worse half at each look, and keep the best at the end."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible


def stop_early(curves, looks):
    """Validation curves [run][part] -> the run that is kept, its last score, the share saved."""
    parts = len(curves[0])
    running, spent = list(range(len(curves))), 0
    for part in range(1, parts + 1):
        spent += len(running)
        running.sort(key=lambda run: (-curves[run][part - 1], run))
        if part in looks:
            running = running[: (len(running) + 1) // 2]
    best = running[0]
    return best, curves[best][-1], 1 - spent / (len(curves) * parts)


def risen(runs, parts, seed):
    """Return curves that cross: what begins well need not end well."""
    grown = torch.arange(1, parts + 1) / parts
    start, goal = 5 * randn(runs, 1, seed=seed), 5 * randn(runs, 1, seed=seed + 1)
    curves = 70 + start * (1 - grown) + (15 + goal) * grown + 2 * randn(runs, parts, seed=seed + 2)
    return [[round(x, 2) for x in row] for row in curves.tolist()]


@visible("four runs of four parts, one look")
def four_runs(student):
    curves = [
        [60.0, 70.0, 72.0, 79.0],
        [65.0, 66.0, 80.0, 90.0],
        [50.0, 71.0, 85.0, 76.0],
        [90.0, 55.0, 52.0, 51.0],
    ]
    return student.stop_early(curves, [2])


@visible("eight runs of six parts, looks after 1, 2 and 4", weight=2)
def eight_runs(student):
    return student.stop_early(risen(8, 6, seed=11), [1, 2, 4])


@visible("seven runs of five parts: odd numbers")
def seven_runs(student):
    return student.stop_early(risen(7, 5, seed=18), [1, 2, 3])


@visible("equal scores")
def equal_scores(student):
    first, second = [55.0, 55.0, 55.0, 55.0, 20.0], [60.0, 60.0, 61.0, 59.0, 62.0]
    last = [62.0, 70.0, 70.0, 71.0, 70.0]
    return [student.stop_early([*map(list, zip(first, second, last))], [at]) for at in (1, 2)]


@visible("nobody looks")
def nobody_looks(student):
    return student.stop_early(risen(3, 4, seed=30), [])


@visible("what was given stays as it was")
def what_was_given_stays(student):
    return after(student.stop_early, risen(5, 4, seed=20), [1, 2])


@hidden("twenty runs, several plans", weight=2)
def early_twenty(student):
    plans = ([1], [2, 5], [1, 2, 3, 4], [7], [1, 3, 6])
    return [student.stop_early(risen(20, 8, seed=70), list(looks)) for looks in plans]


@hidden("as many looks as it takes, and more", weight=2)
def early_alone(student):
    return [
        student.stop_early(risen(runs, 7, seed=74 + runs), [1, 2, 3, 4, 5, 6])
        for runs in (1, 2, 3, 5, 11)
    ]


@hidden("a run that falls apart after the last look")
def early_apart(student):
    curves = ((80.0, 90.0, 40.0), (70.0, 85.0, 86.0), (60.0, 50.0, 95.0), (50.0, 45.0, 99.0))
    late = student.stop_early([[40.0, 80.0, 90.0], [75.0, 78.0, 70.0]], [2])
    return late, [student.stop_early([*map(list, curves)], [look]) for look in (1, 2)]


@hidden("many equal scores")
def early_equal(student):
    def curves():
        return [[float(round(x / 10)) for x in row] for row in risen(13, 6, seed=90)]

    found = [student.stop_early(curves(), looks) for looks in ([1, 2], [3], [1, 4, 5], [])]
    ends = [[50.0, 60.0], [55.0, 60.0], [10.0, 70.0], [20.0, 5.0]]
    return found, student.stop_early(ends, [1])


@hidden("scores below zero")
def early_negative(student):
    curves = [[x - 100 for x in row] for row in risen(6, 5, seed=95)]
    return student.stop_early(curves, [1, 2])


@hidden("one part, and nothing to look at")
def early_one(student):
    return student.stop_early([[3.0], [9.0], [9.0], [5.0]], [])


@hidden("both lists stay as they were", weight=0.5)
def early_keeps(student):
    return after(student.stop_early, risen(6, 4, seed=99), [1, 2, 3])
