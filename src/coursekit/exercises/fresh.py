"""Nothing that an answer has touched is used again.

Answers change their arguments in place, keep what they were given, and change later what they have
returned. So each run of a case makes its own values (a case that finds a tensor or a list lying in
its module is refused), what comes back is copied at once, and what the reference gave is sealed by
a hash, which is looked at before anything is compared with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from coursekit.errors import CourseError
from coursekit.exercises.question import Case

MUTABLE = (Tensor, np.ndarray, nn.Module, list, dict, set, bytearray)


def refuse_shared(where: str, names: Mapping[str, Any], cases: Iterable[Case]) -> None:
    """Raise where cases of one module share a value that an answer could change."""
    found = {name: value for name, value in names.items() if not name.startswith("__")}
    for case in cases:
        run = case.run
        found |= dict(zip(run.__code__.co_freevars, map(_content, run.__closure__ or ())))
        found |= {f"a default of {case.says!r}": value for value in run.__defaults__ or ()}
    for name, value in found.items():
        if _mutable(value):
            raise CourseError(
                f"{where}: {name} is one {type(value).__name__} for all cases, so an answer could "
                "change what later ones are given; make it anew each time, in a function"
            )


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _mutable(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_mutable, value))
    return isinstance(value, MUTABLE)


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
            update(value.resolve_conj().contiguous().flatten().view(torch.uint8).numpy())
    elif type(value) is np.ndarray:
        update(f"{value.dtype} {value.shape}".encode() + value.tobytes())
    elif type(value) in (list, tuple, dict):
        update(f"{type(value).__name__} {len(value)} ".encode())
        for item in value.items() if type(value) is dict else value:
            _seal(item, update)
    else:
        update(f"{value!r} ".encode())
