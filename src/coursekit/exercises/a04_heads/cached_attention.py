"""One word at a time: what was computed is kept."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from coursekit.assignments.forbidden import LIBRARY
from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question

Past = tuple[Tensor, Tensor]


def cached_attention(q, k, v, past=None):
    """q, k, v (B, H, T, Dh), past 2 × (B, H, S, Dh) -> output, and 2 × (B, H, S + T, Dh)."""
    if past is not None:
        k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
    seen = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(k.shape[2] - q.shape[2])
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return scores.masked_fill(~seen, -torch.inf).softmax(dim=-1) @ v, (k, v)


QUESTION = Question(
    name="cached_attention",
    title="One word at a time",
    points=4,
    difficulty=3,
    minutes=30,
    page="heads.html#sec-heads-cache",
    hint="Join first: the old keys, then the new ones, along the axis of the places; values too. "
    "The queries are the newest T of these places, so query t may see the keys up to S + t. What "
    "you have joined is what you hand back.",
    reference=cached_attention,
    forbidden=LIBRARY,
)


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


@QUESTION.visible(says="four tokens and no past")
def four_tokens_and_no_past(student):
    return student.cached_attention(*_tokens(4))


@QUESTION.visible(says="one new token behind three")
def one_new_token_behind_three(student):
    return student.cached_attention(*_tokens(1), _past(3))


@QUESTION.visible(says="two new tokens behind three")
def two_new_tokens_behind_three(student):
    return student.cached_attention(*_tokens(2), _past(3))


@QUESTION.visible(says="six tokens, one by one")
def six_tokens_one_by_one(student):
    return _one_by_one(student, 6)


QUESTION.mistake(
    "new queries stand at the start",
    old=".tril(k.shape[2] - q.shape[2])",
    new=".tril()",
    hint="Your causal mask has its corner at the upper left: a new token sees the oldest key "
    "and nothing else. The queries are the last T of S + T places, so the triangle moves "
    "to the right by S.",
)

QUESTION.mistake(
    "new tokens see each other",
    old=".masked_fill(~seen, -torch.inf)",
    new="",
    hint="You use no causal mask. A single new token needs none, since nothing is ahead of it; "
    "but several new ones must not see those that come after them.",
)

QUESTION.mistake(
    "new keys in front",
    old="torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)",
    new="torch.cat([k, past[0]], dim=2), torch.cat([v, past[1]], dim=2)",
    hint="You put the new keys in front of the old ones. They come behind: old first, then new, "
    "or every mask and every position after it is wrong.",
)

QUESTION.mistake(
    "only the new kept",
    old=", (k, v)",
    new=", (k[:, :, -q.shape[2] :], v[:, :, -q.shape[2] :])",
    hint="Your output is right, but you hand back the new keys and values alone. The next token "
    "needs all of them: hand back what you have joined.",
)


@QUESTION.mistake(
    "past not used",
    hint="You keep the past and do not look at it: your new tokens see only one another. The "
    "scores run over all S + T keys.",
)
def cached_past_unused(q, k, v, past=None):
    seen = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril()
    scores = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).masked_fill(~seen, -torch.inf)
    out = scores.softmax(dim=-1) @ v
    kept = (k, v) if past is None else tuple(torch.cat([a, b], 2) for a, b in zip(past, (k, v)))
    return out, kept


QUESTION.mistake(
    "no scale",
    old=" / math.sqrt(q.shape[-1])",
    new="",
    hint="Your output equals the one without a scale. Divide the scores by the root of the "
    "width of a head.",
)
