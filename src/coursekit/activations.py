"""Activations: ReLU, and the GELU family that followed it, each as its formula.

`torch.nn.functional` has the same functions in one fused call; tests hold them equal. The book
compares them in "Blocks".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

# What a model's configuration calls them -> torch's fused calls.
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
    "silu": F.silu,
}


def relu(x: Tensor) -> Tensor:
    """Keep what is positive."""
    return x.clamp_min(0)


def gelu(x: Tensor) -> Tensor:
    """x Φ(x): keep x with the probability that a standard normal lies below it (exact)."""
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def gelu_tanh(x: Tensor) -> Tensor:
    """GELU with Φ approximated by a tanh; GPT-2 was trained with this one."""
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def gelu_sigmoid(x: Tensor) -> Tensor:
    """GELU with Φ approximated by σ(1.702 x)."""
    return x * torch.sigmoid(1.702 * x)


def silu(x: Tensor) -> Tensor:
    """x σ(x), also called Swish."""
    return x * torch.sigmoid(x)


def stochastic_gelu(x: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """x times a coin that shows 1 with probability Φ(x): dropout and ReLU in one; its mean is GELU.

    ReLU multiplies by 0 or 1 by looking at x, dropout by chance; this does both (Hendrycks and
    Gimpel, 2016).
    """
    keep = 0.5 * (1 + torch.erf(x / math.sqrt(2)))  # Φ(x)
    return x * torch.bernoulli(keep, generator=generator)
