"""A classifier from a few labelled pictures, in closed form: a ridge on frozen features."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from coursekit.check.probe import Chance, after, randn
from coursetools.questions import hidden, visible


def few_shot(features, labels, unseen, classes, ridge=1.0):
    """features (N, D), labels (N,), unseen (M, D) -> classes found (M,), scores (M, K)."""
    middle = features.mean(dim=0)  # (D,)
    x = features - middle  # (N, D)
    y = 2.0 * F.one_hot(labels, classes).to(x.dtype) - 1.0  # (N, K)
    eye = torch.eye(x.shape[1], dtype=x.dtype)  # (D, D)
    w = torch.linalg.solve(x.T @ x + ridge * eye, x.T @ y)  # (D, K)
    scores = (unseen - middle) @ w + y.mean(dim=0)  # (M, K)
    return scores.argmax(dim=1), scores


def shots(classes, each, width, seed, far=3.0, dtype=torch.float64):
    """Return the features and labels of a few pictures, unseen ones, and how many classes."""
    centres = randn(classes, width, seed=seed, dtype=dtype) + far
    labels = torch.cat([torch.full((1 + (k + each) % 4,), k) for k in range(classes)])
    labels = labels[Chance(seed).randperm(len(labels))]
    seen = centres[labels] + 0.8 * randn(len(labels), width, seed=seed + 1, dtype=dtype)
    unseen = centres + 0.8 * randn(classes, width, seed=seed + 2, dtype=dtype)
    return seen, labels, unseen, classes


@visible("two pictures with one number each")
def two_pictures(student):
    features, unseen = torch.tensor([[1.0], [3.0]]), torch.tensor([[2.5], [0.0], [5.0]])
    return student.few_shot(features, torch.tensor([0, 1]), unseen, 2, 2.0)


@visible("three classes", weight=2)
def three_classes(student):
    return student.few_shot(*shots(3, 5, 4, seed=1), 0.5)


@visible("fewer pictures than features, and a small ridge")
def few_and_wide(student):
    return student.few_shot(*shots(3, 1, 12, seed=5), 1e-3)


@visible("the ridge unless told otherwise; and three others")
def ridges(student):
    given = shots(4, 2, 3, seed=9)
    others = [student.few_shot(*given, ridge) for ridge in (0.01, 3.0, 1000.0)]
    return student.few_shot(*given), others


@visible("classes without a picture among the few")
def classes_without(student):
    features, labels, unseen, _ = shots(3, 2, 4, seed=13)
    return student.few_shot(features, labels + 1, unseen, 6, 0.3)


@visible("what was given stays as it was; single precision", tolerance=1e-4)
def what_was_given_stays(student):
    return after(student.few_shot, *shots(3, 2, 3, seed=21, dtype=torch.float32), 2.0)


@hidden("ten classes, a few pictures of each", weight=2)
def shot_ten(student):
    return student.few_shot(*shots(10, 3, 16, seed=381), 2.0)


@hidden("many more features than pictures", weight=2)
def shot_wide(student):
    return student.few_shot(*shots(4, 2, 60, seed=384), 0.05)


@hidden("many more pictures than features")
def shot_many(student):
    seen, labels, unseen, classes = shots(6, 1, 2, seed=387)
    more = torch.cat([seen + 0.1 * k for k in range(5)]), labels.repeat(5)
    return student.few_shot(*more, unseen, classes, 0.7)


@hidden("ridges from small to large, and none named")
def shot_ridges(student):
    given = shots(3, 2, 5, seed=390)
    return [student.few_shot(*given, *ridge) for ridge in ((), (0.02,), (20.0,), (1e4,))]


@hidden("classes that nobody has shown, the first and the last among them")
def shot_missing(student):
    seen, labels, unseen, _ = shots(3, 3, 4, seed=393)
    return student.few_shot(seen, 2 * labels + 1, unseen, 8, 0.5)


@hidden("a single unseen picture, and features far from zero")
def shot_single(student):
    seen, labels, unseen, classes = shots(4, 2, 6, seed=396, far=50.0)
    return student.few_shot(seen, labels, unseen[2:3], classes, 0.3)


@hidden("single precision: the same dtype comes back", tolerance=1e-3)
def shot_single_precision(student):
    return student.few_shot(*shots(3, 3, 4, seed=399, dtype=torch.float32), 3.0)


@hidden("what was given is left as it was", weight=0.5)
def shot_keeps(student):
    return after(student.few_shot, *shots(3, 2, 4, seed=402), 1.5)
