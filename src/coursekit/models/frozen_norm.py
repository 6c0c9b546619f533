"""Batch normalisation that does not move: its numbers were learned elsewhere and stay as they are.

A detector trains on a few large images at a time, too few for means and variances of their own, so
DETR keeps those that its backbone learned from ImageNet. The book explains it in "DETR".
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class FrozenBatchNorm2d(nn.Module):
    """(x − mean) / √(var + eps) · weight + bias for each channel, in training as in evaluation.

    The four are buffers, not parameters: no gradient reaches them, no optimiser moves them, and yet
    they are saved with the model, for they are part of what was learned. Their names are those of
    `nn.BatchNorm2d`, so that its weights fit.
    """

    def __init__(self, channels: int, *, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Buffer(torch.ones(channels))
        self.bias = nn.Buffer(torch.zeros(channels))
        self.running_mean = nn.Buffer(torch.zeros(channels))
        self.running_var = nn.Buffer(torch.ones(channels))

    def forward(self, x: Tensor) -> Tensor:
        """x (B, D, R, C) -> the same shape."""
        return F.batch_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
        )  # `training` is off by default: the batch's own mean and variance play no part
