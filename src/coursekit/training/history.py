"""History: what a training has done so far."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from torch import Tensor

Weights = dict[str, Tensor]


@dataclass
class History:
    """The course of one training; `curve` has a row for each time that the model was looked at.

    A row holds step, loss (the mean since the last row), rate (of learning, for the next step),
    seconds (of training, without validation and breaks), items (read so far), and what `validate`
    returned.
    """

    step: int = 0
    seconds: float = 0.0
    items: int = 0
    curve: list[dict[str, float]] = field(default_factory=list)
    watched: list[dict[str, float]] = field(default_factory=list)  # what `watch` returned
    pending: list[float] = field(default_factory=lambda: [0.0, 0.0])  # losses since: sum, number
    kept: list[Weights] = field(default_factory=list)  # the weights of the latest looks
    best: float = math.inf  # the lowest "valid", where there is `patience`
    best_weights: Weights | None = None
    since_best: int = 0  # how many looks ago that was
    stopped: str = ""  # why the training ended before its last step

    @property
    def last(self) -> dict[str, float]:
        """The latest row of the curve."""
        if not self.curve:
            raise ValueError("there is no row yet: no evaluation has run")
        return self.curve[-1]

    def column(self, name: str) -> tuple[list[int], list[float]]:
        """Return the steps at which `name` was measured, and its values."""
        rows = [row for row in self.curve if name in row]
        return [int(row["step"]) for row in rows], [row[name] for row in rows]

    def remember(self, weights: Mapping[str, Tensor], keep: int, patience: int | None) -> None:
        """Keep copies of these weights if asked to; say when to stop."""
        if keep:
            self.kept = [*self.kept, _copy(weights)][-keep:]
        if patience is None:
            return
        if "valid" not in self.last:
            raise ValueError(f"patience needs validate to return 'valid', found {[*self.last]}")
        if math.isnan(self.last["valid"]):
            raise ValueError(f"patience compares 'valid', found NaN at step {self.step}")
        if self.last["valid"] < self.best:
            self.best, self.best_weights, self.since_best = self.last["valid"], _copy(weights), 0
            return
        self.since_best += 1
        if self.since_best >= patience:
            self.stopped = f"no lower validation loss in {patience} evaluations"


def _copy(weights: Mapping[str, Tensor]) -> Weights:
    return {name: tensor.detach().cpu().clone() for name, tensor in weights.items()}
