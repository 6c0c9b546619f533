"""Several processes for one training: each executes all cells of the notebook, as the kernel does.

In each, `train` reads its share of every batch and adds its gradients to those of the others, so
the steps are those of one process; whatever else the cells do, they all do. Nobody reads what the
processes beside the kernel print, but for their last words when one of them fails.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import nbformat

GRACE = 3.0  # seconds in which the kernel may tell the same error itself, with its cell


class Ranks:
    """The processes of one training beside its kernel, `number` with it."""

    def __init__(self, number: int, folder: Path) -> None:
        self.number, self.folder = number, folder
        self.started: list[subprocess.Popen] = []
        self.failed: list[int] = []
        self.ending = False

    def environment(self, rank: int) -> dict[str, str]:
        """Return by what torch and Accelerate know that there are several."""
        if self.number == 1:
            return {}
        if rank == 0:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.port = free.getsockname()[1]
        return {
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(self.port),
            "WORLD_SIZE": str(self.number),
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
        }

    def start(
        self,
        notebook: nbformat.NotebookNode,
        environment: Mapping[str, str],
        cwd: Path,
        give_up: Callable[[], None],
    ) -> None:
        """Start all but the first; `give_up` is called when one of them ends in a failure."""
        path = self.folder / "rank.ipynb"
        if self.number > 1:
            nbformat.write(notebook, path)
        for rank in range(1, self.number):
            with open(self.folder / f"rank{rank}", "wb") as log:
                process = subprocess.Popen(
                    [sys.executable, "-m", "coursetools.experiments.rank", str(path)],
                    env={**environment, **self.environment(rank), "COURSEKIT_KEEP": ""},
                    cwd=cwd,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            self.started.append(process)
            threading.Thread(target=self._watch, args=(rank, process, give_up), daemon=True).start()

    def _watch(self, rank: int, process: subprocess.Popen, give_up: Callable[[], None]) -> None:
        if process.wait() == 0 or self.ending:
            return
        time.sleep(GRACE)
        if not self.ending:
            self.failed.append(rank)
            give_up()

    def said(self) -> str:
        """Return the last words of the process that made the training fail, if one did."""
        for rank in self.failed:
            text = (self.folder / f"rank{rank}").read_text(encoding="utf-8", errors="replace")
            lines = text.strip().splitlines() or ["it said nothing"]
            return f"process {rank + 1} of {self.number} failed: {lines[-1]}"
        return ""

    def end(self) -> None:
        """Kill what is left."""
        self.ending = True
        for process in self.started:
            with suppress(OSError):
                process.send_signal(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
            process.wait()


def execute(notebook: Any) -> None:
    """Execute all cells in an IPython of this process; the first error is raised."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            shell.run_cell(cell.source).raise_error()


def _end_with(parent: int) -> None:
    """End this process when the one that started it has."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    execute(nbformat.read(sys.argv[1], as_version=4))
