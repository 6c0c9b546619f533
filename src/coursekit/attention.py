"""Attention: a lookup that takes a weighted mean instead of one entry.

The book explains it in "Attention kernels" (lookup), "Scaling" (why √Dk) and "Masking".
Shapes: B batch, H heads, T queries, S keys, Dk width of queries and keys, Dv width of values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from coursekit import masks
from coursekit._base.checks import (
    check_bias,
    check_fraction,
    check_mask,
    check_shape,
    check_values,
    check_widths,
)
from coursekit.kernels import gaussian, scaled_dot


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    kernel: Callable[[Tensor, Tensor], Tensor] = scaled_dot,
    bias: Tensor | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """Mix the values `v` by how well each query in `q` agrees with each key in `k`.

    q (..., T, Dk), k (..., S, Dk), v (..., S, Dv) -> (..., T, Dv). The other arguments are those of
    `attention_weights`; a query that may attend to nothing gets zeros.
    """
    weights = attention_weights(q, k, mask, causal=causal, kernel=kernel, bias=bias)  # (..., T, S)
    check_values(k, v, weights.shape)
    check_fraction(dropout=dropout)
    return F.dropout(weights.to(v.dtype), dropout) @ v  # (..., T, Dv): a weighted mean of values


def attention_weights(
    q: Tensor,
    k: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    kernel: Callable[[Tensor, Tensor], Tensor] = scaled_dot,
    bias: Tensor | None = None,
) -> Tensor:
    """q (..., T, Dk), k (..., S, Dk) -> the weight of each key for each query (..., T, S).

    Each row sums to 1, or is zero where the query may attend to nothing. `mask` is boolean, True =
    may attend, and broadcasts to (..., T, S). `causal` masks the keys after each query; the queries
    are the last T of the S positions. `bias` is added to the scores, in their dtype; where it is −∞
    it masks.
    """
    scores = kernel(q, k)  # (..., T, S): how well query t agrees with key s
    if mask is not None:
        check_mask(mask, scores.shape)
    if causal:
        mask = _add_causal(mask, scores.shape, scores.device)
    if bias is not None:
        check_bias(bias, scores.shape)
        bias = bias.to(scores.dtype)
        scores = scores + bias  # (..., T, S): the distance term of ALiBi and T5
        allowed = ~bias.isneginf()
        mask = allowed if mask is None else mask & allowed
    return masked_softmax(scores, mask).to(q.dtype)  # (..., T, S)


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the last axis of `scores` (..., T, S), over the positions where `mask` is True.

    Forbidden scores become −∞ before the softmax, so their weight is exactly 0. A row with nothing
    to attend to would be 0/0; it is computed on zeros instead and then erased, which keeps its
    weights at 0 and its gradients finite.
    """
    if mask is None:
        return scores.softmax(dim=-1)
    check_mask(mask, scores.shape)
    empty = ~mask.any(dim=-1, keepdim=True)  # (..., T, 1): rows with nothing to attend to
    scores = scores.masked_fill(~mask, -torch.inf).masked_fill(empty, 0.0)  # (..., T, S)
    return scores.softmax(dim=-1).masked_fill(empty, 0.0)


def fused_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    bias: Tensor | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """Compute `attention` in torch's single fused call, which never stores the weights.

    Only the scaled dot product is fused; `scale` replaces 1/√Dk. Shapes, masks and the rule for
    empty rows are those of `attention`, and a test holds the two equal, gradients included.
    `causal` alone needs no (T, S) mask in memory and skips the half of the work that it forbids.
    """
    shape = check_widths(q, k)
    check_values(k, v, shape)
    check_fraction(dropout=dropout)
    T, S = shape[-2:]
    if mask is not None:
        check_mask(mask, shape)
    if bias is not None:
        check_bias(bias, shape)
        bias = _for_torch(bias.to(q.dtype), shape)
    if T == 1:  # a single query is the newest position: nothing is ahead of it
        causal = False
    if mask is None and (not causal or (bias is None and T == S)):
        return F.scaled_dot_product_attention(q, k, v, bias, dropout, causal, scale=scale)
    if causal or mask is None:
        mask = _add_causal(mask, shape, q.device)
    mask = _for_torch(mask, shape)
    empty = ~mask.any(dim=-1, keepdim=True)  # (..., T, 1)
    allowed = mask | empty  # an empty row attends to everything; its result is erased below
    if bias is not None:
        allowed = bias.masked_fill(~allowed, -torch.inf)  # (..., T, S)
    out = F.scaled_dot_product_attention(q, k, v, allowed, dropout, scale=scale)  # (..., T, Dv)
    return out.masked_fill(empty, 0.0)


def _for_torch(x: Tensor, shape: Sequence[int]) -> Tensor:
    """Give a mask or a bias the axes that torch's fast kernel reads: two, or those of the scores.

    It needs at least (T, S), and a bias (H, T, S) becomes (1, H, T, S): with three axes torch on a
    CPU would store the weights after all.
    """
    if x.ndim < 2:
        return x.expand(shape[-2:])  # (T, S)
    return x[(None,) * (len(shape) - x.ndim)] if x.ndim > 2 else x


def _add_causal(mask: Tensor | None, shape: Sequence[int], device: torch.device) -> Tensor:
    """Add the causal rule for scores of `shape` (..., T, S) to a mask that may be None."""
    past = masks.causal(*shape[-2:], device=device)  # (T, S)
    return past if mask is None else mask & past


def nadaraya_watson(query: Tensor, x: Tensor, y: Tensor, bandwidth: float = 1.0) -> Tensor:
    """Predict y at `query` (T,) from samples `x` (S,), `y` (S,): kernel regression is attention.

    The queries are the points to predict at, the keys the x of the samples, the values their y. A
    small bandwidth follows the nearest sample, a large one averages them all.
    """
    for name, tensor in (("query", query), ("x", x), ("y", y)):
        check_shape(tensor, name, "samples")
    out = attention(
        query[:, None],  # (T, 1)
        x[:, None],  # (S, 1)
        y[:, None],  # (S, 1)
        kernel=lambda q, k: gaussian(q, k, bandwidth),
    )
    return out[:, 0]  # (T,)
