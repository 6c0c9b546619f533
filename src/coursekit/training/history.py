"""History: what a training run has done so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

State = dict[str, Any]  # what a checkpoint can hold: plain values and tensors, by name


@dataclass
class History:
    """The course of one training run; `curve` has a row for each evaluation.

    A row holds step, loss (the mean since the last row), rate (of learning, for the next step),
    seconds (of training, without validation and breaks), items (read so far), and what `validate`
    returned.
    """

    step: int = 0
    seconds: float = 0.0
    items: int = 0
    curve: list[dict[str, float]] = field(default_factory=list)
    pending: list[float] = field(default_factory=lambda: [0.0, 0.0])  # losses since: sum, number
    stopped: str = ""  # why the run ended before its last step

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
