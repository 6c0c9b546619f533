"""Sums and counts: what a loss returns to `train`, and means that were multiplied by a number.

`train` divides each sum by its count over the whole batch, in all micro-batches and processes. So
the count must be what the mean divides by: the masked tokens of a masked language model, not its
rows. A mean times another number takes the right step of a whole batch and, silently, another one
as soon as the batch is cut; `check_counts` finds such a mean where the graph of the loss shows it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import Node

Pair = tuple[Tensor, Tensor | int | float]  # the sum of some losses, and what divides it

# What a scalar goes through unchanged but for a factor; a mean behind these is still a mean.
LINEAR = ("Mul", "Div", "Add", "Sub", "Neg", "ToCopy")


def pairs_of(answer: Any) -> list[Pair]:
    """Return what a loss said as pairs of sum and count, or raise unless it is that."""
    several = (
        isinstance(answer, (list, tuple))
        and len(answer) > 0
        and all(isinstance(pair, (list, tuple)) for pair in answer)
    )
    pairs = list(answer) if several else [answer]
    for pair in pairs:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            kind = f"{len(pair)} things" if isinstance(pair, (list, tuple)) else type(pair).__name__
            raise TypeError(
                f"loss must return the sum of the losses and their number, found {kind}; "
                "for several means, a list of such pairs"
            )
        total, _ = pair
        if not isinstance(total, Tensor) or total.numel() != 1:
            shape = tuple(total.shape) if isinstance(total, Tensor) else type(total).__name__
            raise TypeError(
                f"the sum of the losses must be a tensor with one number, found {shape}"
            )
    return [(total if total.ndim == 0 else total.reshape(()), count) for total, count in pairs]


def table_of(pairs: list[Pair]) -> Tensor:
    """Sums and counts of K pairs -> (K, 2), without a graph, in 32 bits or more."""
    kind = torch.promote_types(pairs[0][0].dtype, torch.float32)
    rows = [
        torch.stack(
            [total.detach().to(kind), torch.as_tensor(count, dtype=kind, device=total.device)]
        )
        for total, count in pairs
    ]
    return torch.stack(rows)  # (K, 2)


def check_counts(pairs: list[Pair], shapes: Collection[torch.Size]) -> list[float]:
    """Raise where the graph of a sum shows a mean over another number of losses than is counted.

    A mean over D losses, times the count, is the sum of `count` equal shares of D / count losses
    each: that is sound where D is a multiple of the count, and the same multiple in each
    micro-batch (`check_alike`). Returns the multiple of each mean, 0 where nothing is counted. A
    mean over a tensor of one of these `shapes`, those of the weights, is a penalty on weights,
    which has no number.
    """
    multiples = []
    for total, count in pairs:
        number = float(count)
        for name, size in _means(total, shapes):
            if total.grad_fn is not None and name == total.grad_fn.name() and number > 1:
                raise ValueError(
                    f"loss must return the sum of {number:g} losses, found their mean: take "
                    'reduction="sum" (or multiply the mean by what it divides by)'
                )
            multiple = size / number if number else 0.0
            multiples.append(multiple)
            whole = round(multiple)
            if number and (whole < 1 or abs(multiple - whole) > 1e-4 * multiple):
                raise ValueError(
                    f"the loss is a mean over {size:g} losses and counts {number:g}, of which "
                    f"{size:g} is not a multiple, {ADVICE} {size:g}{SEVERAL}"
                )
    return multiples


def check_alike(multiples: list[float], others: list[float]) -> None:
    """Raise where two micro-batches have means over other numbers of losses for each counted."""
    for one, other in zip(multiples, others):
        if one and other and abs(one - other) > 1e-4 * one:
            raise ValueError(
                f"the loss is a mean, over {one:g} losses for each that it counts in one "
                f"micro-batch and over {other:g} in another, {ADVICE} their number{SEVERAL}"
            )


ADVICE = (
    "so micro-batches and processes would take other steps than the whole batch. Return the sum "
    '(reduction="sum") and'
)
SEVERAL = ", or of several means a list with one pair for each: [(sum, count), (sum, count)]"


def _means(total: Tensor, shapes: Collection[torch.Size]) -> Iterator[tuple[str, float]]:
    """Yield name and number of losses of each mean that this sum is made of, times a factor."""
    stack = [total.grad_fn]
    while stack:
        node = stack.pop()
        if node is None:
            continue
        name = node.name()
        size = _size_of_mean(node, shapes)
        if size:
            yield name, size
        elif name.partition("Backward")[0] in LINEAR:
            inputs = [following for following, _ in node.next_functions if following is not None]
            product = name.startswith(("Mul", "Div")) and len(inputs) > 1  # of two that learn
            stack += [] if product else inputs


def _size_of_mean(node: Node, shapes: Collection[torch.Size]) -> float:
    """Return how many losses this node takes the mean of, or 0 if that cannot be seen."""
    if node.name().startswith("MeanBackward0"):
        shape = torch.Size(node._saved_self_sym_sizes)  # type: ignore[attr-defined]
        return 0.0 if shape in shapes else float(shape.numel())
    if getattr(node, "_saved_reduction", 0) != 1:  # torch's losses remember theirs: 1 is the mean
        return 0.0
    if hasattr(node, "_saved_total_weight"):  # cross-entropy: ignored targets are not in it
        return float(node._saved_total_weight)
    saved = getattr(node, "_saved_self", None)
    return float(saved.numel()) if isinstance(saved, Tensor) else 0.0
