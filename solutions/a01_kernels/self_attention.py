"""A sentence that asks itself: self-attention from x and three matrices."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def self_attention(x, wq, wk, wv):
    """x (..., T, D), wq and wk (D, d), wv (D, Dv) -> (..., T, Dv)."""
    q, k, v = x @ wq, x @ wk, x @ wv
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (..., T, T)
    return scores.softmax(dim=-1) @ v


def _matrices(width: int, inner: int, out: int) -> tuple[Tensor, Tensor, Tensor]:
    return randn(width, inner, seed=1), randn(width, inner, seed=2), randn(width, out, seed=3)


@visible("three words of two numbers")
def three_words_of_two_numbers(student):
    return student.self_attention(
        torch.tensor([[2.0, 0.0], [0.0, 1.0], [1.5, 0.5]]), *_matrices(2, 2, 2)
    )


@visible("every width its own")
def every_width_its_own(student):
    return student.self_attention(randn(5, 6), *_matrices(6, 3, 4))


@visible("two sentences")
def two_sentences(student):
    return student.self_attention(randn(2, 5, 6), *_matrices(6, 3, 4))


def matrices(width, inner, out, dtype=torch.float32):
    shapes = ((width, inner), (width, inner), (width, out))
    return [randn(*shape, seed=31 + n, dtype=dtype) for n, shape in enumerate(shapes)]


@hidden("one word only")
def one_word(student):
    return student.self_attention(randn(1, 6), *matrices(6, 3, 4))


@hidden("large scores", weight=2)
def large_scores(student):
    return student.self_attention(100 * randn(4, 6), *matrices(6, 3, 4))


@hidden("shuffled words give shuffled outputs")
def shuffled_words(student):
    x, order = randn(5, 6), torch.tensor([3, 0, 4, 1, 2])
    weights = matrices(6, 3, 4)
    return student.self_attention(x, *weights)[order], student.self_attention(x[order], *weights)


@hidden("double precision and several axes in front", tolerance=1e-12)
def self_double(student):
    x = randn(2, 3, 4, 6, dtype=torch.float64)
    return student.self_attention(x, *matrices(6, 3, 4, torch.float64))


@hidden("gradients")
def self_gradients(student):
    return gradients(student.self_attention, randn(4, 6), *matrices(6, 3, 4))


@hidden("what was given stays as it was")
def self_keeps(student):
    return after(student.self_attention, randn(3, 4, seed=1), *matrices(4, 3, 2))
