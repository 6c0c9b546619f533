"""What several questions of this assignment use."""

from __future__ import annotations

import math

import torch


def by_autograd(q, k, upstream):
    q = q.clone().requires_grad_()
    weights = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(dim=-1)
    return torch.autograd.grad((weights * upstream).sum(), q)[0]
