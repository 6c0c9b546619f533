"""Wrong answers to assignment 1, as people give them; the hints are in `../a01_kernels.py`."""

# ruff: noqa: D101, D102, D103 -- what is wrong with each is said where it becomes a Misconception
from __future__ import annotations

import math

from torch import Tensor, nn


def shares_of_columns(scores: Tensor) -> Tensor:
    return scores.softmax(dim=-2)


def shares_overflow(scores: Tensor) -> Tensor:
    return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)


def shares_one_maximum(scores: Tensor) -> Tensor:
    raised = (scores - scores.max()).exp()
    return raised / raised.sum(dim=-1, keepdim=True)


def shares_of_everything(scores: Tensor) -> Tensor:
    raised = (scores - scores.max()).exp()
    return raised / raised.sum()


def shares_without_exp(scores: Tensor) -> Tensor:
    return scores / scores.sum(dim=-1, keepdim=True)


def shares_not_divided(scores: Tensor) -> Tensor:
    return (scores - scores.amax(dim=-1, keepdim=True)).exp()


def gaussian_plus(q: Tensor, k: Tensor, bandwidth: float) -> Tensor:
    squared = (q[..., :, None, :] - k[..., None, :, :]).square().sum(dim=-1)
    return squared / (2 * bandwidth**2)


def gaussian_plain_bandwidth(q: Tensor, k: Tensor, bandwidth: float) -> Tensor:
    squared = (q[..., :, None, :] - k[..., None, :, :]).square().sum(dim=-1)
    return -squared / (2 * bandwidth)


def gaussian_no_two(q: Tensor, k: Tensor, bandwidth: float) -> Tensor:
    squared = (q[..., :, None, :] - k[..., None, :, :]).square().sum(dim=-1)
    return -squared / bandwidth**2


def gaussian_distance(q: Tensor, k: Tensor, bandwidth: float) -> Tensor:
    distance = (q[..., :, None, :] - k[..., None, :, :]).norm(dim=-1)
    return -distance / (2 * bandwidth**2)


def gaussian_mean(q: Tensor, k: Tensor, bandwidth: float) -> Tensor:
    squared = (q[..., :, None, :] - k[..., None, :, :]).square().mean(dim=-1)
    return -squared / (2 * bandwidth**2)


def gaussian_bump(q: Tensor, k: Tensor, bandwidth: float) -> Tensor:
    squared = (q[..., :, None, :] - k[..., None, :, :]).square().sum(dim=-1)
    return (-squared / (2 * bandwidth**2)).exp()


def predict_fraction(query: Tensor, x: Tensor, y: Tensor, bandwidth: float) -> Tensor:
    bumps = (-((query[:, None] - x[None]) ** 2) / (2 * bandwidth**2)).exp()
    return (bumps @ y) / bumps.sum(dim=-1)


def predict_plain_bandwidth(query: Tensor, x: Tensor, y: Tensor, bandwidth: float) -> Tensor:
    scores = -((query[:, None] - x[None]) ** 2) / (2 * bandwidth)
    return scores.softmax(dim=-1) @ y


def predict_over_queries(query: Tensor, x: Tensor, y: Tensor, bandwidth: float) -> Tensor:
    scores = -((query[:, None] - x[None]) ** 2) / (2 * bandwidth**2)
    return scores.softmax(dim=0) @ y


def predict_nearest(query: Tensor, x: Tensor, y: Tensor, bandwidth: float) -> Tensor:
    return y[(query[:, None] - x[None]).abs().argmin(dim=-1)]


def predict_sum(query: Tensor, x: Tensor, y: Tensor, bandwidth: float) -> Tensor:
    return (-((query[:, None] - x[None]) ** 2) / (2 * bandwidth**2)).exp() @ y


def predict_farthest(query: Tensor, x: Tensor, y: Tensor, bandwidth: float) -> Tensor:
    scores = (query[:, None] - x[None]) ** 2 / (2 * bandwidth**2)
    return scores.softmax(dim=-1) @ y


class Layers(nn.Module):
    """What all wrong versions of Bahdanau's kernel have in common: the right layers."""

    def __init__(self, *, query_width: int, key_width: int, hidden: int) -> None:
        super().__init__()
        self.query = nn.Linear(query_width, hidden, bias=False)
        self.key = nn.Linear(key_width, hidden, bias=False)
        self.score = nn.Linear(hidden, 1, bias=False)

    def pairs(self, q: Tensor, k: Tensor) -> Tensor:
        """Return the sum for every pair, (..., T, S, hidden)."""
        return self.query(q)[..., :, None, :] + self.key(k)[..., None, :, :]

    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        """q (..., T, Dq), k (..., S, Dk) -> scores (..., T, S)."""
        return self.score(self.pairs(q, k).tanh())[..., 0]


class NoTanh(Layers):
    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        return self.score(self.pairs(q, k))[..., 0]


class TanhLast(Layers):
    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        return self.score(self.pairs(q, k))[..., 0].tanh()


class TanhEach(Layers):
    def pairs(self, q: Tensor, k: Tensor) -> Tensor:
        return self.query(q).tanh()[..., :, None, :] + self.key(k).tanh()[..., None, :, :]

    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        return self.score(self.pairs(q, k))[..., 0]


class Relu(Layers):
    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        return self.score(self.pairs(q, k).relu())[..., 0]


class WithBias(Layers):
    def __init__(self, *, query_width: int, key_width: int, hidden: int) -> None:
        super().__init__(query_width=query_width, key_width=key_width, hidden=hidden)
        self.query = nn.Linear(query_width, hidden)
        self.key = nn.Linear(key_width, hidden)
        self.score = nn.Linear(hidden, 1)


class AlreadyShares(Layers):
    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        return super().forward(q, k).softmax(dim=-1)


def self_no_scale(x: Tensor, wq: Tensor, wk: Tensor, wv: Tensor) -> Tensor:
    q, k, v = x @ wq, x @ wk, x @ wv
    return (q @ k.transpose(-2, -1)).softmax(dim=-1) @ v


def self_width_of_x(x: Tensor, wq: Tensor, wk: Tensor, wv: Tensor) -> Tensor:
    q, k, v = x @ wq, x @ wk, x @ wv
    return (q @ k.transpose(-2, -1) / math.sqrt(x.shape[-1])).softmax(dim=-1) @ v


def self_over_queries(x: Tensor, wq: Tensor, wk: Tensor, wv: Tensor) -> Tensor:
    q, k, v = x @ wq, x @ wk, x @ wv
    return (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(dim=-2) @ v


def self_values_are_x(x: Tensor, wq: Tensor, wk: Tensor, wv: Tensor) -> Tensor:
    q, k = x @ wq, x @ wk
    return (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(dim=-1) @ x


def self_keys_ask(x: Tensor, wq: Tensor, wk: Tensor, wv: Tensor) -> Tensor:
    q, k, v = x @ wq, x @ wk, x @ wv
    return (k @ q.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(dim=-1) @ v


def self_no_softmax(x: Tensor, wq: Tensor, wk: Tensor, wv: Tensor) -> Tensor:
    q, k, v = x @ wq, x @ wk, x @ wv
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]) @ v
