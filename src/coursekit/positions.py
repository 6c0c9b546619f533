"""Positions: how a model that ignores order learns where each token is.

Added to the embeddings: none, learned, binary, sinusoidal, and the 2-D sine of images. Rotating the
queries and keys: rotary. Added to the scores: ALiBi, the T5 bucket bias, the Swin window bias,
which are in `biases`. The book compares them in "Positions".
Shapes: B batch, T length, S keys, D width, H heads.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from coursekit._base.checks import check_choice, check_int, check_positive, check_shape, readable


def sinusoidal(
    positions: int | Tensor,
    width: int,
    *,
    base: float = 10_000.0,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """positions (...) -> (..., width): sin and cos of each position at width / 2 speeds.

    An int T stands for the positions 0 … T−1. Column 2i holds sin(ω t), column 2i + 1 holds
    cos(ω t), with ω = base^(−2i / width). An odd width ends on a sine without its cosine.
    """
    check_int(width=width)
    t = _ids(positions)  # (...)
    angles = _angles(t, width, base)  # (..., ceil(width / 2))
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (..., ceil(width / 2), 2)
    return waves.flatten(-2)[..., :width].to(dtype)  # (..., width)


def shift_matrix(
    delta: float, width: int, *, base: float = 10_000.0, dtype: torch.dtype = torch.float32
) -> Tensor:
    """A_Δ (width, width) with sinusoidal(t + Δ) = A_Δ sinusoidal(t) for every t.

    Each sin–cos pair is turned by its own angle ωΔ: rotation blocks along the diagonal.
    """
    _check_divides(2, width, "shift_matrix turns pairs")
    angles = _angles(torch.tensor(delta), width, base)  # (width / 2,)
    sin, cos = angles.sin(), angles.cos()
    blocks = torch.stack([cos, sin, -sin, cos], dim=-1).unflatten(-1, (2, 2))  # (width / 2, 2, 2)
    return torch.block_diag(*blocks).to(dtype)  # (width, width)


def binary(positions: int | Tensor, width: int) -> Tensor:
    """positions (...) -> (..., width): each position's number in bits, lowest bit first."""
    check_int(width=width)
    t = _ids(positions)  # (...)
    if t.numel() and readable(t):
        for place in (int(t.min()), int(t.max())):
            if not 0 <= place < 2**width:
                raise ValueError(f"{width} bits hold {2**width} positions, found position {place}")
    return (t[..., None] >> torch.arange(width, device=t.device) & 1).float()  # (..., width)


def sine_2d(height: int, columns: int, width: int, *, base: float = 10_000.0) -> Tensor:
    """(height, columns, width): the first half of the width encodes the row, the second the column.

    Each half is `sinusoidal`. DETR counts and scales in its own way: `padded_sine_2d`.
    """
    _check_divides(4, width, "sine_2d turns pairs for rows and for columns")
    check_int(0, height=height, columns=columns)
    rows = sinusoidal(height, width // 2, base=base)[:, None, :].expand(-1, columns, -1)
    cols = sinusoidal(columns, width // 2, base=base)[None, :, :].expand(height, -1, -1)
    return torch.cat([rows, cols], dim=-1)  # (height, columns, width)


def padded_sine_2d(
    keep: Tensor,
    width: int,
    *,
    base: float = 10_000.0,
    scale: float = 2 * math.pi,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """keep (B, height, columns) -> (B, height, columns, width), as DETR (Carion et al., 2020).

    `keep` is True at real pixels. Rows and columns are counted from 1 over the real pixels only, so
    that an image gets the same positions with and without padding, and are scaled so that the last
    one is at `scale`: positions are relative to the size of the image.
    """
    check_shape(keep, "keep", "batch, height, columns", torch.bool)
    _check_divides(4, width, "padded_sine_2d turns pairs for rows and for columns")
    exact = torch.float32 if keep.device.type == "mps" else torch.float64  # MPS has no double
    rows, columns = keep.cumsum(1, dtype=exact), keep.cumsum(2, dtype=exact)  # 2 × (B, h, w)
    rows = rows / (rows[:, -1:, :] + 1e-6) * scale  # 1e-6: a column of nothing but padding is at 0
    columns = columns / (columns[:, :, -1:] + 1e-6) * scale
    halves = [sinusoidal(place, width // 2, base=base, dtype=dtype) for place in (rows, columns)]
    return torch.cat(halves, dim=-1)  # (B, height, columns, width)


def position_ids(T: int, offset: int | Tensor = 0, device: torch.device | None = None) -> Tensor:
    """Return the ids of T positions from `offset` on (T,), or (B, T) where each row has its own.

    A row of a batch that is padded on the left starts before 0; its padding gets id 0.
    """
    check_int(0, T=T)
    if not isinstance(offset, Tensor):
        return torch.arange(offset, offset + T, device=device)  # (T,)
    return (offset[:, None] + torch.arange(T, device=offset.device)).clamp_min(0)  # (B, T)


def _row_ids(x: Tensor, offset: int | Tensor) -> Tensor:
    """Return the `position_ids` (T,) or (B, T) of x (B, ..., T, D); an offset for each row of x."""
    if isinstance(offset, Tensor):
        check_shape(offset, "the offsets, one for each row of x,", x.shape[:1])
    return position_ids(x.shape[-2], offset, x.device)


class NoPosition(nn.Module):
    """Add nothing: the model cannot tell "Sam I am" from "I am Sam"."""

    def forward(self, x: Tensor, offset: int | Tensor = 0) -> Tensor:
        """x (B, T, D) -> the same."""
        return x


class LearnedPosition(nn.Module):
    """Add one learned vector for each of `size` positions, as BERT, GPT and ViT do."""

    def __init__(self, *, size: int, width: int, std: float = 0.02) -> None:
        super().__init__()
        check_int(size=size, width=width)
        self.weight = nn.Parameter(torch.randn(size, width) * std)  # (size, D)

    def forward(self, x: Tensor, offset: int | Tensor = 0) -> Tensor:
        """x (B, T, D) -> (B, T, D); `offset` as in `position_ids`."""
        size = len(self.weight)
        if isinstance(offset, Tensor):
            first = int(offset.max()) if readable(offset) else 0
        else:
            first = offset
        last = first + x.shape[1] - 1
        if last >= size or (isinstance(offset, int) and offset < 0):
            raise ValueError(f"{size} positions were learned, found positions {first} to {last}")
        if isinstance(offset, Tensor):
            return x + self.weight[_row_ids(x, offset)]  # (B, T, D)
        return x + self.weight[first : last + 1]  # (B, T, D)


class SinusoidalPosition(nn.Module):
    """Add the sine waves of Vaswani et al. (2017), for any length."""

    def __init__(self, *, width: int, base: float = 10_000.0) -> None:
        super().__init__()
        check_int(width=width)
        check_positive(base=base)
        self.width, self.base = width, base

    def forward(self, x: Tensor, offset: int | Tensor = 0) -> Tensor:
        """x (B, T, D) -> (B, T, D); `offset` as in `position_ids`."""
        t = _row_ids(x, offset)  # (T,) or (B, T)
        return x + sinusoidal(t, self.width, base=self.base, dtype=x.dtype)


class BinaryPosition(nn.Module):
    """Add the bits of the position, for up to 2^width positions."""

    def __init__(self, *, width: int) -> None:
        super().__init__()
        check_int(width=width)
        self.width = width

    def forward(self, x: Tensor, offset: int | Tensor = 0) -> Tensor:
        """x (B, T, D) -> (B, T, D); `offset` as in `position_ids`."""
        t = _row_ids(x, offset)  # (T,) or (B, T)
        return x + binary(t, self.width).to(x.dtype)


class Rotary(nn.Module):
    """Rotate queries and keys by an angle that grows with their position (Su et al., 2021).

    The dot product of two rotated vectors depends on how far apart they are, not on where.
    `layout` says which numbers form the rotating pairs: "pairs" takes neighbours (0, 1), (2, 3), …
    as the paper does, "halves" takes (0, D/2), (1, D/2 + 1), … as GPT-NeoX and Llama do.
    """

    def __init__(
        self,
        *,
        width: int,
        base: float = 10_000.0,
        layout: Literal["pairs", "halves"] = "pairs",
    ) -> None:
        super().__init__()
        _check_divides(2, width, "Rotary turns pairs")
        check_choice(("pairs", "halves"), layout=layout)
        check_positive(base=base)
        self.width, self.base, self.layout = width, base, layout

    def forward(
        self, x: Tensor, offset: int | Tensor = 0, *, position_ids: Tensor | None = None
    ) -> Tensor:
        """x (B, ..., T, Dh) -> the same shape; `offset` as in `position_ids`.

        Or pass all `position_ids`: (T,), or (B, T) where each row of the batch has its own.
        """
        if x.shape[-1] != self.width:
            raise ValueError(f"Rotary is {self.width} wide, found {tuple(x.shape)}")
        t = _row_ids(x, offset) if position_ids is None else position_ids
        if t.shape == (x.shape[0], x.shape[-2]) and x.ndim > 2:
            t = t.view(x.shape[0], *[1] * (x.ndim - 3), -1)  # (B, 1, T): the same in all heads
        elif t.shape != x.shape[-2:-1] or t.dtype == torch.bool:
            raise ValueError(
                f"the position_ids of x {tuple(x.shape)} must be "
                f"({x.shape[-2]},) or (batch, {x.shape[-2]}), found {t.dtype} {tuple(t.shape)}"
            )
        return self.turn(x, *self.waves(t, x.dtype))

    def waves(self, positions: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """positions (...) -> the sine and the cosine of each pair's angle, 2 × (..., Dh / 2)."""
        angles = _angles(positions, self.width, self.base)  # (..., Dh / 2)
        return angles.sin().to(dtype), angles.cos().to(dtype)

    def turn(self, x: Tensor, sin: Tensor, cos: Tensor) -> Tensor:
        """x (..., T, Dh), sin, cos (..., T, Dh / 2) -> the same shape, every pair turned."""
        if self.layout == "pairs":
            a, b = x[..., 0::2], x[..., 1::2]  # 2 × (..., T, Dh / 2)
            return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
        a, b = x.chunk(2, dim=-1)  # 2 × (..., T, Dh / 2)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)  # (..., T, Dh)


def _angles(positions: Tensor, width: int, base: float) -> Tensor:
    """positions (...) -> (..., ceil(width / 2)): ω_i t with ω_i = base^(−2i / width).

    In float64, because at position 100,000 a float32 angle is wrong in the third decimal; MPS has
    no float64 and must do without.
    """
    check_positive(base=base)
    dtype = torch.float32 if positions.device.type == "mps" else torch.float64
    pairs = torch.arange(0, width, 2, dtype=dtype, device=positions.device)
    return positions[..., None].to(dtype) * base ** (-pairs / width)


def _ids(positions: int | Tensor) -> Tensor:
    """The positions themselves, or 0 … T − 1 for an int T."""
    return positions if isinstance(positions, Tensor) else torch.arange(positions)


def _check_divides(number: int, width: int, why: str) -> None:
    check_int(width=width)
    if width % number:
        raise ValueError(f"{why}: {number} must divide the width, found {width}")
