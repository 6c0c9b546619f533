"""Swin on a page: attention within windows that shift, on maps that shrink (Liu et al., 2021).

A cell looks at the M × M cells of its window alone; every second block moves the windows by half
their side, so that neighbours meet; between stages four cells become one, twice as wide. The book
explains it in "Swin". The full model is `models/swin.py`; this page leaves out its dropout, its
initial values and its padding: the windows must fill the map of every stage. Shapes: B batch,
R rows and C columns of a map, M side of a window, W = R/M · C/M windows, D width, H heads.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from coursekit.activations import gelu
from coursekit.heads import MultiHeadAttention


def cut(x: Tensor, M: int) -> Tensor:
    """x (B, R, C, D) -> (B, R/M, C/M, M², D): a map in windows."""
    x = x.unflatten(2, (-1, M)).unflatten(1, (-1, M))  # (B, R/M, M, C/M, M, D)
    return x.transpose(2, 3).flatten(3, 4)  # (B, R/M, C/M, M², D)


def join(windows: Tensor, M: int) -> Tensor:
    """windows (B, R/M, C/M, M², D) -> (B, R, C, D): the windows back in their map."""
    x = windows.unflatten(3, (M, M)).transpose(2, 3)  # (B, R/M, M, C/M, M, D)
    return x.flatten(3, 4).flatten(1, 2)  # (B, R, C, D)


class WindowAttention(nn.Module):
    """Multi-head attention within windows, which are `shift` cells further down and right."""

    def __init__(self, *, width: int, heads: int, window: int, shift: int) -> None:
        super().__init__()
        self.window, self.shift = window, shift
        self.multi_head = MultiHeadAttention(width=width, heads=heads)
        offsets = (2 * window - 1) ** 2  # as far as M − 1 up or down, left or right
        self.bias = nn.Parameter(torch.randn(offsets, heads) * 0.02)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, R, C, D) -> (B, R, C, D)."""
        (B, R, C, _), M = x.shape, self.window
        shift = self.shift if min(R, C) > M else 0  # one window has nowhere to go
        x = x.roll((-shift, -shift), dims=(1, 2))  # the windows stay, the map moves under them
        # Cells that came around the edge are masked for those that they are now next to.
        from_top = torch.arange(R, device=x.device) >= R - shift  # (R,)
        from_left = torch.arange(C, device=x.device) >= C - shift  # (C,)
        region = 2 * from_top[:, None] + from_left  # (R, C): one of four numbers
        region = cut(region[None, :, :, None], M).flatten(0, 2)  # (W, M², 1)
        mask = (region == region.mT)[:, None].repeat(B, 1, 1, 1)  # (B·W, 1, M², M²)
        # A cell knows its place by how far others are: a bias on the scores.
        side = torch.arange(M, device=x.device)  # (M,)
        row, column = torch.cartesian_prod(side, side).T  # 2 × (M²,): of each cell
        down, right = row[:, None] - row + M - 1, column[:, None] - column + M - 1  # 2 × (M², M²)
        bias = self.bias[down * (2 * M - 1) + right].permute(2, 0, 1)  # (H, M², M²)
        y = self.multi_head(cut(x, M).flatten(0, 2), mask=mask, bias=bias)  # (B·W, M², D)
        x = join(y.unflatten(0, (B, R // M, C // M)), M)  # (B, R, C, D)
        return x.roll((shift, shift), dims=(1, 2))


class SwinBlock(nn.Module):
    """Windowed attention, then a network on each cell, the norm before either."""

    def __init__(self, *, width: int, heads: int, window: int, shift: int) -> None:
        super().__init__()
        self.attention_norm, self.feed_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = WindowAttention(width=width, heads=heads, window=window, shift=shift)
        self.expand, self.contract = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, R, C, D) -> (B, R, C, D)."""
        x = x + self.attention(self.attention_norm(x))
        y = gelu(self.expand(self.feed_norm(x)))  # (B, R, C, 4·D)
        return x + self.contract(y)  # (B, R, C, D)


class PatchMerging(nn.Module):
    """Four neighbours become one cell, twice as wide."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(4 * width)
        self.reduce = nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, R, C, D) -> (B, R/2, C/2, 2·D)."""
        four = [x[:, i::2, j::2] for j in (0, 1) for i in (0, 1)]  # 4 × (B, R/2, C/2, D)
        return self.reduce(self.norm(torch.cat(four, dim=-1)))  # (B, R/2, C/2, 2·D)


class PlainSwin(nn.Module):
    """Patches, stages on ever coarser maps, the mean, a classifier; the sizes are Swin-T's."""

    def __init__(
        self, *, patch: int = 4, channels: int = 3, classes: int = 1000, width: int = 96,
        depths: tuple[int, ...] = (2, 2, 6, 2), heads: tuple[int, ...] = (3, 6, 12, 24),
        window: int = 7,
    ) -> None:  # fmt: skip
        super().__init__()
        self.embedding = nn.Conv2d(channels, width, kernel_size=patch, stride=patch)
        self.embedding_norm = nn.LayerNorm(width)
        self.stages = nn.ModuleList()
        for stage, depth in enumerate(depths):
            stack = nn.Sequential(PatchMerging(width)) if stage else nn.Sequential()
            width = 2 * width if stage else width
            for i in range(depth):
                shift = window // 2 if i % 2 else 0
                stack.append(SwinBlock(width=width, heads=heads[stage], window=window, shift=shift))
            self.stages.append(stack)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, images: Tensor) -> Tensor:
        """images (B, channels, height, columns) -> logits (B, classes)."""
        x = self.embedding_norm(self.embedding(images).permute(0, 2, 3, 1))  # (B, R, C, D)
        for stage in self.stages:
            x = stage(x)  # (B, R/2, C/2, 2·D); in the first stage the size stays
        return self.head(self.norm(x).mean(dim=(1, 2)))  # (B, classes)
