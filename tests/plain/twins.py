"""What the tests of models on a page share: weights and inputs for a page and its full model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

import torch
from torch import Tensor, nn

Module = TypeVar("Module", bound=nn.Module)


def shaken(model: Module, by: float) -> Module:
    """Add noise to every weight, so that none is zero or one."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=by)
    return model


def substituted(name: str, patterns: Mapping[str, str]) -> str:
    """Return what the full model calls a weight of the page."""
    for ours, theirs in patterns.items():
        name = re.sub(ours, theirs, name)
    return name


def part_by_part(name: str, names: Mapping[str, str]) -> str:
    """Return a name each part of which is what the full model calls it."""
    return ".".join(names.get(part, part) for part in name.split("."))


def random_tokens(B: int, T: int, pad: int = 0) -> Tensor:
    """Return tokens (B, T); row b has T − b real ones, at least one, and padding after them."""
    tokens = (pad + torch.randint(1, 11, (B, T))) % 11
    real = torch.arange(T) < (T - torch.arange(B)[:, None]).clamp_min(1)
    return tokens.where(real, pad)
