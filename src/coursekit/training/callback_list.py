"""All callbacks of a run as one, with `Evaluate` and `ProgressBar` where they are missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from coursekit.training.callbacks import Callback, Evaluate, ProgressBar, Run
from coursekit.training.history import State

Kind = TypeVar("Kind", bound=Callback)


class CallbackList(Callback):
    """All callbacks of a run as one, which calls each in turn."""

    def __init__(self, callbacks: Sequence[Callback]) -> None:
        sequence = isinstance(callbacks, (list, tuple))
        if not sequence or not all(isinstance(callback, Callback) for callback in callbacks):
            raise TypeError(
                f"callbacks must be a list such as [ClipGradients(1.0)], found {callbacks!r}"
            )
        evaluate, bar = self._only(callbacks, Evaluate), self._only(callbacks, ProgressBar)
        self.callbacks = [*([] if evaluate else [Evaluate()]), *callbacks]
        self.callbacks += [] if bar else [ProgressBar()]
        self.run_name = bar[0].name if bar else ProgressBar().name
        self.named: dict[str, Callback] = {}  # by class; from the second of a class on, numbered
        for callback in self.callbacks:
            kind = type(callback).__name__
            count = sum(type(other) is type(callback) for other in self.named.values())
            self.named[f"{kind} {count + 1}" if count else kind] = callback

    @staticmethod
    def _only(callbacks: Sequence[Callback], kind: type[Kind]) -> list[Kind]:
        found = [callback for callback in callbacks if isinstance(callback, kind)]
        if len(found) > 1:
            raise ValueError(f"callbacks may have one {kind.__name__}, found {len(found)}")
        return found

    def settings(self) -> State:
        return {
            f"{name}.{setting}": value
            for name, callback in self.named.items()
            for setting, value in callback.settings().items()
        }

    def state_dict(self) -> State:
        return {name: callback.state_dict() for name, callback in self.named.items()}

    def load_state_dict(self, state: State) -> None:
        """Load the states that are there: a callback that the run before did not have is new."""
        for name, callback in self.named.items():
            if name in state:
                callback.load_state_dict(state[name])

    def reset(self) -> None:
        for callback in self.callbacks:
            callback.reset()

    @contextmanager
    def during(self, run: Run) -> Iterator[None]:
        """Start the callbacks, and tear them down at the end of this block in any case."""
        try:
            self.on_train_start(run)
            yield
        finally:
            self.teardown(run)

    def on_train_start(self, run: Run) -> None:
        for callback in self.callbacks:
            callback.on_train_start(run)

    def on_before_optimizer_step(self, run: Run) -> None:
        for callback in self.callbacks:
            callback.on_before_optimizer_step(run)

    def on_step_end(self, run: Run) -> None:
        for callback in self.callbacks:
            callback.on_step_end(run)

    def on_evaluation_end(self, run: Run) -> None:
        for callback in self.callbacks:
            callback.on_evaluation_end(run)

    def on_train_end(self, run: Run) -> None:
        for callback in self.callbacks:
            callback.on_train_end(run)

    def teardown(self, run: Run) -> None:
        for callback in self.callbacks:
            callback.teardown(run)
