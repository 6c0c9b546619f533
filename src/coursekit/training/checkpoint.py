"""Checkpoints: the whole state of a training in one file, which is whole or not there.

With what is in it (weights, the optimiser's memory, the history) a training goes on as if
nothing had happened: batches and dropout follow from the seed and the number of the step.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from coursekit._base.errors import CourseError
from coursekit.training.history import History


class Checkpoint:
    """The file of a training; without a path nothing is kept.

    `parts` are what has `state_dict()` and `load_state_dict()`; what is `extra` may be missing in
    the file, as the scale of float16 is where the run before had another precision. `plan` is what
    must be the same in the run that goes on.
    """

    def __init__(
        self,
        path: Path | str | None,
        parts: Mapping[str, Any],
        plan: Mapping[str, Any],
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        self.path = None if path is None else Path(path)
        self.parts, self.plan, self.extra = parts, plan, extra or {}

    def save(self, history: History) -> None:
        """Write the file; whoever reads meanwhile, or after a crash, finds the one before."""
        if self.path is None:
            return
        parts = {**self.parts, **self.extra}
        state = {name: part.state_dict() for name, part in parts.items()}
        state |= {"plan": dict(self.plan), "history": vars(history)}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_name(f".{self.path.name}.tmp")
        with open(unfinished, "wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, self.path)

    def load(self) -> History:
        """Bring the parts to where the file has them, and return its history; else a new one."""
        if self.path is None or not self.path.exists():
            return History()
        state = self._read(self.path)
        for name, value in self.plan.items():
            if state["plan"].get(name) != value:
                raise CourseError(
                    f"{self.path.name} was saved with {name} {state['plan'].get(name)!r}, and this "
                    f"training has {value!r}; delete the file to start over"
                )
        there = {name: part for name, part in self.extra.items() if name in state}
        try:
            for name, part in {**self.parts, **there}.items():
                part.load_state_dict(state[name])
        except (KeyError, RuntimeError, ValueError) as error:
            raise CourseError(
                f"{self.path.name} does not fit this model and optimiser "
                f"({str(error).splitlines()[0]}); delete the file to start over"
            ) from error
        return History(**state["history"])

    def _read(self, path: Path) -> dict[str, Any]:
        """Read tensors and plain values; nothing in the file is executed."""
        try:
            state = torch.load(path, map_location="cpu", weights_only=True)
            return {**state, "plan": dict(state["plan"]), "history": dict(state["history"])}
        except Exception as error:
            raise CourseError(
                f"{path.name} is not a checkpoint of a training; delete it to start over"
            ) from error
