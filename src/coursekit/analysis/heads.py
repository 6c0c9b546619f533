"""What single heads look at, what they are worth, and how many directions they really use.

Importance and pruning follow Michel et al. (2019), the score matrices Cordonnier et al. (2020). The
book explains both in "Many heads". Shapes: B batch, H heads, D model width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from coursekit._base.checks import (
    check_fraction,
    check_int,
    check_numbers,
    check_positive,
    check_shape,
)
from coursekit.heads import MultiHeadAttention


def head_importance(losses: Callable[[Tensor], Tensor], *, batch: int, heads: int) -> Tensor:
    """Return how much the loss leans on each head (H,): the mean of |∂loss / ∂mask| at mask = 1.

    `losses` takes a head mask (B, H) and returns one loss for each example (B,). The mean is taken
    after the absolute value, so that examples which pull in opposite directions do not cancel.
    """
    check_int(batch=batch, heads=heads)
    mask = torch.ones(batch, heads, requires_grad=True)  # (B, H)
    loss = losses(mask)  # (B,)
    if loss.shape != (batch,):
        raise ValueError(
            f"losses must return one loss for each example, shape ({batch},), "
            f"found {tuple(loss.shape)}"
        )
    (slope,) = torch.autograd.grad(loss.sum(), mask)  # (B, H): row b depends on example b alone
    return slope.abs().mean(dim=0)  # (H,)


@torch.no_grad()
def prune(losses: Callable[[Tensor], Tensor], order: Sequence[int]) -> Tensor:
    """Remove heads in `order`, one more each time, and return the mean loss after 0 … H removals.

    `losses` takes a head mask (H,), 1 = keep, and returns a loss of any shape. The result (H + 1,)
    begins with all heads and ends with none. Nothing is trained in between.
    """
    heads = len(order)
    if sorted(int(head) for head in order) != list(range(heads)):
        raise ValueError(f"order must name each of {heads} heads once, found {list(order)}")
    mask = torch.ones(heads)  # (H,)
    curve = [losses(mask).mean()]
    for head in order:
        mask[head] = 0.0
        curve.append(losses(mask).mean())
    return torch.stack(curve)  # (H + 1,)


@torch.no_grad()
def greedy_order(losses: Callable[[Tensor], Tensor], *, heads: int) -> list[int]:
    """Return the heads in the order in which each next removal costs least, found by trying all.

    `losses` is that of `prune`. This takes H (H + 1) / 2 evaluations where importance takes one,
    and sees what a slope cannot: two heads that stand in for each other.
    """
    check_int(heads=heads)
    mask = torch.ones(heads)
    order: list[int] = []
    while len(order) < heads:
        costs = torch.full((heads,), torch.inf)  # (H,)
        for head in mask.nonzero().flatten().tolist():
            mask[head] = 0.0
            costs[head] = losses(mask).mean()
            mask[head] = 1.0
        check_numbers(costs, "the losses")
        order.append(int(costs.argmin()))
        mask[order[-1]] = 0.0
    return order


@contextmanager
def heads_off(layers: Sequence[MultiHeadAttention], mask: Tensor) -> Iterator[None]:
    """Within the block the heads of several layers are multiplied by `mask` (layers · H,).

    The heads of the first layer come first; 0 removes a head. A head's result meets its own columns
    of W_O only, so these are scaled, and have their old numbers back at the end.
    """
    heads = [layer.heads for layer in layers]
    check_shape(mask, "mask", (sum(heads),))
    weights = [layer.out.weight.data for layer in layers]  # each (D, H·Dv)
    old = [weight.clone() for weight in weights]
    try:
        for weight, row in zip(weights, mask.split(heads), strict=True):
            weight *= row.repeat_interleave(weight.shape[1] // len(row))
        yield
    finally:
        for weight, saved in zip(weights, old, strict=True):
            weight.copy_(saved)


def weight_on(weights: Tensor, chosen: Tensor) -> Tensor:
    """Return how much weight each head puts on chosen keys (H,), the mean over the queries.

    `weights` is (B, H, T, S), `chosen` (B, T, S) is True where a query would find such a key. A
    query that has none does not count.
    """
    if chosen.dtype != torch.bool or chosen.shape != weights[:, 0].shape:
        raise ValueError(
            f"chosen must be boolean of shape {tuple(weights[:, 0].shape)}, "
            f"found {chosen.dtype} of {tuple(chosen.shape)}"
        )
    asks = chosen.any(dim=-1)  # (B, T)
    if not asks.any():
        raise ValueError("no query has a chosen key, expected at least one")
    on = (weights * chosen[:, None]).sum(dim=-1)  # (B, H, T)
    return (on * asks[:, None]).sum(dim=(0, 2)) / asks.sum()


@torch.no_grad()
def score_matrices(layer: MultiHeadAttention) -> Tensor:
    """Return W_Q W_Kᵀ for each head (H, D, D): head h scores x against y by x M_h yᵀ.

    Their sum over h is the product of the concatenated matrices. Biases and the scale are left out.
    """
    wq, wk, _ = layer.qkv.weight.split(layer.sizes)  # (H·Dh, D), (Hkv·Dh, D)
    wq = wq.unflatten(0, (layer.heads, -1))  # (H, Dh, D)
    wk = wk.unflatten(0, (layer.kv_heads, -1))  # (Hkv, Dh, D)
    wk = wk.repeat_interleave(layer.heads // layer.kv_heads, dim=0)  # (H, Dh, D)
    return wq.transpose(-2, -1) @ wk  # (H, D, D)


@torch.no_grad()
def captured_energy(matrix: Tensor) -> Tensor:
    """matrix (..., M, N) -> (..., min(M, N)): the share of its energy in the first r directions.

    Energy is the sum of squared singular values, which PCA calls variance. The last entry is 1; a
    matrix of zeros has no energy and gives NaN.
    """
    check_numbers(matrix, "the matrix", finite=True)
    energy = torch.linalg.svdvals(matrix.double()).square()  # (..., R), largest first
    return (energy.cumsum(-1) / energy.sum(-1, keepdim=True)).to(matrix.dtype)


def effective_rank(matrix: Tensor, share: float = 0.9) -> Tensor:
    """matrix (..., M, N) -> (...): how many directions hold `share` of the energy (an integer)."""
    check_fraction(share=share)
    check_positive(share=share)
    energy = captured_energy(matrix)
    if energy.isnan().any():
        raise ValueError("a matrix of zeros has no energy that directions could hold")
    # A hair below `share`: rounding must not ask for directions that hold nothing.
    return (energy < share - 1e-6).sum(dim=-1) + 1
