"""Swin beside a ViT by the number of pixels, and shifted windows beside sliding ones.

    python benchmarks/shifted_windows.py [--rounds 5] [--threads 2]

The models are Swin-T and a ViT of 12 layers, width 384 and 6 heads, one picture at a time. The
windows are those of Swin-T's first stage, queries, keys and values given; a query looks at 49 keys
in all of them. In a sliding window it stands in the middle of its 7 × 7 keys.
"""

from __future__ import annotations

import sys
from functools import partial

import torch
import torch.nn.functional as F
from harness import Call, run
from torch import Tensor, nn

from coursekit.attention import fused_attention
from coursekit.local import local_attention
from coursekit.models.swin import Swin, SwinConfig, shift_mask, window_partition, window_reverse
from coursekit.models.vit import ViT, ViTConfig

SMOKE = "--smoke" in sys.argv
SIDES = (32,) if SMOKE else (224, 448, 672)  # pixels
STEPS = (32,) if SMOKE else (224,)
MAP, HEADS = (14, 2) if SMOKE else (56, 3)  # Swin-T's first stage: cells of a side, heads
WINDOW, RADIUS, WIDTH = 7, 3, 32  # cells; to either side; of a head


def swin(side: int) -> nn.Module:
    return Swin(SwinConfig.tiny(image=side, drop_path=0.0))


def vit(side: int) -> nn.Module:
    return ViT(ViTConfig(image=side, patch=16, width=384, depth=12, heads=6, hidden=1536))


def forward(make: Call, side: int) -> Call:
    torch.manual_seed(0)
    model, picture = make(side).eval(), torch.randn(1, 3, side, side)
    return torch.no_grad()(lambda: model(picture))


def step(make: Call, side: int) -> Call:
    """Forward and backward."""
    torch.manual_seed(0)
    model, picture, label = make(side).train(), torch.randn(1, 3, side, side), torch.tensor([3])
    return lambda: F.cross_entropy(model(picture), label).backward()


def numbers(side: int, heads: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return q, k, v of shape (1, R, C, H·D)."""
    torch.manual_seed(0)
    return tuple(torch.randn(1, side, side, heads * WIDTH) for _ in range(3))


def shifted(side: int, heads: int, shift: int = WINDOW // 2) -> Call:
    """Roll, cut, one fused call for all windows, put together, roll back."""
    maps = numbers(side, heads)

    def split(x: Tensor) -> Tensor:
        x = window_partition(x.roll((-shift, -shift), dims=(1, 2)), WINDOW)  # (W, M², H·D)
        return x.unflatten(-1, (heads, WIDTH)).transpose(1, 2)  # (W, H, M², D)

    @torch.no_grad()
    def once() -> Tensor:
        mask = shift_mask(side, side, WINDOW, shift) if shift else None  # (W, 1, M², M²)
        out = fused_attention(*map(split, maps), mask).transpose(1, 2).flatten(2)  # (W, M², H·D)
        return window_reverse(out, WINDOW, side, side).roll((shift, shift), dims=(1, 2))

    return once


def dense(side: int, heads: int) -> Call:
    """The same numbers from one window of all cells, whose mask forbids most pairs."""
    maps = [x.view(1, side**2, heads, WIDTH).transpose(1, 2) for x in numbers(side, heads)]
    home = (torch.arange(side) - WINDOW // 2).div(WINDOW, rounding_mode="floor")  # (R,)
    home = (side * home[:, None] + home).flatten()  # (N,): the shifted window of each cell
    mask = home[:, None] == home

    @torch.no_grad()
    def once() -> Tensor:
        return fused_attention(*maps, mask).transpose(1, 2).reshape(1, side, side, -1)

    return once


def around(x: Tensor, heads: int, size: int, stride: int) -> Tensor:
    """x (1, R, C, H·D) -> (H, N, size², D): the stretch around each `stride`-th cell."""
    x = F.pad(x, (0, 0, RADIUS, RADIUS, RADIUS, RADIUS))
    x = x.unfold(1, size, stride).unfold(2, size, stride)  # (1, r, c, H·D, size, size)
    return x[0].flatten(0, 1).flatten(2).unflatten(1, (heads, WIDTH)).permute(1, 0, 3, 2)


def real(side: int, size: int, stride: int) -> Tensor:
    """(N, size²): which keys of each stretch lie within the map."""
    inside = torch.ones(1, side, side, WIDTH)
    return around(inside, 1, size, stride)[0, :, :, 0] > 0


def gathered(side: int, heads: int) -> Call:
    """Sliding windows in plain torch: 49 keys and values of its own for each query."""
    q, k, v = numbers(side, heads)
    mask = real(side, WINDOW, 1)[None, :, None]  # (1, N, 1, 49): the fused kernel wants four axes

    @torch.no_grad()
    def once() -> Tensor:
        queries = q.reshape(-1, heads, 1, WIDTH).transpose(0, 1)  # (H, N, 1, D)
        out = fused_attention(queries, *(around(x, heads, WINDOW, 1) for x in (k, v)), mask)
        return out[:, :, 0].transpose(0, 1).reshape(1, side, side, -1)  # (1, R, C, H·D)

    return once


def blocks(side: int, heads: int) -> Call:
    """The same numbers: 7 × 7 queries share the 13 × 13 keys around them, and a mask cuts."""
    q, k, v = numbers(side, heads)
    size = WINDOW + 2 * RADIUS
    near = (torch.arange(size) - torch.arange(WINDOW)[:, None] - RADIUS).abs() <= RADIUS  # (7, 13)
    near = (near[:, None, :, None] & near[None, :, None, :]).flatten(2).flatten(0, 1)  # (49, 169)
    mask = (near & real(side, size, WINDOW)[:, None])[None]  # (1, W, 49, 169)

    @torch.no_grad()
    def once() -> Tensor:
        queries = window_partition(q, WINDOW).unflatten(-1, (heads, WIDTH)).permute(2, 0, 1, 3)
        out = fused_attention(queries, *(around(x, heads, size, WINDOW) for x in (k, v)), mask)
        return window_reverse(out.permute(1, 2, 0, 3).flatten(2), WINDOW, side, side)

    return once


def in_a_row(side: int, heads: int) -> Call:
    """Cells in reading order, 24 to either side: as many keys, another neighbourhood."""
    maps = [x.view(1, side**2, heads, WIDTH).transpose(1, 2) for x in numbers(side, heads)]
    return torch.no_grad()(lambda: local_attention(*maps, radius=WINDOW**2 // 2))


def models(work: Call, side: int) -> dict[str, Call]:
    return {"ours": partial(work, swin, side), "ViT, patches of 16": partial(work, vit, side)}


def windows(side: int, heads: int) -> dict[str, Call]:
    return {
        "ours": partial(shifted, side, heads),
        "not shifted": partial(shifted, side, heads, 0),
        "all cells, masked": partial(dense, side, heads),
        "sliding, gathered": partial(gathered, side, heads),
        "sliding, in blocks": partial(blocks, side, heads),
        "sliding in a row": partial(in_a_row, side, heads),
    }


if __name__ == "__main__":
    for same in ((shifted, dense), (gathered, blocks)):
        error = (same[0](14, 2)() - same[1](14, 2)()).abs().max()
        assert error < 1e-5, f"{same[1].__name__} computes something else, off by {error}"
    contests = {f"forward, {side} pixels": models(forward, side) for side in SIDES}
    contests |= {f"training, {side} pixels": models(step, side) for side in STEPS}
    contests["windows, stage 1"] = windows(MAP, HEADS)
    run(
        contests,
        script="shifted_windows",
        what="Swin-T and a ViT of width 384; attention in windows of 7 × 7; fp32, CPU",
    )
