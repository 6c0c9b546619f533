"""Near is high: the scores of a Gaussian kernel."""

from __future__ import annotations

import torch

from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


def gaussian_scores(q, k, bandwidth):
    """q (..., T, D), k (..., S, D) -> scores (..., T, S)."""
    difference = q[..., :, None, :] - k[..., None, :, :]  # (..., T, S, D)
    return -difference.square().sum(dim=-1) / (2 * bandwidth**2)


QUESTION = Question(
    name="gaussian_scores",
    title="Near is high",
    points=3,
    difficulty=1,
    minutes=15,
    page="kernels.html#sec-kernels-six",
    hint="Give q and k an axis of length 1 each, at different places, so that their difference has "
    "all pairs, (..., T, S, D). Square, and sum over D.",
    reference=gaussian_scores,
    forbidden=("coursekit",),
)


@QUESTION.visible(says="one query, two keys on a plane")
def one_query_two_keys_on_a(student):
    return student.gaussian_scores(
        torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]]), 0.5
    )


@QUESTION.visible(says="four queries, six keys")
def four_queries_six_keys(student):
    return student.gaussian_scores(randn(4, 3), randn(6, 3, seed=1), 2.0)


@QUESTION.visible(says="a batch, with bandwidth 1")
def a_batch_with_bandwidth_1(student):
    return student.gaussian_scores(randn(2, 4, 3), randn(2, 6, 3, seed=1), 1.0)


QUESTION.mistake(
    "plus for minus",
    old="-difference.square()",
    new="difference.square()",
    hint="Your sign is turned round: the farthest key gets the highest score. Near should be "
    "high, so the squared distance needs a minus. (One lecture deck lost it too.)",
)

QUESTION.mistake(
    "bandwidth not squared",
    old="bandwidth**2",
    new="bandwidth",
    hint="You divide by 2h; the formula has 2h². At h = 1 the two agree, so that case passes.",
)

QUESTION.mistake(
    "the two forgotten",
    old="(2 * bandwidth**2)",
    new="bandwidth**2",
    hint="Your scores are twice as large as they should be: divide by 2h², not by h².",
)

QUESTION.mistake(
    "distance not squared",
    old="difference.square().sum(dim=-1)",
    new="difference.norm(dim=-1)",
    hint="You take the distance itself. A Gaussian falls with its square, ‖q − k‖²: the sum of "
    "squares, without a root.",
)

QUESTION.mistake(
    "mean over the width",
    old=".sum(dim=-1)",
    new=".mean(dim=-1)",
    hint="You average the squares over the width. The squared length is their sum.",
)

QUESTION.mistake(
    "the bump itself",
    old="-difference.square().sum(dim=-1) / (2 * bandwidth**2)",
    new="(-difference.square().sum(dim=-1) / (2 * bandwidth**2)).exp()",
    hint="You return the bump, exp of the score. The exponential belongs to the softmax, which "
    "comes later; here only the exponent is asked for.",
)
