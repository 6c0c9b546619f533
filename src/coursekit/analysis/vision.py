"""What a trained ViT has learned: its filters, its places, how far it looks, what flows where.

Filters, similarity and distance are those of Figure 7 of Dosovitskiy et al. (2021), the roll-out is
that of Abnar and Zuidema (2020), and few-shot learning by ridge regression is in section 4.1 of
the former. The book shows all of it in "ViT".
Shapes: B pictures, C channels, N patches (row by row), P prefix tokens (the class token), T = P + N
tokens, D width, H heads, K classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from coursekit._base.checks import check_at_least, check_int, check_numbers, check_tensor


def patch_distances(grid: tuple[int, int], patch: int) -> Tensor:
    """(N, N): how many pixels the middles of two patches lie apart."""
    rows, columns = grid
    check_int(rows=rows, columns=columns, patch=patch)
    row = torch.arange(rows).repeat_interleave(columns)  # (N,)
    column = torch.arange(columns).repeat(rows)  # (N,)
    places = patch * torch.stack([row, column], dim=-1).double()  # (N, 2)
    apart = places[:, None] - places[None]  # (N, N, 2)
    return apart.square().sum(dim=-1).sqrt()  # (N, N)


def attention_distance(
    weights: Tensor, grid: tuple[int, int], *, patch: int, prefix: int = 1
) -> Tensor:
    """Weights (B, H, T, T) of one layer -> (H,): how far each head looks, in pixels.

    That is the mean distance between a patch and the patches that it attends to, weighted by its
    attention, then the mean over patches and pictures. Prefix tokens have no place: their rows and
    columns are left out, and what a patch gives to the patches is brought back to a sum of 1.
    """
    check_int(least=0, prefix=prefix)
    apart = patch_distances(grid, patch)  # (N, N)
    T = prefix + len(apart)
    check_tensor(weights, "weights")
    if weights.ndim != 4 or weights.shape[2:] != (T, T) or not len(weights):
        raise ValueError(
            f"weights must have shape (pictures, heads, {T}, {T}) for {prefix} prefix tokens and "
            f"{grid[0]} × {grid[1]} patches, found {tuple(weights.shape)}"
        )
    shares = weights[:, :, prefix:, prefix:].double()  # (B, H, N, N)
    total = shares.sum(dim=-1)  # (B, H, N)
    if (total <= 0).any():
        raise ValueError("a patch attends to no patch at all; a distance needs one that does")
    far = (shares * apart.to(shares.device)).sum(dim=-1) / total  # (B, H, N)
    return far.mean(dim=(0, 2)).to(weights.dtype)  # (H,)


def place_similarity(table: Tensor, grid: tuple[int, int]) -> Tensor:
    """Position vectors (N, D) of the patches -> (h, w, h, w): cosine of each with each.

    Entry [r, c] is a map over the grid: how similar every place is to that in row r, column c.
    """
    check_tensor(table, "table")
    rows, columns = grid
    if table.ndim != 2 or len(table) != rows * columns:
        raise ValueError(
            f"a grid of {rows} × {columns} has position vectors ({rows * columns}, width), "
            f"found {tuple(table.shape)}"
        )
    unit = F.normalize(table, dim=-1)  # (N, D)
    return (unit @ unit.T).unflatten(1, grid).unflatten(0, grid)  # (h, w, h, w)


class Components(NamedTuple):
    """The directions in which a set of filters differs most."""

    filters: Tensor  # (count, C, P, P), each of length 1, its largest number positive
    shares: Tensor  # (count,): of the variance of all filters


def principal_filters(weight: Tensor, count: int) -> Components:
    """Patch filters (D, C, P, P) -> the first `count` principal components, largest first.

    Each of the D filters is a point with C·P·P numbers. A component and its negative are the same
    direction, so the sign is chosen.
    """
    check_tensor(weight, "weight")
    if weight.ndim != 4:
        raise ValueError(
            f"filters must have shape (width, channels, P, P), found {tuple(weight.shape)}"
        )
    most = min(len(weight), weight[0].numel())
    check_int(count=count)
    check_numbers(weight, "weight", finite=True)
    if count > most:
        raise ValueError(f"there are {most} components at most, found count={count}")
    flat = weight.detach().flatten(1).double()  # (D, C·P·P)
    _, sizes, directions = torch.linalg.svd(flat - flat.mean(dim=0), full_matrices=False)
    filters = directions[:count]  # (count, C·P·P)
    largest = filters.gather(1, filters.abs().argmax(dim=1, keepdim=True))  # (count, 1)
    shares = sizes.square() / sizes.square().sum()  # (most,)
    filters = (filters * largest.sign()).unflatten(1, weight.shape[1:])  # (count, C, P, P)
    return Components(filters.to(weight.dtype), shares[:count].to(weight.dtype))


def rollout(weights: Sequence[Tensor]) -> Tensor:
    """Weights of each layer, depth × (B, H, T, T), first layer first -> (B, T, T).

    Row i says how much of each input token is in token i at the top, if a token is half of what it
    was and half of what it attends to in each layer, and all heads count alike. Each row sums to 1.
    """
    if not len(weights):
        raise ValueError("a roll-out needs the weights of at least one layer, found none")
    steps = []
    for layer in weights:
        check_tensor(layer, "weights")
        if layer.ndim != 4 or layer.shape != weights[0].shape or layer.shape[2] != layer.shape[3]:
            raise ValueError(
                "weights of each layer must have one shape (pictures, heads, T, T), "
                f"found {tuple(layer.shape)}"
            )
        mean = layer.mean(dim=1)  # (B, T, T)
        steps.append((mean + torch.eye(mean.shape[-1]).to(mean)) / 2)  # (B, T, T)
    total = steps[0]
    for step in steps[1:]:
        total = step @ total  # (B, T, T): the newest is in front
    return total


class Readout(NamedTuple):
    """A linear map that was solved for, and not trained."""

    weight: Tensor  # (D, K)
    bias: Tensor  # (K,)

    def __call__(self, features: Tensor) -> Tensor:
        """Features (N, D) -> scores (N, K)."""
        return features @ self.weight + self.bias


def ridge(features: Tensor, targets: Tensor, strength: float) -> Readout:
    """Features (N, D), targets (N, K) -> the W and b with the least ‖XW + b − Y‖² + strength‖W‖².

    The bias costs nothing. With the means subtracted it is 0, and W = (XᵀX + strength·I)⁻¹ XᵀY.
    """
    check_tensor(features, "features")
    check_tensor(targets, "targets")
    check_at_least(strength=strength)
    if features.ndim != 2 or targets.ndim != 2 or len(features) != len(targets):
        raise ValueError(
            "features (N, D) and targets (N, K) must have one row for each example, "
            f"found {tuple(features.shape)} and {tuple(targets.shape)}"
        )
    if not len(features) or strength == 0:
        raise ValueError(
            "ridge regression needs examples and a strength above 0, "
            f"found {len(features)} examples and strength {strength}"
        )
    x, y = features.double(), targets.double()
    middle, level = x.mean(dim=0), y.mean(dim=0)  # (D,), (K,)
    x = x - middle  # (N, D)
    square = x.T @ x + strength * torch.eye(x.shape[1]).to(x)  # (D, D)
    weight = torch.linalg.solve(square, x.T @ (y - level))  # (D, K)
    bias = level - middle @ weight  # (K,)
    return Readout(weight.to(features.dtype), bias.to(features.dtype))


def few_shot(features: Tensor, labels: Tensor, *, classes: int, strength: float) -> Readout:
    """Features (N, D) of a few labelled pictures, labels (N,) -> a classifier with K scores.

    The targets are +1 for the right class and −1 for each other one.
    """
    check_int(classes=classes)
    if labels.ndim != 1 or labels.dtype != torch.int64 or len(labels) != len(features):
        raise ValueError(
            f"labels must be ({len(features)},) of int64, "
            f"found {labels.dtype} {tuple(labels.shape)}"
        )
    if len(labels) and not 0 <= int(labels.min()) <= int(labels.max()) < classes:
        raise ValueError(
            f"labels must lie in 0 … {classes - 1}, found {int(labels.min())} to "
            f"{int(labels.max())}"
        )
    targets = 2.0 * F.one_hot(labels, classes).to(features) - 1  # (N, K)
    return ridge(features, targets, strength)
