"""How the steps of a training run are computed: what changes their speed, not what is learned.

    use(Computing(precision="bf16", micro_batches=4))

A training notebook says nothing of this. `choose("gpu", ...)` takes what suits the GPU,
`coursekit train NAME --set precision=fp16` another value, and every `train` follows; so a run that
was killed on one GPU continues from its checkpoint on another one. For single calls:

    with using(micro_batches=4):
        train(...)
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal

from coursekit._base.errors import CourseError

if TYPE_CHECKING:  # choose() is called where torch has not been loaded
    from torch import nn

SET = "COURSEKIT_COMPUTING"  # values as JSON, from `coursekit train`
FOLDER = "COURSEKIT_LOG"  # where tensorboard's files go
PROCESSES = "WORLD_SIZE"  # torch's own name for how many processes make one training
PRECISIONS = ("no", "fp16", "bf16")
LOGS = ("tensorboard", "wandb", "trackio")


@dataclass(frozen=True)
class Computing:
    """The products' precision, and whether they round to TensorFloat-32 (`tf32`); the number of
    micro-batches into which each process cuts its batch, whose gradients are added up (gradient
    accumulation); whether the model is compiled; who else gets the curve (`log`).
    """

    precision: Literal["no", "fp16", "bf16"] = "no"
    micro_batches: int = 1
    compile: bool = False
    tf32: bool = False
    log: str | None = None

    def __post_init__(self) -> None:
        whole = isinstance(self.micro_batches, int) and not isinstance(self.micro_batches, bool)
        sound = {
            "precision": (self.precision in PRECISIONS, f"one of {', '.join(PRECISIONS)}"),
            "micro_batches": (whole and self.micro_batches > 0, "a whole number from 1"),
            "compile": (isinstance(self.compile, bool), "true or false"),
            "tf32": (isinstance(self.tf32, bool), "true or false"),
            "log": (self.log in (None, *LOGS), f"one of {', '.join(LOGS)}"),
        }
        for name, (fits, expected) in sound.items():
            if not fits:
                raise ValueError(f"{name} must be {expected}, found {getattr(self, name)!r}")

    @contextmanager
    def applied(self, model: nn.Module) -> Iterator[None]:
        """Compile `model`, and round the products of 32 bits, inside this block."""
        import torch

        before = torch.get_float32_matmul_precision()
        if self.tf32:
            torch.set_float32_matmul_precision("high")
        if self.compile:
            model.compile()
        try:
            yield
        finally:
            torch.set_float32_matmul_precision(before)
            if self.compile:
                model._compiled_call_impl = None  # torch has no name for taking it back


NAMES = tuple(field.name for field in fields(Computing))
_used = [Computing()]


def current() -> Computing:
    """Return how training runs of this process are computed."""
    return _used[0]


def use(computing: Computing) -> None:
    """Compute the training runs of this process in this way from now on."""
    if not isinstance(computing, Computing):
        raise TypeError(f"use() needs a Computing, found {type(computing).__name__}")
    _used[0] = computing


@contextmanager
def using(**changes: Any) -> Iterator[None]:
    """Change values of the current `Computing` inside this block: `using(precision="bf16")`."""
    before = current()
    use(replace(before, **changes))
    try:
        yield
    finally:
        use(before)


def whole_batches(reason: str) -> None:
    """Raise unless each batch is read whole: for a loss that compares the items of a batch."""
    if current().micro_batches > 1 or world_size() > 1:
        raise CourseError(
            f"{reason}, so a batch cannot be cut: found micro_batches={current().micro_batches} "
            f"and {world_size()} processes, expected 1 and 1"
        )


def suited(profile: str) -> Computing:
    """Return what was set from outside, and for the profile `gpu` else what suits the card."""
    values = _of_the_card() if profile == "gpu" else {}
    return Computing(**{**values, **json.loads(os.environ.get(SET) or "{}")})


def _of_the_card() -> dict[str, Any]:
    """Return what its units for matrices have: bfloat16 from Ampere on, before it float16."""
    import torch

    if not torch.cuda.is_available():
        return {}
    generation, _ = torch.cuda.get_device_capability()
    if generation >= 8:  # A100 and later
        return {"precision": "bf16", "tf32": True}
    return {"precision": "fp16"} if generation == 7 else {}  # V100 and T4


def world_size() -> int:
    """Return how many processes make one training."""
    return int(os.environ.get(PROCESSES) or 1)


def check_cards() -> int:
    """Return how many GPUs there are, and refuse more processes than that, if there are any."""
    import torch

    there = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if there and world_size() > there:
        raise CourseError(f"{world_size()} processes need {world_size()} GPUs, found {there}")
    return there
