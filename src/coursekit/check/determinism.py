"""Nothing that an answer has touched is used again.

Answers change their arguments in place, keep what they were given, and change later what they have
returned. So each run of a case makes its own values, what comes back is copied at once, and what
the reference gave is sealed by a hash, which is looked at before anything is compared with it.
"""

from __future__ import annotations

import hashlib
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


def seal(value: Any) -> bytes:
    """Return a hash of plain values, down to the bits of their arrays."""
    digest = hashlib.blake2b(digest_size=16)
    _seal(value, digest.update)
    return digest.digest()


def _seal(value: Any, update: Any) -> None:
    if type(value) is Tensor:
        update(f"{value.dtype} {tuple(value.shape)}".encode())
        if value.numel():
            whole = value.resolve_conj().flatten().clone(memory_format=torch.contiguous_format)
            update(whole.view(torch.uint8).numpy())
    elif type(value) is np.ndarray:
        update(f"{value.dtype} {value.shape}".encode() + value.tobytes())
    elif type(value) in (list, tuple, dict):
        update(f"{type(value).__name__} {len(value)} ".encode())
        for item in value.items() if type(value) is dict else value:
            _seal(item, update)
    else:
        update(f"{value!r} ".encode())
