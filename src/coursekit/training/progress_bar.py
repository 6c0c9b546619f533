"""What a training shows while it runs: a bar with loss, speed and time left, and a live curve.

The curve is for notebooks: it is below the bar and is drawn anew at each evaluation, but
not more often than an eye follows, since a picture may take longer than the steps in between.
"""

from __future__ import annotations

import io
import sys
import time
from typing import Any

from tqdm import tqdm

from coursekit._base.checks import check_int
from coursekit.training.history import History
from coursekit.training.loss_curve import loss_curve

PAUSE = 2.0  # seconds before the first picture of a curve, and between two


class Display:
    """Shows the course of one training run."""

    def __init__(self, name: str, history: History, steps: int, *, quiet: bool) -> None:
        check_int(0, steps=steps)
        self.name, self.history = name, history
        self.before = history.items, history.seconds
        self.bar = tqdm(
            total=steps,
            initial=history.step,
            desc=name,
            file=sys.stderr,
            disable=quiet,
            mininterval=0.5,
            smoothing=0,  # time left by the mean of all steps, evaluations included
            dynamic_ncols=sys.stderr.isatty(),
            bar_format="{desc} {n}/{total} |{bar:20}| {elapsed}, {remaining} left{postfix}",
        )
        self.draws = not quiet and _in_notebook()
        self.picture: Any = None
        self.drawn = 0  # rows of the curve that the picture shows
        self.due = time.monotonic() + PAUSE  # when the next picture may come

    def stepped(self) -> None:
        """Move the bar on."""
        if self.bar.disable:
            return
        items, seconds = self.before
        speed = (self.history.items - items) / max(self.history.seconds - seconds, 1e-9)
        loss = f"loss {self.history.last['loss']:.3f}, " if self.history.curve else ""
        self.bar.set_postfix_str(f"{loss}{speed:,.0f} items/s", refresh=False)
        self.bar.update()

    def evaluated(self) -> None:
        """Draw the curve again if it has grown and it is time."""
        rows = len(self.history.curve)
        if not self.draws or rows < 2 or rows == self.drawn or time.monotonic() < self.due:
            return
        from IPython.display import Image, display

        buffer = io.BytesIO()
        loss_curve(self.history.curve, self.name).savefig(buffer, format="png", dpi=110)
        image = Image(buffer.getvalue(), alt=f"The loss of {self.name} by step")
        if self.picture is None:
            self.picture = display(image, display_id=True)
        else:
            self.picture.update(image)
        self.drawn, self.due = rows, time.monotonic() + PAUSE

    def close(self) -> None:
        """Close the bar, and draw the whole curve, also that of a run finished before."""
        self.bar.close()
        self.due = 0.0
        self.evaluated()


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return hasattr(shell, "kernel")
