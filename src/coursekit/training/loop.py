"""The training loop of the course, on top of Accelerate.

    history = train(model, batches, loss, optimiser, steps=1000, schedule=cosine(total=1000))

`loss(model, batch)` returns two numbers: the sum of the losses, and how many there are (tokens,
images, boxes). The loop divides once, after everything that belongs to a step has been added up.
So a step is the same step whether its batch is read at once, in micro-batches one after the other
(gradient accumulation, `pieces`), or by several processes: a mean of means would give a short
micro-batch the weight of a long one.

A loss that is a sum of several means, such as BERT's over masked tokens and over pairs of
sentences, returns a list of such pairs, one for each mean. Before the first gradient the loop then
has to know their counts in the whole batch: it adds them up over the processes, and reads the other
micro-batches once without gradients. A loss that compares the items of its batch, as one that
normalises their rewards, has no such counts (`computing.whole_batches` refuses for it). Layers that
do, as BatchNorm in training mode, see one micro-batch at a time.

Batches and dropout follow from the seed and the number of the step. A training run that was killed
continues from its `checkpoint` and ends with the weights that it would have had.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
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
from coursekit.training.batches import Batches
from coursekit.training.checkpoint import Checkpoint
from coursekit.training.computing import FOLDER, Computing, check_cards, current, world_size
from coursekit.training.following import Following, follow
from coursekit.training.history import History
from coursekit.training.interrupts import interrupts_wait
from coursekit.training.micro_batches import MicroBatches, only_counted, seed_of
from coursekit.training.plan import plan_of
from coursekit.training.progress_bar import Display
from coursekit.training.schedules import Schedule, attach, constant
from coursekit.training.sums import Pair, check_alike, check_counts, pairs_of, table_of

Loss = Callable[[Any, Any], Pair | Sequence[Pair]]


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
    batch and how many there are, `F.cross_entropy(…, reduction="sum"), len(labels)`, or a list of
    such pairs, whose means are added. The loop divides by all that were counted in a step, and
    refuses a mean where it can see one.

    Every `every` steps the model is evaluated: `validate(model)` adds its numbers to the curve
    (its tensors may be on the CPU, see `following`), the weights are among the `keep` latest
    (for an average), the checkpoint is written. With `patience` the run ends after that many
    evaluations without a lower "valid" of `validate`, and the model gets its best weights back.
    `watch(step, model)` sees the gradients of each step before they are used. `clip` is the largest
    norm that the gradients of the optimizer's weights may have together. The optimizer may also
    have parameters of the loss, outside the model.

    `pieces` is the number of micro-batches that a process reads of each batch; it and `precision`,
    that of the products, follow `computing.current()` where they are not given here. They, the
    device and the processes may change when a run continues from its `checkpoint`, and `steps` may
    grow if the learning rates of the steps taken stay the same. Any other change of settings is
    refused.
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
    owned = [weight for group in optimiser.param_groups for weight in group["params"]]
    outside = _Outside(model, owned, accelerator.device)
    schedule = schedule or constant()
    scheduler = attach(optimiser, schedule)
    stepper = accelerator.prepare_optimizer(optimiser)
    parts = {"model": model, "optimiser": optimiser, "scheduler": scheduler}
    parts |= {"outside": outside} if outside.weights else {}
    extra = {"scaler": accelerator.scaler} if accelerator.scaler else {}
    plan: dict[str, Any] = {}
    if checkpoint is not None:
        set_seed(seed_of(batches.seed, 0))  # for items that draw something when they are read
        plan = plan_of(name, batches, optimiser, schedule, clip=clip, patience=patience)
    saved = Checkpoint(checkpoint, parts, plan, extra)
    history = saved.load(steps)
    if processes > 1:  # each has built the model, perhaps from other draws
        for tensor in (*model.parameters(), *model.buffers(), *outside.weights):
            broadcast(tensor.data)
    if how.log:
        accelerator.init_trackers(name)
    sums = torch.tensor(
        history.pending, device=accelerator.device
    )  # of losses, not yet in the curve
    display = Display(name, history, steps, quiet=quiet or rank > 0)
    first = history.step + 1  # in this step the counts of the loss are checked
    multiples: list[float] = []  # and compared with those of the first micro-batch
    shapes = {weight.shape for weight in (*model.parameters(), *owned)}
    model.zero_grad()
    stepper.zero_grad()
    with display, how.applied(model), interrupts_wait() as stop, following.pause():
        for step, chosen in batches.from_step(history.step + 1):
            if step > steps or history.stopped:
                break
            began = time.perf_counter()
            micro_batches = MicroBatches(
                batches, step, chosen, number=how.pieces, rank=rank, processes=processes
            )

            def losses(each: int, of: MicroBatches = micro_batches) -> list[Pair]:
                batch = of.read(each, accelerator.device)
                # Of a list of rows `loss` makes the tensors, and they have to follow the model.
                with accelerator.autocast(), following.pause(not isinstance(batch, list)):
                    return pairs_of(loss(model, batch))

            counts: Tensor | None = None  # of a list of pairs, in the whole batch: (K,)
            tables: list[Tensor] = []  # (K, 2) for each micro-batch
            for each in range(how.pieces):
                pairs = losses(each)
                if step == first:
                    found = check_counts(pairs, shapes)
                    multiples = broadcast_object_list([found])[0] if each == 0 else multiples
                    check_alike(found, multiples)
                tables.append(table_of(pairs))
                if len(pairs) > 1 and each == 0:
                    with only_counted(model):
                        others = [table_of(losses(n))[:, 1] for n in range(1, how.pieces)]
                    counts = accelerator.reduce(tables[0][:, 1] + sum(others), "sum")  # (K,)
                    counts = _counted(counts, step)
                # In the size of a mean: 16-bit gradients stay in range.
                by = [len(chosen)] if counts is None else counts.unbind()
                shares = [part / n for (part, _), n in zip(pairs, by, strict=True)]
                accelerator.backward(sum(shares[1:], shares[0]))
            table = accelerator.reduce(torch.stack(tables).sum(dim=0), "sum")  # (K, 2)
            if counts is None:
                counts = _counted(table[:, 1], step)
                total = table[0]
            else:  # the loss of a step, and one step
                mean = (table[:, 0] / counts).sum()
                total = torch.stack([mean, torch.ones_like(mean)])
            for gradient in _gradients(model, outside, accelerator):
                if len(table) == 1:
                    gradient.mul_(len(chosen) / counts[0])  # now of the mean loss
            accelerator.unscale_gradients(stepper)
            if clip is not None:
                clip_grad_norm_(owned, clip)
            if watch is not None:
                history.watched.append({"step": step, **watch(step, model)})
            stepper.step()
            stepper.zero_grad()
            model.zero_grad()  # also of the weights that the optimizer does not have
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
        set_seed(seed_of(batches.seed, history.step))
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


class _Outside:
    """The optimizer's weights that are not the model's: parameters of the loss."""

    def __init__(self, model: nn.Module, owned: list[Tensor], device: torch.device) -> None:
        inside = set(model.parameters())
        self.weights = [weight for weight in owned if weight not in inside]
        for weight in self.weights:
            weight.data = weight.data.to(device)

    def state_dict(self) -> dict[str, Tensor]:
        return {str(number): weight.detach() for number, weight in enumerate(self.weights)}

    @torch.no_grad()
    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        for number, weight in enumerate(self.weights):
            weight.copy_(state[str(number)])


def _gradients(model: nn.Module, outside: _Outside, accelerator: Accelerator) -> list[Tensor]:
    """Return the gradients that this step has, each added up over all processes."""
    weights = [w for w in (*model.parameters(), *outside.weights) if w.requires_grad]
    if accelerator.num_processes > 1:
        mine = torch.tensor([weight.grad is not None for weight in weights], dtype=torch.float32)
        there = accelerator.reduce(mine.to(accelerator.device), "sum").tolist()
        for weight, processes in zip(weights, there):
            if processes:
                own = torch.zeros_like(weight) if weight.grad is None else weight.grad
                weight.grad = accelerator.reduce(own, "sum")
    return [weight.grad for weight in weights if weight.grad is not None]


def _counted(counts: Tensor, step: int) -> Tensor:
    """Return the counts of a step as divisors: a sum over nothing is 0, and stays 0."""
    if not counts.sum() > 0:
        raise ValueError(f"the loss must count an item or more, found none at step {step}")
    return torch.where(counts > 0, counts, 1)


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
