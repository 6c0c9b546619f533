"""Patches: an image read as a sequence, and where each patch is in the image.

What ViT, DeiT and MAE share. The book explains it in "ViT". Shapes: B batch,
C channels, P side of a patch, N patches (row by row), D width, H heads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit._base.checks import check_choice, check_int, check_shape, check_tensor
from coursekit.biases import WindowBias, window_bias
from coursekit.blocks import Stack
from coursekit.positions import sine_2d

Grid = tuple[int, int]  # rows and columns of patches
Kind = Literal["1d", "2d", "sine", "none"]


def grid_of(height: int, columns: int, *, patch: int) -> Grid:
    """Return how many patches an image of `height` × `columns` pixels has in each direction."""
    check_int(patch=patch)
    if height % patch or columns % patch:
        raise ValueError(f"patches of {patch} must divide the image, found {height}×{columns}")
    return height // patch, columns // patch


def patchify(images: Tensor, patch: int) -> Tensor:
    """images (B, C, H, W) -> (B, N, P·P·C): cut, nothing else.

    The patches follow row by row; within one, its pixels row by row, each with its channels.
    """
    check_shape(images, "images", "batch, channels, height, width")
    rows, columns = grid_of(*images.shape[2:], patch=patch)
    x = images.unflatten(3, (columns, patch)).unflatten(2, (rows, patch))  # (B, C, h, P, w, P)
    return x.permute(0, 2, 4, 3, 5, 1).flatten(3).flatten(1, 2)  # (B, N, P·P·C)


def unpatchify(patches: Tensor, patch: int, size: tuple[int, int]) -> Tensor:
    """patches (B, N, P·P·C) -> images (B, C, *size): the inverse of `patchify`."""
    check_tensor(patches, "patches")
    rows, columns = grid_of(*size, patch=patch)
    if patches.ndim != 3 or patches.shape[1] != rows * columns or patches.shape[2] % patch**2:
        raise ValueError(
            f"an image of {size[0]}×{size[1]} has patches of shape "
            f"(batch, {rows * columns}, channels · {patch**2}), found {tuple(patches.shape)}"
        )
    x = patches.unflatten(2, (patch, patch, -1)).unflatten(1, (rows, columns))  # (B, h, w, P, P, C)
    return x.permute(0, 5, 1, 3, 2, 4).flatten(4).flatten(2, 3)  # (B, C, H, W)


class PatchEmbedding(nn.Module):
    """One linear map for all patches (equation 1 of Dosovitskiy et al., 2021).

    It is a convolution whose stride is its kernel size, and its weight has that shape, a small
    picture for each number of the width. Computed as one matrix product, it takes a third of the
    convolution's time for patches of 4 (forward and backward, CPU) and no longer for larger ones.
    """

    def __init__(self, *, patch: int, channels: int, width: int) -> None:
        super().__init__()
        self.patch, self.channels = patch, channels
        self.weight = nn.Parameter(torch.empty(width, channels, patch, patch))  # (D, C, P, P)
        self.bias = nn.Parameter(torch.zeros(width))
        nn.init.xavier_uniform_(self.weight.data.flatten(1))

    def forward(self, images: Tensor, visible: Tensor | None = None) -> Tensor:
        """images (B, C, H, W) -> (B, N, D), or (B, K, D) of the `visible` patches (B, K) alone."""
        patches = patchify(images, self.patch)  # (B, N, P·P·C)
        if visible is not None:
            patches = patches[_rows(visible), visible]
        matrix = self.weight.permute(0, 2, 3, 1).flatten(1)  # (D, P·P·C), pixels as in `patchify`
        return F.linear(patches, matrix, self.bias)  # (B, N, D)


def _rows(index: Tensor) -> Tensor:
    """index (B, K) -> (B, 1): the number of each row, to pick by rows and `index`."""
    return torch.arange(index.shape[0], device=index.device)[:, None]


def sine_positions(grid: Grid, width: int) -> Tensor:
    """(h, w, D): the fixed positions of MAE.

    They are `sine_2d` with the numbers in another order, the one that MAE's published weights
    learned with: the column's sines, its cosines, then the row's.
    """
    row, column = sine_2d(*grid, width).chunk(2, dim=-1)  # 2 × (h, w, D / 2)
    return torch.cat([half[..., i::2] for half in (column, row) for i in (0, 1)], dim=-1)


def stretch(table: Tensor, grid: Grid) -> Tensor:
    """table (h, w, D) -> (*grid, D), bicubic: positions learned at one resolution, at another."""
    if tuple(table.shape[:2]) == grid:
        return table
    x = table.movedim(-1, 0)[None]  # (1, D, h, w)
    x = F.interpolate(x, size=grid, mode="bicubic", align_corners=False)  # (1, D, *grid)
    return x[0].movedim(0, -1)  # (*grid, D)


class GridPositions(nn.Module):
    """What is added to tell the patches where they are; `prefix` tokens come before them.

    1d    one learned vector for each patch in reading order, and one for each prefix token
    2d    the row learns half of the vector, the column the other half (appendix D.4)
    sine  fixed waves (MAE): a parameter that is not trained, for files hold it beside the others
    none  nothing: the patches are a set

    Prefix tokens get zeros with "2d" and "sine": they are learned, and have no place.
    """

    def __init__(self, *, kind: Kind, grid: Grid, width: int, prefix: int = 0) -> None:
        super().__init__()
        check_int(width=width)
        check_int(0, prefix=prefix)
        check_choice(get_args(Kind), kind=kind)
        if kind == "2d" and width % 2:
            raise ValueError(f"2d positions halve the width, which is odd: {width}")
        self.kind, self.grid, self.width, self.prefix = kind, grid, width, prefix
        rows, columns = grid
        if kind == "1d":
            self.weight = nn.Parameter(torch.randn(1, prefix + rows * columns, width) * 0.02)
        elif kind == "sine":
            waves = sine_positions(grid, width).flatten(0, 1)  # (N, D)
            waves = F.pad(waves, (0, 0, prefix, 0))[None]  # (1, prefix + N, D)
            self.weight = nn.Parameter(waves, requires_grad=False)
        elif kind == "2d":
            self.rows = nn.Parameter(torch.randn(rows, width // 2) * 0.02)
            self.columns = nn.Parameter(torch.randn(columns, width // 2) * 0.02)

    def forward(self, grid: Grid | None = None) -> Tensor | None:
        """-> (1, prefix + N, D), for another `grid` by interpolation; None where kind is "none"."""
        if self.kind == "none":
            return None
        weight = self._cross() if self.kind == "2d" else self.weight  # (1, prefix + N, D)
        if grid in (None, self.grid):
            return weight
        first, table = weight[:, : self.prefix], weight[0, self.prefix :].unflatten(0, self.grid)
        table = stretch(table, grid).flatten(0, 1)  # (N, D)
        return torch.cat([first, table[None]], dim=1)  # (1, prefix + N, D)

    def _cross(self) -> Tensor:
        """(1, prefix + N, D): each row's half beside each column's half."""
        row = self.rows[:, None].expand(-1, self.grid[1], -1)  # (h, w, D / 2)
        column = self.columns[None].expand(self.grid[0], -1, -1)  # (h, w, D / 2)
        table = torch.cat([row, column], dim=-1).flatten(0, 1)  # (N, D)
        return F.pad(table, (0, 0, self.prefix, 0))[None]

    def resized(self, grid: Grid) -> GridPositions:
        """Return positions of their own for another grid, which start as the interpolated ones."""
        new = GridPositions(kind=self.kind, grid=grid, width=self.width, prefix=self.prefix)
        with torch.no_grad():
            if self.kind in ("1d", "sine"):
                new.weight.data = self(grid).clone()
            elif self.kind == "2d":
                new.rows.data = stretch(self.rows[:, None], (grid[0], 1))[:, 0].clone()
                new.columns.data = stretch(self.columns[None], (1, grid[1]))[0].clone()
        return new


class PlacedStack(Stack):
    """A stack that gets the patches' positions before every block, not before the first alone."""

    def _run(
        self,
        x: Tensor,
        memory: Tensor | None,
        states: list[Tensor] | None = None,
        *,
        later: Sequence[Tensor] = (),
        **options: Any,
    ) -> Tensor:
        """`later` has what each block but the first adds to its input x, (B or 1, T, D)."""
        for block, positions in zip(self.blocks, [None, *later], strict=True):
            x = block(x if positions is None else x + positions, **options)  # (B, T, D)
            if states is not None:
                states.append(x)
        return x


class RelativePositions(nn.Module):
    """Added to the scores: one learned number for each head and offset (rows, columns).

    Prefix tokens have no place, the scores with them stay as they are. Dosovitskiy et al. (2021,
    appendix D.4) multiply the query by a learned vector for each offset in reading order instead;
    they found little to no difference between one way of encoding positions and another.
    """

    def __init__(self, *, grid: Grid, heads: int, prefix: int = 0) -> None:
        super().__init__()
        check_int(0, prefix=prefix)
        self.grid, self.heads, self.prefix = grid, heads, prefix
        self.window = GridBias(heads=heads, grid=grid)

    def forward(self, grid: Grid | None = None) -> Tensor:
        """-> bias (H, prefix + N, prefix + N), for another `grid` by interpolation."""
        bias = self.window(self.grid if grid is None else grid)  # (H, N, N)
        return F.pad(bias, (self.prefix, 0, self.prefix, 0))  # (H, prefix + N, prefix + N)

    def resized(self, grid: Grid) -> RelativePositions:
        """Return positions of their own for another grid, which start as the interpolated ones."""
        new = RelativePositions(grid=grid, heads=self.heads, prefix=self.prefix)
        new.window.weight.data = self.window.stretched(grid).detach().flatten(0, 1).clone()
        return new


class GridBias(nn.Module):
    """A `WindowBias` as large as the grid, whose offsets can be stretched over another grid."""

    def __init__(self, *, heads: int, grid: Grid) -> None:
        super().__init__()
        self.grid = grid
        self.weight = WindowBias(heads=heads, height=grid[0], columns=grid[1]).weight

    def forward(self, grid: Grid) -> Tensor:
        """-> bias (H, N, N) for the cells of a grid."""
        return window_bias(self.stretched(grid))

    def stretched(self, grid: Grid) -> Tensor:
        """(2h − 1, 2w − 1, H): the numbers for all offsets of a grid, interpolated."""
        old, new = ((2 * rows - 1, 2 * columns - 1) for rows, columns in (self.grid, grid))
        return stretch(self.weight.unflatten(0, old), new)


class ConvolutionalStem(nn.Module):
    """A small backbone for hybrids: 3×3 convolutions of stride 2 until the map is small enough.

    Each doubles the channels, up to `width`; GroupNorm and not BatchNorm, so that an image does not
    depend on the others in its batch.
    """

    def __init__(self, *, channels: int, width: int, stride: int) -> None:
        super().__init__()
        check_int(channels=channels, width=width, stride=stride)
        steps = int(math.log2(stride)) if stride > 1 else 0
        if steps == 0 or 2**steps != stride or width % 2 ** (steps - 1):
            raise ValueError(
                "the stride must be a power of 2 of at least 2, and half of it must divide the "
                f"width, found stride {stride} and width {width}"
            )
        widths = [channels] + [width >> k for k in reversed(range(steps))]
        layers = []
        for before, after in pairwise(widths):
            convolution = nn.Conv2d(before, after, 3, stride=2, padding=1, bias=False)
            layers += [convolution, nn.GroupNorm(1, after), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, images: Tensor) -> Tensor:
        """images (B, C, H, W) -> map (B, width, H / stride, W / stride)."""
        return self.layers(images)
