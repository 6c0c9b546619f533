"""The plan of a training run: the settings that decide its weights, to compare with a checkpoint's.

Learning rates and batch sizes are functions of the step. Of those a checkpoint has the values at
some of the steps that it has taken: a run may become longer where they stay the same.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from accelerate.utils import set_seed
from torch import Tensor
from torch.optim import Optimizer

from coursekit.training.batches import Batches
from coursekit.training.history import State
from coursekit.training.micro_batches import seed_of
from coursekit.training.schedules import Schedule

# Of an optimizer's groups: how a step is computed, or what a schedule changes.
HOW = {"params", "param_names", "lr", "initial_lr"}
HOW |= {"fused", "foreach", "capturable", "differentiable"}
ITEMS = 16  # of the data, spread evenly, that are compared
FREE = ("steps", "minutes")  # settings of a notebook that may change; the rates decide on steps
LEVEL = "mean of the data"  # computed on another device it has other last digits
CALLBACKS = "callbacks"  # a setting that only one run has is another setting


def plan_of(batches: Batches, optimizer: Optimizer, schedule: Schedule, callbacks: State) -> State:
    """Return the plan; `optimizer` has not loaded anything yet, `callbacks` are their settings."""
    set_seed(seed_of(batches.seed, 0))  # for items that draw something when they are read
    digest, level = fingerprint(batches.items)
    peaks = [group.get("initial_lr", group["lr"]) for group in optimizer.param_groups]
    return {
        "seed": batches.seed,
        "optimizer": type(optimizer).__name__,
        "hyperparameters": hyperparameters(optimizer),
        "learning rate": lambda step: _single([float(peak) * schedule(step) for peak in peaks]),
        "batch size": batches.size_at,
        "sorted by length": batches.lengths is not None,
        "number of items": len(batches.items),
        "items": digest,
        LEVEL: level,
        CALLBACKS: dict(callbacks),
    }


def hyperparameters(optimizer: Optimizer) -> State:
    """Return those of each group but for the learning rate, once where all groups agree."""
    names = dict.fromkeys(name for group in optimizer.param_groups for name in group)
    return {
        name: _single([_simple(group.get(name)) for group in optimizer.param_groups])
        for name in names
        if name not in HOW
    }


def fingerprint(items: Sequence[Any]) -> tuple[str, float]:
    """Return a checksum of some items, and the mean size of the fractions in them.

    Fractions are not in the checksum: features that a GPU has computed are rounded differently.
    """
    digest, fractions = hashlib.sha256(), [0.0]
    for index in sorted({len(items) * number // ITEMS for number in range(ITEMS)}):
        for part in _parts(items[index]):
            if isinstance(part, float):
                fractions.append(part)
            else:
                digest.update(part)
    return digest.hexdigest()[:16], sum(fractions) / len(fractions)


def _parts(value: Any) -> Iterator[bytes | float]:
    """Yield what an item consists of: bytes, and for fractions their mean size."""
    if hasattr(value, "__array__") and not isinstance(value, Tensor):
        value = torch.as_tensor(value)
    if isinstance(value, Tensor):
        value = value.detach().cpu()
        yield f"{value.dtype} {tuple(value.shape)}".encode()
        if value.is_floating_point() or value.is_complex():
            yield float(value.abs().double().mean()) if value.numel() else 0.0
        else:
            yield value.contiguous().numpy().tobytes()
    elif isinstance(value, float):
        yield abs(value)
    elif value is None or isinstance(value, (bool, int, str, bytes)):
        yield f"{value!r} ".encode()
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _parts(getattr(value, field.name))
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield f"{name!r}:".encode()
            yield from _parts(part)
    elif isinstance(value, (list, tuple)):
        yield f"{len(value)}(".encode()
        for part in value:
            yield from _parts(part)
    else:
        yield type(value).__name__.encode()


def at_step(plan: Mapping[str, Any], step: int) -> State:
    """Return the plan as a checkpoint holds it after `step` steps: functions as some values."""
    powers, eighths = range(step.bit_length()), range(1, 9)
    steps = sorted(({2**n for n in powers} | {step * n // 8 for n in eighths}) - {0})
    return {
        name: {each: _simple(value(each)) for each in steps} if callable(value) else _simple(value)
        for name, value in plan.items()
    }


def differences(saved: Mapping[str, Any], plan: Mapping[str, Any]) -> list[str]:
    """Return what differs between the plan of a checkpoint and that of this run, in words.

    What only one of the two has, such as a hyperparameter of another optimizer, is not compared.
    """
    found = []
    for name, value in plan.items():
        if name in saved and name == CALLBACKS:
            found += _differing(saved[name], value)
        elif name in saved and isinstance(value, Mapping):
            found += differences(saved[name], value)
        elif name in saved:
            old, now, where = saved[name], value, ""
            if callable(value):
                at = next((s for s in old if not _same(name, old[s], value(s))), None)
                if at is None:
                    continue
                old, now, where = old[at], value(at), f" at step {at}"
            if not _same(name, old, now):
                found.append(f"{name}{where} {_shown(old)} (now {_shown(now)})")
    return found


def differing_settings(saved: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return which settings of a notebook's profile differ, in words."""
    if not saved or not now:  # one of the two was not run from a training notebook
        return []
    return _differing(dict(saved), {**now, **{name: saved.get(name) for name in FREE}})


def _differing(saved: State, now: State) -> list[str]:
    """Return which values differ, in words; what one of the two lacks is None there."""
    return [
        f"{name} {_shown(saved.get(name))} (now {_shown(now.get(name))})"
        for name in {**saved, **now}
        if not _same(name, saved.get(name), now.get(name))
    ]


def _same(name: str, one: Any, other: Any) -> bool:
    """Compare two values; fractions to the last digits, in which machines may differ."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(_same(name, a, b) for a, b in zip(one, other))
    if isinstance(one, float) or isinstance(other, float):
        numbers = isinstance(one, (int, float)) and isinstance(other, (int, float))
        return numbers and math.isclose(one, other, rel_tol=0.01 if name == LEVEL else 1e-6)
    return one == other


def _simple(value: Any) -> Any:
    """Return what a checkpoint can hold: plain values, lists of them, or their text."""
    if isinstance(value, Mapping):
        return {str(name): _simple(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_simple(part) for part in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return _simple(value.tolist()) if hasattr(value, "tolist") else str(value)


def _single(values: list[Any]) -> Any:
    return values[0] if all(value == values[0] for value in values) else values


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_shown, value))}]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


Plan = Mapping[str, Any | Callable[[int], Any]]
