"""The curve of one training, as it is drawn while it runs and afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from coursekit._base.style import COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def loss_curve(rows: Sequence[Mapping[str, float]], name: str) -> Figure:
    """Draw the loss of one training and, where it was measured, that on the validation data."""
    figure, axes = new_figure(height=2.6)
    steps = [row["step"] for row in rows]
    axes.plot(steps, [row["loss"] for row in rows], label="training")
    if all("valid" in row for row in rows):
        valid = [row["valid"] for row in rows]
        axes.plot(steps, valid, "--", color=COLOURS["vermilion"], label="validation")
        axes.legend(frameon=False)
    axes.set_title(name)
    axes.set_xlabel("step")
    axes.set_ylabel("loss")
    return figure
