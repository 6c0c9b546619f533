"""Choosing one token from scores: functions from logits (B, V) to tokens (B,).

They are given to `generate` and `stream` of `decoding`, from where they can be imported too.
Shapes: B batch, V vocabulary.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from coursekit._base.checks import check_int, check_number, check_positive, check_shape


def greedy(logits: Tensor) -> Tensor:
    """Logits (B, V) -> tokens (B,): the likeliest one."""
    check_shape(logits, "logits", "batch, vocabulary")
    score, token = logits.max(dim=-1)  # 2 × (B,)
    check_scores(score - score)  # ∞ − ∞ is NaN
    return token


def sample(
    logits: Tensor,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Logits (B, V) -> tokens (B,) drawn from softmax(logits / temperature).

    A temperature below 1 sharpens the distribution, one above 1 flattens it. `top_k`, then `top_p`
    cut its tail off first. For `generate`: `choose=partial(sample, top_p=0.9)`.
    """
    check_shape(logits, "logits", "batch, vocabulary")
    check_positive(temperature=temperature)
    logits = logits / temperature
    if top_k is not None:
        logits = keep_top_k(logits, top_k)
    logits = keep_top_p(logits, top_p)
    shares = logits.softmax(dim=-1)  # (B, V)
    check_scores(shares[:, 0])
    return torch.multinomial(shares, 1, generator=generator)[:, 0]  # (B,)


def keep_top_k(logits: Tensor, k: int) -> Tensor:
    """Logits (B, V) -> the same with −∞ for all but the `k` likeliest tokens (Fan et al., 2018)."""
    check_shape(logits, "logits", "batch, vocabulary")
    check_int(top_k=k)
    best, index = logits.topk(min(k, logits.shape[-1]), dim=-1)  # (B, k)
    return torch.full_like(logits, -torch.inf).scatter(-1, index, best)  # (B, V)


def keep_top_p(logits: Tensor, p: float) -> Tensor:
    """Logits (B, V) -> −∞ outside the nucleus (Holtzman et al., 2020).

    The nucleus is the smallest set of likeliest tokens that together have a probability of `p` or
    more: a token is in it as long as those before it have not reached `p`.
    """
    check_shape(logits, "logits", "batch, vocabulary")
    check_number(top_p=p)
    if not 0 < p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, found {p}")
    if p == 1:
        return logits
    ranked, index = logits.sort(dim=-1, descending=True)  # (B, V)
    share = ranked.softmax(dim=-1)  # (B, V)
    before = share.cumsum(dim=-1) - share  # (B, V): what the likelier tokens have together
    before[:, 0] = 0.0  # exactly: the likeliest token always stays
    return torch.full_like(logits, -torch.inf).scatter(
        -1, index, ranked.masked_fill(before >= p, -torch.inf)
    )  # (B, V)


def check_scores(scores: Tensor) -> None:
    """Raise if there is a NaN: one NaN among the logits makes their largest and all shares NaN."""
    if any(map(math.isnan, scores.flatten().tolist())):  # quicker for few than torch's own
        raise ValueError(
            "the model's logits must be numbers to choose a token by, "
            "found NaN, or infinity, or a row of nothing but -inf"
        )
