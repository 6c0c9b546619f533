"""What several questions of this assignment use."""

from __future__ import annotations

import torch

from coursekit.check.probe import randn


def places(*shape, seed):
    return randn(*shape, seed=seed) > 0.8


def between(first, last, length):
    """Return where the passages lie, (B, T)."""
    places = range(length)
    return torch.tensor([[a <= place <= b for place in places] for a, b in zip(first, last)])
