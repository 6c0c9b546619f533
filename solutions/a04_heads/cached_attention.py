"""One word at a time: what was computed is kept."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible

Past = tuple[Tensor, Tensor]


def cached_attention(q, k, v, past=None):
    """q, k, v (B, H, T, Dh), past 2 × (B, H, S, Dh) -> output, and 2 × (B, H, S + T, Dh)."""
    if past is not None:
        k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
    seen = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(k.shape[2] - q.shape[2])
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return scores.masked_fill(~seen, -torch.inf).softmax(dim=-1) @ v, (k, v)


def _tokens(count: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    q, k, v = (randn(2, 3, count, 4, seed=seed + n) for n in range(3))
    return q, k, v


def _past(count: int) -> Past:
    return _tokens(count, seed=10)[1:]


def _one_by_one(student: object, count: int) -> tuple[Tensor, Past]:
    """Write `count` tokens, each with what the call before has kept."""
    tokens, past, written = _tokens(count), None, []
    for place in range(count):
        now = [x[:, :, place : place + 1] for x in tokens]
        out, past = student.cached_attention(*now, past)
        written.append(out)
    return torch.cat(written, dim=-2), past


@visible("four tokens and no past")
def four_tokens_and_no_past(student):
    return student.cached_attention(*_tokens(4))


@visible("one new token behind three")
def one_new_token_behind_three(student):
    return student.cached_attention(*_tokens(1), _past(3))


@visible("two new tokens behind three")
def two_new_tokens_behind_three(student):
    return student.cached_attention(*_tokens(2), _past(3))


@visible("six tokens, one by one")
def six_tokens_one_by_one(student):
    return _one_by_one(student, 6)


def tokens(*front, count, seed=0, dtype=torch.float32):
    return [randn(*front, count, 4, seed=81 + seed + n, dtype=dtype) for n in range(3)]


@hidden("the very first token")
def cached_first(student):
    return student.cached_attention(*tokens(2, 3, count=1))


@hidden("written in pieces as at once", weight=2)
def cached_pieces(student):
    everything = tokens(2, 2, count=7)
    past, written = None, []
    for start, end in ((0, 3), (3, 4), (4, 7)):
        out, past = student.cached_attention(*(x[:, :, start:end] for x in everything), past)
        written.append(out)
    at_once, kept = student.cached_attention(*everything)
    return torch.cat(written, dim=2), past, at_once, kept


@hidden("more new tokens than old ones")
def cached_more_new(student):
    _, k, v = tokens(1, 2, count=2, seed=5)
    return student.cached_attention(*tokens(1, 2, count=5), (k, v))


@hidden("double precision", tolerance=1e-12)
def cached_double(student):
    _, k, v = tokens(2, 1, count=3, seed=5, dtype=torch.float64)
    return student.cached_attention(*tokens(2, 1, count=2, dtype=torch.float64), (k, v))


@hidden("gradients")
def cached_gradients(student):
    return gradients(student.cached_attention, *tokens(1, 2, count=4))


@hidden("the inputs are left as they were")
def cached_keeps(student):
    _, k, v = tokens(1, 2, count=3, seed=5)
    found = student.cached_attention(*tokens(1, 2, count=2), (k, v))
    return found, k, v, after(student.cached_attention, *tokens(1, 2, count=2))
