"""Batches: a stream in which batch number n is the same in every run with the same seed.

That makes a training run repeatable and lets it continue after a break: the number of the step
determines the batch. Each epoch, a pass over the data, is shuffled anew.

Rows of a batch are padded to the longest of them. With `length`, items of about the same length
come together, so that little of a batch is padding; the order of these batches is random.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import accumulate, islice
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
        """Yield (step, indices of its items), starting with step `first`."""
        check_int(first=first)
        stream, step = self._stream(), 1
        while True:
            for chosen in self._pool(stream, step):
                if step >= first:
                    yield step, chosen
                step += 1

    def size_at(self, step: int) -> int:
        """Return how many items the batch of this step has."""
        size = self.size(step) if callable(self.size) else self.size
        check_int(size=size)
        return size

    def collated(self, indices: Sequence[int]) -> Any:
        """Return the items of these indices as one batch."""
        return self.collate([self.items[index] for index in indices])

    def _stream(self) -> Iterator[int]:
        """Yield indices without end, each once in a pass."""
        order, shuffler = list(range(len(self.items))), random.Random(self.seed)
        while True:
            shuffler.shuffle(order)
            yield from order

    def _pool(self, stream: Iterator[int], step: int) -> list[list[int]]:
        """Return the batches from `step` on: one, or `POOL` sorted by length and then mixed."""
        if self.lengths is None:
            return [list(islice(stream, self.size_at(step)))]
        sizes = [self.size_at(step + number) for number in range(POOL)]
        pool = sorted(islice(stream, sum(sizes)), key=self.lengths.__getitem__)
        order = list(range(POOL))  # of the pool, cut into batches from the shortest items on
        random.Random(f"{self.seed} {step}").shuffle(order)
        size_of = dict(zip(order, sizes))  # each batch has the size of the step that reads it
        ends = list(accumulate(size_of[number] for number in range(POOL)))
        return [pool[ends[number] - size_of[number] : ends[number]] for number in order]


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
