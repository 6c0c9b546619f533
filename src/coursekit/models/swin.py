"""Swin: attention within windows that shift, on maps that shrink (Liu et al., 2021).

A patch looks only at the M × M patches of its window, so the cost grows with the number of pixels
and not with its square. Every second block shifts the windows by half their side, which lets
neighbours talk; between stages four patches are merged into one, which is twice as wide. The book
explains it in "Swin".

Shapes: B batch, R rows and C columns of a map, M side of a window, W windows in a map, D width,
H heads, V classes; R' and C' are R and C filled up to whole windows.

Where the paper says nothing, this follows the authors' code. A map with a side not longer than M
has windows of that side, and no shift. Cells that fill a map up to whole windows are zeros after
the norm and are attended to like all others: their keys and values are the biases. It departs from
that code in two places: a cell that the shift brought next to another gives it the weight 0, and
not e^−100 times the weight of a neighbour; and one model takes images of any size, as the authors'
detector does and their classifier does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit._base.checks import (
    check_between,
    check_config,
    check_images,
    check_int,
    check_shape,
    readable,
)
from coursekit.biases import WindowBias
from coursekit.blocks import FeedForward, Residual
from coursekit.heads import MultiHeadAttention
from coursekit.positions import LearnedPosition


@dataclass(frozen=True, kw_only=True)
class SwinConfig:
    """Sizes and choices of a `Swin`; what has several numbers has one for each stage."""

    image: int | tuple[int, int] = 224  # the size it is made for; others run as well
    patch: int = 4
    channels: int = 3
    width: int = 96  # of the first stage, C in the paper; doubles from stage to stage
    depths: tuple[int, ...] = (2, 2, 6, 2)
    heads: tuple[int, ...] = (3, 6, 12, 24)
    window: int = 7  # M in the paper, in patches
    shrink_windows: bool = True  # in small maps; False pads them and shifts (detection)
    mlp_ratio: float = 4.0
    qkv_bias: bool = True
    shifted: bool = True  # every second block; this and the two below are the paper's Table 4
    relative_bias: bool = True  # "rel. pos."
    absolute_positions: bool = False  # "abs. pos."
    dropout: float = 0.0
    attention_dropout: float = 0.0
    drop_path: float = 0.0  # of the last block; grows from 0 over all blocks
    eps: float = 1e-5
    classes: int = 1000  # 0 leaves the head out

    def __post_init__(self) -> None:
        check_config(self, zero=("classes",), positive=("mlp_ratio",))
        if len(self.depths) != len(self.heads) or not self.depths:
            raise ValueError(
                "depths and heads must have one number for each stage, "
                f"found {self.depths} and {self.heads}"
            )
        height, columns = self.size
        check_int(height=height, columns=columns)

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the image in pixels."""
        height, width = self.image if isinstance(self.image, (tuple, list)) else [self.image] * 2
        return height, width

    @property
    def map_sizes(self) -> tuple[tuple[int, int], ...]:
        """Rows and columns of each stage's map, for an image of the size it is made for."""
        height, width = self.size
        sides = [self.patch * 2**stage for stage in range(len(self.depths))]  # of a cell, in pixels
        return tuple((-(-height // side), -(-width // side)) for side in sides)

    def window_at(self, stage: int) -> int:
        """M for one stage: the window, or the map's shorter side where that is less."""
        return min(self.window, *self.map_sizes[stage]) if self.shrink_windows else self.window

    @classmethod
    def tiny(cls, **changes: Any) -> SwinConfig:
        """Return Swin-T, 28M parameters."""
        return cls(**{"drop_path": 0.2, **changes})

    @classmethod
    def small(cls, **changes: Any) -> SwinConfig:
        """Return Swin-S, 50M parameters."""
        return cls(**{"depths": (2, 2, 18, 2), "drop_path": 0.3, **changes})

    @classmethod
    def base(cls, **changes: Any) -> SwinConfig:
        """Return Swin-B, 88M parameters."""
        sizes = {"width": 128, "depths": (2, 2, 18, 2), "heads": (4, 8, 16, 32)}
        return cls(**{**sizes, "drop_path": 0.5, **changes})

    @classmethod
    def large(cls, **changes: Any) -> SwinConfig:
        """Return Swin-L, 197M parameters."""
        sizes = {"width": 192, "depths": (2, 2, 18, 2), "heads": (6, 12, 24, 48)}
        return cls(**{**sizes, "drop_path": 0.2, **changes})


def window_partition(x: Tensor, window: int) -> Tensor:
    """x (B, R, C, D) -> (B·W, M², D): cut each map into windows, row by row."""
    check_shape(x, "x", "batch, rows, columns, width")
    check_int(window=window)
    if x.shape[1] % window or x.shape[2] % window:
        raise ValueError(
            f"a map of {tuple(x.shape[1:3])} cannot be cut into windows of side {window}"
        )
    x = x.unflatten(2, (-1, window)).unflatten(1, (-1, window))  # (B, R/M, M, C/M, M, D)
    return x.transpose(2, 3).flatten(3, 4).flatten(0, 2)  # (B·W, M², D)


def window_reverse(windows: Tensor, window: int, rows: int, columns: int) -> Tensor:
    """windows (B·W, M², D) -> (B, R, C, D): put the windows back where they were."""
    check_shape(windows, "windows", "windows, cells, width")
    check_int(window=window, rows=rows, columns=columns)
    grid = (-1, rows // window, columns // window)
    x = windows.unflatten(1, (window, window)).unflatten(0, grid)  # (B, R/M, C/M, M, M, D)
    return x.transpose(2, 3).flatten(3, 4).flatten(1, 2)  # (B, R, C, D)


def fill(x: Tensor, side: int) -> Tensor:
    """x (B, R, C, D) -> (B, R', C', D): zeros below and on the right, up to multiples of `side`."""
    rows, columns = x.shape[1:3]
    if readable(x) and rows % side == 0 and columns % side == 0:
        return x
    return F.pad(x, (0, 0, 0, -columns % side, 0, -rows % side))


def shift_mask(
    rows: int, columns: int, window: int, shift: int, device: torch.device | None = None
) -> Tensor:
    """(W, 1, M², M²): in the shifted map, who was a neighbour before the shift, True = may attend.

    The roll brings the first `shift` rows and columns to the far end, where they share windows with
    cells from the other side of the image. Cells attend to each other only if both came around the
    edge or neither did.
    """
    check_int(rows=rows, columns=columns)
    check_int(0, shift=shift)
    rows_wrapped = torch.arange(rows, device=device) >= rows - shift  # (R,)
    columns_wrapped = torch.arange(columns, device=device) >= columns - shift  # (C,)
    region = 2 * rows_wrapped[:, None] + columns_wrapped  # (R, C): one of four numbers
    region = window_partition(region[None, :, :, None], window)  # (W, M², 1)
    return (region == region.mT)[:, None]  # (W, 1, M², M²)


_shift_mask = lru_cache(maxsize=64)(shift_mask)  # one for each size of map, shared: read only


class WindowAttention(nn.Module):
    """Multi-head attention within windows: W-MSA, or SW-MSA with a `shift` (section 3.2)."""

    def __init__(
        self,
        *,
        width: int,
        heads: int,
        window: int,
        shift: int = 0,
        shrink: bool = True,
        qkv_bias: bool = True,
        relative_bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        check_int(window=window)
        check_int(0, shift=shift)
        self.window, self.shift, self.shrink = window, shift, shrink
        self.multi_head = MultiHeadAttention(width=width, heads=heads, dropout=dropout)
        if not qkv_bias:
            self.multi_head.qkv.register_parameter("bias", None)
        self.bias = None
        if relative_bias:
            self.bias = WindowBias(heads=heads, height=window, columns=window)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, R, C, D) -> (B, R, C, D).

        The weights of `multi_head` (B·W, H, M², M²) are those of the shifted map's windows, row by
        row.
        """
        (batch, rows, columns, _), window, shift = x.shape, self.window, self.shift
        if self.shrink and min(rows, columns) <= window:  # no room for a second window
            window, shift = min(rows, columns), 0
        x = fill(x, window)  # (B, R', C', D)
        padded = x.shape[1], x.shape[2]
        bias = None
        if self.bias is not None:
            bias = self.bias(window, window)  # (H, M², M²): B in the paper's equation 4
        if shift:
            x = x.roll((-shift, -shift), dims=(1, 2))  # Figure 4: windows stay, the map moves
            # While torch records a graph, sizes are symbols: nothing made of them may be cached.
            make = _shift_mask if readable(x) else shift_mask
            allowed = make(*padded, window, shift, x.device)  # (W, 1, M², M²)
            bias = x.new_zeros(1, 1, 1) if bias is None else bias
            bias = bias.masked_fill(~allowed, -torch.inf)  # (W, H, M², M²)
            bias = bias.repeat(batch, 1, 1, 1)  # (B·W, H, M², M²)
        windows = window_partition(x, window)  # (B·W, M², D)
        windows = self.multi_head(windows, bias=bias)  # (B·W, M², D)
        x = window_reverse(windows, window, *padded)  # (B, R', C', D)
        if shift:
            x = x.roll((shift, shift), dims=(1, 2))
        return x[:, :rows, :columns]  # (B, R, C, D)


class SwinBlock(nn.Module):
    """x + (S)W-MSA(LN(x)), then x + MLP(LN(x)): the paper's equation 3."""

    def __init__(self, config: SwinConfig, stage: int, *, shifted: bool, drop_path: float) -> None:
        super().__init__()
        check_between(0, len(config.depths) - 1, stage=stage)
        width = config.width * 2**stage
        window = config.window_at(stage)
        add = {
            "width": width,
            "norm": "pre",
            "dropout": config.dropout,
            "drop_path": drop_path,
            "eps": config.eps,
        }
        self.attention = WindowAttention(
            width=width,
            heads=config.heads[stage],
            window=window,
            shift=window // 2 if shifted and config.shifted else 0,
            shrink=config.shrink_windows,
            qkv_bias=config.qkv_bias,
            relative_bias=config.relative_bias,
            dropout=config.attention_dropout,
        )
        self.attention_residual = Residual(**add)
        self.feed_forward = FeedForward(
            width=width,
            hidden=int(width * config.mlp_ratio),
            activation=F.gelu,
            dropout=config.dropout,
        )
        self.feed_residual = Residual(**add)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, R, C, D) -> (B, R, C, D)."""
        y = self.attention(self.attention_residual.before(x))
        x = self.attention_residual.after(x, y)  # (B, R, C, D)
        y = self.feed_forward(self.feed_residual.before(x).flatten(1, 2))  # (B, R·C, D)
        return self.feed_residual.after(x, y.unflatten(1, x.shape[1:3]))  # (B, R, C, D)


class PatchMerging(nn.Module):
    """Four neighbours become one cell, twice as wide: half the rows, half the columns."""

    def __init__(self, *, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(4 * width, eps=eps)
        self.reduce = nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, R, C, D) -> (B, ⌈R/2⌉, ⌈C/2⌉, 2·D); an odd side gets one row or column of zeros."""
        x = fill(x, 2)
        x = x.unflatten(2, (-1, 2)).unflatten(1, (-1, 2))  # (B, R/2, 2, C/2, 2, D)
        # Upper left, lower left, upper right, lower right: the row within the four changes first.
        x = x.permute(0, 1, 3, 4, 2, 5).flatten(3)  # (B, R/2, C/2, 4·D)
        return self.reduce(self.norm(x))  # (B, R/2, C/2, 2·D)


class PatchEmbedding(nn.Module):
    """Cut the image into patches and project each: a convolution whose stride is its size."""

    def __init__(self, config: SwinConfig) -> None:
        super().__init__()
        self.patch = config.patch
        self.project = nn.Conv2d(config.channels, config.width, config.patch, stride=config.patch)
        self.norm = nn.LayerNorm(config.width, eps=config.eps)

    def forward(self, images: Tensor) -> Tensor:
        """images (B, channels, height, width) -> (B, R, C, D); zeros fill up the last patches."""
        height, width = images.shape[2:]
        images = F.pad(images, (0, -width % self.patch, 0, -height % self.patch))
        return self.norm(self.project(images).permute(0, 2, 3, 1))  # (B, R, C, D)


class Stage(nn.Module):
    """Merge (not in the first stage), then blocks that shift their windows every second time."""

    def __init__(self, config: SwinConfig, stage: int, drop_paths: list[float]) -> None:
        super().__init__()
        self.merge: nn.Module = nn.Identity()
        if stage:
            self.merge = PatchMerging(width=config.width * 2 ** (stage - 1), eps=config.eps)
        self.blocks = nn.ModuleList(
            SwinBlock(config, stage, shifted=depth % 2 == 1, drop_path=drop_path)
            for depth, drop_path in enumerate(drop_paths)
        )

    def forward(self, x: Tensor) -> Tensor:
        """x (B, R, C, D) -> (B, R/2, C/2, 2·D); in the first stage the size stays."""
        x = self.merge(x)
        for block in self.blocks:
            x = block(x)
        return x


class Swin(nn.Module):
    """Patches, stages of windowed attention on ever coarser maps, the mean, a linear classifier."""

    def __init__(self, config: SwinConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = PatchEmbedding(config)
        self.positions = None
        if config.absolute_positions:
            rows, columns = config.map_sizes[0]
            self.positions = LearnedPosition(size=rows * columns, width=config.width)
        self.dropout = nn.Dropout(config.dropout)
        rates = torch.linspace(0, config.drop_path, sum(config.depths), device="cpu").tolist()
        self.stages = nn.ModuleList(
            Stage(config, stage, [rates.pop(0) for _ in range(depth)])
            for stage, depth in enumerate(config.depths)
        )
        width = config.width * 2 ** (len(config.depths) - 1)
        self.norm = nn.LayerNorm(width, eps=config.eps)
        self.head = nn.Linear(width, config.classes) if config.classes else nn.Identity()
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, images: Tensor) -> Tensor:
        """images (B, channels, height, width) -> logits (B, V), without classes the mean (B, D)."""
        return self.head(self.encode(images).mean(dim=1))  # (B, V)

    def encode(self, images: Tensor) -> Tensor:
        """images (B, channels, height, width) -> the last stage's cells, normalised (B, R·C, D)."""
        return self.norm(self.maps(images)[-1].flatten(1, 2))  # (B, R·C, D)

    def maps(self, images: Tensor) -> list[Tensor]:
        """images (B, channels, height, width) -> every stage's map (B, R, C, D), fine to coarse."""
        check_images(images, self.config.channels, weight=self.embedding.project.weight)
        x = self.embedding(images)  # (B, R, C, D)
        if self.positions is not None:
            expected = self.config.map_sizes[0]
            if x.shape[1:3] != expected:
                raise ValueError(
                    f"absolute positions were learned for {expected} patches, "
                    f"found an image of {tuple(x.shape[1:3])}"
                )
            x = self.positions(x.flatten(1, 2)).unflatten(1, x.shape[1:3])
        x = self.dropout(x)
        maps = []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        return maps
