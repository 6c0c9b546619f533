"""Blocks: attention mixes positions, a feed-forward network works on each.

One `Block` serves as encoder layer, decoder layer and as the incomplete layers of the rank-collapse
experiment; `norm` says where the normalisation is. The book explains all of it in "Blocks".
Shapes: B batch, T length, S length of the memory, D width.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from coursekit._base.checks import check_choice, check_fraction, check_int
from coursekit.activations import relu
from coursekit.cache import KeyValueCache, StackCache
from coursekit.feed_forward import FeedForward
from coursekit.heads import MultiHeadAttention
from coursekit.norms import make_norm
from coursekit.positions import Rotary

Norm = Literal["post", "pre", "normformer", "dlcl", "none"]


class Residual(nn.Module):
    """A residual connection: what a sublayer f reads of x, and their sum, normalised by `norm`.

    post        LayerNorm(x + f(x))             Vaswani et al. (2017)
    pre, dlcl   x + f(LayerNorm(x))             easier to train when deep
    normformer  x + LayerNorm(f(LayerNorm(x)))  Shleifer et al. (2021); `outer` adds the outer one
    none        x + f(x)

    `skip=False` leaves out x itself, which is how rank collapse is provoked. `drop_path` is
    the probability that a sequence skips the sublayer in training (Huang et al., 2016). With
    `rms_norm` the norms are `RMSNorm`, as in T5 and Llama.
    """

    def __init__(
        self,
        *,
        width: int,
        norm: Norm,
        dropout: float = 0.0,
        skip: bool = True,
        outer: bool = False,
        eps: float = 1e-5,
        rms_norm: bool = False,
        drop_path: float = 0.0,
    ) -> None:
        super().__init__()
        check_choice(get_args(Norm), norm=norm)
        check_int(width=width)
        check_fraction(dropout=dropout, drop_path=drop_path)
        self.placement, self.skip, self.drop_path = norm, skip, drop_path
        self.dropout = nn.Dropout(dropout)
        normalise = partial(make_norm, width, rms=rms_norm, eps=eps)
        self.norm = nn.Identity() if norm == "none" else normalise()
        self.outer_norm = normalise() if outer else nn.Identity()

    def before(self, x: Tensor) -> Tensor:
        """x (B, T, D) -> (B, T, D), what the sublayer reads."""
        return x if self.placement == "post" else self.norm(x)

    def after(self, x: Tensor, change: Tensor) -> Tensor:
        """x and the sublayer's `change`, (B, T, D) each -> (B, T, D), their sum."""
        x = self._add(x, self.dropout(self.outer_norm(change)))
        return self.norm(x) if self.placement == "post" else x

    def _add(self, x: Tensor, change: Tensor) -> Tensor:
        if self.training and self.drop_path:
            rate = 1 - self.drop_path  # of the sequences that do not skip it
            chosen = torch.rand(len(x), *[1] * (x.ndim - 1), device=x.device) < rate  # (B, 1, 1)
            # As with dropout, the mean stays the same.
            change = change * chosen / rate if rate else change * 0
        return x + change if self.skip else change


class Block(nn.Module):
    """One layer of a Transformer: self-attention, cross-attention, feed-forward, each removable.

    `norm` is the placement of the norm (see `Residual`); "dlcl" is "pre" within a block and differs
    only in what each block reads (see `Stack`). "normformer" also learns one factor for each head.
    `hidden`, `activation` and `gated` are those of `FeedForward`. `dropout` is applied after each
    sublayer and, unless `attention_dropout` (on the weights) and `hidden_dropout` (inside the
    feed-forward network) say otherwise, there too. `bias` is that of all linear maps, unless
    `attention_bias` says otherwise for those of the attention. Other options of the attention
    (`kv_heads`, `head_width`, `value_width`, `scale`) are those of `MultiHeadAttention`.
    """

    def __init__(
        self,
        *,
        # The common case.
        width: int,
        heads: int,
        hidden: int | None = None,
        norm: Norm = "pre",
        dropout: float = 0.0,
        # Which sublayers there are, and whether x is added to what they return.
        self_attention: bool = True,
        cross_attention: bool = False,
        feed_forward: bool = True,
        residual: bool = True,
        # What papers choose differently.
        activation: Callable[[Tensor], Tensor] = relu,
        gated: bool = False,
        rms_norm: bool = False,
        eps: float = 1e-5,
        bias: bool = True,
        attention_bias: bool | None = None,
        attention_dropout: float | None = None,
        hidden_dropout: float | None = None,
        drop_path: float = 0.0,
        rotary: Rotary | None = None,
        **attention: Any,
    ) -> None:
        super().__init__()
        attention |= {
            "width": width,
            "heads": heads,
            "bias": bias if attention_bias is None else attention_bias,
            "dropout": dropout if attention_dropout is None else attention_dropout,
        }
        normformer = norm == "normformer"
        add: dict[str, Any] = {
            "width": width,
            "norm": norm,
            "dropout": dropout,
            "skip": residual,
            "eps": eps,
            "rms_norm": rms_norm,
            "drop_path": drop_path,
        }
        if self_attention:
            self.self_attention = MultiHeadAttention(**attention, rotary=rotary)
            self.self_residual = Residual(**add, outer=normformer)
            self.head_scale = nn.Parameter(torch.ones(heads)) if normformer else None
        if cross_attention:
            self.cross_attention = MultiHeadAttention(**attention)
            self.cross_residual = Residual(**add, outer=normformer)
        if feed_forward:
            self.feed_forward = FeedForward(
                width=width,
                hidden=hidden,
                activation=activation,
                gated=gated,
                dropout=dropout if hidden_dropout is None else hidden_dropout,
                bias=bias,
                inner_norm=normformer,
                eps=eps,
                rms_norm=rms_norm,
            )
            self.feed_residual = Residual(**add)

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        causal: bool = False,
        bias: Tensor | None = None,
        positions: Tensor | None = None,
        memory_positions: Tensor | None = None,
        head_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        cache: KeyValueCache | None = None,
        memory_cache: KeyValueCache | None = None,
    ) -> Tensor:
        """x (B, T, D), memory (B, S, D) -> (B, T, D).

        `mask` and `bias` (scores of x with itself) broadcast to (B, H, T, T), `memory_mask` to
        (B, H, T, S). `positions` (B or 1, T, D) is added to the queries and keys of x and
        `memory_positions` (B or 1, S, D) to the keys of the memory, never to values (DETR).
        `head_mask` acts on the self-attention, and so do `position_ids` (T,) or (B, T), by which
        rotary turns.
        """
        self._check_memory(memory)
        if hasattr(self, "self_attention"):
            if self.head_scale is not None:
                head_mask = self.head_scale if head_mask is None else head_mask * self.head_scale
            y = self.self_residual.before(x)  # (B, T, D)
            placed = y if positions is None else y + positions  # (B, T, D)
            y = self.self_attention(
                *([y] if positions is None else [placed, placed, y]),  # query, key, value
                mask=mask,
                causal=causal,
                bias=bias,
                head_mask=head_mask,
                position_ids=position_ids,
                cache=cache,
            )
            x = self.self_residual.after(x, y)  # (B, T, D)
        if memory is not None:
            y = self.cross_residual.before(x)
            y = self.cross_attention(
                y if positions is None else y + positions,
                memory if memory_positions is None else memory + memory_positions,
                memory,
                mask=memory_mask,
                cache=memory_cache,
            )
            x = self.cross_residual.after(x, y)
        if hasattr(self, "feed_forward"):
            y = self.feed_forward(self.feed_residual.before(x))
            x = self.feed_residual.after(x, y)
        return x

    def _check_memory(self, memory: Tensor | None) -> None:
        if memory is None and hasattr(self, "cross_attention"):
            raise ValueError("the block has cross-attention, but no memory was given")
        if memory is not None and not hasattr(self, "cross_attention"):
            raise ValueError("the block has no cross-attention, but a memory was given")


class Stack(nn.Module):
    """`depth` blocks, one on the other; the other arguments are those of `Block`.

    `final_norm` normalises the output; by default it is there where the blocks leave their output
    unnormalised (pre, normformer). With norm="dlcl" each block reads a learned mixture of
    everything below it, Σ_k W[l, k] LayerNorm(y_k), which starts as the plain mean (Wang et al.,
    2019). `drop_path` is the last block's; it grows from 0 in equal steps.
    """

    def __init__(
        self,
        *,
        depth: int,
        width: int,
        norm: Norm = "pre",
        final_norm: bool | None = None,
        eps: float = 1e-5,
        rms_norm: bool = False,
        drop_path: float = 0.0,
        **block: Any,
    ) -> None:
        super().__init__()
        check_int(depth=depth)
        check_fraction(drop_path=drop_path)
        shared = {"width": width, "norm": norm, "eps": eps, "rms_norm": rms_norm, **block}
        rates = torch.linspace(0, drop_path, depth, device="cpu").tolist()
        self.blocks = nn.ModuleList(Block(**shared, drop_path=rate) for rate in rates)
        if final_norm is None:
            final_norm = norm in ("pre", "normformer")
        normalise = partial(make_norm, width, rms=rms_norm, eps=eps)
        self.final = normalise() if final_norm else nn.Identity()
        self.mixture = None
        if norm == "dlcl":
            mean = torch.ones(depth + 1, depth + 1).tril()
            self.mixture = nn.Parameter(mean / mean.sum(dim=1, keepdim=True))  # (L + 1, L + 1)
            self.mixture_norms = nn.ModuleList(normalise() for _ in range(depth + 1))

    def forward(self, x: Tensor, memory: Tensor | None = None, **options: Any) -> Tensor:
        """x (B, T, D) -> (B, T, D); `options` are those of `Block.forward`, for every block.

        Two differ: a `head_mask` (depth, B or 1, H) has one for each block, and `cache` is a
        `StackCache`.
        """
        return self.final(self._run(x, memory, **options))

    def states(self, x: Tensor, memory: Tensor | None = None, **options: Any) -> list[Tensor]:
        """x (B, T, D) -> the input and every block's output, depth + 1 times (B, T, D)."""
        states = [x]
        self._run(x, memory, states, **options)
        return states

    def _run(
        self,
        x: Tensor,
        memory: Tensor | None,
        states: list[Tensor] | None = None,
        *,
        head_mask: Tensor | None = None,
        cache: StackCache | None = None,
        **options: Any,
    ) -> Tensor:
        """Return the input of the final norm: the last output, or the mixture of all.

        The output of each block is appended to `states`, if there is such a list; else it is free
        as soon as the next block has read it.
        """
        normed: list[Tensor] = []
        for depth, block in enumerate(self.blocks):
            if self.mixture is not None:
                x = self._mix(depth, x, normed)
            if cache is not None:
                options |= {"cache": cache.own[depth], "memory_cache": cache.memory[depth]}
            if head_mask is not None:
                options["head_mask"] = head_mask[depth] if head_mask.ndim == 3 else head_mask
            x = block(x, memory, **options)  # (B, T, D)
            if states is not None:
                states.append(x)
        return x if self.mixture is None else self._mix(len(self.blocks), x, normed)

    def _mix(self, depth: int, newest: Tensor, normed: list[Tensor]) -> Tensor:
        """Σ_k W[depth, k] LayerNorm(y_k); `normed` collects the normalised outputs so far."""
        assert self.mixture is not None
        normed.append(self.mixture_norms[depth](newest))  # (B, T, D)
        weights = self.mixture[depth, : depth + 1]  # (depth + 1,)
        return torch.einsum("k,kbtd->btd", weights, torch.stack(normed))
