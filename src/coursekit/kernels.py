"""Kernels: functions that score how well a query matches a key.

All share one interface, `kernel(q, k) -> scores`: q (..., T, Dq) and k (..., S, Dk) give
(..., T, S). What has weights is a module, what has none is a function. The book compares the six
in "Attention kernels"; "Scaling" explains the root in `scaled_dot`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from coursekit._base.checks import check_at_least, check_int, check_positive, check_widths


def dot(q: Tensor, k: Tensor) -> Tensor:
    """q · k: large when the two point the same way and are long.

    Half-precision inputs give scores in float32: in fp16, those above 65,504 would overflow.
    """
    check_widths(q, k)
    return upcast(q) @ upcast(k).transpose(-2, -1)  # (..., T, S)


def scaled_dot(q: Tensor, k: Tensor) -> Tensor:
    """q · k / √Dk: the dot product with its variance brought back to 1 (Vaswani et al., 2017)."""
    return dot(q, k) / math.sqrt(q.shape[-1])  # (..., T, S)


def cosine(q: Tensor, k: Tensor, eps: float = 1e-8) -> Tensor:
    """Cosine of the angle between q and k, in [−1, 1]: direction alone (Graves et al., 2014).

    The paper multiplies it by a learned sharpness; without that a softmax stays nearly flat.
    """
    check_at_least(eps=eps)
    check_widths(q, k)
    q, k = upcast(q), upcast(k)
    lengths = q.norm(dim=-1)[..., :, None] * k.norm(dim=-1)[..., None, :]  # (..., T, S)
    return dot(q, k) / lengths.clamp_min(eps)  # (..., T, S)


def gaussian(q: Tensor, k: Tensor, bandwidth: float = 1.0) -> Tensor:
    """−‖q − k‖² / (2 bandwidth²): after the softmax, the weights of a Gaussian bump around q."""
    check_positive(bandwidth=bandwidth)
    check_widths(q, k)
    # The differences themselves, not ‖q‖² − 2 q·k + ‖k‖²: that form cancels badly in fp32.
    q, k = upcast(q), upcast(k)
    squared = (q[..., :, None, :] - k[..., None, :, :]).square().sum(dim=-1)  # (..., T, S)
    return -squared / (2 * bandwidth**2)


class General(nn.Module):
    """q W kᵀ: a learned bilinear form, so queries and keys may differ in width (Luong, 2015)."""

    def __init__(self, *, query_width: int, key_width: int) -> None:
        super().__init__()
        check_int(query_width=query_width, key_width=key_width)
        self.weight = nn.Parameter(torch.empty(query_width, key_width))
        nn.init.normal_(self.weight, std=1 / math.sqrt(query_width * key_width))

    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        """q (..., T, Dq), k (..., S, Dk) -> scores (..., T, S)."""
        check_widths(q, k, *self.weight.shape)
        return q @ self.weight @ k.transpose(-2, -1)  # (..., T, S)


class Additive(nn.Module):
    """vᵀ tanh(W [q, k]): a small network looks at both (Bahdanau et al., 2015).

    W [q, k] is computed as Wq q + Wk k, the same product with W cut in two, so that each query and
    each key is projected once and not once for every pair.
    """

    def __init__(self, *, query_width: int, key_width: int, hidden: int) -> None:
        super().__init__()
        check_int(query_width=query_width, key_width=key_width, hidden=hidden)
        self.query = nn.Linear(query_width, hidden, bias=False)
        self.key = nn.Linear(key_width, hidden, bias=False)
        self.score = nn.Linear(hidden, 1, bias=False)

    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        """q (..., T, Dq), k (..., S, Dk) -> scores (..., T, S)."""
        check_widths(q, k, self.query.in_features, self.key.in_features)
        pairs = self.query(q)[..., :, None, :] + self.key(k)[..., None, :, :]  # (..., T, S, hidden)
        return self.score(pairs.tanh())[..., 0]  # (..., T, S)


def upcast(x: Tensor) -> Tensor:
    """x in float32 if it is in half precision, where a sum of squares soon overflows."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
