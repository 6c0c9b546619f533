"""Blocks: attention mixes positions, a feed-forward network works on each, a residual keeps both.

One `Block` serves as encoder layer, decoder layer and as the crippled layers of the rank-collapse
experiment; `norm` says where the normalisation stands. The book explains all of it in "Blocks".
Shapes: B batch, T length, S length of the memory, D width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from coursekit._check import check_positive, check_width
from coursekit.activations import relu
from coursekit.heads import KeyValueCache, MultiHeadAttention
from coursekit.positions import Rotary

Norm = Literal["post", "pre", "normformer", "dlcl", "none"]


class FeedForward(nn.Module):
    """Two linear maps with a bend between them, the same for every position.

    `inner_norm` normalises the hidden layer after the activation, as NormFormer does.
    """

    def __init__(
        self,
        *,
        width: int,
        hidden: int | None = None,
        activation: Callable[[Tensor], Tensor] = relu,
        dropout: float = 0.0,
        bias: bool = True,
        inner_norm: bool = False,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        hidden = 4 * width if hidden is None else hidden
        check_positive(width=width, hidden=hidden)
        self.width, self.activation = width, activation
        self.expand = nn.Linear(width, hidden, bias=bias)
        self.norm = nn.LayerNorm(hidden, eps=eps) if inner_norm else nn.Identity()
        self.dropout = nn.Dropout(dropout)
        self.contract = nn.Linear(hidden, width, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, D) -> (B, T, D)."""
        check_width(x, self.width, "x")
        hidden = self.norm(self.activation(self.expand(x)))  # (B, T, hidden)
        return self.contract(self.dropout(hidden))  # (B, T, D)


class Residual(nn.Module):
    """x and what a sublayer makes of it, with the norm where `norm` puts it.

    post        LayerNorm(x + f(x))             Vaswani et al. (2017)
    pre, dlcl   x + f(LayerNorm(x))             easier to train when deep
    normformer  x + LayerNorm(f(LayerNorm(x)))  Shleifer et al. (2021); `after` adds the outer one
    none        x + f(x)

    `keep=False` leaves the x in front out, which is how rank collapse is provoked.
    """

    def __init__(
        self,
        *,
        width: int,
        norm: Norm,
        dropout: float = 0.0,
        keep: bool = True,
        after: bool = False,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        self.placement, self.keep = norm, keep
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.Identity() if norm == "none" else nn.LayerNorm(width, eps=eps)
        self.after = nn.LayerNorm(width, eps=eps) if after else nn.Identity()

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """x (B, T, D) -> (B, T, D)."""
        if self.placement == "post":
            return self.norm(self._add(x, sublayer(x)))
        return self._add(x, self.after(sublayer(self.norm(x))))

    def _add(self, x: Tensor, change: Tensor) -> Tensor:
        change = self.dropout(change)
        return x + change if self.keep else change


class Block(nn.Module):
    """One layer of a Transformer: self-attention, cross-attention, feed-forward, each removable.

    `norm` is the placement of the norm (see `Residual`); "dlcl" acts like "pre" within a block, its
    difference lies between blocks (see `Stack`). "normformer" also learns one factor for each head.
    """

    def __init__(
        self,
        *,
        width: int,
        heads: int,
        hidden: int | None = None,
        norm: Norm = "pre",
        self_attention: bool = True,
        cross_attention: bool = False,
        feed_forward: bool = True,
        residual: bool = True,
        activation: Callable[[Tensor], Tensor] = relu,
        dropout: float = 0.0,
        attention_dropout: float | None = None,
        bias: bool = True,
        eps: float = 1e-5,
        kv_heads: int | None = None,
        head_width: int | None = None,
        rotary: Rotary | None = None,
    ) -> None:
        super().__init__()
        if norm not in get_args(Norm):
            raise ValueError(f"norm must be one of {', '.join(get_args(Norm))}, found {norm!r}")
        self.width = width
        attend = {
            "width": width,
            "heads": heads,
            "kv_heads": kv_heads,
            "head_width": head_width,
            "bias": bias,
            "dropout": dropout if attention_dropout is None else attention_dropout,
        }
        former = norm == "normformer"
        add = {"width": width, "norm": norm, "dropout": dropout, "keep": residual, "eps": eps}
        if self_attention:
            self.self_attention = MultiHeadAttention(**attend, rotary=rotary)
            self.self_residual = Residual(**add, after=former)
            self.head_scale = nn.Parameter(torch.ones(heads)) if former else None
        if cross_attention:
            self.cross_attention = MultiHeadAttention(**attend)
            self.cross_residual = Residual(**add, after=former)
        if feed_forward:
            self.feed_forward = FeedForward(
                width=width,
                hidden=hidden,
                activation=activation,
                dropout=dropout,
                bias=bias,
                inner_norm=former,
                eps=eps,
            )
            self.feed_residual = Residual(**add)

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        bias: Tensor | None = None,
        head_mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
        memory_cache: KeyValueCache | None = None,
    ) -> Tensor:
        """x (B, T, D), memory (B, S, D) -> (B, T, D).

        `mask` and `bias` (scores of x with itself) broadcast to (B, H, T, T), `memory_mask` to
        (B, H, T, S). `head_mask` acts on the self-attention.
        """
        check_width(x, self.width, "x")
        if hasattr(self, "cross_attention") != (memory is not None):
            has = "has" if memory is None else "has no"
            given = "no memory was given" if memory is None else "a memory was given"
            raise ValueError(f"the block {has} cross-attention, but {given}")
        if hasattr(self, "self_attention"):
            if self.head_scale is not None:
                head_mask = self.head_scale if head_mask is None else head_mask * self.head_scale
            x = self.self_residual(
                x,
                lambda x: self.self_attention(
                    x, mask=mask, bias=bias, head_mask=head_mask, cache=cache
                ),
            )
        if hasattr(self, "cross_attention"):
            x = self.cross_residual(
                x,
                lambda x: self.cross_attention(x, memory, mask=memory_mask, cache=memory_cache),
            )
        if hasattr(self, "feed_forward"):
            x = self.feed_residual(x, self.feed_forward)
        return x  # (B, T, D)


class Stack(nn.Module):
    """`depth` blocks, one on the other; the other arguments are those of `Block`.

    `final_norm` normalises the output; by default it is there where the blocks leave their output
    unnormalised (pre, normformer). With norm="dlcl" each block reads a learned mixture of
    everything below it, Σ_k W[l, k] LayerNorm(y_k), which starts as the plain mean (Wang et al.,
    2019).
    """

    def __init__(
        self,
        *,
        depth: int,
        width: int,
        norm: Norm = "pre",
        final_norm: bool | None = None,
        eps: float = 1e-5,
        **block: object,
    ) -> None:
        super().__init__()
        check_positive(depth=depth)
        self.blocks = nn.ModuleList(
            Block(width=width, norm=norm, eps=eps, **block) for _ in range(depth)
        )
        if final_norm is None:
            final_norm = norm in ("pre", "normformer")
        self.final = nn.LayerNorm(width, eps=eps) if final_norm else nn.Identity()
        self.mixture = None
        if norm == "dlcl":
            mean = torch.ones(depth + 1, depth + 1).tril()
            self.mixture = nn.Parameter(mean / mean.sum(dim=1, keepdim=True))  # (L + 1, L + 1)
            self.mixture_norms = nn.ModuleList(
                nn.LayerNorm(width, eps=eps) for _ in range(depth + 1)
            )

    def forward(
        self, x: Tensor, memory: Tensor | None = None, *, return_hidden: bool = False, **kw: Tensor
    ) -> Tensor | tuple[Tensor, list[Tensor]]:
        """x (B, T, D) -> (B, T, D); `return_hidden` adds the input and every block's output."""
        hidden, normed = [x], []
        for depth, block in enumerate(self.blocks):
            if self.mixture is not None:
                x = self._mix(depth, x, normed)
            x = block(x, memory, **kw)
            hidden.append(x)
        if self.mixture is not None:
            x = self._mix(len(self.blocks), x, normed)
        x = self.final(x)
        return (x, hidden) if return_hidden else x

    def _mix(self, depth: int, newest: Tensor, normed: list[Tensor]) -> Tensor:
        """Σ_k W[depth, k] LayerNorm(y_k); `normed` collects the normalised outputs so far."""
        normed.append(self.mixture_norms[depth](newest))  # (B, T, D)
        weights = self.mixture[depth, : depth + 1]  # (depth + 1,)
        return torch.einsum("k,kbtd->btd", weights, torch.stack(normed))
