"""Positions: how a model that does not know order is told about it.

Added to the embeddings: none, learned, binary, sinusoidal, and the 2-D sine of images. Turned into
the queries and keys: rotary. Added to the scores: ALiBi, the T5 bucket bias, the Swin window bias.
The book compares them in "Positions". Shapes: B batch, T length, S keys, D width, H heads.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from coursekit._check import check_positive, check_width, readable


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
    check_positive(width=width, base=base)
    t = torch.arange(positions) if isinstance(positions, int) else positions
    angles = _angles(t, width, base)  # (..., ceil(width / 2))
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (..., ceil(width / 2), 2)
    return waves.flatten(-2)[..., :width].to(dtype)  # (..., width)


def shift_matrix(
    delta: float, width: int, *, base: float = 10_000.0, dtype: torch.dtype = torch.float32
) -> Tensor:
    """A_Δ (width, width) with sinusoidal(t + Δ) = A_Δ sinusoidal(t) for every t.

    Each sin–cos pair is turned by its own angle ωΔ: rotation blocks along the diagonal.
    """
    _check_even(width, "shift_matrix")
    angles = _angles(torch.tensor(delta), width, base)  # (width / 2,)
    sin, cos = angles.sin(), angles.cos()
    blocks = torch.stack([cos, sin, -sin, cos], dim=-1).unflatten(-1, (2, 2))  # (width / 2, 2, 2)
    return torch.block_diag(*blocks).to(dtype)  # (width, width)


def binary(positions: int | Tensor, width: int) -> Tensor:
    """positions (...) -> (..., width): each position's number in bits, lowest bit first."""
    check_positive(width=width)
    t = torch.arange(positions) if isinstance(positions, int) else positions
    if t.numel() and int(t.max()) >= 2**width:
        raise ValueError(f"{width} bits number {2**width} positions, found position {int(t.max())}")
    return (t[..., None] >> torch.arange(width, device=t.device) & 1).float()  # (..., width)


def sine_2d(height: int, columns: int, width: int, *, base: float = 10_000.0) -> Tensor:
    """(height, columns, width): the first half of the width encodes the row, the second the column.

    Each half is `sinusoidal`. DETR counts and scales in its own way: `padded_sine_2d`.
    """
    if width % 4:
        raise ValueError(
            f"sine_2d needs a width that 4 divides (sin, cos; row, column), got {width}"
        )
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
    that an image is told the same with and without padding, and are scaled so that the last one
    stands at `scale`: a place is a part of the image, however many pixels it has.
    """
    if keep.ndim != 3 or keep.dtype != torch.bool:
        raise ValueError(
            "keep must be boolean with shape (batch, height, columns), "
            f"found {keep.dtype} with shape {tuple(keep.shape)}"
        )
    if width % 4:
        raise ValueError(
            f"padded_sine_2d needs a width that 4 divides (sin, cos; row, column), got {width}"
        )
    exact = torch.float32 if keep.device.type == "mps" else torch.float64  # MPS has no double
    rows, columns = keep.cumsum(1, dtype=exact), keep.cumsum(2, dtype=exact)  # 2 × (B, h, w)
    rows = rows / (rows[:, -1:, :] + 1e-6) * scale  # 1e-6: a column of padding only stands at 0
    columns = columns / (columns[:, :, -1:] + 1e-6) * scale
    halves = [sinusoidal(place, width // 2, base=base, dtype=dtype) for place in (rows, columns)]
    return torch.cat(halves, dim=-1)  # (B, height, columns, width)


def places(T: int, offset: int | Tensor = 0, device: torch.device | None = None) -> Tensor:
    """(T,): the numbers of T positions from `offset` on, or (B, T) where each row has its own.

    A row of a batch that is padded on the left starts before 0; its padding counts as place 0.
    """
    if isinstance(offset, int):
        return torch.arange(offset, offset + T, device=device)  # (T,)
    return (offset[:, None] + torch.arange(T, device=offset.device)).clamp_min(0)  # (B, T)


class NoPosition(nn.Module):
    """Add nothing: the model cannot tell "Sam I am" from "I am Sam"."""

    def forward(self, x: Tensor, offset: int | Tensor = 0) -> Tensor:
        """x (B, T, D) -> the same."""
        return x


class LearnedPosition(nn.Module):
    """Add one learned vector for each of `size` positions, as BERT, GPT and ViT do."""

    def __init__(self, *, size: int, width: int, std: float = 0.02) -> None:
        super().__init__()
        check_positive(size=size, width=width)
        self.weight = nn.Parameter(torch.randn(size, width) * std)  # (size, D)

    def forward(self, x: Tensor, offset: int | Tensor = 0) -> Tensor:
        """x (B, T, D) -> (B, T, D); `offset` as in `places`."""
        size, width = self.weight.shape
        check_width(x, width, "x")
        first = 0
        if isinstance(offset, int):
            first = offset
        elif readable(offset):
            first = int(offset.max())
        last = first + x.shape[1] - 1
        if last >= size or (isinstance(offset, int) and offset < 0):
            raise ValueError(f"{size} positions were learned, found places {first} to {last}")
        if isinstance(offset, int):
            return x + self.weight[offset : last + 1]
        return x + self.weight[places(x.shape[1], offset)]


class SinusoidalPosition(nn.Module):
    """Add the sine waves of Vaswani et al. (2017), for any length."""

    def __init__(self, *, width: int, base: float = 10_000.0) -> None:
        super().__init__()
        self.width, self.base = width, base

    def forward(self, x: Tensor, offset: int | Tensor = 0) -> Tensor:
        """x (B, T, D) -> (B, T, D); `offset` as in `places`."""
        check_width(x, self.width, "x")
        t = places(x.shape[1], offset, x.device)  # (T,) or (B, T)
        return x + sinusoidal(t, self.width, base=self.base, dtype=x.dtype)


class BinaryPosition(nn.Module):
    """Add the bits of the position, for up to 2^width positions."""

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, x: Tensor, offset: int | Tensor = 0) -> Tensor:
        """x (B, T, D) -> (B, T, D); `offset` as in `places`."""
        check_width(x, self.width, "x")
        t = places(x.shape[1], offset, x.device)  # (T,) or (B, T)
        return x + binary(t, self.width).to(x.dtype)


class Rotary(nn.Module):
    """Turn queries and keys by an angle that grows with their position (Su et al., 2021).

    The dot product of two turned vectors depends on how far apart they stand, not on where.
    `layout` says which numbers form the turning pairs: "pairs" takes neighbours (0, 1), (2, 3), …
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
        _check_even(width, "Rotary")
        if layout not in ("pairs", "halves"):
            raise ValueError(f'layout must be "pairs" or "halves", found {layout!r}')
        self.width, self.base, self.layout = width, base, layout

    def forward(self, x: Tensor, offset: int | Tensor = 0) -> Tensor:
        """x (..., T, Dh) -> the same shape; `offset` is the first place, or all places (T,)."""
        if x.shape[-1] != self.width:
            raise ValueError(f"Rotary is {self.width} wide, found {tuple(x.shape)}")
        t = places(x.shape[-2], offset, x.device) if isinstance(offset, int) else offset
        angles = _angles(t, self.width, self.base)  # (T, Dh / 2)
        sin, cos = angles.sin().to(x.dtype), angles.cos().to(x.dtype)  # (T, Dh / 2)
        if self.layout == "pairs":
            a, b = x[..., 0::2], x[..., 1::2]  # 2 × (..., T, Dh / 2)
            return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
        a, b = x.chunk(2, dim=-1)  # 2 × (..., T, Dh / 2)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)  # (..., T, Dh)


def alibi_slopes(heads: int) -> Tensor:
    """(H,): one slope for each head, 2^(−8/H), 2^(−16/H), … (Press et al., 2022).

    So where H is a power of two; other numbers take the slopes of the next lower power, then every
    second slope of the next higher one, as the paper's code does.
    """
    check_positive(heads=heads)
    power = 2 ** math.floor(math.log2(heads))
    slopes = [2 ** (-8 * (h + 1) / power) for h in range(power)]
    slopes += [2 ** (-4 * (2 * h + 1) / power) for h in range(heads - power)]
    return torch.tensor(slopes)


def alibi(T: int, S: int | None = None, *, heads: int) -> Tensor:
    """(H, T, S): minus slope times distance, to be added to the scores as `bias`."""
    distance = _distances(T, S).abs()  # (T, S)
    return -alibi_slopes(heads)[:, None, None] * distance


def relative_buckets(
    distance: Tensor, *, buckets: int = 32, max_distance: int = 128, bidirectional: bool = True
) -> Tensor:
    """distance = key − query, any shape -> bucket numbers: exact when near, logarithmic when far.

    With `bidirectional` half of the buckets serve keys ahead of the query; without it keys ahead
    share bucket 0 (Raffel et al., 2020).
    """
    bucket = torch.zeros_like(distance)
    if bidirectional:
        buckets //= 2
        bucket = torch.where(distance > 0, buckets, 0)
        distance = distance.abs()
    else:
        distance = -distance.clamp_max(0)
    exact = buckets // 2
    far = torch.log(distance.clamp_min(1).float() / exact) / math.log(max_distance / exact)
    far = (exact + far * (buckets - exact)).long().clamp_max(buckets - 1)
    return bucket + torch.where(distance < exact, distance, far)


class RelativeBias(nn.Module):
    """One learned number for each head and bucket of distance, added to the scores (T5)."""

    def __init__(
        self,
        *,
        heads: int,
        buckets: int = 32,
        max_distance: int = 128,
        bidirectional: bool = True,
    ) -> None:
        super().__init__()
        if buckets < 4 or buckets % 2:
            raise ValueError(f"buckets must be an even number of at least 4, found {buckets}")
        self.buckets, self.max_distance, self.bidirectional = buckets, max_distance, bidirectional
        self.weight = nn.Parameter(torch.randn(buckets, heads) * 0.02)

    def forward(self, T: int, S: int | None = None) -> Tensor:
        """Lengths -> bias (H, T, S); with S > T the queries are the last T positions."""
        bucket = relative_buckets(
            -_distances(T, S, self.weight.device),
            buckets=self.buckets,
            max_distance=self.max_distance,
            bidirectional=self.bidirectional,
        )  # (T, S)
        return self.weight[bucket].movedim(-1, 0)  # (H, T, S)


class WindowBias(nn.Module):
    """One learned number for each head and offset (rows, columns) inside a window (Swin)."""

    def __init__(self, *, heads: int, height: int, columns: int) -> None:
        super().__init__()
        check_positive(heads=heads, height=height, columns=columns)
        self.height, self.columns = height, columns
        self.weight = nn.Parameter(torch.randn((2 * height - 1) * (2 * columns - 1), heads) * 0.02)

    def forward(self, height: int | None = None, columns: int | None = None) -> Tensor:
        """-> bias (H, N, N) for the N = height · columns cells of a window, row by row.

        A smaller window than the largest, for which the table is made, has fewer of its offsets.
        """
        height = self.height if height is None else height
        columns = self.columns if columns is None else columns
        if not (0 < height <= self.height and 0 < columns <= self.columns):
            raise ValueError(
                f"the largest window is {self.height} by {self.columns}, "
                f"found {height} by {columns}"
            )
        table = self.weight.unflatten(0, (2 * self.height - 1, 2 * self.columns - 1))
        down, right = self.height - height, self.columns - columns  # offsets that are too far
        table = table[down : len(table) - down, right : table.shape[1] - right]
        return window_bias(table)


def window_bias(table: Tensor) -> Tensor:
    """Table (2h − 1, 2w − 1, H) of all offsets -> bias (H, N, N) of the N = h · w cells.

    The offset of a query in row r and a key in row s is r − s, and stands at r − s + h − 1. Read
    backwards that is (h − 1 − r) + s: what a window of h sees at s when it stands at h − 1 − r.
    """
    height, columns = (table.shape[0] + 1) // 2, (table.shape[1] + 1) // 2
    seen = table.flip(0, 1).unfold(0, height, 1).unfold(1, columns, 1)  # (h, w, H, h, w): views
    return seen.flip(0, 1).permute(2, 0, 1, 3, 4).flatten(3).flatten(1, 2)  # (H, N, N)


def _angles(positions: Tensor, width: int, base: float) -> Tensor:
    """positions (...) -> (..., ceil(width / 2)): ω_i t with ω_i = base^(−2i / width).

    In double precision, for at position 100,000 a float32 angle is wrong in the third decimal; MPS
    has no double and must do without.
    """
    dtype = torch.float32 if positions.device.type == "mps" else torch.float64
    pairs = torch.arange(0, width, 2, dtype=dtype, device=positions.device)
    return positions[..., None].to(dtype) * base ** (-pairs / width)


def _distances(T: int, S: int | None, device: torch.device | None = None) -> Tensor:
    """(T, S): query place minus key place, the queries being the last T of S positions."""
    S = T if S is None else S
    if S < T:
        raise ValueError(f"there must be at least as many keys as queries, found T={T}, S={S}")
    place = torch.arange(S, device=device)
    return place[S - T :, None] - place[None, :]


def _check_even(width: int, what: str) -> None:
    if width < 2 or width % 2:
        raise ValueError(f"{what} turns pairs of numbers and needs an even width, found {width}")
