"""Wrong answers to assignment 3, as people give them; the hints are in `../a03_masking.py`."""

# ruff: noqa: D103 -- what is wrong with each is said where it becomes a Misconception
from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor


def causal_transposed(T: int, S: int) -> Tensor:
    return torch.ones(T, S, dtype=torch.bool).triu(S - T)


def causal_not_itself(T: int, S: int) -> Tensor:
    return torch.ones(T, S, dtype=torch.bool).tril(S - T - 1)


def causal_one_ahead(T: int, S: int) -> Tensor:
    return torch.ones(T, S, dtype=torch.bool).tril(S - T + 1)


def causal_from_the_start(T: int, S: int) -> Tensor:
    return torch.ones(T, S, dtype=torch.bool).tril()


def causal_polarity(T: int, S: int) -> Tensor:
    return torch.ones(T, S, dtype=torch.bool).triu(S - T + 1)


def causal_numbers(T: int, S: int) -> Tensor:
    return torch.ones(T, S).tril(S - T)


def causal_infinities(T: int, S: int) -> Tensor:
    return torch.full((T, S), -torch.inf).triu(S - T + 1)


def padding_polarity(tokens: Tensor, pad: int) -> Tensor:
    return (tokens == pad)[:, None, None, :]


def padding_of_queries(tokens: Tensor, pad: int) -> Tensor:
    return (tokens != pad)[:, None, :, None]


def padding_both_ways(tokens: Tensor, pad: int) -> Tensor:
    real = tokens != pad
    return (real[:, :, None] & real[:, None, :])[:, None]


def padding_two_axes(tokens: Tensor, pad: int) -> Tensor:
    return tokens != pad


def padding_three_axes(tokens: Tensor, pad: int) -> Tensor:
    return (tokens != pad)[:, None, :]


def padding_is_zero(tokens: Tensor, pad: int) -> Tensor:
    return (tokens != 0)[:, None, None, :]


def shares_polarity(scores: Tensor, mask: Tensor) -> Tensor:
    empty = mask.all(dim=-1, keepdim=True)
    scores = scores.masked_fill(mask, -torch.inf).masked_fill(empty, 0.0)
    return scores.softmax(dim=-1).masked_fill(empty, 0.0)


def shares_polarity_and_nan(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(mask, -torch.inf).softmax(dim=-1)


def shares_masked_late(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.softmax(dim=-1) * mask


def shares_divided_again(scores: Tensor, mask: Tensor) -> Tensor:
    weights = scores.softmax(dim=-1) * mask
    return weights / weights.sum(dim=-1, keepdim=True)


def shares_scores_of_zero(scores: Tensor, mask: Tensor) -> Tensor:
    return (scores * mask).softmax(dim=-1)


def shares_mask_from_scores(scores: Tensor, mask: Tensor) -> Tensor:
    scores = scores * mask
    return scores.masked_fill(scores == 0, -torch.inf).softmax(dim=-1)


def shares_ten_thousand(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, -1e4).softmax(dim=-1)


def shares_billion(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, -1e9).softmax(dim=-1)


def shares_ten_thousand_added(scores: Tensor, mask: Tensor) -> Tensor:
    return (scores + (~mask) * -1e4).softmax(dim=-1)


def shares_billion_added(scores: Tensor, mask: Tensor) -> Tensor:
    return (scores + (~mask) * -1e9).softmax(dim=-1)


def shares_nan(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)


def shares_nan_added(scores: Tensor, mask: Tensor) -> Tensor:
    M = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, -torch.inf)
    return (scores + M).softmax(dim=-1)


def shares_nan_cleaned(scores: Tensor, mask: Tensor) -> Tensor:
    M = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, -torch.inf)
    return (scores + M).softmax(dim=-1).nan_to_num(0.0)


def decoder_either(tokens: Tensor, pad: int) -> Tensor:
    past = torch.ones(tokens.shape[-1], tokens.shape[-1], dtype=torch.bool).tril()
    return past | (tokens != pad)[:, None, None, :]


def decoder_queries_too(tokens: Tensor, pad: int) -> Tensor:
    past = torch.ones(tokens.shape[-1], tokens.shape[-1], dtype=torch.bool).tril()
    return past & (tokens != pad)[:, None, None, :] & (tokens != pad)[:, None, :, None]


def decoder_of_queries(tokens: Tensor, pad: int) -> Tensor:
    past = torch.ones(tokens.shape[-1], tokens.shape[-1], dtype=torch.bool).tril()
    return past & (tokens != pad)[:, None, :, None]


def decoder_transposed(tokens: Tensor, pad: int) -> Tensor:
    future = torch.ones(tokens.shape[-1], tokens.shape[-1], dtype=torch.bool).triu()
    return future & (tokens != pad)[:, None, None, :]


def decoder_not_itself(tokens: Tensor, pad: int) -> Tensor:
    past = torch.ones(tokens.shape[-1], tokens.shape[-1], dtype=torch.bool).tril(-1)
    return past & (tokens != pad)[:, None, None, :]


def decoder_polarity(tokens: Tensor, pad: int) -> Tensor:
    past = torch.ones(tokens.shape[-1], tokens.shape[-1], dtype=torch.bool).tril()
    return ~(past & (tokens != pad)[:, None, None, :])


def decoder_no_heads(tokens: Tensor, pad: int) -> Tensor:
    past = torch.ones(tokens.shape[-1], tokens.shape[-1], dtype=torch.bool).tril()
    return past & (tokens != pad)[:, None, :]


def window_filling_counts(q: Tensor, k: Tensor, v: Tensor, radius: int) -> Tensor:
    ends = (0, 0, radius, radius)
    k, v = (F.pad(x, ends).unfold(-2, 2 * radius + 1, 1) for x in (k, v))  # (..., T, D, W)
    weights = (q[..., None, :] @ k / math.sqrt(q.shape[-1])).softmax(dim=-1)
    return (weights @ v.transpose(-2, -1))[..., 0, :]


def window_ends_repeated(q: Tensor, k: Tensor, v: Tensor, radius: int) -> Tensor:
    T, steps = q.shape[-2], torch.arange(-radius, radius + 1)
    seen = (torch.arange(T)[:, None] + steps).clamp(0, T - 1)  # (T, W)
    scores = (q[..., None, :] * k[..., seen, :]).sum(dim=-1) / math.sqrt(q.shape[-1])
    return (scores.softmax(dim=-1)[..., None] * v[..., seen, :]).sum(dim=-2)


def window_round_the_end(q: Tensor, k: Tensor, v: Tensor, radius: int) -> Tensor:
    T, steps = q.shape[-2], torch.arange(-radius, radius + 1)
    seen = (torch.arange(T)[:, None] + steps) % T  # (T, W)
    scores = (q[..., None, :] * k[..., seen, :]).sum(dim=-1) / math.sqrt(q.shape[-1])
    return (scores.softmax(dim=-1)[..., None] * v[..., seen, :]).sum(dim=-2)


def window_looks_back(q: Tensor, k: Tensor, v: Tensor, radius: int) -> Tensor:
    seen = torch.arange(q.shape[-2])[:, None] + torch.arange(-radius, 1)  # (T, W)
    keys, values = k[..., seen.clamp_min(0), :], v[..., seen.clamp_min(0), :]
    scores = (q[..., None, :] * keys).sum(dim=-1) / math.sqrt(q.shape[-1])
    weights = scores.masked_fill(seen < 0, -torch.inf).softmax(dim=-1)
    return (weights[..., None] * values).sum(dim=-2)


def window_one_short(q: Tensor, k: Tensor, v: Tensor, radius: int) -> Tensor:
    T = q.shape[-2]
    seen = torch.arange(T)[:, None] + torch.arange(-radius, max(radius, 1))  # (T, W)
    keys, values = k[..., seen.clamp(0, T - 1), :], v[..., seen.clamp(0, T - 1), :]
    scores = (q[..., None, :] * keys).sum(dim=-1) / math.sqrt(q.shape[-1])
    weights = scores.masked_fill((seen < 0) | (seen >= T), -torch.inf).softmax(dim=-1)
    return (weights[..., None] * values).sum(dim=-2)


def window_diameter(q: Tensor, k: Tensor, v: Tensor, radius: int) -> Tensor:
    T, half = q.shape[-2], radius // 2
    seen = torch.arange(T)[:, None] + torch.arange(-half, half + 1)  # (T, W)
    keys, values = k[..., seen.clamp(0, T - 1), :], v[..., seen.clamp(0, T - 1), :]
    scores = (q[..., None, :] * keys).sum(dim=-1) / math.sqrt(q.shape[-1])
    weights = scores.masked_fill((seen < 0) | (seen >= T), -torch.inf).softmax(dim=-1)
    return (weights[..., None] * values).sum(dim=-2)


def window_no_scale(q: Tensor, k: Tensor, v: Tensor, radius: int) -> Tensor:
    T, steps = q.shape[-2], torch.arange(-radius, radius + 1)
    seen = torch.arange(T)[:, None] + steps  # (T, W)
    keys, values = k[..., seen.clamp(0, T - 1), :], v[..., seen.clamp(0, T - 1), :]
    scores = (q[..., None, :] * keys).sum(dim=-1)
    weights = scores.masked_fill((seen < 0) | (seen >= T), -torch.inf).softmax(dim=-1)
    return (weights[..., None] * values).sum(dim=-2)
