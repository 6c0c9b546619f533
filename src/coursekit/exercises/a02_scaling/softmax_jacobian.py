"""What a softmax passes back: its Jacobian."""

from __future__ import annotations

import torch

from coursekit.exercises.a02_scaling.shared import AUTOGRAD
from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


def softmax_jacobian(p):
    """p (..., S) -> J (..., S, S), how each weight answers to each score."""
    return torch.diag_embed(p) - p[..., :, None] * p[..., None, :]


QUESTION = Question(
    name="softmax_jacobian",
    title="What a softmax passes back",
    points=3,
    difficulty=2,
    minutes=20,
    page="scaling.html#sec-scaling-gradient",
    hint="Two matrices for each row: one with p on its diagonal (torch.diag_embed bears any axes "
    "in front), and one with all products of two weights, which needs p once as a column and "
    "once as a row.",
    reference=softmax_jacobian,
    forbidden=AUTOGRAD,
)


@QUESTION.visible(says="three weights")
def three_weights(student):
    return student.softmax_jacobian(torch.tensor([0.5, 0.3, 0.2]))


@QUESTION.visible(says="a row that has decided")
def a_row_that_has_decided(student):
    return student.softmax_jacobian(torch.tensor([0.0, 1.0, 0.0, 0.0]))


@QUESTION.visible(says="a batch of rows")
def a_batch_of_rows(student):
    return student.softmax_jacobian(randn(2, 3, 4).softmax(dim=-1))


QUESTION.mistake(
    "diagonal only",
    old="torch.diag_embed(p) - p[..., :, None] * p[..., None, :]",
    new="torch.diag_embed(p * (1 - p))",
    hint="You have p(1 - p) on the diagonal and nothing beside it. Raising one score takes "
    "weight from all other keys: -p_i p_j off the diagonal.",
)

QUESTION.mistake(
    "diagonal forgotten",
    old="torch.diag_embed(p) - p",
    new="-p",
    hint="You have -p pᵀ without diag(p). A score that rises would then take weight from its "
    "own key.",
)

QUESTION.mistake(
    "sign turned round",
    old="torch.diag_embed(p) - p[..., :, None] * p[..., None, :]",
    new="p[..., :, None] * p[..., None, :] - torch.diag_embed(p)",
    hint="Your signs are turned round: on the diagonal a higher score must mean more weight. "
    "It is diag(p) - p pᵀ.",
)

QUESTION.mistake(
    "one row only",
    old="torch.diag_embed(p) - p[..., :, None] * p[..., None, :]",
    new="torch.diag(p) - torch.outer(p, p)",
    hint="Right for a single row. torch.diag and torch.outer know no axes in front; "
    "torch.diag_embed and broadcasting do.",
)

QUESTION.mistake(
    "weights taken for scores",
    old="return torch",
    new=("p = p.softmax(dim=-1)\n    return torch"),
    hint="You put p through a softmax again. It holds the weights already; the Jacobian is "
    "written in terms of them.",
)
