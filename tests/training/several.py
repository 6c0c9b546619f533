"""A training in several processes of this machine, which share out every batch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from accelerate import debug_launcher
from accelerate.state import AcceleratorState


def launch(run: Callable[[], object], processes: int) -> None:
    """Call `run`, which trains with a checkpoint, in each of `processes`; wait for all of them."""

    def alone() -> None:
        torch.set_num_threads(1)  # the cores are shared out already
        AcceleratorState._reset_state(reset_partial_state=True)  # of a training before this one
        run()

    debug_launcher(alone, num_processes=processes)
