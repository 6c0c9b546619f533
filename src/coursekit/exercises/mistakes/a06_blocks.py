"""Wrong answers to assignment 6, as people give them; the hints are in `../a06_blocks.py`.

The wrong stacks bring a right block with them, so that each is whole in a cell of its own.
"""

# ruff: noqa: D101, D102, D103, D106 -- what is wrong with each is said where it becomes a Misconception
from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def gelu_by_tanh(x: Tensor) -> Tensor:
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def gelu_by_sigmoid(x: Tensor) -> Tensor:
    return x * torch.sigmoid(1.702 * x)


def gelu_is_silu(x: Tensor) -> Tensor:
    return x * torch.sigmoid(x)


def gelu_is_relu(x: Tensor) -> Tensor:
    return x.clamp_min(0)


def gelu_no_root(x: Tensor) -> Tensor:
    return x * 0.5 * (1 + torch.erf(x))


def gelu_no_half(x: Tensor) -> Tensor:
    return x * (1 + torch.erf(x / math.sqrt(2)))


def gelu_gate_only(x: Tensor) -> Tensor:
    return 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def apart_from_own_mean(x: Tensor) -> Tensor:
    rest = x - x.mean(dim=-1, keepdim=True)
    return rest.norm(dim=(-2, -1)) / x.norm(dim=(-2, -1))


def apart_from_one_number(x: Tensor) -> Tensor:
    rest = x - x.mean(dim=(-2, -1), keepdim=True)
    return rest.norm(dim=(-2, -1)) / x.norm(dim=(-2, -1))


def apart_not_divided(x: Tensor) -> Tensor:
    return (x - x.mean(dim=-2, keepdim=True)).norm(dim=(-2, -1))


def apart_squared(x: Tensor) -> Tensor:
    rest = x - x.mean(dim=-2, keepdim=True)
    return rest.square().sum(dim=(-2, -1)) / x.square().sum(dim=(-2, -1))


def apart_by_the_mean(x: Tensor) -> Tensor:
    middle = x.mean(dim=-2, keepdim=True).expand_as(x)
    return (x - middle).norm(dim=(-2, -1)) / middle.norm(dim=(-2, -1))


def apart_each_token(x: Tensor) -> Tensor:
    return (x - x.mean(dim=-2, keepdim=True)).norm(dim=-1) / x.norm(dim=-1)


def apart_all_together(x: Tensor) -> Tensor:
    return (x - x.mean(dim=-2, keepdim=True)).norm() / x.norm()


class Norm(nn.Module):
    """What all wrong versions of layer normalisation have in common: gain and bias."""

    def __init__(self, *, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))


class NormUnbiased(Norm):
    def forward(self, x: Tensor) -> Tensor:
        mean, var = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True)
        return (x - mean) / (var + self.eps).sqrt() * self.weight + self.bias


class NormEpsOutside(Norm):
    def forward(self, x: Tensor) -> Tensor:
        mean, std = x.mean(dim=-1, keepdim=True), x.std(dim=-1, keepdim=True, correction=0)
        return (x - mean) / (std + self.eps) * self.weight + self.bias


class NormUnbiasedEpsOutside(Norm):
    def forward(self, x: Tensor) -> Tensor:
        mean, std = x.mean(dim=-1, keepdim=True), x.std(dim=-1, keepdim=True)
        return (x - mean) / (std + self.eps) * self.weight + self.bias


class NormOverWords(Norm):
    def forward(self, x: Tensor) -> Tensor:
        mean, var = x.mean(dim=-2, keepdim=True), x.var(dim=-2, keepdim=True, correction=0)
        return (x - mean) / (var + self.eps).sqrt() * self.weight + self.bias


class NormOverSentence(Norm):
    def forward(self, x: Tensor) -> Tensor:
        mean = x.mean(dim=(-2, -1), keepdim=True)
        var = x.var(dim=(-2, -1), keepdim=True, correction=0)
        return (x - mean) / (var + self.eps).sqrt() * self.weight + self.bias


class NormOfBatch(Norm):
    def forward(self, x: Tensor) -> Tensor:
        rows = x.flatten(0, -2)
        mean, var = rows.mean(dim=0), rows.var(dim=0, correction=0)
        return (x - mean) / (var + self.eps).sqrt() * self.weight + self.bias


class NormBare(Norm):
    def forward(self, x: Tensor) -> Tensor:
        mean, var = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True, correction=0)
        return (x - mean) / (var + self.eps).sqrt()


class NormBiasFirst(Norm):
    def forward(self, x: Tensor) -> Tensor:
        mean, var = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True, correction=0)
        return ((x - mean) / (var + self.eps).sqrt() + self.bias) * self.weight


class NormNoMean(Norm):
    def forward(self, x: Tensor) -> Tensor:
        squares = x.square().mean(dim=-1, keepdim=True)
        return x / (squares + self.eps).sqrt() * self.weight + self.bias


class NormNoRoot(Norm):
    def forward(self, x: Tensor) -> Tensor:
        mean, var = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True, correction=0)
        return (x - mean) / (var + self.eps) * self.weight + self.bias


class Forward(nn.Module):
    """What all wrong feed-forward networks have in common: the layers."""

    def __init__(self, *, width: int, hidden: int) -> None:
        super().__init__()
        self.expand = nn.Linear(width, hidden)
        self.contract = nn.Linear(hidden, width)

    def bend(self, x: Tensor) -> Tensor:
        return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


class NoBend(Forward):
    def forward(self, x: Tensor) -> Tensor:
        return self.contract(self.expand(x))


class BendLast(Forward):
    def forward(self, x: Tensor) -> Tensor:
        return self.bend(self.contract(self.expand(x)))


class BendTwice(Forward):
    def forward(self, x: Tensor) -> Tensor:
        return self.bend(self.contract(self.bend(self.expand(x))))


class BendIsRelu(Forward):
    def forward(self, x: Tensor) -> Tensor:
        return self.contract(self.expand(x).relu())


class BendByTanh(Forward):
    def forward(self, x: Tensor) -> Tensor:
        h = self.expand(x)
        gate = 1 + torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h**3))
        return self.contract(0.5 * h * gate)


class AddsItself(Forward):
    def forward(self, x: Tensor) -> Tensor:
        return x + self.contract(self.bend(self.expand(x)))


class Layer(nn.Module):
    """What all wrong blocks have in common: the parts, and the right way to call them."""

    def __init__(self, *, width: int, heads: int, hidden: int, placement: str = "pre") -> None:
        super().__init__()
        self.placement = placement
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.feed_forward = nn.Sequential()
        self.feed_forward.add_module("expand", nn.Linear(width, hidden))
        self.feed_forward.add_module("bend", nn.GELU())
        self.feed_forward.add_module("contract", nn.Linear(hidden, width))
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def attend(self, x: Tensor) -> Tensor:
        return self.attention(x, x, x, need_weights=False)[0]

    def pre(self, x: Tensor) -> Tensor:
        x = x + self.attend(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))

    def post(self, x: Tensor) -> Tensor:
        x = self.norm1(x + self.attend(x))
        return self.norm2(x + self.feed_forward(x))

    def forward(self, x: Tensor) -> Tensor:
        return self.pre(x) if self.placement == "pre" else self.post(x)


class PlacementsChangedOver(Layer):
    def forward(self, x: Tensor) -> Tensor:
        return self.post(x) if self.placement == "pre" else self.pre(x)


class AlwaysPre(Layer):
    def forward(self, x: Tensor) -> Tensor:
        return self.pre(x)


class AlwaysPost(Layer):
    def forward(self, x: Tensor) -> Tensor:
        return self.post(x)


class NoResidual(Layer):
    def pre(self, x: Tensor) -> Tensor:
        return self.feed_forward(self.norm2(self.attend(self.norm1(x))))

    def post(self, x: Tensor) -> Tensor:
        return self.norm2(self.feed_forward(self.norm1(self.attend(x))))


class OneResidual(Layer):
    def pre(self, x: Tensor) -> Tensor:
        return self.feed_forward(self.norm2(x + self.attend(self.norm1(x))))

    def post(self, x: Tensor) -> Tensor:
        return self.norm2(self.feed_forward(self.norm1(x + self.attend(x))))


class ResidualOfNormed(Layer):
    def pre(self, x: Tensor) -> Tensor:
        x = self.norm1(x)
        x = self.norm2(x + self.attend(x))
        return x + self.feed_forward(x)


class QueriesNormed(Layer):
    def pre(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x), x, x, need_weights=False)[0]
        return x + self.feed_forward(self.norm2(x))


class OneNorm(Layer):
    def pre(self, x: Tensor) -> Tensor:
        x = x + self.attend(self.norm1(x))
        return x + self.feed_forward(self.norm1(x))

    def post(self, x: Tensor) -> Tensor:
        x = self.norm1(x + self.attend(x))
        return self.norm1(x + self.feed_forward(x))


class BatchAttends(Layer):
    def attend(self, x: Tensor) -> Tensor:
        x = x.transpose(0, 1)
        return self.attention(x, x, x, need_weights=False)[0].transpose(0, 1)


class SideBySide(Layer):
    def pre(self, x: Tensor) -> Tensor:
        return x + self.attend(self.norm1(x)) + self.feed_forward(self.norm2(x))

    def post(self, x: Tensor) -> Tensor:
        return self.norm2(self.norm1(x + self.attend(x)) + self.feed_forward(x))


class Pile(nn.Module):
    """What all wrong stacks have in common: the parts, and a block that is right."""

    class Piece(nn.Module):
        def __init__(self, *, width: int, heads: int, hidden: int, placement: str = "pre") -> None:
            super().__init__()
            self.placement = placement
            self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
            self.feed_forward = nn.Sequential()
            self.feed_forward.add_module("expand", nn.Linear(width, hidden))
            self.feed_forward.add_module("bend", nn.GELU())
            self.feed_forward.add_module("contract", nn.Linear(hidden, width))
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

        def forward(self, x: Tensor) -> Tensor:
            if self.placement == "post":
                x = self.norm1(x + self.attention(x, x, x, need_weights=False)[0])
                return self.norm2(x + self.feed_forward(x))
            h = self.norm1(x)
            x = x + self.attention(h, h, h, need_weights=False)[0]
            return x + self.feed_forward(self.norm2(x))

    def __init__(
        self, *, depth: int, width: int, heads: int, hidden: int, placement: str = "pre"
    ) -> None:
        super().__init__()
        sizes = {"width": width, "heads": heads, "hidden": hidden, "placement": placement}
        self.blocks = nn.ModuleList([self.Piece(**sizes) for _ in range(depth)])
        self.final = nn.LayerNorm(width) if placement == "pre" else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x)
        return self.final(x)


class OneBlockOften(Pile):
    def __init__(self, *, depth: int, **sizes: int | str) -> None:
        super().__init__(depth=depth, **sizes)
        self.blocks = nn.ModuleList([self.blocks[0]] * depth)


class PlainList(Pile):
    def __init__(self, *, depth: int, **sizes: int | str) -> None:
        super().__init__(depth=depth, **sizes)
        blocks = list(self.blocks)
        del self.blocks
        self.blocks = blocks


class NoFinalNorm(Pile):
    def __init__(self, *, depth: int, **sizes: int | str) -> None:
        super().__init__(depth=depth, **sizes)
        self.final = nn.Identity()


class AlwaysFinalNorm(Pile):
    def __init__(self, *, depth: int, width: int, **sizes: int | str) -> None:
        super().__init__(depth=depth, width=width, **sizes)
        self.final = nn.LayerNorm(width)


class FinalEverywhere(Pile):
    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = self.final(block(x))
        return x


class PlacementLost(Pile):
    def __init__(self, *, depth: int, placement: str = "pre", **sizes: int) -> None:
        super().__init__(depth=depth, placement=placement, **sizes)
        self.blocks = nn.ModuleList([self.Piece(**sizes) for _ in range(depth)])


class AllReadTheInput(Pile):
    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            out = block(x)
        return self.final(out)


class TopFirst(Pile):
    def forward(self, x: Tensor) -> Tensor:
        for block in reversed(self.blocks):
            x = block(x)
        return self.final(x)
