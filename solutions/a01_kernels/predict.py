"""A curve from noisy points: the regression of Nadaraya and Watson, 1964."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def predict(query, x, y, bandwidth):
    """query (T,), x (S,), y (S,) -> predictions (T,)."""
    scores = -((query[:, None] - x[None]) ** 2) / (2 * bandwidth**2)  # (T, S)
    return scores.softmax(dim=-1) @ y


def _places() -> Tensor:
    return torch.tensor([0.0, 1.0, 2.0, 4.0])


def _heights() -> Tensor:
    return torch.tensor([1.0, 3.0, 2.0, -1.0])


@visible("three places, four samples")
def three_places_four_samples(student):
    return student.predict(torch.tensor([0.5, 1.5, 3.0]), _places(), _heights(), 0.7)


@visible("twenty places, fifty samples")
def twenty_places_fifty_samples(student):
    return student.predict(randn(20), randn(50, seed=1), randn(50, seed=2), 0.3)


@visible("as many places as samples, with bandwidth 1")
def as_many_places_as_samples_with(student):
    return student.predict(_places() + 0.25, _places(), _heights(), 1.0)


@visible("a bandwidth of a thousandth")
def a_bandwidth_of_a_thousandth(student):
    return student.predict(torch.tensor([0.3, 2.9]), _places(), _heights(), 0.001)


@hidden("one sample only")
def one_sample(student):
    return student.predict(randn(4), torch.tensor([0.3]), torch.tensor([2.5]), 0.5)


@hidden("a huge bandwidth is the plain mean")
def huge_bandwidth(student):
    return student.predict(randn(3), randn(8, seed=1), randn(8, seed=2), 1e4)


@hidden("places far from every sample", weight=2)
def far_from_all(student):
    near = randn(6, seed=1) / 50  # together, so that from far away none of them is alone
    return student.predict(torch.tensor([-80.0, 90.0]), near, randn(6, seed=2), 0.5)


@hidden("predictions stay between the samples")
def between(student):
    y = randn(7, seed=2)
    found = student.predict(randn(30), randn(7, seed=1), y, 0.2)
    assert found.shape == (30,)
    assert found.min() >= y.min() - 1e-5 and found.max() <= y.max() + 1e-5


@hidden("double precision", tolerance=1e-12)
def predict_double(student):
    numbers = (randn(size, seed=size, dtype=torch.float64) for size in (4, 9, 9))
    return student.predict(*numbers, 0.4)


@hidden("gradients")
def predict_gradients(student):
    return gradients(student.predict, randn(3), randn(6, seed=1), randn(6, seed=2), 0.6)


@hidden("what was given stays as it was")
def predict_keeps(student):
    return after(student.predict, randn(3), randn(5, seed=1), randn(5, seed=2), 0.9)
