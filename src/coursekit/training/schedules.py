"""Schedules: how large a step is allowed to be at each moment of a training.

A schedule is a function from the number of the step, 1 for the first, to a factor of the peak
learning rate. `attach` lets one steer an optimiser. Nearly all of them begin with a warm-up, since
Adam's first steps rest on hardly any gradients (see "Training practice").
"""

from __future__ import annotations

import math
from collections.abc import Callable

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

from coursekit._base.checks import check_at_least, check_fraction, check_int, check_positive

Schedule = Callable[[int], float]


def constant(*, warmup: int = 0) -> Schedule:
    """Rise to 1 within `warmup` steps, then stay there."""
    check_at_least(warmup=warmup)
    return lambda step: min(1.0, step / max(warmup, 1))


def inverse_sqrt(*, warmup: int) -> Schedule:
    """Rise to 1, then fall as 1/√step: the shape of Vaswani et al. (2017), with a peak of 1."""
    check_positive(warmup=warmup)
    return lambda step: min(step / warmup, math.sqrt(warmup / max(step, 1)))


def vaswani(*, width: int, warmup: int = 4000) -> Schedule:
    """width^-0.5 · min(step^-0.5, step · warmup^-1.5): the paper's, for lr=1."""
    check_positive(width=width, warmup=warmup)
    shape = inverse_sqrt(warmup=warmup)
    return lambda step: shape(step) / math.sqrt(width * warmup)


def linear(*, warmup: int = 0, total: int, floor: float = 0.0) -> Schedule:
    """Rise to 1, then fall along a line to `floor` at step `total`, and stay there (BERT)."""
    return _falling(lambda done: 1 - done, warmup, total, floor)


def cosine(*, warmup: int = 0, total: int, floor: float = 0.0) -> Schedule:
    """Rise to 1, then fall along half a wave to `floor` at step `total`, and stay there (GPT)."""
    return _falling(lambda done: (1 + math.cos(math.pi * done)) / 2, warmup, total, floor)


def growth(*, first: int, last: int, steps: int) -> Callable[[int], int]:
    """Return sizes that grow evenly from `first` to `last` within `steps`, and stay there.

    For batches (a small one is a noisy and cheap one, which does little harm at the beginning) and
    for sequences (short ones first), instead of a warm-up of the learning rate or beside it.
    """
    check_int(first=first, last=last, steps=steps)
    if last < first:
        raise ValueError(f"last must be at least first, found {last} and {first}")
    return lambda step: first + (last - first) * min(max(step - 1, 0), steps) // steps


def switch(*, first: int, last: int, steps: int, share: float = 0.9) -> Callable[[int], int]:
    """Return sizes: `first` for that share of the `steps`, then `last`.

    BERT reads rows of 128 tokens in nine steps of ten, and of 512 in the last tenth, which has to
    teach the vectors of the later places.
    """
    check_int(first=first, last=last, steps=steps)
    check_fraction(share=share)
    return lambda step: first if step <= round(share * steps) else last


def attach(optimiser: Optimizer, schedule: Schedule) -> LambdaLR:
    """Let a schedule steer the learning rates of an optimiser; call `.step()` after its own.

    What the optimiser was made with is the peak of each of its groups.
    """
    return LambdaLR(optimiser, lambda done: schedule(done + 1))


def _falling(shape: Callable[[float], float], warmup: int, total: int, floor: float) -> Schedule:
    """Return a schedule that falls from 1 to `floor`, as `shape` falls from 1 to 0 over [0, 1]."""
    check_at_least(warmup=warmup, total=total)
    check_fraction(floor=floor)
    if total <= warmup:
        raise ValueError(f"total must be more than warmup, found {total} and {warmup}")

    def schedule(step: int) -> float:
        if step < warmup:
            return step / warmup
        done = min(1.0, (step - warmup) / (total - warmup))
        return floor + (1 - floor) * shape(done)

    return schedule
