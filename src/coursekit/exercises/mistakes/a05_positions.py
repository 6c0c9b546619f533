"""Wrong answers to assignment 5, as people give them; the hints are in `../a05_positions.py`."""

# ruff: noqa: D101, D102, D103 -- what is wrong with each is said where it becomes a Misconception
from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def add_multiplied(x: Tensor, table: Tensor, first: int = 0) -> Tensor:
    return x * table[first : first + x.shape[1]]


def add_from_zero(x: Tensor, table: Tensor, first: int = 0) -> Tensor:
    return x + table[: x.shape[1]]


def add_from_one(x: Tensor, table: Tensor, first: int = 0) -> Tensor:
    return x + table[first + 1 : first + 1 + x.shape[1]]


def add_to_sentences(x: Tensor, table: Tensor, first: int = 0) -> Tensor:
    return x + table[first : first + x.shape[0], None]


def add_appended(x: Tensor, table: Tensor, first: int = 0) -> Tensor:
    rows = table[first : first + x.shape[1]].expand_as(x)
    return torch.cat([x, rows], dim=-1)


def add_alone(x: Tensor, table: Tensor, first: int = 0) -> Tensor:
    return table[first : first + x.shape[1]].expand_as(x).clone()


def sines_concatenated(places: Tensor, width: int, base: float = 10_000.0) -> Tensor:
    speeds = base ** (-torch.arange(0, width, 2, dtype=places.dtype) / width)
    angles = places[..., None] * speeds
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


def sines_squared(places: Tensor, width: int, base: float = 10_000.0) -> Tensor:
    speeds = base ** (-2 * torch.arange(0, width, 2, dtype=places.dtype) / width)
    angles = places[..., None] * speeds
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def sines_rooted(places: Tensor, width: int, base: float = 10_000.0) -> Tensor:
    speeds = base ** (-torch.arange(width // 2, dtype=places.dtype) / width)
    angles = places[..., None] * speeds
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def sines_each_its_own(places: Tensor, width: int, base: float = 10_000.0) -> Tensor:
    speeds = base ** (-torch.arange(width, dtype=places.dtype) / width)
    angles = places[..., None] * speeds
    return torch.stack([angles[..., 0::2].sin(), angles[..., 1::2].cos()], dim=-1).flatten(-2)


def sines_cosine_first(places: Tensor, width: int, base: float = 10_000.0) -> Tensor:
    speeds = base ** (-torch.arange(0, width, 2, dtype=places.dtype) / width)
    angles = places[..., None] * speeds
    return torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(-2)


def sines_faster_and_faster(places: Tensor, width: int, base: float = 10_000.0) -> Tensor:
    speeds = base ** (torch.arange(0, width, 2, dtype=places.dtype) / width)
    angles = places[..., None] * speeds
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def sines_base_fixed(places: Tensor, width: int, base: float = 10_000.0) -> Tensor:
    speeds = 10_000.0 ** (-torch.arange(0, width, 2, dtype=places.dtype) / width)
    angles = places[..., None] * speeds
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def shift_one_speed(delta: float, width: int, base: float = 10_000.0) -> Tensor:
    cos, sin = math.cos(delta), math.sin(delta)
    return torch.block_diag(*[torch.tensor([[cos, sin], [-sin, cos]])] * (width // 2))


def shift_back(delta: float, width: int, base: float = 10_000.0) -> Tensor:
    angles = delta * base ** (-torch.arange(0, width, 2) / width)
    pairs = zip(angles.cos(), angles.sin())
    return torch.block_diag(*[torch.tensor([[cos, -sin], [sin, cos]]) for cos, sin in pairs])


def shift_no_minus(delta: float, width: int, base: float = 10_000.0) -> Tensor:
    angles = delta * base ** (-torch.arange(0, width, 2) / width)
    pairs = zip(angles.cos(), angles.sin())
    return torch.block_diag(*[torch.tensor([[cos, sin], [sin, cos]]) for cos, sin in pairs])


def shift_halves(delta: float, width: int, base: float = 10_000.0) -> Tensor:
    angles = delta * base ** (-torch.arange(0, width, 2) / width)
    cos, sin = angles.cos().diag(), angles.sin().diag()
    return torch.cat([torch.cat([cos, sin], dim=1), torch.cat([-sin, cos], dim=1)])


def shift_squared(delta: float, width: int, base: float = 10_000.0) -> Tensor:
    angles = delta * base ** (-2 * torch.arange(0, width, 2) / width)
    pairs = zip(angles.cos(), angles.sin())
    return torch.block_diag(*[torch.tensor([[cos, sin], [-sin, cos]]) for cos, sin in pairs])


def turn_back(x: Tensor, places: Tensor, base: float = 10_000.0) -> Tensor:
    speeds = base ** (-torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1])
    cos, sin = (places[:, None] * speeds).cos(), (places[:, None] * speeds).sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos + b * sin, b * cos - a * sin], dim=-1).flatten(-2)


def turn_halves(x: Tensor, places: Tensor, base: float = 10_000.0) -> Tensor:
    speeds = base ** (-torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1])
    cos, sin = (places[:, None] * speeds).cos(), (places[:, None] * speeds).sin()
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def turn_mixed(x: Tensor, places: Tensor, base: float = 10_000.0) -> Tensor:
    speeds = base ** (-torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1])
    angles = torch.cat([places[:, None] * speeds] * 2, dim=-1)
    turned = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
    return x * angles.cos() + turned * angles.sin()


def turn_one_speed(x: Tensor, places: Tensor, base: float = 10_000.0) -> Tensor:
    cos, sin = places[:, None].to(x.dtype).cos(), places[:, None].to(x.dtype).sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


def turn_squared(x: Tensor, places: Tensor, base: float = 10_000.0) -> Tensor:
    speeds = base ** (-2 * torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1])
    cos, sin = (places[:, None] * speeds).cos(), (places[:, None] * speeds).sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


def turn_wrong_axis(x: Tensor, places: Tensor, base: float = 10_000.0) -> Tensor:
    speeds = base ** (-torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1])
    angles = (places[:, None] * speeds)[:, None]
    a, b, cos, sin = x[..., 0::2], x[..., 1::2], angles.cos(), angles.sin()
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


def turn_added(x: Tensor, places: Tensor, base: float = 10_000.0) -> Tensor:
    speeds = base ** (-torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1])
    angles = places[:, None] * speeds
    return x + torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def bias_turned_round(table: Tensor, length: int) -> Tensor:
    place, limit = torch.arange(length), len(table) // 2
    distance = (place[:, None] - place[None, :]).clamp(-limit, limit)
    return table[distance + limit].movedim(-1, 0)


def bias_not_centred(table: Tensor, length: int) -> Tensor:
    place, limit = torch.arange(length), len(table) // 2
    distance = (place[None, :] - place[:, None]).clamp(-limit, limit)
    return table[distance].movedim(-1, 0)


def bias_both_sides_alike(table: Tensor, length: int) -> Tensor:
    place, limit = torch.arange(length), len(table) // 2
    distance = (place[None, :] - place[:, None]).abs().clamp_max(limit)
    return table[distance + limit].movedim(-1, 0)


def bias_heads_last(table: Tensor, length: int) -> Tensor:
    place, limit = torch.arange(length), len(table) // 2
    distance = (place[None, :] - place[:, None]).clamp(-limit, limit)
    return table[distance + limit]


def bias_not_clipped(table: Tensor, length: int) -> Tensor:
    place, limit = torch.arange(length), len(table) // 2
    return table[place[None, :] - place[:, None] + limit].movedim(-1, 0)


def bias_zero_far_away(table: Tensor, length: int) -> Tensor:
    place, limit = torch.arange(length), len(table) // 2
    distance = place[None, :] - place[:, None]
    near = (distance.abs() <= limit)[..., None]
    return (table[distance.clamp(-limit, limit) + limit] * near).movedim(-1, 0)


class Rotating(nn.Module):
    """What all wrong versions of rotary attention have in common: the layers, and a right turn."""

    def __init__(self, *, width: int, base: float = 10_000.0) -> None:
        super().__init__()
        self.base = base
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)

    def turned(self, x: Tensor, places: Tensor) -> Tensor:
        speeds = self.base ** (-torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1])
        cos, sin = (places[:, None] * speeds).cos(), (places[:, None] * speeds).sin()
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        return scores.softmax(dim=-1) @ v


class ValuesTurned(Rotating):
    def forward(self, x: Tensor, places: Tensor) -> Tensor:
        q, k, v = (self.turned(f(x), places) for f in (self.query, self.key, self.value))
        return self.attend(q, k, v)


class TurnedFirst(Rotating):
    def forward(self, x: Tensor, places: Tensor) -> Tensor:
        placed = self.turned(x, places)
        return self.attend(self.query(placed), self.key(placed), self.value(x))


class QueriesOnly(Rotating):
    def forward(self, x: Tensor, places: Tensor) -> Tensor:
        return self.attend(self.turned(self.query(x), places), self.key(x), self.value(x))


class OppositeTurns(Rotating):
    def forward(self, x: Tensor, places: Tensor) -> Tensor:
        q, k = self.turned(self.query(x), places), self.turned(self.key(x), -places)
        return self.attend(q, k, self.value(x))


class NotTurned(Rotating):
    def forward(self, x: Tensor, places: Tensor) -> Tensor:
        return self.attend(self.query(x), self.key(x), self.value(x))


class NotScaled(Rotating):
    def forward(self, x: Tensor, places: Tensor) -> Tensor:
        q, k = self.turned(self.query(x), places), self.turned(self.key(x), places)
        return (q @ k.transpose(-2, -1)).softmax(dim=-1) @ self.value(x)


class BaseForgotten(Rotating):
    def __init__(self, *, width: int, base: float = 10_000.0) -> None:
        super().__init__(width=width)

    def forward(self, x: Tensor, places: Tensor) -> Tensor:
        q, k = self.turned(self.query(x), places), self.turned(self.key(x), places)
        return self.attend(q, k, self.value(x))
