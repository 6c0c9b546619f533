"""Callbacks: what happens around the steps of a training run, one small object for each concern.

    train(model, batches, loss, optimizer, steps=1000, callbacks=[ClipGradients(1.0), Evaluate(f)])

1. At each hook, callbacks run in the order of the list: `ClipGradients` before `WatchGradients`
   shows the watcher clipped gradients.
2. `on_evaluation_end` runs after every callback's `on_step_end`, so all see the new row of the
   curve. Then the checkpoint is saved, with what each `state_dict` returns.
3. Without an `Evaluate`, `Evaluate()` is added in front; without a `ProgressBar`, one at the end.
4. `on_train_end` runs after the last step only, `teardown` also after an error.

To write your own, subclass `Callback` and override the hooks that you need.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from accelerate import Accelerator
from accelerate.utils import broadcast_object_list
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer

from coursekit._base.checks import check_int, check_positive
from coursekit._base.errors import CourseError
from coursekit.training.following import Following
from coursekit.training.history import History, State
from coursekit.training.progress_bar import Display

Weights = dict[str, Tensor]


class DivergedError(CourseError):
    """The loss became NaN or infinite; `history` is what came before."""

    def __init__(self, history: History) -> None:
        super().__init__(
            f"the loss became NaN or infinite at step {history.step}; a smaller learning rate, a "
            "longer warm-up or gradient clipping may help"
        )
        self.history = history


@dataclass
class Run:
    """A training run, as its callbacks see it."""

    model: nn.Module
    optimizer: Optimizer
    steps: int  # how many there will be
    history: History
    losses: Tensor  # (2,): the sum of the losses that are not in the curve yet, and their number
    accelerator: Accelerator
    following: Following
    name: str
    step: int = 0  # the current one, the first is 1; before it and at the end, the last one taken
    evaluated: bool = False  # whether this step has added a row to the curve

    def stop(self, reason: str) -> None:
        """End the run after this step; `history.stopped` has the reason."""
        self.history.stopped = reason


class Callback:
    """Does nothing at any hook. Each one has the hooks that it needs."""

    def settings(self) -> State:
        """Return what changes the trained weights; a checkpoint of other settings is refused."""
        return {}

    def state_dict(self) -> State:
        """Return what a checkpoint has to hold so that a killed run continues: plain values."""
        return {}

    def load_state_dict(self, state: State) -> None:
        """Continue with the state from a checkpoint."""

    def reset(self) -> None:
        """Forget the run before; called at the start of each one, before its state is loaded."""

    def on_train_start(self, run: Run) -> None:
        """The model, the optimizer and the callbacks are where the checkpoint has them."""

    def on_before_optimizer_step(self, run: Run) -> None:
        """The gradients of the mean loss are complete: of all micro-batches and processes."""

    def on_step_end(self, run: Run) -> None:
        """The weights have been updated."""

    def on_evaluation_end(self, run: Run) -> None:
        """`run.history.last` is a new row of the curve."""

    def on_train_end(self, run: Run) -> None:
        """The last step has been taken, in this run or before the checkpoint was saved."""

    def teardown(self, run: Run) -> None:
        """The steps are over, also where an error or Ctrl-C ended them."""


class Evaluate(Callback):
    """Add a row to the curve every `every` steps and at the end; the checkpoint is saved then.

    The row has the mean training loss since the last one, and the numbers that `validate(model)`
    returns. The model is in evaluation mode, and the tensors of `validate` may be on the CPU (see
    `following`). A loss that is NaN or infinite raises `DivergedError`.
    """

    def __init__(
        self, validate: Callable[[Any], dict[str, float]] | None = None, *, every: int = 100
    ) -> None:
        check_int(every=every)
        self.validate, self.every = validate, every

    def on_step_end(self, run: Run) -> None:
        if run.step % self.every and run.step != run.steps:
            return
        history, (total, count) = run.history, run.losses.tolist()
        row = {
            "step": history.step,
            "loss": total / max(count, 1),
            "rate": run.optimizer.param_groups[0]["lr"],
            "seconds": history.seconds,
            "items": history.items,
        }
        if not math.isfinite(row["loss"]):
            raise DivergedError(history)
        if self.validate is not None:
            run.model.eval()
            with run.following.pause(False):
                row |= self.validate(run.model)
            run.model.train()
        history.curve += broadcast_object_list([row])  # all processes decide by the first one's
        run.losses.zero_()
        run.evaluated = True


class ClipGradients(Callback):
    """Shrink the gradients so that their norm together is at most `max_norm`.

    Those of the optimizer's weights: what the optimizer does not have is not in the norm.
    """

    def __init__(self, max_norm: float) -> None:
        check_positive(max_norm=max_norm)
        self.max_norm = max_norm

    def settings(self) -> State:
        return {"max_norm": self.max_norm}

    def on_before_optimizer_step(self, run: Run) -> None:
        owned = [weight for group in run.optimizer.param_groups for weight in group["params"]]
        clip_grad_norm_(owned, self.max_norm)


class WatchGradients(Callback):
    """Call `watch(step, model)` at each step, before its gradients are used.

    `rows` are the numbers that it returned, each with its step.
    """

    def __init__(self, watch: Callable[[int, Any], State | None]) -> None:
        self.watch = watch
        self.rows: list[State] = []

    def state_dict(self) -> State:
        return {"rows": self.rows}

    def load_state_dict(self, state: State) -> None:
        self.rows = state["rows"]

    def reset(self) -> None:
        self.rows = []

    def on_before_optimizer_step(self, run: Run) -> None:
        if row := self.watch(run.step, run.model):
            self.rows.append({"step": run.step, **row})


class EarlyStopping(Callback):
    """End the run after `patience` evaluations without a lower "valid", and restore the best.

    `validate` of `Evaluate` returns "valid". At the end the model gets the weights of its lowest.
    """

    def __init__(self, patience: int) -> None:
        check_int(patience=patience)
        self.patience = patience
        self.best = math.inf
        self.weights: Weights = {}  # of the best evaluation
        self.since = 0  # how many evaluations ago that was

    def settings(self) -> State:
        return {"patience": self.patience}

    def state_dict(self) -> State:
        return {"best": self.best, "weights": self.weights, "since": self.since}

    def load_state_dict(self, state: State) -> None:
        self.best, self.weights, self.since = state["best"], state["weights"], state["since"]

    def reset(self) -> None:
        self.best, self.weights, self.since = math.inf, {}, 0

    def on_evaluation_end(self, run: Run) -> None:
        row = run.history.last
        if "valid" not in row:
            raise ValueError(f"EarlyStopping needs validate to return 'valid', found {[*row]}")
        if math.isnan(row["valid"]):
            raise ValueError(f"EarlyStopping compares 'valid', found NaN at step {run.step}")
        if row["valid"] < self.best:
            self.best, self.weights, self.since = row["valid"], _copy(run.model), 0
            return
        self.since += 1
        if self.since >= self.patience:
            run.stop(f"no lower validation loss in {self.patience} evaluations")

    def on_train_end(self, run: Run) -> None:
        if self.weights:
            run.model.load_state_dict(self.weights)


class KeepWeights(Callback):
    """Keep the weights of the `last` evaluations in `weights`, the latest last.

    Each copy is in every checkpoint, so keep no more than is needed. `until` ignores evaluations
    after that many seconds of training, but never the first. For the mean take `AverageWeights`,
    for the best `EarlyStopping`: each keeps one copy.
    """

    def __init__(self, last: int, *, until: float = math.inf) -> None:
        check_int(last=last)
        check_positive(until=until)
        self.last, self.until = last, until
        self.weights: list[Weights] = []

    def state_dict(self) -> State:
        return {"weights": self.weights}

    def load_state_dict(self, state: State) -> None:
        self.weights = state["weights"]

    def reset(self) -> None:
        self.weights = []

    def on_evaluation_end(self, run: Run) -> None:
        if self.weights and run.history.last["seconds"] > self.until:
            return
        self.weights = [*self.weights, _copy(run.model)][-self.last :]


class AverageWeights(Callback):
    """Keep the mean of the weights of the `last` evaluations in `weights`: a single copy.

    It is that of `average_checkpoints` over the copies of `KeepWeights(last)`, bit for bit. If a
    finished run continues with more steps, the mean starts again.
    """

    def __init__(self, last: int) -> None:
        check_int(last=last)
        self.last = last
        self.weights: Weights = {}
        self.count = 0  # evaluations in the mean
        self.planned = 0  # evaluations of the whole run

    def settings(self) -> State:
        return {"last": self.last}

    def state_dict(self) -> State:
        return {"weights": self.weights, "count": self.count, "planned": self.planned}

    def load_state_dict(self, state: State) -> None:
        self.weights, self.count = state["weights"], state["count"]
        self.planned = state["planned"]

    def reset(self) -> None:
        self.weights, self.count, self.planned = {}, 0, 0

    def on_evaluation_end(self, run: Run) -> None:
        curve = run.history.curve
        planned = math.ceil(run.steps / curve[0]["step"])
        if planned != self.planned:
            self.weights, self.count, self.planned = {}, 0, planned
        if len(curve) <= planned - self.last:
            return
        new, self.count = _copy(run.model), self.count + 1
        for name, mean in self.weights.items():
            if mean.is_floating_point():
                new[name] = mean + (new[name] - mean) / self.count
        self.weights = new


class ProgressBar(Callback):
    """Show a bar with loss, speed and time left, and in a notebook the curve.

    `name` is the run's: above the curve, in logs, and in the checkpoint, so that no run continues
    from another one's. `quiet` shows nothing.
    """

    def __init__(self, name: str = "training", *, quiet: bool = False) -> None:
        self.name, self.quiet = name, quiet
        self.display: Display | None = None

    def settings(self) -> State:
        return {"name": self.name}

    def on_train_start(self, run: Run) -> None:
        quiet = self.quiet or not run.accelerator.is_main_process
        self.display = Display(self.name, run.history, run.steps, quiet=quiet)

    def on_step_end(self, run: Run) -> None:
        if self.display:
            self.display.stepped()

    def on_evaluation_end(self, run: Run) -> None:
        if self.display:
            self.display.evaluated()

    def teardown(self, run: Run) -> None:
        if self.display:
            self.display.close()


class LogCurve(Callback):
    """Send each row of the curve to the tracker of `Computing.log`, such as TensorBoard."""

    def on_train_start(self, run: Run) -> None:
        run.accelerator.init_trackers(run.name)

    def on_evaluation_end(self, run: Run) -> None:
        run.accelerator.log(run.history.last, step=run.step)

    def on_train_end(self, run: Run) -> None:
        run.accelerator.end_training()


def _copy(model: nn.Module) -> Weights:
    return {name: tensor.detach().cpu().clone() for name, tensor in model.state_dict().items()}
