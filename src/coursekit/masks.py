"""Masks: who may look at whom. Boolean everywhere, True = may attend.

A mask broadcasts to the scores (B, H, T, S): rows are queries, columns are keys. Masks are plain
tensors and combine with `&` (both rules hold) and `|` (either rule is enough). Where T queries look
at S > T keys, as in cached decoding, the queries are the last T of the S positions. The book draws
every one of them in "Masking".
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from coursekit._base.checks import check_between, check_int, check_shape

Device = torch.device | str | None


def padding(tokens: Tensor, pad: int) -> Tensor:
    """tokens (B, S) -> (B, 1, 1, S): every query may look at what is not padding."""
    check_shape(tokens, "tokens", "batch, length")
    check_int(-torch.inf, pad=pad)
    return (tokens != pad)[:, None, None, :]  # (B, 1, 1, S)


def lengths(lengths: Tensor | Sequence[int], size: int) -> Tensor:
    """lengths (B,) -> (B, 1, 1, size): every query may look at the first `lengths[b]` keys."""
    check_int(0, size=size)
    lengths = torch.as_tensor(lengths)
    check_shape(lengths, "lengths", "batch")
    if lengths.numel() and not 0 <= lengths.min() <= lengths.max() <= size:
        raise ValueError(
            f"lengths must lie between 0 and {size}, found {lengths.min()} to {lengths.max()}"
        )
    positions = torch.arange(size, device=lengths.device)  # (S,)
    return (positions < lengths[:, None])[:, None, None, :]  # (B, 1, 1, S)


def causal(T: int, S: int | None = None, *, device: Device = None) -> Tensor:
    """(T, S): a position may look at itself and at what came before it, never ahead."""
    query, key = _positions(T, S, device)
    return key <= query  # (T, S)


def local(T: int, S: int | None = None, *, radius: int, device: Device = None) -> Tensor:
    """(T, S): a position may look at most `radius` steps to either side, 2·radius + 1 keys."""
    check_int(0, radius=radius)
    query, key = _positions(T, S, device)
    return (query - key).abs() <= radius  # (T, S)


def global_tokens(T: int, tokens: Sequence[int], *, device: Device = None) -> Tensor:
    """(T, T): the positions in `tokens` may look at all others, and all others at them."""
    check_int(0, T=T)
    chosen = torch.zeros(T, dtype=torch.bool, device=device)  # (T,)
    chosen[list(tokens)] = True
    return chosen[:, None] | chosen[None, :]  # (T, T)


def longformer(T: int, *, radius: int, tokens: Sequence[int] = (), device: Device = None) -> Tensor:
    """(T, T): a sliding window and a few global tokens (Beltagy et al., 2020)."""
    return local(T, radius=radius, device=device) | global_tokens(T, tokens, device=device)


def random_keys(
    T: int, count: int, *, generator: torch.Generator | None = None, device: Device = None
) -> Tensor:
    """(T, T): each query may look at `count` different keys drawn at random."""
    check_int(0, T=T)
    check_between(0, T, count=count)
    chosen = torch.rand(T, T, generator=generator).argsort(dim=-1)[:, :count]  # (T, count)
    mask = torch.zeros(T, T, dtype=torch.bool).scatter(-1, chosen, True)  # (T, T)
    return mask.to(device) if device else mask


def bigbird(
    T: int,
    *,
    radius: int,
    tokens: Sequence[int] = (),
    random: int = 0,
    generator: torch.Generator | None = None,
    device: Device = None,
) -> Tensor:
    """(T, T): window, global tokens and random keys together (Zaheer et al., 2020).

    The paper draws the three in blocks of tokens, for speed. A block mask is this one with T
    counted in blocks: `block_attention` takes it as its layout, `expand_blocks` writes it out.
    """
    mask = longformer(T, radius=radius, tokens=tokens, device=device)
    return mask | random_keys(T, random, generator=generator, device=device)


def expand_blocks(layout: Tensor, block: int) -> Tensor:
    """layout (R, C) of blocks -> (R·block, C·block) of single positions."""
    check_shape(layout, "layout", "rows, columns")
    check_int(block=block)
    return layout.repeat_interleave(block, dim=0).repeat_interleave(block, dim=1)


def _positions(T: int, S: int | None, device: Device) -> tuple[Tensor, Tensor]:
    """Return the positions of the queries (T, 1) and of the keys (1, S)."""
    S = T if S is None else S
    check_int(0, T=T, S=S)
    if T > S:
        raise ValueError(f"there must be at least as many keys as queries, found T={T}, S={S}")
    positions = torch.arange(S, device=device)  # (S,)
    return positions[S - T :, None], positions[None, :]
