"""What a process of the pool does for `run`: executes one notebook after the other in a kernel.

When it is stopped, the notebook at hand is given up, and its kernel ends with everything that it
started.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError

from coursekit._base.errors import CourseError
from coursetools.course import write_whole
from coursetools.notebooks.imports import (
    cache_key,
    installed_version,
    keyed_versions,
    read_notebook,
)

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
ALSO_RECORDED = ("coursekit", "ipykernel", "nbclient")
LONGEST_SOCKET_FOLDER = 80  # macOS allows 103 characters for a socket's whole path
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class ThisInterpreter(KernelSpecManager):
    """Finds one kernel: the interpreter that runs this, whatever is installed or activated."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """Return the kernel of `sys.executable`; every notebook of the course asks for python3."""
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=command, display_name="Python 3", language="python")


class Execution:
    """One notebook in one kernel."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.notebook, self.copy = job["notebook"], job["copy"]
        self.course, self.timeout = job["course"], job["timeout"]
        self.content: nbformat.NotebookNode | None = None
        self.cell = ""

    async def run(self) -> dict[str, Any]:
        """Execute the notebook, write what came of it, and say so."""
        start = time.perf_counter()
        try:
            # The key comes before the cells run: what is edited meanwhile leaves the copy stale.
            key = cache_key(self.notebook, self.course)
            self.content = self._read()
            with tempfile.TemporaryDirectory(prefix="coursekit-") as folder:
                try:
                    await self._in_time(self._execute(Path(folder)))
                except DeadKernelError as error:
                    raise CourseError(last_words(Path(folder))) from error
        except CourseError as error:
            return self._failure(str(error))
        except CellExecutionError as error:
            value = [line for line in ANSI.sub("", error.evalue).splitlines() if line.strip()]
            return self._failure(": ".join([error.ename, *(line.strip() for line in value[-1:])]))
        except TimeoutError:
            limit = f"the limit of {self.timeout:g} s"
            return self._failure(f"stopped at {limit}; --timeout allows more")
        except Exception as error:  # a fault of the tools must not take the other notebooks along
            return self._failure(f"could not be executed, {type(error).__name__}: {error}")
        seconds = time.perf_counter() - start
        self._write(key, seconds)
        return {"ok": True, "seconds": seconds}

    async def _in_time(self, work: Coroutine[Any, Any, None]) -> None:
        """Await `work`, or give it up after the time-out, or when this task itself is cancelled.

        `asyncio.wait_for` will not do: nbclient answers a cancellation with DeadKernelError.
        """
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait({task}, timeout=self.timeout)
        finally:
            late = task.cancel()  # False for a task that is done
            await asyncio.wait({task})
        if late:
            raise TimeoutError
        task.result()

    def _read(self) -> nbformat.NotebookNode:
        read_notebook(self.notebook)
        content = nbformat.read(self.notebook, as_version=4)
        for cell in content.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        return content

    async def _execute(self, folder: Path) -> None:
        sockets = sys.platform != "win32" and len(str(folder)) <= LONGEST_SOCKET_FOLDER
        manager = AsyncKernelManager(
            kernel_name="python3",
            kernel_spec_manager=ThisInterpreter(),
            connection_file=str(folder / "kernel.json"),
            # Sockets in a private folder: two kernels that start together cannot pick one port.
            transport="ipc" if sockets else "tcp",
        )
        client = NotebookClient(
            self.content,
            km=manager,
            timeout=None,
            record_timing=False,
            coalesce_streams=True,
            shutdown_kernel="immediate",
            resources={"metadata": {"path": str(self.notebook.parent)}},
            on_cell_execute=lambda cell, cell_index: self._remember_cell(cell, cell_index),
        )
        path = [str(self.course.packages), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        environment = {
            **os.environ,
            **KERNEL_ENVIRONMENT,
            "IPYTHONDIR": str(folder / "ipython"),  # no start-up file of the user takes part
            "PYTHONPATH": os.pathsep.join(part for part in path if part),
        }
        try:
            with open(folder / "stderr", "wb") as stderr:
                await client.async_execute(
                    cleanup_kc=True, env=environment, stdout=subprocess.DEVNULL, stderr=stderr
                )
        finally:
            if manager.has_kernel:  # also when it is dead: what its cells started is not
                await manager.shutdown_kernel(now=True)

    def _remember_cell(self, cell: nbformat.NotebookNode, index: int) -> None:
        self.cell = cell.get("id") or f"number {index + 1}"

    def _failure(self, error: str) -> dict[str, Any]:
        answer = {"ok": False, "cell": self.cell, "error": error, "kept": None}
        if self.content is not None:
            failed = self.copy.with_suffix(".failed.ipynb")
            write_whole(failed, nbformat.writes(self.content) + "\n")
            answer["kept"] = str(failed)
        return answer

    def _write(self, key: str, seconds: float) -> None:
        """Write copy, then record; between the two there is no record, so never a wrong one."""
        versions = {name: installed_version(name) for name in ALSO_RECORDED}
        record = {
            "key": key,
            "seconds": round(seconds, 2),
            "python": platform.python_version(),
            "platform": f"{platform.system()} {platform.machine()}",
            "versions": {**keyed_versions(), **{k: v for k, v in versions.items() if v}},
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        beside = self.copy.with_suffix(".json")
        beside.unlink(missing_ok=True)
        write_whole(self.copy, settled(self.content, key))
        write_whole(beside, json.dumps(record, indent=1) + "\n")
        self.copy.with_suffix(".failed.ipynb").unlink(missing_ok=True)


def settled(content: nbformat.NotebookNode, key: str) -> str:
    """Write out a notebook with names of widgets that depend on `key` and their order alone.

    ipywidgets draws them at random; so equal runs give equal bytes.
    """
    text = nbformat.writes(content)
    number = 0
    for kind in content.metadata.get("widgets", {}).values():
        for name in kind.get("state", {}):  # in the order in which the cells made them
            text = text.replace(name, sha256(f"{key}{number}".encode()).hexdigest()[:32])
            number += 1
    return nbformat.writes(nbformat.reads(text, as_version=4)) + "\n"  # their sorted order, again


def last_words(folder: Path) -> str:
    """Return why the kernel is dead, as far as what it wrote to `stderr` in `folder` tells."""
    text = (folder / "stderr").read_text(encoding="utf-8", errors="replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    words = f"; it wrote: {lines[-1]}" if lines else ", perhaps for lack of memory"
    return f"the kernel died{words}"


_give_up: list[Callable[[], Any]] = []  # the notebook at hand


async def _answer(job: dict[str, Any]) -> dict[str, Any]:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    _give_up[:] = [lambda: loop.call_soon_threadsafe(task.cancel)]
    try:
        return await Execution(job).run()
    finally:
        _give_up.clear()


def work(_: None, jobs: Iterator[dict[str, Any]]) -> Iterator[Any]:
    """Execute notebooks, until one is given up."""
    yield "ready"
    with suppress(asyncio.CancelledError):
        for job in jobs:
            yield asyncio.run(_answer(job))


def stop() -> None:
    """Give up the notebook at hand."""
    for give_up in _give_up:
        give_up()
