"""What a scaled softmax passes back: its Jacobian."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible


def softmax_jacobian(p, scale):
    """p (..., S), a softmax of scale · scores -> J (..., S, S), each weight by each score."""
    return scale * (torch.diag_embed(p) - p[..., :, None] * p[..., None, :])


@visible("three weights")
def three_weights(student):
    return student.softmax_jacobian(torch.tensor([0.5, 0.3, 0.2]), 2.0)


@visible("a row that has decided")
def a_row_that_has_decided(student):
    return student.softmax_jacobian(torch.tensor([0.0, 1.0, 0.0, 0.0]), 0.5)


@visible("a batch of rows")
def a_batch_of_rows(student):
    return student.softmax_jacobian(randn(2, 3, 4).softmax(dim=-1), 0.125)


@hidden("one weight only")
def jacobian_one(student):
    return student.softmax_jacobian(torch.ones(3, 1), 3.0)


@hidden("rows and columns sum to zero")
def jacobian_sums(student):
    found = student.softmax_jacobian(randn(4, 5).softmax(dim=-1), 0.25)
    assert found.shape == (4, 5, 5)
    assert found.sum(dim=-1).abs().max() < 1e-6 and found.sum(dim=-2).abs().max() < 1e-6
    return found


@hidden("what autograd finds", weight=2)
def jacobian_autograd(student):
    scores = randn(6, dtype=torch.float64)
    by_autograd = torch.autograd.functional.jacobian(lambda s: (0.3 * s).softmax(dim=-1), scores)
    found = student.softmax_jacobian((0.3 * scores).softmax(dim=-1), 0.3)
    assert (found - by_autograd).abs().max() < 1e-12
    return found


@hidden("several axes in front")
def jacobian_axes(student):
    return student.softmax_jacobian(randn(2, 3, 4, 5, seed=1).softmax(dim=-1), 1.5)


@hidden("the weights stay as they were")
def jacobian_keeps(student):
    return after(student.softmax_jacobian, randn(2, 3, seed=2).softmax(dim=-1), 0.75)
