"""What arrives at the query: the gradient of attention's weights, by hand."""

from __future__ import annotations

import math

import torch

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible

from .shared import by_autograd


def query_gradient(q, k, upstream):
    """q (..., T, d), k (..., S, d), upstream (..., T, S) -> gradient at q, (..., T, d)."""
    factor = 1 / math.sqrt(q.shape[-1])
    p = (q @ k.transpose(-2, -1) * factor).softmax(dim=-1)  # (..., T, S)
    at_scores = p * (upstream - (p * upstream).sum(dim=-1, keepdim=True))  # J times upstream
    return at_scores @ k * factor  # (..., T, d)


@visible("one query, two keys, width 4")
def one_query_two_keys_width_4(student):
    return student.query_gradient(
        torch.zeros(1, 4),
        torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]),
        torch.tensor([[1.0, 0.0]]),
    )


@visible("every size its own")
def every_size_its_own(student):
    return student.query_gradient(randn(3, 6), randn(5, 6, seed=1), randn(3, 5, seed=2))


@visible("a batch of two")
def a_batch_of_two(student):
    return student.query_gradient(randn(2, 3, 6), randn(2, 5, 6, seed=1), randn(2, 3, 5, seed=2))


@visible("what was given stays as it was")
def all_stays(student):
    return after(
        student.query_gradient, randn(2, 4, seed=3), randn(3, 4, seed=4), randn(2, 3, seed=5)
    )


@hidden("what autograd finds", weight=2)
def gradient_autograd(student):
    numbers = [randn(*s, seed=51 + n) for n, s in enumerate(((4, 7), (6, 7), (4, 6)))]
    found = student.query_gradient(*numbers)
    assert found.shape == (4, 7) and (found - by_autograd(*numbers)).abs().max() < 1e-5
    return found


@hidden("an upstream that is the same for all keys gives nothing")
def gradient_constant(student):
    return student.query_gradient(randn(3, 4), randn(5, 4, seed=1), torch.full((3, 5), 2.0))


@hidden("rows that have decided", weight=2)
def gradient_decided(student):
    return student.query_gradient(200 * randn(3, 8), randn(5, 8, seed=1), randn(3, 5, seed=2))


@hidden("axes in front that broadcast")
def gradient_broadcast(student):
    return student.query_gradient(
        randn(2, 1, 3, 4), randn(3, 5, 4, seed=1), randn(2, 3, 3, 5, seed=2)
    )


@hidden("double precision", tolerance=1e-12)
def gradient_double(student):
    shapes = ((3, 4), (5, 4), (3, 5))
    numbers = (randn(*shape, seed=61 + n, dtype=torch.float64) for n, shape in enumerate(shapes))
    return student.query_gradient(*numbers)


@hidden("a batch, left as it was")
def gradient_keeps(student):
    shapes = ((2, 3, 5), (2, 4, 5), (2, 3, 4))
    return after(
        student.query_gradient, *(randn(*shape, seed=71 + n) for n, shape in enumerate(shapes))
    )
