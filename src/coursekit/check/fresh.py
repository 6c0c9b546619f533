"""Nothing that an answer has touched is used again.

Answers change their arguments in place, keep what they were given, and change later what they have
returned. So each run of a case makes its own values, and what comes back is copied at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn


@contextmanager
def same_chance() -> Iterator[None]:
    """Let a case draw the same random numbers whenever it runs, and leave those of others alone."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        yield


@contextmanager
def usual_numbers() -> Iterator[None]:
    """Compute as torch does by itself, whatever a notebook has set."""
    dtype = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        torch.set_default_dtype(dtype)


def copied(value: Any) -> Any:
    """Return plain values again, with arrays of their own."""
    if type(value) in (Tensor, nn.Parameter):
        return value.detach().clone()
    if type(value) is np.ndarray:
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)(map(copied, value))
    if type(value) is dict:
        return {key: copied(item) for key, item in value.items()}
    return value
