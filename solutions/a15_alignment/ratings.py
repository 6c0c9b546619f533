"""Ratings of many models from votes about two of them at a time."""

from __future__ import annotations

import torch

from coursekit.check.probe import Chance, after
from coursetools.questions import hidden, visible


def ratings(votes, models):
    """Votes (first, second, points of the first), how many models -> a rating for each of them."""
    points = torch.zeros(models, dtype=torch.float64)
    met = torch.zeros(models, models, dtype=torch.float64)
    for a, b, gained in votes:
        points[a] += gained
        points[b] += 1 - gained
        met[a, b] += 1
        met[b, a] += 1
    s = torch.zeros(models, dtype=torch.float64)
    for _ in range(1000):
        expected = (met * torch.sigmoid(s[:, None] - s)).sum(dim=1)  # (models,)
        step = (points / expected).log()
        s = s + step
        if not step.abs().max() > 1e-12:  # nor goes on with nan
            break
    return (s - s.mean()).tolist()


def cast(strengths, count, seed, ties=0.25):
    """Return votes on such models; a ring of them makes sure that nobody is unbeaten."""
    dice, models = Chance(7000 + seed), len(strengths)
    votes = [((n + 1) % models, n, 1.0) for n in range(models)]
    while len(votes) < models + count:
        left, right = dice.randperm(models).tolist()[:2]
        luck, draw = (float(dice.rand(())) for _ in range(2))
        chance = torch.tensor(strengths[left] - strengths[right]).sigmoid().item()
        votes.append((left, right, 0.5 if draw < ties else float(luck < chance)))
    return votes


@visible("two models, four votes", tolerance=1e-4)
def two_models(student):
    return student.ratings([(0, 1, 1.0), (1, 0, 0.0), (0, 1, 0.0), (0, 1, 1.0)], 2)


@visible("three models that have not met equally often", tolerance=1e-4)
def three_models(student):
    votes = [(0, 1, 1.0), (0, 1, 1.0), (1, 0, 1.0), (1, 2, 1.0), (1, 2, 1.0), (2, 1, 1.0)]
    return student.ratings([*votes, (1, 2, 1.0), (0, 2, 1.0)], 3)


@visible("five models, many votes, some of them draws", weight=2, tolerance=1e-4)
def five_models(student):
    return student.ratings(cast([0.9, -0.6, 0.3, 0.0, -1.1], 60, seed=11), 5)


@visible("the same votes in three orders", tolerance=1e-4)
def three_orders(student):
    votes = cast([0.9, -0.6, 0.3, 0.0], 25, seed=12)
    turned = [(b, a, 1.0 - points) for a, b, points in votes]
    return [student.ratings(list(given), 4) for given in (votes, votes[::-1], turned)]


@visible("draws only, then two of them decided; the list of votes stays as it was", tolerance=1e-4)
def draws(student):
    votes = [(0, 1, 0.5), (1, 2, 0.5), (0, 2, 0.5), (0, 1, 0.5), (2, 1, 0.5)]
    decided = [(0, 1, 1.0), (1, 2, 1.0), *votes[2:]]
    return student.ratings(votes, 3), after(student.ratings, decided, 3)


@visible("a chain: each has met its neighbours alone", tolerance=1e-4)
def a_chain(student):
    votes = [(n, n + 1, float(k % 3 != n % 3)) for n in range(6) for k in range(3)]
    return student.ratings(votes, 7)


@hidden("eight models, three hundred votes", weight=2, tolerance=1e-4)
def ratings_eight(student):
    return student.ratings(cast([0.3, -0.8, 1.2, 0.0, -0.2, 0.7, -1.5, 0.4], 300, seed=1), 8)


@hidden("the same votes, shuffled and with the models exchanged", tolerance=1e-4)
def ratings_order(student):
    votes = cast([0.5, -0.5, 1.0, -1.0, 0.0], 40, seed=2)
    order = Chance(3).randperm(len(votes)).tolist()
    shuffled = [votes[n] for n in order]
    turned = [
        (b, a, 1 - points) if n % 2 else (a, b, points) for n, (a, b, points) in enumerate(shuffled)
    ]
    return [student.ratings(given, 5) for given in (votes, shuffled, turned)]


@hidden("most votes are draws", tolerance=1e-4)
def ratings_draws(student):
    return student.ratings(cast([1.0, 0.0, -1.0, 0.3], 40, seed=4, ties=0.8), 4)


@hidden("a chain of ten, each beside its neighbours alone", tolerance=1e-4)
def ratings_chain(student):
    votes = [(n + 1, n, float((k + n) % 4 != 0)) for n in range(9) for k in range(4)]
    return student.ratings(votes, 10)


@hidden("one who has met the weak ones only", weight=2, tolerance=1e-4)
def ratings_weak(student):
    pairs = {
        (0, 1): (3, 1),
        (1, 2): (4, 2),
        (0, 2): (5, 2),
        (3, 2): (6, 1),
        (3, 4): (7, 2),
        (4, 2): (1, 2),
    }
    votes = []
    for (a, b), (wins, losses) in pairs.items():
        votes += [(a, b, 1.0)] * wins + [(a, b, 0.0)] * losses
    return student.ratings(votes, 5)


@hidden("strong and weak far apart", tolerance=1e-4)
def ratings_far(student):
    first, second = [(0, 1, 1.0)] * 99 + [(1, 0, 1.0)], [(1, 2, 1.0)] * 40 + [(2, 1, 0.5)]
    return student.ratings(first + second, 3)


@hidden("two models that are equal", tolerance=1e-4)
def ratings_equal(student):
    votes = [(0, 1, 1.0), (0, 1, 0.0), (0, 1, 0.5)]
    return student.ratings(votes, 2), student.ratings([*votes, (1, 0, 1.0)], 2)


@hidden("the votes are left as they were", weight=0.5, tolerance=1e-4)
def ratings_keeps(student):
    return after(student.ratings, cast([0.2, -0.2, 0.6], 9, seed=5), 3)
