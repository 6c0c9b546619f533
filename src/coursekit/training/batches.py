"""Batches: a stream in which batch number n is the same in every run with the same seed.

That is what makes a training repeatable and lets it go on after a break: whoever knows the number
of the step knows the batch. Each pass over the data is shuffled anew.

Rows of a batch are padded to the longest of them. With `length`, items of about the same length
come together, so that little of a batch is padding; which of these batches comes when is random.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import islice
from typing import Any

import torch

from coursekit._base.checks import check_int

POOL = 32  # batches that are sorted by length together: more is less padding and less chance


class Batches:
    """Endless batches of `items`; `collate` makes of a list of items what the loss reads.

    `size` is a number of items, or a function from the step to one (see `schedules.growth`).
    """

    def __init__(
        self,
        items: Sequence[Any],
        collate: Callable[[list[Any]], Any],
        *,
        size: int | Callable[[int], int],
        seed: int = 0,
        length: Callable[[Any], int] | None = None,
    ) -> None:
        if not len(items):
            raise ValueError("batches need at least one item, found none")
        if not callable(size):
            check_int(size=size)
        check_int(0, seed=seed)
        self.items, self.collate, self.size, self.seed = items, collate, size, seed
        self.lengths = None if length is None else [length(item) for item in items]

    def from_step(self, first: int = 1) -> Iterator[tuple[int, list[int]]]:
        """Yield (step, indices of its items), beginning with step `first`."""
        check_int(first=first)
        stream, step = self._stream(), 1
        while True:
            size = self.size(step) if callable(self.size) else self.size
            check_int(size=size)
            for chosen in self._pool(stream, size, step):
                if step >= first:
                    yield step, chosen
                step += 1

    def collated(self, indices: Sequence[int]) -> Any:
        """Return the items of these indices as one batch."""
        return self.collate([self.items[index] for index in indices])

    def _stream(self) -> Iterator[int]:
        """Yield indices without end, each once in a pass."""
        order, shuffler = list(range(len(self.items))), random.Random(self.seed)
        while True:
            shuffler.shuffle(order)
            yield from order

    def _pool(self, stream: Iterator[int], size: int, step: int) -> list[list[int]]:
        """Return the next batches: one, or `POOL` that are sorted by length and then mixed."""
        if self.lengths is None:
            return [list(islice(stream, size))]
        pool = sorted(islice(stream, size * POOL), key=self.lengths.__getitem__)
        batches = [pool[start : start + size] for start in range(0, len(pool), size)]
        random.Random(f"{self.seed} {step}").shuffle(batches)
        return batches


def to_device(batch: Any, device: torch.device) -> Any:
    """Return a batch on `device`: a tensor, or tensors in lists, tuples, dicts and dataclasses."""
    if isinstance(batch, Mapping):
        return {name: to_device(part, device) for name, part in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(to_device(part, device) for part in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(to_device(part, device) for part in batch)
    if is_dataclass(batch) and not isinstance(batch, type):
        parts = {
            field.name: to_device(getattr(batch, field.name), device) for field in fields(batch)
        }
        return replace(batch, **parts)
    return batch.to(device) if hasattr(batch, "to") else batch
