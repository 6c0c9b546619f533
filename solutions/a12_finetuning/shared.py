"""What several questions of this assignment use."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from coursekit.check.probe import Chance

BLOCK = ("attention.weight", "attention.bias", "norm.weight", "norm.bias")


def names_of(depth: int, *tops: str) -> list[str]:
    """Return the names of an encoder's weights, from the bottom to the top."""
    found = ["embeddings.tokens.weight", "embeddings.norm.weight", "embeddings.norm.bias"]
    found += [f"blocks.{number}.{name}" for number in range(depth) for name in BLOCK]
    return found + [f"{top}.{name}" for top in tops for name in ("weight", "bias")]


def learned(
    depth: int, *tops: str, seed: int = 0, dtype: torch.dtype = torch.float32
) -> dict[str, Tensor]:
    """Return weights as a training may leave them: no bias is 0, no norm 1, no matrix small."""
    chance, found = Chance(seed), {}
    for name in names_of(depth, *tops):
        matrix = name.endswith("weight") and "norm" not in name
        drawn = chance.randn(*(64,) * (1 + matrix), dtype=dtype)
        found[name] = 0.1 * drawn if matrix else drawn / 5 + 1 if "norm.w" in name else drawn / 9
    return found


def became(before: dict[str, Tensor], now: Any) -> Any:
    """Say in words what has become of each weight; numbers drawn at random differ, words do not."""
    if type(now) is not dict or now.keys() != before.keys():
        return sorted(now) if type(now) is dict else now
    return {name: _told(before[name], now[name]) for name in before}


def _told(old: Tensor, new: Any) -> str:
    if not isinstance(new, Tensor):
        return f"of type {type(new).__name__}"
    if new.shape != old.shape or new.dtype != old.dtype:
        return f"{str(new.dtype).removeprefix('torch.')} {tuple(new.shape)}"
    if torch.equal(new, old):
        return "as it was"
    x = new.detach().double()
    mean, spread = float(x.mean()), float(x.std())
    if not math.isfinite(spread):
        return "not finite"
    if spread < 1e-12:
        return f"all {mean:.3g}"
    if abs(float(torch.corrcoef(torch.stack([x.flatten(), old.double().flatten()]))[0, 1])) > 0.5:
        return "much like what it was"
    # Steps of 13%: what two people draw is a percent apart, and should be told alike.
    step = math.log(50) / 30
    said = f"deviation {0.02 * math.exp(step * round(math.log(spread / 0.02) / step)):.2g}"
    if abs(mean) > 6 * spread / math.sqrt(x.numel()):
        said += f", mean {mean:.1g}"
    if new.ndim == 2 and abs(float(((x - mean).abs() < spread).double().mean()) - 0.683) > 0.05:
        return f"not normal, {said}"
    return f"normal, {said}"
