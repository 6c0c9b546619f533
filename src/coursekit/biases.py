"""Positions that are added to the scores: ALiBi, the T5 bucket bias, the Swin window bias.

They depend on the distance between query and key alone; `positions` has the other ways. The book
compares them in "Positions". Shapes: T queries, S keys, H heads, N cells of a window.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from coursekit._base.checks import check_between, check_int


def alibi_slopes(heads: int) -> Tensor:
    """(H,): one slope for each head, 2^(−8/H), 2^(−16/H), … (Press et al., 2022).

    That holds where H is a power of two. Other numbers take the slopes of the next lower power,
    then every second slope of the next higher one, as the paper's code does.
    """
    check_int(heads=heads)
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
    _check_buckets(buckets, max_distance, bidirectional)
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
        check_int(heads=heads)
        _check_buckets(buckets, max_distance, bidirectional)
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
        check_int(heads=heads, height=height, columns=columns)
        self.height, self.columns = height, columns
        self.weight = nn.Parameter(torch.randn((2 * height - 1) * (2 * columns - 1), heads) * 0.02)

    def forward(self, height: int | None = None, columns: int | None = None) -> Tensor:
        """-> bias (H, N, N) for the N = height · columns cells of a window, row by row.

        The table is made for the largest window; a smaller one uses fewer of its offsets.
        """
        height = self.height if height is None else height
        columns = self.columns if columns is None else columns
        check_between(1, self.height, height=height)
        check_between(1, self.columns, columns=columns)
        table = self.weight.unflatten(0, (2 * self.height - 1, 2 * self.columns - 1))
        down, right = self.height - height, self.columns - columns  # offsets that are too far
        table = table[down : table.shape[0] - down, right : table.shape[1] - right]
        return window_bias(table)


def window_bias(table: Tensor) -> Tensor:
    """Table (2h − 1, 2w − 1, H) of all offsets -> bias (H, N, N) of the N = h · w cells.

    A query in row r and a key in row s have the offset r − s, at index r − s + h − 1 of the table.
    In the flipped table its index is (h − 1 − r) + s: element s of the slice of length h that
    starts at h − 1 − r.
    """
    height, columns = (table.shape[0] + 1) // 2, (table.shape[1] + 1) // 2
    windows = table.flip(0, 1).unfold(0, height, 1).unfold(1, columns, 1)  # (h, w, H, h, w): views
    return windows.flip(0, 1).permute(2, 0, 1, 3, 4).flatten(3).flatten(1, 2)  # (H, N, N)


def _check_buckets(buckets: int, max_distance: int, bidirectional: bool) -> None:
    check_int(buckets=buckets, max_distance=max_distance)
    if buckets < 4 or buckets % 2:
        raise ValueError(f"buckets must be an even number of at least 4, found {buckets}")
    exact = buckets // (4 if bidirectional else 2)  # nearer ones have a bucket each
    if max_distance <= exact:
        raise ValueError(
            f"max_distance must be above {exact}, for the {exact} nearest distances have a bucket "
            f"each, found {max_distance}"
        )


def _distances(T: int, S: int | None, device: torch.device | None = None) -> Tensor:
    """(T, S): query position minus key position, the queries being the last T of S positions."""
    S = T if S is None else S
    check_int(0, T=T, S=S)
    if S < T:
        raise ValueError(f"there must be at least as many keys as queries, found T={T}, S={S}")
    positions = torch.arange(S, device=device)
    return positions[S - T :, None] - positions[None, :]
