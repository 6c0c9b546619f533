"""How far two sets of pictures are apart, by the Fréchet distance of their features."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible


def frechet(first, second):
    """first (N, D), second (M, D), features -> the Fréchet distance, squared, one number."""
    a, b = first.double(), second.double()
    shift = a.mean(dim=0) - b.mean(dim=0)  # (D,)
    a, b = a - a.mean(dim=0), b - b.mean(dim=0)
    ca, cb = a.T @ a / (len(a) - 1), b.T @ b / (len(b) - 1)  # (D, D) each
    squares = torch.linalg.eigvals(ca @ cb).real.clamp(min=0)  # (D,)
    shared = squares.sqrt().sum()
    return (shift.square().sum() + ca.trace() + cb.trace() - 2 * shared).item()


def features(count, width, seed, wide=1.0, far=0.0):
    """Return features whose axes lie anywhere."""
    turn = randn(width, width, seed=seed)
    return wide * randn(count, width, seed=seed + 1) @ turn + far * randn(width, seed=seed + 2)


@visible("one feature: two numbers and three")
def one_feature(student):
    return student.frechet(torch.tensor([[1.0], [3.0]]), torch.tensor([[4.0], [8.0], [6.0]]))


@visible("more of the one set than of the other", weight=2)
def unequal_sets(student):
    return [
        student.frechet(features(n, 3, 11), features(m, 3, 14, far=1.5))
        for n, m in ((40, 7), (6, 25))
    ]


@visible("equal means", weight=2)
def equal_means(student):
    a, b = features(15, 3, 21), features(10, 3, 24)
    return student.frechet(a - a.mean(dim=0), b - b.mean(dim=0))


@visible("fewer pictures than features")
def few_pictures(student):
    return [student.frechet(features(n, 7, 41), features(m, 7, 44)) for n, m in ((4, 5), (2, 30))]


@visible("features around ten thousand, in single precision")
def far_from_zero(student):
    return student.frechet(features(20, 3, 51) + 10_000, features(30, 3, 54) + 10_001)


@visible("what was given stays as it was; double precision", tolerance=1e-7)
def what_was_given_stays(student):
    return after(student.frechet, features(8, 3, 61).double(), features(9, 3, 64).double())


@hidden("many pictures, many features", weight=2)
def frechet_many(student):
    first, second = features(200, 12, 701), features(150, 12, 704, far=1.0)
    return student.frechet(first, second), student.frechet(second, first)


@hidden("a cloud and one that is twice as wide")
def frechet_wide(student):
    cloud = features(20, 3, 707)
    return [student.frechet(cloud, scale * cloud) for scale in (2.0, 0.5, -1.0)]


@hidden("the same cloud, turned", weight=2)
def frechet_turned(student):
    cloud = torch.tensor([4.0, 1.0, 0.2]) * randn(30, 3, seed=710)
    turn = torch.linalg.qr(randn(3, 3, seed=711)).Q
    return [student.frechet(cloud, cloud @ turn), student.frechet(cloud, cloud.flip(1))]


@hidden("one feature, and two pictures")
def frechet_one(student):
    return [
        student.frechet(features(9, 1, 712), features(5, 1, 715, far=2.0)),
        student.frechet(features(2, 2, 718), features(2, 2, 721)),
    ]


@hidden("far fewer pictures than features")
def frechet_few(student):
    return [student.frechet(features(n, 20, 724), features(6, 20, 727)) for n in (3, 8, 40)]


@hidden("a feature that is always the same")
def frechet_constant(student):
    first, second = features(12, 4, 730), features(14, 4, 733)
    first[:, 1], second[:, 1] = 2.0, -1.0
    return student.frechet(first, second)


@hidden("features far from zero, in single precision")
def frechet_far(student):
    return student.frechet(features(25, 3, 736) + 5000.0, features(35, 3, 739) + 5001.0)


@hidden("what was given is left as it was", weight=0.5)
def frechet_keeps(student):
    return after(student.frechet, features(7, 3, 742).double(), features(6, 3, 745).double())
