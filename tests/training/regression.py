"""A regression whose rows have 1 to 3 targets each, like texts."""

from __future__ import annotations

import torch


def rows(count: int):
    """Inputs (4,) and which of their 3 targets are real."""
    x = torch.randn(count, 4)  # (N, 4)
    return list(zip(x, torch.arange(3) < torch.randint(1, 4, (count, 1))))


def collate(some):
    return torch.stack([a for a, _ in some]), torch.stack([b for _, b in some])


def loss(model, batch):
    inputs, real = batch  # (B, 4), (B, 3)
    wrong = (model(inputs) - inputs.sum(-1, keepdim=True)).square()  # (B, 3)
    return wrong[real].sum(), real.sum()
