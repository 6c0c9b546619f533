"""Wrong answers to assignment 2, as people give them; the hints are in `../a02_scaling.py`."""

# ruff: noqa: D103 -- what is wrong with each is said where it becomes a Misconception
from __future__ import annotations

import math

import torch
from torch import Tensor


def factor_no_root(width: int, q_variance: float, k_variance: float) -> float:
    return 1 / (width * q_variance * k_variance)


def factor_width_only(width: int, q_variance: float, k_variance: float) -> float:
    return 1 / math.sqrt(width)


def factor_root_of_width_only(width: int, q_variance: float, k_variance: float) -> float:
    return 1 / (math.sqrt(width) * q_variance * k_variance)


def factor_divisor(width: int, q_variance: float, k_variance: float) -> float:
    return math.sqrt(width * q_variance * k_variance)


def factor_sum_of_variances(width: int, q_variance: float, k_variance: float) -> float:
    return 1 / math.sqrt(width * (q_variance + k_variance) / 2)


def attention_no_scale(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    weights = (q @ k.transpose(-2, -1)).softmax(dim=-1)
    return weights @ v, weights


def attention_by_width(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    weights = (q @ k.transpose(-2, -1) / q.shape[-1]).softmax(dim=-1)
    return weights @ v, weights


def attention_scaled_late(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    weights = (q @ k.transpose(-2, -1)).softmax(dim=-1) / math.sqrt(q.shape[-1])
    return weights @ v, weights


def attention_over_queries(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    weights = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(dim=-2)
    return weights @ v, weights


def attention_by_keys(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    weights = (q @ k.transpose(-2, -1) / math.sqrt(k.shape[-2])).softmax(dim=-1)
    return weights @ v, weights


def attention_multiplied(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    weights = (q @ k.transpose(-2, -1) * math.sqrt(q.shape[-1])).softmax(dim=-1)
    return weights @ v, weights


def entropy_in_nats(weights: Tensor) -> Tensor:
    return -torch.special.xlogy(weights, weights).sum(dim=-1)


def entropy_of_zeros(weights: Tensor) -> Tensor:
    return -(weights * weights.log2()).sum(dim=-1)


def entropy_negative(weights: Tensor) -> Tensor:
    return torch.special.xlogy(weights, weights).sum(dim=-1) / math.log(2)


def entropy_mean(weights: Tensor) -> Tensor:
    return -torch.special.xlogy(weights, weights).mean(dim=-1) / math.log(2)


def entropy_of_columns(weights: Tensor) -> Tensor:
    return -torch.special.xlogy(weights, weights).sum(dim=-2) / math.log(2)


def entropy_of_everything(weights: Tensor) -> Tensor:
    return -torch.special.xlogy(weights, weights).sum() / math.log(2)


def tempered_multiplied(scores: Tensor, temperature: float) -> Tensor:
    return (scores * temperature).softmax(dim=-1)


def tempered_late(scores: Tensor, temperature: float) -> Tensor:
    return scores.softmax(dim=-1) / temperature


def tempered_zero_divides(scores: Tensor, temperature: float) -> Tensor:
    return (scores / temperature).softmax(dim=-1)


def tempered_first_takes_all(scores: Tensor, temperature: float) -> Tensor:
    if temperature == 0:
        first = scores.argmax(dim=-1, keepdim=True)
        return torch.zeros_like(scores).scatter(-1, first, 1.0)
    return (scores / temperature).softmax(dim=-1)


def tempered_not_shared(scores: Tensor, temperature: float) -> Tensor:
    if temperature == 0:
        return (scores == scores.amax(dim=-1, keepdim=True)).to(scores.dtype)
    return (scores / temperature).softmax(dim=-1)


def jacobian_diagonal(p: Tensor) -> Tensor:
    return torch.diag_embed(p * (1 - p))


def jacobian_product_only(p: Tensor) -> Tensor:
    return -p[..., :, None] * p[..., None, :]


def jacobian_sign(p: Tensor) -> Tensor:
    return p[..., :, None] * p[..., None, :] - torch.diag_embed(p)


def jacobian_one_row(p: Tensor) -> Tensor:
    return torch.diag(p) - torch.outer(p, p)


def jacobian_of_scores(p: Tensor) -> Tensor:
    p = p.softmax(dim=-1)
    return torch.diag_embed(p) - p[..., :, None] * p[..., None, :]


def gradient_factor_once(q: Tensor, k: Tensor, upstream: Tensor) -> Tensor:
    p = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(dim=-1)
    at_scores = p * (upstream - (p * upstream).sum(dim=-1, keepdim=True))
    return at_scores @ k


def gradient_weights_unscaled(q: Tensor, k: Tensor, upstream: Tensor) -> Tensor:
    p = (q @ k.transpose(-2, -1)).softmax(dim=-1)
    at_scores = p * (upstream - (p * upstream).sum(dim=-1, keepdim=True))
    return at_scores @ k / math.sqrt(q.shape[-1])


def gradient_nothing_subtracted(q: Tensor, k: Tensor, upstream: Tensor) -> Tensor:
    p = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(dim=-1)
    return (p * upstream) @ k / math.sqrt(q.shape[-1])


def gradient_no_softmax(q: Tensor, k: Tensor, upstream: Tensor) -> Tensor:
    return upstream @ k / math.sqrt(q.shape[-1])


def gradient_sum_of_upstream(q: Tensor, k: Tensor, upstream: Tensor) -> Tensor:
    p = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(dim=-1)
    at_scores = p * (upstream - upstream.sum(dim=-1, keepdim=True))
    return at_scores @ k / math.sqrt(q.shape[-1])


def gradient_by_width(q: Tensor, k: Tensor, upstream: Tensor) -> Tensor:
    p = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(dim=-1)
    at_scores = p * (upstream - (p * upstream).sum(dim=-1, keepdim=True))
    return at_scores @ k / q.shape[-1]
