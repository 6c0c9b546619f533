"""One training notebook, executed by papermill: a job in, an answer out, nothing else written.

A job is a dict: `text` of the notebook, its `name` and `parameters`, the `folder` to work in, the
`source` folder of the packages, `threads`, how many `processes` train it and how steps are
computed (`computing`), `timeout` in seconds, whether to be `aloud`, and whether to `keep` the
model. The answer has the executed notebook's text, what it said with `choose` and `record`, and the
model's weights as base64 if they are to be kept; or the error.
This is what processes of the pool do. When one is stopped, or its time is over, the kernel is
interrupted, so that a training saves where it is, and after a while killed with everything that it
started. Of several processes for one training each executes the whole notebook; the first is the
kernel, and the others (`rank.py`) are read by nobody.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import nbformat
import papermill
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbclient.exceptions import DeadKernelError
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine, papermill_engines
from papermill.exceptions import PapermillExecutionError

from coursekit._base.errors import CourseError
from coursekit.training.computing import FOLDER, SET
from coursekit.training.records import KEEP, RESULT, SETTINGS
from coursetools.course import Course
from coursetools.experiments.live_output import ANSI, Live
from coursetools.experiments.rank import Ranks
from coursetools.jobs.pool import THREADS
from coursetools.notebooks.imports import cache_key
from coursetools.notebooks.worker import (
    KERNEL_ENVIRONMENT,
    LONGEST_SOCKET_FOLDER,
    ThisInterpreter,
    last_words,
)

PATIENCE = 15.0  # seconds for an interrupted training to save itself


class Execution:
    """One job in one kernel."""

    def __init__(self, job: dict[str, Any], folder: Path) -> None:
        self.job, self.folder = job, folder
        self.live = Live(sys.stderr, silent=not job.get("aloud"))
        self.copy = folder / f"{job['name']}.ipynb"
        self.weights = folder / "model.safetensors"
        self.cell, self.stopping, self.late = "", False, False
        self.manager: AsyncKernelManager | None = None
        self.ranks = Ranks(job.get("processes") or 1, folder)
        self.clocks: list[threading.Timer] = []

    def run(self) -> dict[str, Any]:
        """Execute the notebook and answer."""
        began = time.perf_counter()
        if self.job.get("timeout"):
            self._after(self.job["timeout"], self._end_of_time)
        try:
            place = self._place()
            content = papermill.execute_notebook(
                nbformat.reads(self.job["text"], as_version=4),
                str(self.copy),
                parameters=self.job["parameters"],
                engine_name="coursekit",
                progress_bar=False,
                cwd=str(place),
                execution=self,
            )
        except PapermillExecutionError as error:
            return self._failure(*_told(error))
        except DeadKernelError:
            return self._failure(last_words(self.folder))
        except CourseError as error:
            return self._failure(str(error))
        except Exception as error:  # a fault of the tools is told like one of the notebook
            return self._failure(f"could not be executed, {type(error).__name__}: {error}")
        finally:
            for clock in self.clocks:
                clock.cancel()
        messages = {}
        for output in (output for cell in content.cells for output in cell.get("outputs", [])):
            messages.update(output.get("data", {}))
        if RESULT not in messages:
            self.cell = ""
            return self._failure("never calls record(metrics=...), so it has no result")
        seconds = round(time.perf_counter() - began, 2)
        answer = {
            "ok": True,
            "seconds": seconds,
            "said": messages[RESULT],
            "notebook": self._text(),
        }
        if self.weights.is_file():
            answer["weights"] = base64.b64encode(self.weights.read_bytes()).decode()
        return {**answer, "settings": messages.get(SETTINGS, {})}

    def _place(self) -> Path:
        """Return the folder to work in; on another machine it is made, if the package is equal."""
        if self.job.get("folder"):
            return Path(self.job["folder"])
        course = Course(self.folder / "course")
        place = course.notebooks / "training"
        place.mkdir(parents=True)
        notebook = place / f"{self.job['name']}.ipynb"
        notebook.write_text(self.job["text"], encoding="utf-8")
        if cache_key(notebook, course) != self.job["key"]:
            raise CourseError(
                "its worker has another version of coursekit, Python, torch, numpy or matplotlib "
                "than this machine"
            )
        return place

    def start(self, nb_man: Any) -> None:
        """Run the cells; papermill calls this, in the folder to work in, through the engine."""
        sockets = sys.platform != "win32" and len(str(self.folder)) <= LONGEST_SOCKET_FOLDER
        self.manager = AsyncKernelManager(
            kernel_name="python3",
            kernel_spec_manager=ThisInterpreter(),
            connection_file=str(self.folder / "kernel.json"),
            transport="ipc" if sockets else "tcp",
        )
        client = _Client(
            nb_man,
            km=self.manager,
            execution=self,
            timeout=None,
            coalesce_streams=True,
            record_timing=False,
            log=logging.getLogger("papermill"),
        )
        source = self.job.get("source") or str(Course(self.folder).packages)
        path = [source, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        threads = max(1, (self.job.get("threads") or 1) // self.ranks.number)
        environment = {
            **os.environ,
            **KERNEL_ENVIRONMENT,
            **dict.fromkeys(THREADS, str(threads)),
            **self.ranks.environment(0),
            SET: json.dumps(self.job.get("computing") or {}),
            FOLDER: self.job.get("log_folder") or str(self.folder / "log"),
            KEEP: str(self.weights) if self.job.get("keep") else "",
            "IPYTHONDIR": str(self.folder / "ipython"),
            "PYTHONPATH": os.pathsep.join(part for part in path if part),
        }
        try:
            self.ranks.start(nb_man.nb, environment, self._kill_kernel)
            with open(self.folder / "stderr", "wb") as stderr:
                client.execute(
                    cleanup_kc=True, env=environment, stdout=subprocess.DEVNULL, stderr=stderr
                )
        finally:
            self.ranks.end()
            if self.manager.has_kernel:  # also when it is dead: what its cells started is not
                run_sync(self.manager.shutdown_kernel)(now=True)

    def begin(self, cell: nbformat.NotebookNode, number: int, total: int) -> None:
        """Note which cell is executed."""
        if self.stopping:
            raise CourseError("was interrupted")
        if cell.cell_type == "code":
            self.cell = cell.get("id") or f"number {number + 1}"
            self.live.cell(number + 1, total, self.cell)

    def interrupt(self) -> None:
        """Press Ctrl-C in the kernel."""
        self.stopping = True
        with suppress(Exception):  # it may not have started, or just have ended
            if sys.platform == "win32":
                run_sync(self.manager.interrupt_kernel)()
            else:
                os.kill(self.manager.provisioner.pid, signal.SIGINT)

    def kill(self) -> None:
        """End the kernel and what it started, without being asked twice."""
        self._kill_kernel()
        self.ranks.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _kill_kernel(self) -> None:
        with suppress(Exception):
            if sys.platform == "win32":
                self.manager.provisioner.process.kill()
            else:
                os.killpg(self.manager.provisioner.pgid, signal.SIGKILL)

    def _end_of_time(self) -> None:
        """Interrupt the kernel, and kill it if it does not end."""
        self.late = True
        self._after(PATIENCE, self._kill_kernel)
        self.interrupt()

    def _after(self, seconds: float, do: Callable[[], None]) -> None:
        """Call `do` then, unless the run has ended before."""
        clock = threading.Timer(seconds, do)
        clock.daemon = True
        self.clocks.append(clock)
        clock.start()

    def _text(self) -> str | None:
        try:
            return self.copy.read_text(encoding="utf-8")
        except OSError:
            return None

    def _failure(self, error: str, line: str = "") -> dict[str, Any]:
        if self.late:
            error = f"stopped at the limit of {self.job['timeout']:g} s; --timeout allows more"
            line = ""
        elif said := self.ranks.said():  # which made the kernel wait in vain
            error, line = said, ""
        answer = {"ok": False, "cell": self.cell, "line": line, "error": error}
        return {**answer, "notebook": self._text()}


class _Engine(NBClientEngine):
    """papermill's engine, but for who starts the kernel."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **options: Any) -> None:
        nb_man.nb.metadata.papermill.update(input_path="", output_path="")  # this machine's
        for cell in nb_man.nb.cells:
            if "injected-parameters" in cell.metadata.tags:
                cell["id"] = "injected-parameters"
        options["execution"].start(nb_man)


papermill_engines.register("coursekit", _Engine)


class _Client(PapermillNotebookClient):
    """Tells the execution what happens."""

    def __init__(self, nb_man: Any, *, execution: Execution, **options: Any) -> None:
        super().__init__(nb_man, **options)
        self.execution = execution

    def execute_cell(self, cell: nbformat.NotebookNode, cell_index: int, **options: Any) -> Any:
        """Execute one cell, told beforehand."""
        self.execution.begin(cell, cell_index, len(self.nb.cells))
        return super().execute_cell(cell, cell_index, **options)

    def process_message(self, message: dict[str, Any], *arguments: Any, **options: Any) -> Any:
        """Pass on what is printed, as soon as it is."""
        self.execution.live.message(message)
        return super().process_message(message, *arguments, **options)


def _told(error: PapermillExecutionError) -> tuple[str, str]:
    """Return what went wrong in one line, and the line of the cell that it comes from."""
    said = [line.strip() for line in ANSI.sub("", error.evalue).splitlines() if line.strip()]
    sentence = ": ".join([error.ename, *said[-1:]])
    trace = ANSI.sub("", "\n".join(error.traceback))
    frame = re.search(rf"Cell In\[{error.exec_count}\], line (\d+)", trace)
    lines = error.source.split("\n")
    if frame is None or not 0 < int(frame[1]) <= len(lines):
        return sentence, ""
    line = lines[int(frame[1]) - 1].strip()
    return sentence, f"line {frame[1]}, {line if len(line) <= 80 else line[:79] + '…'}"


_at_hand: list[Execution] = []


def work(_: None, jobs: Iterator[dict[str, Any]]) -> Iterator[Any]:
    """Execute trainings."""
    logging.getLogger("papermill").setLevel(logging.CRITICAL)
    yield "ready"
    for job in jobs:
        with tempfile.TemporaryDirectory(prefix="coursekit-") as folder:
            _at_hand[:] = [Execution(job, Path(folder))]
            answer = _at_hand[0].run()
            _at_hand.clear()
        yield answer


def stop() -> None:
    """Interrupt the training at hand; kill it if it does not end."""
    for execution in _at_hand:
        execution.interrupt()
    time.sleep(PATIENCE)  # the process ends before that if the notebook does
    for execution in _at_hand:
        execution.kill()
    os._exit(1)
