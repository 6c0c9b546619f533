"""A curve from noisy points: the regression of Nadaraya and Watson, 1964."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.assignments.forbidden import LIBRARY
from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


def predict(query, x, y, bandwidth):
    """query (T,), x (S,), y (S,) -> predictions (T,)."""
    scores = -((query[:, None] - x[None]) ** 2) / (2 * bandwidth**2)  # (T, S)
    return scores.softmax(dim=-1) @ y


QUESTION = Question(
    name="predict",
    title="A curve from noisy points, in 1964",
    points=4,
    difficulty=2,
    minutes=20,
    page="kernels.html#sec-kernels-regression",
    hint="The places you ask about are queries, the places you have seen are keys, what you saw "
    "there are values. Queries and keys are vectors of width 1, and an axis of that length is "
    "easily added. shares and gaussian_scores do the rest, and shares does not mind a tiny "
    "bandwidth.",
    reference=predict,
    forbidden=LIBRARY,
    needs=("shares", "gaussian_scores"),
)


def _places() -> Tensor:
    return torch.tensor([0.0, 1.0, 2.0, 4.0])


def _heights() -> Tensor:
    return torch.tensor([1.0, 3.0, 2.0, -1.0])


@QUESTION.visible(says="three places, four samples")
def three_places_four_samples(student):
    return student.predict(torch.tensor([0.5, 1.5, 3.0]), _places(), _heights(), 0.7)


@QUESTION.visible(says="twenty places, fifty samples")
def twenty_places_fifty_samples(student):
    return student.predict(randn(20), randn(50, seed=1), randn(50, seed=2), 0.3)


@QUESTION.visible(says="as many places as samples, with bandwidth 1")
def as_many_places_as_samples_with(student):
    return student.predict(_places() + 0.25, _places(), _heights(), 1.0)


@QUESTION.visible(says="a bandwidth of a thousandth")
def a_bandwidth_of_a_thousandth(student):
    return student.predict(torch.tensor([0.3, 2.9]), _places(), _heights(), 0.001)


QUESTION.mistake(
    "the fraction as it is printed",
    old="return scores.softmax(dim=-1) @ y",
    new=("bumps = scores.exp()\n    return (bumps @ y) / bumps.sum(dim=-1)"),
    hint="This is the formula of 1964, and it is right until every bump is rounded to 0: then "
    "it is 0/0. Take the weights from a softmax that subtracts the largest score.",
)

QUESTION.mistake(
    "bandwidth not squared in a prediction",
    old="bandwidth**2",
    new="bandwidth",
    hint="The case with bandwidth 1 passes and the others do not: you divide by 2h, and it "
    "should be 2h².",
)

QUESTION.mistake(
    "shares over the places",
    old="dim=-1",
    new="dim=0",
    hint="Your weights sum to 1 over the places you ask about. For each place they should sum "
    "to 1 over the samples: the last axis of (T, S).",
)

QUESTION.mistake(
    "the nearest sample",
    old="scores.softmax(dim=-1) @ y",
    new="y[scores.argmax(dim=-1)]",
    hint="You return the y of the nearest sample. All samples count, nearer ones more; the "
    "nearest alone is where a tiny bandwidth ends, which is why that case passes.",
)

QUESTION.mistake(
    "a sum for a mean",
    old="scores.softmax(dim=-1)",
    new="scores.exp()",
    hint="You add up the bumps times y and do not divide by the sum of the bumps. Weights have "
    "to sum to 1; then the prediction stays between the smallest and the largest y.",
)

QUESTION.mistake(
    "the farthest sample wins",
    old="-((query[:, None] - x[None]) ** 2)",
    new="((query[:, None] - x[None]) ** 2)",
    hint="Your weights grow with the distance: a minus is missing in the scores.",
)
