"""A short name for wrong outcomes, by which the class report finds answers that share a mistake.

The same wrong formula gives the same numbers but for their last digits, so a few numbers of each
outcome are taken, to three digits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from coursekit.check.outcome import Outcome

SOME = 12  # numbers of an array


def name_of(outcomes: Iterable[Outcome | None]) -> str:
    """Return a name that is the same for the same outcomes; "" where no case has come to an end."""
    descriptions = [_said(outcome) for outcome in outcomes if outcome is not None]
    if not descriptions:
        return ""
    return hashlib.blake2b("\n".join(descriptions).encode(), digest_size=8).hexdigest()


def _said(outcome: Outcome) -> str:
    if outcome.error is not None:
        return type(outcome.error).__name__
    return " ".join(_spelled(outcome.value))


def _spelled(value: Any) -> Iterator[str]:
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        value = torch.from_numpy(value)
    if isinstance(value, Tensor):
        flat = value.detach().cpu().flatten()
        flat = flat[:: max(1, len(flat) // SOME)][:SOME]
        yield f"{value.dtype} {tuple(value.shape)}"
        yield from (_number(one) for one in flat.tolist())
    elif isinstance(value, dict):
        for key, one in value.items():
            yield repr(key)
            yield from _spelled(one)
    elif isinstance(value, list | tuple):
        yield f"{type(value).__name__} {len(value)}"
        for one in value:
            yield from _spelled(one)
    else:
        yield _number(value) if isinstance(value, float) else repr(value)[:100]


def _number(value: Any) -> str:
    return f"{value + 0.0:.3g}" if isinstance(value, float) else str(value)
