"""A linear probe: how much of the answer a linear layer finds in what a frozen encoder says.

The book explains it in "DeiT and MAE". Shapes: N items, D features, V classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from coursekit._base.checks import (
    check_at_least,
    check_int,
    check_labels,
    check_numbers,
    check_tensor,
)


class Probe(NamedTuple):
    """A linear classifier of features that are first brought to mean 0 and spread 1."""

    mean: Tensor  # (D,)
    spread: Tensor  # (D,)
    weight: Tensor  # (V, D)
    bias: Tensor  # (V,)

    def scores(self, features: Tensor) -> Tensor:
        """features (N, D) -> (N, V)."""
        return F.linear((features - self.mean) / self.spread, self.weight, self.bias)

    def accuracy(self, features: Tensor, labels: Tensor) -> float:
        """Share of the features (N, D) whose largest score is that of their label (N,)."""
        scores = self.scores(features)
        check_numbers(scores, "the probe's scores")
        return (scores.argmax(dim=-1) == labels).double().mean().item()


def linear_probe(
    features: Tensor, labels: Tensor, *, classes: int, decay: float = 1e-3, steps: int = 100
) -> Probe:
    """Fit a softmax regression by L-BFGS: features (N, D), labels (N,) -> `Probe`.

    What is made small is the mean cross-entropy plus `decay`/2 times the squared weights (the bias
    is free). Mean and spread are those of the features given; a feature that never changes is left
    out.
    """
    check_tensor(features, "features")
    check_int(classes=classes, steps=steps)
    check_at_least(decay=decay)
    check_labels(labels, classes, "labels")
    if features.ndim != 2 or labels.shape != features.shape[:1] or 0 in features.shape:
        raise ValueError(
            "features must have shape (items, features) and labels (items,), "
            f"found {tuple(features.shape)} and {tuple(labels.shape)}"
        )
    mean, spread = features.mean(dim=0), features.std(dim=0, correction=0)
    spread = torch.where(spread > 1e-6, spread, torch.inf)  # x / ∞ = 0
    x = (features - mean) / spread  # (N, D)
    weight = torch.zeros(classes, features.shape[1]).to(features).requires_grad_()
    bias = torch.zeros(classes).to(features).requires_grad_()
    fit = torch.optim.LBFGS([weight, bias], max_iter=steps, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        fit.zero_grad()
        value = F.cross_entropy(F.linear(x, weight, bias), labels)
        value = value + decay / 2 * weight.square().sum()
        value.backward()
        return value

    fit.step(loss)
    return Probe(mean, spread, weight.detach(), bias.detach())


def tuned_probe(
    train: tuple[Tensor, Tensor],
    valid: tuple[Tensor, Tensor],
    *,
    classes: int,
    decays: Sequence[float] = (1e-4, 1e-3, 1e-2, 1e-1, 1.0),
) -> tuple[Probe, float]:
    """Fit a probe with each decay; return the one that is best on `valid`, and its decay.

    `train` and `valid` are features (N, D) and labels (N,). Of equals the largest decay is kept.
    """
    if not decays:
        raise ValueError("decays must have at least one value, found none")
    probes = {
        decay: linear_probe(*train, classes=classes, decay=decay) for decay in sorted(decays)[::-1]
    }
    best = max(probes, key=lambda decay: probes[decay].accuracy(*valid))
    return probes[best], best
