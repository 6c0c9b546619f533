"""Swin on a page: attention within windows that shift, on maps that shrink (Liu et al., 2021).

A cell looks at its window of M × M cells; every second block moves the windows by half their side;
between stages four cells become one, twice as wide. The book explains it in "Swin"; the full model,
`models/swin.py`, pads. B batch, R × C cells of a map in W = R/M · C/M windows, D width, H heads.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from coursekit.activations import gelu
from coursekit.heads import MultiHeadAttention


def window_partition(x: Tensor, M: int) -> Tensor:
    """x (B, R, C, D) -> (B·W, M², D): a map in windows, row by row."""
    x = x.unflatten(2, (-1, M)).unflatten(1, (-1, M))  # (B, R/M, M, C/M, M, D)
    return x.transpose(2, 3).flatten(3, 4).flatten(0, 2)  # (B·W, M², D)


def window_reverse(windows: Tensor, M: int, R: int, C: int) -> Tensor:
    """windows (B·W, M², D) -> (B, R, C, D): the windows back in their map."""
    x = windows.unflatten(1, (M, M)).unflatten(0, (-1, R // M, C // M))  # (B, R/M, C/M, M, M, D)
    return x.transpose(2, 3).flatten(3, 4).flatten(1, 2)  # (B, R, C, D)


def shift_mask(R: int, C: int, M: int, shift: int) -> Tensor:
    """(W, M², M²): who was a neighbour before the map was rolled; True = may attend."""
    rows_wrapped = torch.arange(R) >= R - shift  # (R,): these rows came around the edge
    columns_wrapped = torch.arange(C) >= C - shift  # (C,)
    region = 2 * rows_wrapped[:, None] + columns_wrapped  # (R, C): 0, 1, 2 or 3
    region = window_partition(region[None, :, :, None], M)  # (W, M², 1)
    return region == region.mT  # (W, M², M²)


def offset_index(M: int) -> Tensor:
    """(M², M²): which of the (2M − 1)² offsets leads from each key to each query."""
    row, column = torch.cartesian_prod(torch.arange(M), torch.arange(M)).T  # 2 × (M²,)
    down, right = (n[:, None] - n + M - 1 for n in (row, column))  # 2 × (M², M²): 0 … 2M − 2
    return down * (2 * M - 1) + right  # the row of the bias table


class WindowAttention(nn.Module):
    """Multi-head attention within windows, which are `shift` cells further down and right."""

    def __init__(self, *, width: int, heads: int, window: int, shift: int) -> None:
        super().__init__()
        self.window, self.shift = window, shift
        self.multi_head = MultiHeadAttention(width=width, heads=heads)
        self.bias = nn.Parameter(torch.randn((2 * window - 1) ** 2, heads) * 0.02)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, R, C, D) -> (B, R, C, D)."""
        (B, R, C, _), M = x.shape, self.window
        shift = self.shift if min(R, C) > M else 0  # one window has nowhere to go
        x = x.roll((-shift, -shift), dims=(1, 2))  # the windows stay, the map moves under them
        mask = shift_mask(R, C, M, shift).to(x.device).repeat(B, 1, 1)  # (B·W, M², M²)
        bias = self.bias[offset_index(M)].permute(2, 0, 1)  # (H, M², M²)
        windows = window_partition(x, M)  # (B·W, M², D)
        windows = self.multi_head(windows, mask=mask[:, None], bias=bias)  # (B·W, M², D)
        return window_reverse(windows, M, R, C).roll((shift, shift), dims=(1, 2))


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
        return x + self.contract(gelu(self.expand(self.feed_norm(x))))  # within: (B, R, C, 4·D)


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
            merging = [PatchMerging(width)] if stage else []
            width = 2 * width if stage else width
            sizes = {"width": width, "heads": heads[stage], "window": window}
            blocks = [SwinBlock(**sizes, shift=i % 2 * (window // 2)) for i in range(depth)]
            self.stages.append(nn.Sequential(*merging, *blocks))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, images: Tensor) -> Tensor:
        """images (B, channels, height, columns) -> logits (B, classes)."""
        x = self.embedding_norm(self.embedding(images).permute(0, 2, 3, 1))  # (B, R, C, D)
        for stage in self.stages:
            x = stage(x)  # (B, R/2, C/2, 2·D); in the first stage the size stays
        return self.head(self.norm(x).mean(dim=(1, 2)))  # (B, classes)
