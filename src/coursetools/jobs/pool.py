"""Processes that do jobs, several at once, and end when this process ends, in whatever manner.

A worker process runs `worker.py` with the module that does the jobs. What goes to it is pickled;
what comes back is JSON. It is in a session of its own, so Ctrl-C reaches this process alone.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from coursekit._base.errors import CourseError

GRACE = 10.0  # seconds for a worker to give up its job and end what it started
STARTS = 3  # workers in a row that may end before they are ready
START_SECONDS = 300.0
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class Pool:
    """Up to `workers` processes that do jobs as the function `work` of `module` does them.

    Each gets `start` first, and then as many jobs as `ahead` says, to have the next one at hand. A
    worker that needs more than `seconds` for a job, or more than `grace` to end, is killed. What
    workers write to stderr goes to this process's own if `aloud`.
    """

    def __init__(
        self,
        module: str,
        workers: int,
        *,
        start: Any = None,
        ahead: int = 1,
        seconds: float = math.inf,
        grace: float = GRACE,
        aloud: bool = False,
    ) -> None:
        self.module, self.size, self.start, self.ahead = module, workers, start, ahead
        self.seconds, self.grace, self.aloud = seconds, grace, aloud
        self.waiting: deque[Any] = deque()
        self.workers: list[_Worker] = []
        self.lines: queue.SimpleQueue[tuple[_Worker, bytes]] = queue.SimpleQueue()
        self.failed_starts = 0

    def run(
        self, jobs: Iterable[Any], wanted: Callable[[], bool] = lambda: True
    ) -> Iterator[tuple[Any, Any]]:
        """Yield each job with its answer, in the order in which they finish, while `wanted`.

        A job that its worker dies of has the answer `{"ok": False, "error": …}`.
        """
        self.waiting.extend(jobs)
        while (self.waiting or any(worker.jobs for worker in self.workers)) and wanted():
            self._fill()
            with suppress(queue.Empty):  # returns often, so that Ctrl-C is heard
                yield from self._hear(*self.lines.get(timeout=0.2))
            if self.lines.empty():  # whoever has answered in time is heard before
                yield from self._watch()

    def again(self, job: Any) -> None:
        """Let `run` do a job once more, after all that wait."""
        self.waiting.append(job)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with _deaf_to_interrupts():
            for worker in self.workers:
                worker.stop()
            latest = time.monotonic() + self.grace
            while self.workers:
                self.workers.pop().end(latest - time.monotonic())

    def _fill(self) -> None:
        """Start the workers that are needed, and give jobs to whoever has room."""
        busy = sum(1 for worker in self.workers if worker.jobs)
        while len(self.workers) < min(self.size, busy + len(self.waiting)):
            self.workers.append(_Worker(self.module, self.start, self.lines, self.aloud))
        for _ in range(self.ahead):
            for worker in self.workers:
                if self.waiting and worker.ready and len(worker.jobs) < self.ahead:
                    worker.give(self.waiting.popleft())

    def _hear(self, worker: _Worker, line: bytes) -> Iterator[tuple[Any, Any]]:
        if worker not in self.workers:
            return  # it was lost before
        worker.since = time.monotonic()
        try:
            answer = json.loads(line)
        except ValueError:  # nothing, or a part: it has ended
            yield from self._lose(worker, worker.end(self.grace))
            return
        if isinstance(answer, dict) and "refused" in answer:
            raise CourseError(answer["refused"])
        if not worker.ready:
            worker.ready, self.failed_starts = True, 0
        else:
            yield worker.jobs.popleft(), answer

    def _watch(self) -> Iterator[tuple[Any, Any]]:
        """End workers that need far too long."""
        for worker in list(self.workers):
            allowed = self.seconds if worker.ready else START_SECONDS
            busy = worker.jobs or not worker.ready
            if busy and time.monotonic() - worker.since > allowed:
                worker.end(0)
                yield from self._lose(worker, f"did not answer within {allowed:g} s")

    def _lose(self, worker: _Worker, how: str) -> Iterator[tuple[Any, Any]]:
        self.workers.remove(worker)
        if not worker.ready:
            self.failed_starts += 1
            if self.failed_starts >= STARTS:
                raise CourseError(
                    f"worker processes do not start (the last one {how}); "
                    "coursekit doctor says what is missing"
                )
        if worker.jobs:
            at_hand = worker.jobs.popleft()
            self.waiting.extendleft(reversed(worker.jobs))  # these it had not begun
            yield at_hand, {"ok": False, "error": f"its worker process {how}"}


class _Worker:
    """A process and the jobs that it has; a thread listens to it."""

    def __init__(self, module: str, start: Any, lines: queue.SimpleQueue, aloud: bool) -> None:
        path = [str(Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH")]
        environment = {"PYTHONPATH": os.pathsep.join(part for part in path if part)}
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by end()
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "coursetools.jobs.worker", module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if aloud else self.log,
                env={**os.environ, **dict.fromkeys(THREADS, "1"), **environment},
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # on Windows
            )
        except OSError as error:
            raise CourseError(f"no worker process can be started ({error.strerror})") from error
        assert self.process.stdin is not None and self.process.stdout is not None  # two pipes
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self.jobs: deque[Any] = deque()
        self.ready = False
        self.since = time.monotonic()  # when its first job, or its start, began
        threading.Thread(target=self._listen, args=(lines,), daemon=True).start()
        self._send(start)

    def give(self, job: Any) -> None:
        if not self.jobs:
            self.since = time.monotonic()
        self.jobs.append(job)
        self._send(job)

    def stop(self) -> None:
        """Close its stdin: it gives up its job, ends what it started, and then itself."""
        with suppress(OSError):
            self.stdin.close()

    def end(self, patience: float) -> str:
        """Wait for its end, or bring that about, for all of its session; return how it ended."""
        self.stop()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, patience))
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self.process.kill()
            else:
                os.killpg(self.process.pid, signal.SIGKILL)
        how = f"ended with code {self.process.wait()}"
        with self.log:
            self.log.seek(0)
            lines = [line.strip() for line in self.log.read().splitlines() if line.strip()]
        return how + (f", after it wrote: {lines[-1].decode(errors='replace')}" if lines else "")

    def _send(self, what: Any) -> None:
        with suppress(OSError):  # a dead worker is noticed by its listener
            self.stdin.write(b64encode(pickle.dumps(what)) + b"\n")
            self.stdin.flush()

    def _listen(self, lines: queue.SimpleQueue) -> None:
        with self.stdout as answers:
            for line in answers:
                lines.put((self, line))
        lines.put((self, b""))


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Let no second Ctrl-C break the cleaning up; only the main thread can be interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)
