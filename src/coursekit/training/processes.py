"""Several processes for one training: one for each GPU, or a few on a CPU.

    launch(run, processes=2)

`run` is a function without arguments that builds everything and calls `train` with a checkpoint.
Each process reads its share of every batch and all add up their gradients, so the steps are those
of one process. What `run` leaves in memory is gone with its process: read the checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from accelerate import debug_launcher, notebook_launcher
from accelerate.state import AcceleratorState

from coursekit._base.checks import check_positive
from coursekit._base.errors import CourseError


def launch(run: Callable[[], object], processes: int = 1) -> None:
    """Call `run` in several processes at once, or here if it is one, and wait for all of them."""
    check_positive(processes=processes)
    if processes == 1:
        run()
        return
    if torch.cuda.is_available():
        if processes > torch.cuda.device_count():
            raise CourseError(
                f"{processes} processes need as many GPUs, and here are {torch.cuda.device_count()}"
            )
        notebook_launcher(run, num_processes=processes)
        return

    def alone() -> None:
        torch.set_num_threads(1)  # the cores are shared out already
        AcceleratorState._reset_state(reset_partial_state=True)  # of a training before this one
        run()

    debug_launcher(alone, num_processes=processes)  # Accelerate's name for processes on a CPU
