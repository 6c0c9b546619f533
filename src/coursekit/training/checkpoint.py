"""Checkpoints: the whole state of a training run in one file, which is complete or not there.

With its content (weights, the optimizer's memory, the history) a run continues as if nothing had
happened: batches and dropout follow from the seed and the number of the step. It continues with
the settings that it was started with, or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from coursekit._base.errors import CourseError
from coursekit.training.history import History
from coursekit.training.plan import Plan, at_step, differences, differing_settings
from coursekit.training.records import settings_chosen


class Checkpoint:
    """The file of a training run; without a path nothing is saved.

    `parts` have `state_dict()` and `load_state_dict()`; those of `extra` may be missing in the
    file, as the scale of float16 is where the run had another precision before. `plan` holds the
    settings that must be the same in a run that continues: a value, or a function of the step,
    which must have been the same in the steps that were taken. The settings that a notebook has
    chosen are compared too, but for `steps` and `minutes`.
    """

    def __init__(
        self,
        path: Path | str | None,
        parts: Mapping[str, Any],
        plan: Plan,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        self.path = None if path is None else Path(path)
        self.parts, self.plan, self.extra = parts, plan, extra or {}

    def save(self, history: History) -> None:
        """Write the file; until it is complete, and after a crash, the one before is there."""
        if self.path is None:
            return
        parts = {**self.parts, **self.extra}
        state = {name: part.state_dict() for name, part in parts.items()}
        state |= {"plan": at_step(self.plan, history.step), "history": vars(history)}
        state["settings"] = settings_chosen()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_name(f".{self.path.name}.tmp")
        with open(unfinished, "wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, self.path)

    def load(self, steps: int | None = None) -> History:
        """Bring the parts to where the file has them, and return its history; else a new one.

        Refuses the file of other settings, and one that has made more than `steps` steps.
        """
        if self.path is None or not self.path.exists():
            return History()
        state = self._read(self.path)
        self._compare(self.path.name, state)
        done = state["history"]["step"]
        if steps is not None and done > steps:
            raise CourseError(
                f"{self.path.name} has made {done} steps, and this run should end after {steps}; "
                f"ask for {done} steps or more, or delete the file to start over"
            )
        there = {name: part for name, part in self.extra.items() if name in state}
        try:
            for name, part in {**self.parts, **there}.items():
                part.load_state_dict(state[name])
        except (KeyError, RuntimeError, ValueError) as error:
            raise CourseError(
                f"{self.path.name} does not fit this model and optimizer "
                f"({str(error).splitlines()[0]}); delete the file to start over"
            ) from error
        return History(**state["history"])

    def _compare(self, file: str, state: Mapping[str, Any]) -> None:
        """Raise unless the file was saved with the settings of this run."""
        missing = [name for name in self.plan if name not in state["plan"]]
        if missing or "settings" not in state:
            raise CourseError(
                f"{file} was saved by an earlier version of the course, which did not write down "
                f"{', '.join(missing) or 'the settings'}. Continue with that version, or delete "
                "the file to start over"
            )
        found = differing_settings(state["settings"], settings_chosen())
        found += differences(state["plan"], self.plan)
        if found:
            raise CourseError(
                f"{file} was saved with other settings: {'; '.join(found)}. Take the old settings "
                "to continue, or another file, or delete this one, to start over"
            )

    def _read(self, path: Path) -> dict[str, Any]:
        """Read tensors and plain values; nothing in the file is executed."""
        try:
            state = torch.load(path, map_location="cpu", weights_only=True)
            return {**state, "plan": dict(state["plan"]), "history": dict(state["history"])}
        except Exception as error:
            raise CourseError(
                f"{path.name} is not a checkpoint of a training run; delete it to start over"
            ) from error
