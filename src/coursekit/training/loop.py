"""The training loop of the course, on top of Accelerate.

    history = train(model, batches, loss, optimiser, steps=1000, schedule=cosine(total=1000))

`loss(model, batch)` returns two numbers: the sum of the losses, and how many there are (tokens,
images, boxes). The loop divides once, after everything that belongs to a step has been added up.
So a step is the same step whether its batch is read at once, in `pieces` one after the other, or by
several processes: a mean of means would give a short piece the weight of a long one.

Batches and dropout follow from the seed and the number of the step. A training that was killed goes
on from its `checkpoint` and ends with the weights that it would have had.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from accelerate.utils import broadcast, broadcast_object_list, set_seed
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer

from coursekit._base.checks import check_int, check_positive
from coursekit._base.errors import CourseError
from coursekit.training.batches import Batches, to_device
from coursekit.training.checkpoint import Checkpoint
from coursekit.training.computing import FOLDER, Computing, check_cards, current, world_size
from coursekit.training.following import Following, follow
from coursekit.training.history import History
from coursekit.training.interrupts import interrupts_wait
from coursekit.training.progress_bar import Display
from coursekit.training.schedules import Schedule, attach, constant

Loss = Callable[[Any, Any], tuple[Tensor, Tensor | int]]


class DivergedError(CourseError):
    """The loss became NaN or infinite; `history` is what came before."""

    def __init__(self, history: History) -> None:
        super().__init__(
            f"the loss became NaN or infinite at step {history.step}; a smaller learning rate, a "
            "longer warm-up or gradient clipping may help"
        )
        self.history = history


def train(
    model: nn.Module,
    batches: Batches,
    loss: Loss,
    optimiser: Optimizer,
    *,
    steps: int,
    schedule: Schedule | None = None,
    clip: float | None = None,
    pieces: int | None = None,
    precision: Literal["no", "fp16", "bf16"] | None = None,
    every: int = 100,
    validate: Callable[[Any], dict[str, float]] | None = None,
    patience: int | None = None,
    keep: int = 0,
    watch: Callable[[int, Any], dict[str, float]] | None = None,
    checkpoint: Path | str | None = None,
    name: str = "training",
    quiet: bool = False,
) -> History:
    """Train `model` in place until step `steps`, and return what happened.

    `batches` are `Batches(items, collate, size=…)`: they can be asked for the batch of any step,
    as a generator cannot. `loss(model, batch)` returns two numbers, the *sum* of the losses in the
    batch and how many it is of, `F.cross_entropy(…, reduction="sum"), len(labels)`. The loop
    divides by all that were counted in a step; with a mean in place of the sum it would do so
    twice, and hardly learn.

    Every `every` steps the model is evaluated: `validate(model)` adds its numbers to the curve
    (its tensors may be on the CPU, see `following`), the weights are among the `keep` latest
    (for an average), the checkpoint is written. With `patience` the training ends after that many
    evaluations without a lower "valid" of `validate`, and the model gets its best weights back.
    `watch(step, model)` sees the gradients of each step before they are used. `clip` is the largest
    norm that all gradients together may have. In how many `pieces` a batch is read, and with what
    `precision` the products are made, follows `computing.current()` where it is not said here.
    """
    how = current()
    if pieces is not None:
        how = replace(how, pieces=pieces)
    if precision is not None:
        how = replace(how, precision=precision)
    check_int(steps=steps, every=every)
    check_int(0, keep=keep)
    if patience is not None:
        check_int(patience=patience)
    if clip is not None:
        check_positive(clip=clip)
    if not hasattr(batches, "from_step"):
        raise TypeError(
            f"batches must be Batches(items, collate, size=…), found {type(batches).__name__}"
        )
    accelerator = _accelerator(how)
    rank, processes = accelerator.process_index, accelerator.num_processes
    following = follow(accelerator.device)
    with following.pause():
        model.to(accelerator.device).train()
    scheduler = attach(optimiser, schedule or constant())
    stepper = accelerator.prepare_optimizer(optimiser)
    parts = {"model": model, "optimiser": optimiser, "scheduler": scheduler}
    extra = {"scaler": accelerator.scaler} if accelerator.scaler else {}
    saved = Checkpoint(checkpoint, parts, plan={"name": name, "seed": batches.seed}, extra=extra)
    history = saved.load()
    if processes > 1:  # each has built the model, from draws that may have been others
        for tensor in (*model.parameters(), *model.buffers()):
            broadcast(tensor.data)
    if how.log:
        accelerator.init_trackers(name)
    sums = torch.tensor(
        history.pending, device=accelerator.device
    )  # of losses, not yet in the curve
    display = Display(name, history, steps, quiet=quiet or rank > 0)
    with display, how.applied(model), interrupts_wait() as stop, following.pause():
        for step, chosen in batches.from_step(history.step + 1):
            if step > steps or history.stopped:
                break
            began = time.perf_counter()
            set_seed(1_000_003 * batches.seed + 1009 * step + rank)  # for dropout, random masks
            total = torch.zeros(2, device=accelerator.device)  # sum of the losses, their number
            for piece in _shares(chosen, how.pieces, rank, processes):
                batch = to_device(batches.collated(piece), accelerator.device)
                # Of a list of rows `loss` makes the tensors, and they have to follow the model.
                with accelerator.autocast(), following.pause(not isinstance(batch, list)):
                    part, number = _summed(loss(model, batch))
                accelerator.backward(part / len(chosen))  # keeps 16-bit gradients in range
                total += torch.stack([part.detach(), torch.as_tensor(number).to(part)])
            total = accelerator.reduce(total, "sum")
            if not total[1] > 0:
                raise ValueError(f"the loss must count an item or more, found none at step {step}")
            for weight in model.parameters():
                if processes > 1:  # one that saw no item of this step has a gradient of zeros
                    weight.grad = torch.zeros_like(weight) if weight.grad is None else weight.grad
                    weight.grad = accelerator.reduce(weight.grad, "sum")
                if weight.grad is not None:
                    weight.grad.mul_(len(chosen) / total[1])  # now of the mean loss
            accelerator.unscale_gradients(stepper)
            if clip is not None:
                clip_grad_norm_(model.parameters(), clip)
            if watch is not None:
                history.watched.append({"step": step, **watch(step, model)})
            stepper.step()
            stepper.zero_grad()
            scheduler.step()

            sums += total
            history.step, history.items = step, history.items + len(chosen)
            history.seconds += time.perf_counter() - began
            display.stepped()
            if step % every == 0 or step == steps:
                _evaluate(model, history, sums.tolist(), optimiser, validate, following)
                sums.zero_()
                if how.log:
                    accelerator.log(history.last, step=step)
                history.remember(model.state_dict(), keep, patience)
                display.evaluated()
            if rank == 0 and (step % every == 0 or step == steps or stop()):
                history.pending = sums.tolist()
                saved.save(history)
            if stop():
                raise KeyboardInterrupt
    if how.log:
        accelerator.end_training()
    if processes > 1:  # what is drawn from here on is the same in all of them
        set_seed(1_000_003 * batches.seed + history.step)
    if history.best_weights is not None:
        model.load_state_dict(history.best_weights)
    model.eval()
    return history


def _accelerator(how: Computing) -> Accelerator:
    """Return Accelerate for this precision, also where it has worked with another one before."""
    cards = check_cards()
    before = AcceleratorState._shared_state
    if before and before["_mixed_precision"] != how.precision:
        AcceleratorState._reset_state()
    options: dict[str, Any] = {"cpu": True} if world_size() > 1 and not cards else {}
    if how.log:
        if find_spec(how.log) is None:
            raise CourseError(f"{how.log}, which should get the curve, is not installed")
        options |= {"log_with": how.log, "project_dir": os.environ.get(FOLDER) or "runs"}
    return Accelerator(mixed_precision=how.precision, **options)


def _summed(answer: Any) -> tuple[Tensor, Tensor | int]:
    """Return what a loss says, unless it is plainly not a sum and a number."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        kind = (
            f"{len(answer)} things" if isinstance(answer, (tuple, list)) else type(answer).__name__
        )
        raise TypeError(f"loss must return the sum of the losses and their number, found {kind}")
    part, number = answer
    last = part.grad_fn  # torch's own losses remember how they were reduced: 1 is by a mean
    mean = last and (last.name().startswith("Mean") or getattr(last, "_saved_reduction", 0) == 1)
    if mean and number > 1:
        raise ValueError(
            f"loss must return the sum of {int(number)} losses, found their mean: "
            'take reduction="sum", or multiply the mean by that number'
        )
    return part, number


def _shares(chosen: list[int], pieces: int, rank: int, processes: int) -> Iterator[list[int]]:
    """Cut the items of a step into pieces for each process, and yield those of this one."""
    if len(chosen) < pieces * processes:
        raise ValueError(
            f"a batch of {len(chosen)} cannot be cut into {pieces} pieces for each of {processes}"
        )
    for piece in range(pieces):
        yield chosen[rank * pieces + piece :: pieces * processes]


def _evaluate(
    model: nn.Module,
    history: History,
    sums: list[float],
    optimiser: Optimizer,
    validate: Callable[[Any], dict[str, float]] | None,
    following: Following,
) -> None:
    """Add a row to the curve."""
    row = {
        "step": history.step,
        "loss": sums[0] / max(sums[1], 1),
        "rate": optimiser.param_groups[0]["lr"],
        "seconds": history.seconds,
        "items": history.items,
    }
    if not math.isfinite(row["loss"]):
        raise DivergedError(history)
    if validate is not None:
        model.eval()
        with following.pause(False):
            row |= validate(model)
        model.train()
    history.curve += broadcast_object_list([row])  # all processes decide by the first one's
