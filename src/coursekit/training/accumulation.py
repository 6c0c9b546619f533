"""Gradient accumulation: the gradients of one step, from micro-batches and several processes.

`loss(model, batch)` returns the sum of the losses and how many there are. Gradients of sums are
added up, and divided once by the count of the whole batch. Of several means each has its own
count, which must be known before the first gradient: the other micro-batches are read once without
gradients, and the counts added up over the processes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import broadcast_object_list
from torch import Tensor, nn

from coursekit.training.batches import Batches
from coursekit.training.following import Following
from coursekit.training.micro_batches import MicroBatches, only_counted
from coursekit.training.sums import Pair, check_alike, check_counts, pairs_of, table_of

Loss = Callable[[Any, Any], Pair | Sequence[Pair]]


class LossParameters:
    """The optimizer's weights that are not the model's: parameters of the loss."""

    def __init__(
        self, model: nn.Module, optimizer: torch.optim.Optimizer, device: torch.device
    ) -> None:
        owned = [weight for group in optimizer.param_groups for weight in group["params"]]
        inside = set(model.parameters())
        self.weights = [weight for weight in owned if weight not in inside]
        for weight in self.weights:
            weight.data = weight.data.to(device)

    def state_dict(self) -> dict[str, Tensor]:
        """Return the weights by their number."""
        return {str(number): weight.detach() for number, weight in enumerate(self.weights)}

    @torch.no_grad()
    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        """Copy weights from a `state_dict`."""
        for number, weight in enumerate(self.weights):
            weight.copy_(state[str(number)])


class Accumulation:
    """Computes gradients in `number` micro-batches for each process."""

    def __init__(
        self,
        model: nn.Module,
        parameters: LossParameters,
        loss: Loss,
        batches: Batches,
        accelerator: Accelerator,
        following: Following,
        *,
        number: int,
    ) -> None:
        self.model, self.loss, self.batches, self.number = model, loss, batches, number
        self.accelerator, self.following = accelerator, following
        self.weights = [*model.parameters(), *parameters.weights]
        self.checked = False  # the counts of the loss are, in the first step

    def gradients(self, step: int, chosen: list[int]) -> Tensor:
        """Put the gradients of the mean loss of the items `chosen` into the weights.

        Returns (2,): the sum of the losses and their number, or of several means theirs and 1.
        """
        micro_batches = MicroBatches(
            self.batches,
            step,
            chosen,
            number=self.number,
            rank=self.accelerator.process_index,
            processes=self.accelerator.num_processes,
        )
        counts: Tensor | None = None  # of several means, in the whole batch: (K,)
        multiples: list[float] = []
        tables: list[Tensor] = []  # (K, 2) for each micro-batch
        for each in range(self.number):
            pairs = self._losses(micro_batches, each)
            if not self.checked:
                multiples = self._check(pairs, multiples, first=each == 0)
            tables.append(table_of(pairs))
            if len(pairs) > 1 and each == 0:
                with only_counted(self.model):
                    others = [
                        table_of(self._losses(micro_batches, n))[:, 1]
                        for n in range(1, self.number)
                    ]
                counts = self.accelerator.reduce(tables[0][:, 1] + sum(others), "sum")  # (K,)
                counts = _counted(counts, step)
            # In the size of a mean: 16-bit gradients stay in range.
            by: Sequence[Tensor | int] = [len(chosen)] if counts is None else counts.unbind()
            shares = [part / n for (part, _), n in zip(pairs, by, strict=True)]
            self.accelerator.backward(sum(shares[1:], shares[0]))
        self.checked = True
        table = self.accelerator.reduce(torch.stack(tables).sum(dim=0), "sum")  # (K, 2)
        if counts is not None:  # the loss of a step, and one step
            self._reduced()
            mean = (table[:, 0] / counts).sum()
            return torch.stack([mean, torch.ones_like(mean)])
        counts = _counted(table[:, 1], step)
        for gradient in self._reduced():
            gradient.mul_(len(chosen) / counts[0])  # now of the mean loss
        return table[0]

    def _losses(self, micro_batches: MicroBatches, each: int) -> list[Pair]:
        batch = micro_batches.read(each, self.accelerator.device)
        # Of a list of rows `loss` makes the tensors, and they have to follow the model.
        with self.accelerator.autocast(), self.following.pause(not isinstance(batch, list)):
            return pairs_of(self.loss(self.model, batch))

    def _check(self, pairs: list[Pair], multiples: list[float], *, first: bool) -> list[float]:
        """Check counts in themselves, and against those of the first process's first micro-batch.

        Returns the latter.
        """
        found = check_counts(pairs, {weight.shape for weight in self.weights})
        multiples = broadcast_object_list([found])[0] if first else multiples
        check_alike(found, multiples)
        return multiples

    def _reduced(self) -> list[Tensor]:
        """Return the gradients that this step has, each added up over all processes."""
        weights = [weight for weight in self.weights if weight.requires_grad]
        if self.accelerator.num_processes > 1:
            mine = torch.tensor([w.grad is not None for w in weights], dtype=torch.float32)
            there = self.accelerator.reduce(mine.to(self.accelerator.device), "sum").tolist()
            for weight, processes in zip(weights, there):
                if processes:
                    own = torch.zeros_like(weight) if weight.grad is None else weight.grad
                    weight.grad = self.accelerator.reduce(own, "sum")
        return [weight.grad for weight in weights if weight.grad is not None]


def _counted(counts: Tensor, step: int) -> Tensor:
    """Return the counts of a step as divisors: a sum over nothing is 0, and stays 0."""
    if not counts.sum() > 0:
        raise ValueError(f"the loss must count an item or more, found none at step {step}")
    return torch.where(counts > 0, counts, 1)
