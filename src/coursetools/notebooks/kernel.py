"""One notebook in one kernel of this interpreter: its cells run, and nothing outlives them.

Lecture notebooks and trainings are executed here. When an execution is stopped, or its time is
over, the kernel is interrupted, so that a training saves where it is, and after some patience it is
killed with everything that it started.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError

from coursekit._base.errors import CourseError

# One thread a kernel: the same sums on every machine, and several kernels do not fight for cores.
KERNEL_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "PYTHONHASHSEED": "0",  # the order of a printed set is the same in every run
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    "PIP_NO_INDEX": "1",  # a notebook's first cell installs for readers; here nothing is fetched
}
LONGEST_SOCKET_FOLDER = 80  # macOS allows 103 characters for a socket's whole path
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class ThisInterpreter(KernelSpecManager):
    """Finds one kernel: the interpreter that runs this, whatever is installed or activated."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """Return the kernel of `sys.executable`; every notebook of the course asks for python3."""
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=command, display_name="Python 3", language="python")


class CellError(CourseError):
    """A cell has raised; `line` is where in it, with its number."""

    def __init__(self, sentence: str, line: str) -> None:
        super().__init__(sentence)
        self.line = line


class Execution:
    """The cells of one notebook in one kernel, whose own files are in `folder`.

    `content` gets the outputs as they come. `timeout` and `patience` are seconds; `begin` hears of
    each code cell (number, total, name), and `hear` of each message of the kernel.
    """

    def __init__(
        self,
        content: nbformat.NotebookNode,
        folder: Path,
        *,
        cwd: Path,
        packages: str,
        environment: Mapping[str, str] | None = None,
        timeout: float | None = None,
        patience: float = 0.0,
        begin: Callable[[int, int, str], None] = lambda number, total, name: None,
        hear: Callable[[dict[str, Any]], None] = lambda message: None,
    ) -> None:
        self.content, self.folder, self.cwd = content, folder, cwd
        self.timeout, self.patience, self.begin, self.hear = timeout, patience, begin, hear
        self.cell = ""  # the one at hand
        self.stopped = self.late = False
        path = [packages, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        self.environment = {
            **os.environ,
            **KERNEL_ENVIRONMENT,
            **(environment or {}),
            "IPYTHONDIR": str(folder / "ipython"),  # no start-up file of the user takes part
            "PYTHONPATH": os.pathsep.join(part for part in path if part),
        }
        sockets = sys.platform != "win32" and len(str(folder)) <= LONGEST_SOCKET_FOLDER
        self.manager = AsyncKernelManager(
            kernel_name="python3",
            kernel_spec_manager=ThisInterpreter(),
            connection_file=str(folder / "kernel.json"),
            # Sockets in a private folder: two kernels that start together cannot pick one port.
            transport="ipc" if sockets else "tcp",
        )

    def run(self) -> None:
        """Execute the cells, or raise `CourseError`; KeyboardInterrupt where it was stopped."""
        clocks = []
        if self.timeout:
            clocks = [threading.Timer(self.timeout, self._end_of_time)]
            clocks += [threading.Timer(self.timeout + self.patience, self.kill)]
        for clock in clocks:
            clock.daemon = True
            clock.start()
        try:
            with open(self.folder / "stderr", "wb") as stderr:
                _Client(self).execute(
                    cleanup_kc=True, env=self.environment, stdout=subprocess.DEVNULL, stderr=stderr
                )
        except Exception as error:
            if self.stopped:
                raise KeyboardInterrupt from error
            raise self._reason(error) from error
        finally:
            for clock in clocks:
                clock.cancel()
            if self.manager.has_kernel:  # also when it is dead: what its cells started is not
                run_sync(self.manager.shutdown_kernel)(now=True)

    def stop(self) -> None:
        """Interrupt the kernel, from another thread, and kill it if it does not end."""
        self.stopped = True
        self._interrupt()
        time.sleep(self.patience)
        self.kill()

    def kill(self) -> None:
        """End the kernel and what it started, without being asked twice."""
        provisioner: Any = self.manager.provisioner
        with suppress(Exception):  # it may not have started, or just have ended
            if sys.platform == "win32":
                provisioner.process.kill()
            else:
                os.killpg(provisioner.pgid, signal.SIGKILL)

    def begins(self, cell: nbformat.NotebookNode, cell_index: int) -> None:
        """Note which cell is executed; nbclient calls this."""
        if self.stopped or self.late:
            raise CourseError("was interrupted")
        self._code, self.cell = cell, cell.get("id") or f"number {cell_index + 1}"
        self.begin(cell_index + 1, len(self.content.cells), self.cell)

    def _end_of_time(self) -> None:
        self.late = True
        self._interrupt()

    def _interrupt(self) -> None:
        """Press Ctrl-C in the kernel."""
        provisioner: Any = self.manager.provisioner
        with suppress(Exception):
            if sys.platform == "win32":
                run_sync(self.manager.interrupt_kernel)()
            else:
                os.kill(provisioner.pid, signal.SIGINT)

    def _reason(self, error: Exception) -> CourseError:
        """Return in one sentence why there is no result."""
        if self.late:
            return CourseError(f"stopped at the limit of {self.timeout:g} s")
        if isinstance(error, CellExecutionError):
            value = [line.strip() for line in ANSI.sub("", error.evalue).splitlines()]
            value = [line for line in value if line]
            return CellError(": ".join([error.ename, *value[-1:]]), self._line(error))
        if isinstance(error, DeadKernelError):
            return CourseError(self._last_words())
        if isinstance(error, CourseError):
            return error
        return CourseError(f"could not be executed, {type(error).__name__}: {error}")

    def _line(self, error: CellExecutionError) -> str:
        """Return the line of the cell at hand that an error comes from."""
        trace = ANSI.sub("", error.traceback)
        frame = re.search(rf"Cell In\[{self._code.execution_count}\], line (\d+)", trace)
        lines = self._code.source.split("\n")
        if frame is None or not 0 < int(frame[1]) <= len(lines):
            return ""
        line = lines[int(frame[1]) - 1].strip()
        return f"line {frame[1]}, {line if len(line) <= 80 else line[:79] + '…'}"

    def _last_words(self) -> str:
        """Return why the kernel is dead, as far as what it wrote to stderr tells."""
        text = (self.folder / "stderr").read_text(encoding="utf-8", errors="replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        words = f"; it wrote: {lines[-1]}" if lines else ", perhaps for lack of memory"
        return f"the kernel died{words}"


class _Client(NotebookClient):
    """Runs the cells, and tells the execution what happens."""

    def __init__(self, execution: Execution) -> None:
        super().__init__(
            execution.content,
            km=execution.manager,
            timeout=None,
            record_timing=False,
            coalesce_streams=True,
            shutdown_kernel="immediate",
            resources={"metadata": {"path": str(execution.cwd)}},
            on_cell_execute=execution.begins,
        )
        self.execution = execution

    def process_message(
        self, msg: dict[str, Any], cell: nbformat.NotebookNode, cell_index: int
    ) -> nbformat.NotebookNode | None:
        """Pass on what is printed, as soon as it is."""
        self.execution.hear(msg)
        return super().process_message(msg, cell, cell_index)


at_hand: list[Execution] = []  # of this process


def stop() -> None:
    """Stop the execution at hand; a worker of the pool is asked for this when nobody waits."""
    for execution in at_hand:
        execution.stop()
