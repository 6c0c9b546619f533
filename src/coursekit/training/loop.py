"""The training loop of the course, on top of Accelerate.

    history = train(model, batches, loss, optimizer, steps=1000, schedule=cosine(total=1000),
                    callbacks=[ClipGradients(1.0), Evaluate(validate, every=100)])

`loss(model, batch)` returns two numbers: the sum of the losses, and how many there are (tokens,
images, boxes). The loop divides once, after everything that belongs to a step has been added up.
So a step is the same step whether its batch is read at once, in micro-batches one after the other
(gradient accumulation), or by several processes: a mean of means would give a short micro-batch
the weight of a long one. How a step is computed follows `computing.current()`:

    with using(micro_batches=4, precision="bf16"):
        history = train(...)

A loss that is a sum of several means, such as BERT's over masked tokens and over pairs of
sentences, returns a list of such pairs, one for each mean (see `accumulation`). A loss that
compares the items of its batch, as one that normalises their rewards, cannot be cut into
micro-batches (`computing.whole_batches` refuses for it). Layers that do, as BatchNorm in training
mode, see one micro-batch at a time.

Batches and dropout follow from the seed and the number of the step. A training run that was killed
continues from its `checkpoint` and ends with the weights that it would have had.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from accelerate.utils import broadcast, set_seed
from torch import nn
from torch.optim import Optimizer

from coursekit._base.checks import check_int
from coursekit._base.errors import CourseError
from coursekit.training.accumulation import Accumulation, Loss, LossParameters
from coursekit.training.batches import Batches
from coursekit.training.callback_list import CallbackList
from coursekit.training.callbacks import Callback, LogCurve, Run
from coursekit.training.checkpoint import Checkpoint
from coursekit.training.computing import FOLDER, Computing, check_cards, current, world_size
from coursekit.training.following import follow
from coursekit.training.history import History
from coursekit.training.interrupts import interrupts_wait
from coursekit.training.micro_batches import seed_of
from coursekit.training.plan import plan_of
from coursekit.training.schedules import Schedule, attach, constant


def train(
    model: nn.Module,
    batches: Batches,
    loss: Loss,
    optimizer: Optimizer,
    *,
    steps: int,
    schedule: Schedule | None = None,
    checkpoint: Path | str | None = None,
    callbacks: Sequence[Callback] = (),
) -> History:
    """Train `model` in place until step `steps`, and return what happened.

    `batches` are `Batches(items, collate, size=…)`: they can be asked for the batch of any step,
    as a generator cannot. `loss(model, batch)` returns two numbers, the *sum* of the losses in the
    batch and how many there are, `F.cross_entropy(…, reduction="sum"), len(labels)`, or a list of
    such pairs, whose means are added. The loop divides by all that were counted in a step, and
    refuses a mean where it can see one. The optimizer may also have parameters of the loss,
    outside the model.

    `callbacks` do the rest: evaluate, clip gradients, stop early, keep weights (see `callbacks`).
    Without any, the run shows its progress and the curve gets the training loss every 100 steps.

    The `checkpoint` is saved at each evaluation and after Ctrl-C. The device, the processes,
    precision and micro-batches may change when a run continues, and `steps` may grow if the
    learning rates of the steps taken stay the same. Any other change of settings is refused.
    """
    check_int(steps=steps)
    if not hasattr(batches, "from_step"):
        raise TypeError(
            f"batches must be Batches(items, collate, size=…), found {type(batches).__name__}"
        )
    how = current()
    hooks = CallbackList([*callbacks, LogCurve()] if how.log else callbacks)
    accelerator = _accelerator(how)
    device, processes = accelerator.device, accelerator.num_processes
    following = follow(device)
    with following.pause():
        model.to(device).train()
    parameters = LossParameters(model, optimizer, device)
    schedule = schedule or constant()
    scheduler = attach(optimizer, schedule)
    stepper = accelerator.prepare_optimizer(optimizer)
    hooks.reset()
    saved = Checkpoint(
        checkpoint,
        {"model": model, "optimizer": optimizer, "scheduler": scheduler, "loss": parameters,
         "callbacks": hooks},
        plan_of(batches, optimizer, schedule, hooks.settings()) if checkpoint is not None else {},
        {"scaler": accelerator.scaler} if accelerator.scaler else {},
    )  # fmt: skip
    history = saved.load(steps)
    if processes > 1:  # each has built the model, perhaps from other draws
        for tensor in (*model.parameters(), *model.buffers(), *parameters.weights):
            broadcast(tensor.data)
    accumulation = Accumulation(
        model, parameters, loss, batches, accelerator, following, number=how.micro_batches
    )
    losses = torch.tensor(history.pending, device=device)
    run = Run(
        model, optimizer, steps, history, losses, accelerator, following, hooks.run_name,
        step=history.step,
    )  # fmt: skip
    model.zero_grad()
    stepper.zero_grad()
    with how.applied(model), interrupts_wait() as interrupted, following.pause(), hooks.during(run):
        for step, chosen in batches.from_step(history.step + 1):
            if step > steps or history.stopped:
                break
            began = time.perf_counter()
            run.step, run.evaluated = step, False
            run.losses += accumulation.gradients(step, chosen)
            accelerator.unscale_gradients(stepper)
            hooks.on_before_optimizer_step(run)
            stepper.step()
            stepper.zero_grad()
            model.zero_grad()  # also of the weights that the optimizer does not have
            scheduler.step()
            history.step, history.items = step, history.items + len(chosen)
            history.seconds += time.perf_counter() - began
            hooks.on_step_end(run)
            if run.evaluated:
                hooks.on_evaluation_end(run)
            interrupt = interrupted()
            if accelerator.is_main_process and (run.evaluated or history.stopped or interrupt):
                history.pending = run.losses.tolist()
                saved.save(history)
            if interrupt:
                raise KeyboardInterrupt
    if processes > 1:  # what is drawn from here on is the same in all of them
        set_seed(seed_of(batches.seed, history.step))
    hooks.on_train_end(run)
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
