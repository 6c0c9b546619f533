"""Micro-batches: a step's batch in parts, one after the other or in several processes.

Their gradients are added up (gradient accumulation), so a step needs the activations of one
micro-batch only. What is drawn at random, dropout and masks, follows from the seed, the step and
the number of the micro-batch: read twice, it draws the same twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from accelerate.utils import set_seed
from torch import nn

from coursekit.training.batches import Batches, to_device


def seed_of(seed: int, step: int, draw: int = 0) -> int:
    """Return the seed of a step, and of each of its draws; NumPy's have 32 bits."""
    return (1_000_003 * seed + 1009 * step + draw) % 2**32


class MicroBatches:
    """The micro-batches of one process in one step: `number` of them, the first is 0."""

    def __init__(
        self,
        batches: Batches,
        step: int,
        chosen: list[int],
        *,
        number: int,
        rank: int,
        processes: int,
    ) -> None:
        if len(chosen) < number * processes:
            raise ValueError(
                f"a batch of {len(chosen)} cannot be cut into {number} micro-batches for each "
                f"of {processes} processes"
            )
        self.batches, self.step, self.number = batches, step, number
        self.first, self.all = rank * number, number * processes
        self.rows = [chosen[self.first + each :: self.all] for each in range(number)]
        self.collated: dict[int, Any] = {}

    def read(self, each: int, device: torch.device) -> Any:
        """Return a micro-batch on `device`, and set the seed of what the loss draws for it."""
        draw, seed = self.first + each, self.batches.seed
        if each not in self.collated:
            set_seed(seed_of(seed, self.step, draw))
            self.collated[each] = self.batches.collated(self.rows[each])
        if self.number > 1:
            set_seed(seed_of(seed, self.step, self.all + draw))
        return to_device(self.collated[each], device)


@contextmanager
def only_counted(model: nn.Module) -> Iterator[None]:
    """No gradients inside; buffers, such as BatchNorm's running statistics, are restored after."""
    kept = [
        (module, name, buffer, buffer.clone())
        for module in model.modules()
        for name, buffer in module._buffers.items()
        if buffer is not None
    ]
    with torch.no_grad():
        yield
    for module, name, buffer, value in kept:
        module._buffers[name] = buffer
        buffer.data.copy_(value)  # .data: a graph that is waiting for its gradient has seen it
