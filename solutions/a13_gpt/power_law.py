"""The law by which a loss falls with the compute that was spent well."""

from __future__ import annotations

import math

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible


def power_law(runs):
    """Runs (parameters, embeddings, [(tokens, loss), ...]) -> a and b of loss = a · compute^(-b)"""
    points = [
        (6 * (parameters - embeddings) * tokens, loss)
        for parameters, embeddings, curve in runs
        for tokens, loss in curve
    ]
    frontier, lowest = [], math.inf
    for compute, loss in sorted(points):
        if loss < lowest:
            lowest = loss
            frontier.append((math.log(compute), math.log(loss)))
    xs, ys = zip(*frontier)
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys))
    slope = slope / sum((x - x_mean) ** 2 for x in xs)
    return math.exp(y_mean - slope * x_mean), -slope


def grown(sizes, points, seed):
    """Runs whose curves cross, each with more embeddings than a small model can bear."""
    runs = []
    for place, size in enumerate(sizes):
        noise = randn(points, seed=seed + place).tolist()
        curve = []
        for n, extra in enumerate(noise):
            tokens = 20_000 * 3**n
            loss = 1 + (5e5 / size) ** 0.2 + (4e5 / tokens) ** 0.5
            curve.append((tokens, round(loss * (1 + 0.02 * extra), 4)))
        embeddings = 30_000 + int(2 * size**0.7)
        runs.append((size + embeddings, embeddings, curve))
    return runs


@visible("two points", tolerance=1e-4)
def two_points(student):
    return student.power_law([(1_200, 200, [(1_000, 4.0), (16_000, 2.0)])])


@visible("four sizes", weight=2, tolerance=1e-4)
def four_sizes(student):
    return student.power_law(grown((6_000, 60_000, 500_000, 3_000_000), 7, seed=10))


@visible("runs in no order, one gets worse again; they stay as they were", tolerance=1e-4)
def no_order(student):
    one, two, three = grown((9_000, 80_000, 700_000), 5, seed=20)
    two[2].extend([(4_000_000, 4.1), (8_000_000, 4.5)])
    return after(student.power_law, [two, one, three])


@visible("equal compute, and equal losses", tolerance=1e-4)
def equal_ones(student):
    first = (3_000, 1_000, [(1_000, 5.0), (2_000, 4.0), (4_000, 3.0), (8_000, 3.0)])
    second = (6_000, 2_000, [(500, 6.0), (1_000, 4.5), (2_000, 3.5), (32_000, 1.5)])
    return [student.power_law(runs) for runs in ([first, second], [second, first])]


@hidden("six sizes, long curves", weight=2, tolerance=1e-4)
def law_six(student):
    sizes = (3_000, 12_000, 50_000, 200_000, 800_000, 3_200_000)
    return student.power_law(grown(sizes, 9, seed=260))


@hidden("a law without noise", tolerance=1e-4)
def law_exact(student):
    runs = []
    for size in (100, 1_000):
        curve = [(n, 40 * (6 * size * n) ** -0.25) for n in (1_000, 3_000, 9_000)]
        runs.append((size + 500, 500, curve))
    return student.power_law(runs)


@hidden("losses below 1, and computes of many digits", tolerance=1e-4)
def law_low(student):
    runs = [
        (2_500_000_000, 500_000_000, [(10**10, 0.9), (10**11, 0.7), (10**12, 0.61)]),
        (70_000_000_000, 6_000_000_000, [(10**10, 0.72), (10**11, 0.52), (10**12, 0.45)]),
    ]
    return student.power_law(runs)


@hidden("a run that never reaches the frontier", tolerance=1e-4)
def law_useless(student):
    runs = grown((10_000, 100_000, 1_000_000), 6, seed=280)
    useless = (600_000, 100_000, [(n, 1.6 * loss) for n, loss in runs[1][2]])
    return student.power_law([runs[1], useless, runs[2], runs[0]])


@hidden("many points of equal compute and of equal loss", tolerance=1e-4)
def law_equal(student):
    def runs():
        return [
            (1_100, 100, [(4_000, 6.0), (8_000, 5.0), (16_000, 5.0), (32_000, 4.5)]),
            (2_400, 400, [(2_000, 6.5), (4_000, 4.8), (8_000, 4.8), (16_000, 3.0)]),
            (4_900, 900, [(1_000, 5.5), (2_000, 5.1), (4_000, 4.0), (8_000, 3.2)]),
        ]

    return [student.power_law(some) for some in (runs(), runs()[::-1], runs()[:1])]


@hidden("points in no order within a run", tolerance=1e-4)
def law_shuffled(student):
    runs = grown((8_000, 90_000), 5, seed=290)
    return student.power_law([(p, e, curve[::-1]) for p, e, curve in runs])


@hidden("the runs stay as they were", weight=0.5, tolerance=1e-4)
def law_stays(student):
    return after(student.power_law, grown((90_000, 8_000), 4, seed=295))
