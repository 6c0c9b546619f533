"""Wrong answers to assignment 4, as people give them; the hints are in `../a04_heads.py`."""

# ruff: noqa: D101, D102, D103 -- what is wrong with each is said where it becomes a Misconception
from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def split_view(x: Tensor, heads: int) -> Tensor:
    return x.reshape(x.shape[0], heads, x.shape[1], -1)


def split_not_transposed(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (heads, -1))


def split_interleaved(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2)


def split_by_width(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (-1, heads)).transpose(1, 2)


def split_heads_in_front(x: Tensor, heads: int) -> Tensor:
    return torch.stack(x.chunk(heads, dim=-1))


def split_the_sequence(x: Tensor, heads: int) -> Tensor:
    return x.reshape(x.shape[0], heads, -1, x.shape[-1])


def merge_view(x: Tensor) -> Tensor:
    B, H, T, Dh = x.shape
    return x.reshape(B, T, H * Dh)


def merge_interleaved(x: Tensor) -> Tensor:
    return x.permute(0, 2, 3, 1).flatten(-2)


def merge_sum(x: Tensor) -> Tensor:
    return x.sum(dim=1)


def merge_mean(x: Tensor) -> Tensor:
    return x.mean(dim=1)


def merge_along_batch(x: Tensor) -> Tensor:
    return torch.concat([x[:, head] for head in range(x.shape[1])])


def merge_along_places(x: Tensor) -> Tensor:
    return x.flatten(1, 2)


class Layers(nn.Module):
    """What all wrong versions have in common: the right layers, and every step once more right."""

    def __init__(self, *, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)

    def split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def merge(self, x: Tensor) -> Tensor:
        return x.transpose(1, 2).flatten(-2)

    def scale(self, x: Tensor) -> float:
        return math.sqrt(x.shape[-1] // self.heads)

    def hide(self, scores: Tensor, mask: Tensor) -> Tensor:
        return scores.masked_fill(~mask[:, None], -torch.inf)

    def weigh(self, scores: Tensor) -> Tensor:
        return scores.softmax(dim=-1)

    def last(self, x: Tensor) -> Tensor:
        return self.out(x)

    def forward(
        self, x: Tensor, memory: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        memory = x if memory is None else memory
        q, k, v = self.query(x), self.key(memory), self.value(memory)
        q, k, v = self.split(q), self.split(k), self.split(v)
        scores = q @ k.transpose(-2, -1) / self.scale(x)
        scores = scores if mask is None else self.hide(scores, mask)
        return self.last(self.merge(self.weigh(scores) @ v))


class ModelWidth(Layers):
    def scale(self, x: Tensor) -> float:
        return math.sqrt(x.shape[-1])


class NoScale(Layers):
    def scale(self, x: Tensor) -> float:
        return 1.0


class NoOutput(Layers):
    def last(self, x: Tensor) -> Tensor:
        return x


class SplitByView(Layers):
    def split(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[0], self.heads, x.shape[1], -1)


class MergeByView(Layers):
    def merge(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[0], x.shape[2], -1)


class BothByView(SplitByView, MergeByView):
    pass


class MaskOverHeads(Layers):
    def hide(self, scores: Tensor, mask: Tensor) -> Tensor:
        return scores.masked_fill(~mask, -torch.inf)


class MaskFirstHead(Layers):
    def hide(self, scores: Tensor, mask: Tensor) -> Tensor:
        first = scores[:, :1].masked_fill(~mask[:, None], -torch.inf)
        return torch.cat([first, scores[:, 1:]], dim=1)


class Polarity(Layers):
    def hide(self, scores: Tensor, mask: Tensor) -> Tensor:
        return scores.masked_fill(mask[:, None], -torch.inf)


class NoMask(Layers):
    def hide(self, scores: Tensor, mask: Tensor) -> Tensor:
        return scores


class OverHeads(Layers):
    def weigh(self, scores: Tensor) -> Tensor:
        return scores.softmax(dim=1)


class NoMemory(Layers):
    def forward(
        self, x: Tensor, memory: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        mask = mask if memory is None else None
        return super().forward(x, None, mask)


def bands_of_rows(x: Tensor, weight: Tensor) -> Tensor:
    return x @ weight.reshape(x.shape[1], x.shape[-1], -1)


def bands_interleaved(x: Tensor, weight: Tensor) -> Tensor:
    bands = weight.unflatten(1, (-1, x.shape[1]))  # (D, Dh, H)
    return torch.einsum("bhtd,odh->bhto", x, bands)


def bands_summed(x: Tensor, weight: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(-2) @ weight.T


def bands_first_only(x: Tensor, weight: Tensor) -> Tensor:
    return x @ weight[:, : x.shape[-1]].T


def grouped_tiled(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    times = q.shape[1] // k.shape[1]
    k, v = k.repeat(1, times, 1, 1), v.repeat(1, times, 1, 1)
    return (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(dim=-1) @ v


def grouped_first_only(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q @ k[:, :1].transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(dim=-1) @ v[:, :1]


def grouped_mean_of_keys(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    k, v = k.mean(dim=1, keepdim=True), v.mean(dim=1, keepdim=True)
    return (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(dim=-1) @ v


def grouped_mean_of_queries(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    q = q.unflatten(1, (k.shape[1], -1)).mean(dim=2)  # (B, G, T, Dh)
    return (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(dim=-1) @ v


def grouped_no_scale(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    times = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(times, dim=1), v.repeat_interleave(times, dim=1)
    return (q @ k.transpose(-2, -1)).softmax(dim=-1) @ v


def cached_top_left(q: Tensor, k: Tensor, v: Tensor, past: tuple | None = None) -> tuple:
    if past is not None:
        k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
    seen = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril()
    scores = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, (k, v)


def cached_all_seen(q: Tensor, k: Tensor, v: Tensor, past: tuple | None = None) -> tuple:
    if past is not None:
        k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
    return (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(dim=-1) @ v, (k, v)


def cached_new_first(q: Tensor, k: Tensor, v: Tensor, past: tuple | None = None) -> tuple:
    if past is not None:
        k, v = torch.cat([k, past[0]], dim=2), torch.cat([v, past[1]], dim=2)
    seen = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(k.shape[2] - q.shape[2])
    scores = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, (k, v)


def cached_only_new(q: Tensor, k: Tensor, v: Tensor, past: tuple | None = None) -> tuple:
    new = (k, v)
    if past is not None:
        k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
    seen = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(k.shape[2] - q.shape[2])
    scores = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, new


def cached_past_unused(q: Tensor, k: Tensor, v: Tensor, past: tuple | None = None) -> tuple:
    seen = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril()
    scores = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).masked_fill(~seen, -torch.inf)
    out = scores.softmax(dim=-1) @ v
    kept = (k, v) if past is None else tuple(torch.cat([a, b], 2) for a, b in zip(past, (k, v)))
    return out, kept


def cached_no_scale(q: Tensor, k: Tensor, v: Tensor, past: tuple | None = None) -> tuple:
    if past is not None:
        k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
    seen = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(k.shape[2] - q.shape[2])
    scores = (q @ k.transpose(-2, -1)).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, (k, v)
