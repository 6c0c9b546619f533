"""Local attention in blocks: a window that slides along the sequence, without the T × T matrix.

`attention` with `masks.local` computes all T² scores and then forbids most of them. Here the
sequence is cut into blocks and each block of queries is given only the stretch of keys that it can
see, so that time and memory grow with T and not with T². The book measures both in "Masking".
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from coursekit._base.checks import check_int, check_shape, check_values, check_widths
from coursekit.attention import fused_attention


def local_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    radius: int,
    causal: bool = False,
    keep: Tensor | None = None,
    block: int | None = None,
) -> Tensor:
    """Return `attention` under `masks.local(T, radius=radius)`, in time and memory linear in T.

    q, k (B, H, T, Dk), v (B, H, T, Dv) -> (B, H, T, Dv). `causal` drops the keys ahead of a query.
    `keep` (B, T) is False at padding. `block` queries share one stretch of keys; it changes the
    speed, never the result.
    """
    B, H, T, S = _check(q, k, v)
    if T != S:
        raise ValueError(f"a sliding window needs as many keys as queries, found {T} and {S}")
    check_int(0, radius=radius)
    if block is not None:
        check_int(block=block)
    if keep is not None:
        check_shape(keep, "keep", f"{B}, {T}", torch.bool)
    if block is None:  # the power of two below the radius, which divides the usual lengths
        block = min(max(1 << max(radius - 1, 1).bit_length() - 1, 16), max(T, 1))
    ahead = 0 if causal else radius
    fill = -T % block  # empty places after the end, so that the blocks come out even
    stretch = radius + block + ahead  # the keys that the queries of one block can see

    def stretches(x: Tensor) -> Tensor:  # (..., T, D) -> (..., R, stretch, D): views that overlap
        x = F.pad(x, (0, 0, radius, ahead + fill))
        return x.unfold(-2, stretch, block).transpose(-2, -1)

    place = torch.arange(block, device=q.device)[:, None]  # a query's place within its block
    offset = torch.arange(stretch, device=q.device)[None, :] - place  # 0 … radius + ahead in window
    mask = (offset >= 0) & (offset <= radius + ahead)  # (block, stretch): the same for every block
    real = torch.ones(1, T, dtype=torch.bool, device=q.device) if keep is None else keep
    real = stretches(real[..., None])[..., 0]  # (B or 1, R, stretch): neither fill nor padding
    mask = mask & real[:, :, None, :]  # (B or 1, R, block, stretch)
    if keep is not None:
        mask = mask.repeat_interleave(H, dim=0)  # (B·H, R, block, stretch)

    # torch's fused kernel wants four axes: batch and heads become one, blocks stand for heads.
    q, k, v = (x.flatten(0, 1) for x in (q, k, v))  # (B·H, T, D)
    q = F.pad(q, (0, 0, 0, fill)).unflatten(-2, (-1, block))  # (B·H, R, block, Dk)
    out = fused_attention(q, stretches(k), stretches(v), mask)  # (B·H, R, block, Dv)
    return out.flatten(1, 2)[:, :T].unflatten(0, (B, H))  # (B, H, T, Dv)


def block_attention(q: Tensor, k: Tensor, v: Tensor, layout: Tensor, *, block: int) -> Tensor:
    """Return `attention` under `masks.expand_blocks(layout, block)`, paying only for True blocks.

    q (B, H, T, Dk), k (B, H, S, Dk), v (B, H, S, Dv) -> (B, H, T, Dv). `layout` (T/block, S/block)
    is True where a block of queries may look into a block of keys; `masks.bigbird` draws one. Rows
    of equal count are computed together, so a few global rows do not make the others pay.
    """
    B, H, T, S = _check(q, k, v)
    check_int(block=block)
    if T % block or S % block:
        raise ValueError(f"block must divide both lengths, found block {block}, lengths {T}, {S}")
    check_shape(layout, "layout", f"{T // block}, {S // block}", torch.bool)
    q, k, v = (x.flatten(0, 1).unflatten(-2, (-1, block)) for x in (q, k, v))
    out = q.new_zeros(*q.shape[:-1], v.shape[-1])  # (B·H, T/block, block, Dv)
    counts = layout.sum(dim=-1)  # (T/block,): how many blocks of keys each block of queries sees
    for count in counts.unique().tolist():
        if count == 0:
            continue  # nothing to attend to: zeros
        rows = (counts == count).nonzero()[:, 0]  # (n,)
        columns = layout[rows].nonzero()[:, 1].view(-1, count)  # (n, count)
        keys = k[:, columns].flatten(2, 3)  # (B·H, n, count·block, Dk)
        values = v[:, columns].flatten(2, 3)  # (B·H, n, count·block, Dv)
        out = out.index_copy(1, rows, fused_attention(q[:, rows], keys, values))
    return out.flatten(1, 2).unflatten(0, (B, H))  # (B, H, T, Dv)


def _check(q: Tensor, k: Tensor, v: Tensor) -> tuple[int, int, int, int]:
    """Return B, H, T, S, or raise where the four axes are missing or do not fit."""
    check_values(k, v, check_widths(q, k))
    if q.ndim != 4 or k.ndim != 4 or q.shape[:2] != k.shape[:2] or k.shape[:2] != v.shape[:2]:
        raise ValueError(
            "queries, keys and values must have shape (batch, heads, length, width), "
            f"found {tuple(q.shape)}, {tuple(k.shape)} and {tuple(v.shape)}"
        )
    return q.shape[0], q.shape[1], q.shape[2], k.shape[2]
