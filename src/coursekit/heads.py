"""Multi-head attention: several attentions side by side, each in a narrower space.

One module serves as self- and cross-attention, with or without a key–value cache. The book explains
it in "Many heads". Shapes: B batch, H heads, T queries, S keys, D model width, Dh head width.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from coursekit._base.checks import (
    check_fraction,
    check_head_axis,
    check_head_mask,
    check_int,
    check_sequences,
    check_shape,
)
from coursekit.attention import attention_weights, fused_attention
from coursekit.cache import KeyValueCache
from coursekit.kernels import dot
from coursekit.positions import Rotary


def split_heads(x: Tensor, heads: int) -> Tensor:
    """x (B, T, H·Dh) -> (B, H, T, Dh): the width is cut into heads, nothing else moves."""
    check_shape(x, "x", "batch, length, width")
    check_int(heads=heads)
    if x.shape[-1] % heads:
        raise ValueError(f"a width of {x.shape[-1]} cannot be split into {heads} equal heads")
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)  # (B, H, T, Dh)


def merge_heads(x: Tensor) -> Tensor:
    """x (B, H, T, Dh) -> (B, T, H·Dh): the heads side by side again."""
    check_shape(x, "x", "batch, heads, length, width")
    return x.transpose(1, 2).flatten(-2)  # (B, T, H·Dh)


class Projections(nn.Linear):
    """Several linear maps of one input as one matrix product: each has `sizes` rows of the weight.

    A single map is a call of this module too, so that libraries which load a module's weights when
    it is called (offloading, sharding) load them here. Torch's `quantize_dynamic` replaces
    `nn.Linear` and none of its subclasses: call `attention.qkv = attention.qkv.plain()` first.
    """

    def __init__(self, width: int, sizes: tuple[int, ...], *, bias: bool = True) -> None:
        check_int(width=width)
        super().__init__(width, sum(sizes), bias=bias)
        self.sizes = sizes

    def forward(self, x: Tensor, part: int | None = None) -> Tensor:
        """x (B, T, D) -> (B, T, sum of sizes), or (B, T, size) of one `part`."""
        return super().forward(x) if part is None else F.linear(x, *self.part(part))

    def plain(self) -> nn.Linear:
        """Return an `nn.Linear` on the same weights."""
        plain = nn.Linear(self.in_features, self.out_features, bias=False, device="meta")
        plain.weight, plain.bias = self.weight, self.bias
        return plain

    def part(self, index: int) -> tuple[Tensor, Tensor | None]:
        """Return one of the matrices, and its bias."""
        bias = None if self.bias is None else self.bias.split(self.sizes)[index]
        return self.weight.split(self.sizes)[index], bias


class MultiHeadAttention(nn.Module):
    """Project, split into heads, attend in all heads at once, join, project (Vaswani et al., 2017).

    `kv_heads` below `heads` lets groups of query heads share keys and values (Ainslie et al., 2023;
    1 is multi-query attention). `head_width` and `value_width` default to width / heads. `scale`
    replaces 1/√Dh (T5 uses 1). `rotary` rotates queries and keys by their position.
    """

    def __init__(
        self,
        *,
        width: int,
        heads: int,
        kv_heads: int | None = None,
        head_width: int | None = None,
        value_width: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
        scale: float | None = None,
        rotary: Rotary | None = None,
    ) -> None:
        super().__init__()
        kv_heads = heads if kv_heads is None else kv_heads
        check_int(width=width, heads=heads, kv_heads=kv_heads)
        if head_width is None and width % heads:
            raise ValueError(f"heads must divide the width, found {heads} heads and width {width}")
        if heads % kv_heads:
            raise ValueError(f"kv_heads must divide heads, found {kv_heads} and {heads}")
        head_width = width // heads if head_width is None else head_width
        value_width = head_width if value_width is None else value_width
        check_int(head_width=head_width, value_width=value_width)
        check_fraction(dropout=dropout)
        if rotary is not None and rotary.width != head_width:
            raise ValueError(
                f"rotary must be as wide as a head, {head_width}, found {rotary.width} wide"
            )
        self.width, self.heads, self.kv_heads = width, heads, kv_heads
        self.scale = head_width**-0.5 if scale is None else scale
        self.dropout, self.rotary = dropout, rotary
        self.sizes = (heads * head_width, kv_heads * head_width, kv_heads * value_width)
        self.qkv = Projections(width, self.sizes, bias=bias)  # rows: all Q, then all K, then V
        self.out = nn.Linear(heads * value_width, width, bias=bias)
        for part in self.qkv.weight.split(self.sizes):
            nn.init.xavier_uniform_(part.data)
        nn.init.xavier_uniform_(self.out.weight)
        if bias:
            nn.init.zeros_(self.qkv.bias)
            nn.init.zeros_(self.out.bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        causal: bool = False,
        bias: Tensor | None = None,
        head_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        """query (B, T, D), key, value (B, S, D) -> (B, T, D).

        Without `key` the sequence attends to itself; with `key` alone the values come from it too.
        `mask` (boolean) and `bias` broadcast to (B, H, T, S); `causal` forbids looking ahead.
        `head_mask` (H,) or (B, H) multiplies each head's result, 0 removes the head. Rotary turns
        by `position_ids` (T,) or (B, T); without them it counts from the cache's end. `cache` holds
        the keys and values of earlier calls.
        """
        self._check(query, key, value, mask, position_ids)
        q, k, v = self.project(query, key, value, cache, position_ids)
        q, k, v = self._repeat_groups(q, k, v)  # (B, H, T, Dh), (B, H, S, Dh), (B, H, S, Dv)
        dropout = self.dropout if self.training else 0.0
        out = fused_attention(
            q, k, v, mask, causal=causal, bias=bias, scale=self.scale, dropout=dropout
        )  # (B, H, T, Dv)
        if head_mask is not None:
            check_head_mask(head_mask, query.shape[0], self.heads)
            out = out * head_mask[..., None, None].to(out.dtype)  # (B, H, T, Dv)
        return self.out(merge_heads(out))  # (B, T, D)

    def weights(
        self,
        query: Tensor,
        key: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        causal: bool = False,
        bias: Tensor | None = None,
        position_ids: Tensor | None = None,
    ) -> Tensor:
        """Return how much each query takes of each key in each head, (B, H, T, S), as `forward`."""
        self._check(query, key, None, mask, position_ids)
        q, k, _ = self._repeat_groups(*self.project(query, key, position_ids=position_ids))
        return attention_weights(
            q, k, mask, causal=causal, bias=bias, kernel=lambda q, k: dot(q, k) * self.scale
        )

    def _repeat_groups(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Repeat k and v (B, Hkv, S, ·) for every query head of their group: (B, H, S, ·)."""
        group = self.heads // self.kv_heads
        if group == 1:
            return q, k, v
        return q, k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)

    def project(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        cache: KeyValueCache | None = None,
        position_ids: Tensor | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return q (B, H, T, Dh), k and v (B, Hkv, S, Dh), rotated and with the cache's past.

        Self-attention multiplies once by the three matrices side by side (fused QKV);
        cross-attention uses the same rows one by one, and its cache is filled only once.
        """
        if key is None:
            q, k, v = self.qkv(query).split(self.sizes, dim=-1)  # 3 × (B, T, H·Dh)
        else:
            q = self._project(query, 0)  # (B, T, H·Dh)
            if cache is not None and cache.length:  # the memory does not change: computed once
                return split_heads(q, self.heads), *cache.stored()
            k = self._project(key, 1)  # (B, S, Hkv·Dh)
            v = self._project(key if value is None else value, 2)  # (B, S, Hkv·Dv)
        q = split_heads(q, self.heads)  # (B, H, T, Dh)
        k, v = split_heads(k, self.kv_heads), split_heads(v, self.kv_heads)  # (B, Hkv, S, Dh)
        if self.rotary is not None:
            offset = 0 if cache is None else cache.length
            q, k = (self.rotary(x, offset, position_ids=position_ids) for x in (q, k))
        if cache is not None:
            k, v = cache.append(k, v)
        return q, k, v

    def _project(self, x: Tensor, part: int) -> Tensor:
        """Multiply by one of the three matrices, or by all where `qkv` was replaced (quantized)."""
        if isinstance(self.qkv, Projections):
            return self.qkv(x, part)
        return self.qkv(x).split(self.sizes, dim=-1)[part]

    def _check(
        self,
        query: Tensor,
        key: Tensor | None,
        value: Tensor | None,
        mask: Tensor | None,
        position_ids: Tensor | None,
    ) -> None:
        check_sequences(self.width, self.qkv, query=query, key=key, value=value)
        check_head_axis(mask)
        if key is None and value is not None:
            raise ValueError("value was given without key; pass both, or neither")
        if key is not None and self.rotary is not None:
            raise ValueError("rotary positions need self-attention, but a key was given")
        if position_ids is not None and self.rotary is None:
            raise ValueError("position_ids are for rotary positions, but there is no rotary")
