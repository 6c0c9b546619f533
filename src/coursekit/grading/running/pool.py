"""Worker processes on this machine, and what happens when one of them dies.

The submission that a worker was at when it died is tried once more, in a fresh worker; if that
fails too it is `INTERNAL`, which is no grade, and everybody else goes on. Workers run in sessions
of their own, so Ctrl-C reaches only the driver.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from coursekit.errors import CourseError
from coursekit.grading.verdict import Verdict

AHEAD = 2  # tasks with one worker, so that it never waits for the driver
STARTS = 3  # workers that may die before they are ready
START_SECONDS = 180.0
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@dataclass
class Task:
    """One file to be judged."""

    student: str
    notebook: str
    path: Path
    tries: int = 0
    lost: list[str] = field(default_factory=list)  # why it has to be done again


@dataclass(frozen=True)
class Outcome:
    """A task and what came of it; `submission` is the hash of what was read, "" if unknown.

    `graded` is the text of the graded notebook, "" where it has not been made yet.
    """

    task: Task
    submission: str
    verdict: Verdict
    graded: str = ""


class _Worker:
    """A process, the socket to it, and the tasks that it has."""

    def __init__(self, start: bytes) -> None:
        ours, theirs = socket.socketpair()
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by end()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "coursekit.grading.running.worker", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=self.errors,
                stderr=self.errors,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env={**os.environ, **dict.fromkeys(THREADS, "1")},
            )
        self.connection = Connection(ours.detach())
        self.tasks: deque[Task] = deque()
        self.ready = False
        self.since = time.monotonic()  # when its first task, or its start, began
        with suppress(OSError):
            self.connection.send_bytes(start)

    def give(self, task: Task) -> None:
        if not self.tasks:
            self.since = time.monotonic()
        self.tasks.append(task)
        message = {"path": str(task.path), "notebook": task.notebook}
        with suppress(OSError):  # a dead worker is noticed when its answer is read
            self.connection.send_bytes(json.dumps(message).encode())

    def said(self) -> str:
        """Return the end of what it wrote to its standard error."""
        self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(0, self.errors.tell() - 400))
        return " ".join(self.errors.read().decode("utf-8", "replace").split())

    def end(self, patience: float) -> None:
        """Let it finish for a while; then end it and everything in its session."""
        self.connection.close()
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(2.0)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.errors.close()


class Pool:
    """`workers` processes; `run` hands tasks to them and yields outcomes as they come."""

    def __init__(self, start: dict[str, Any], workers: int, longest: float) -> None:
        self.start, self.longest = json.dumps(start).encode(), longest
        self.size, self.workers, self.failed_starts = workers, [], 0
        self.waiting: deque[Task] = deque()

    def run(self, tasks: Iterable[Task]) -> Iterator[Outcome]:
        """Yield one outcome for each task, in the order in which they are finished."""
        source = iter(tasks)
        try:
            more = self._fill(source)
            while more or self.waiting or any(worker.tasks for worker in self.workers):
                self._keep_size(more)
                ready = wait([worker.connection for worker in self.workers], timeout=0.5)
                for worker in [w for w in self.workers if w.connection in ready]:
                    yield from self._hear(worker)
                yield from self._watch()
                more = self._fill(source)
            self._end(patience=10.0)
        finally:
            self._end(patience=0.2)

    def _keep_size(self, more: bool) -> None:
        needed = len(self.waiting) + sum(len(worker.tasks) for worker in self.workers)
        wanted = self.size if more else min(self.size, max(1, needed))
        while len(self.workers) < wanted:
            self.workers.append(_Worker(self.start))

    def _fill(self, source: Iterator[Task]) -> bool:
        """Give work to whoever has room; say whether the source may have more."""
        for _ in range(AHEAD):
            for worker in self.workers:
                if worker.ready and len(worker.tasks) < AHEAD:
                    task = self.waiting.popleft() if self.waiting else next(source, None)
                    if task is None:
                        return False
                    worker.give(task)
        if not self.workers:
            first = next(source, None)
            if first is None:
                return False
            self.waiting.append(first)
        return True

    def _hear(self, worker: _Worker) -> Iterator[Outcome]:
        try:
            message = json.loads(worker.connection.recv_bytes())
        except (EOFError, OSError, ValueError):
            yield from self._lose(worker, "the grader's process died")
            return
        if "refused" in message:
            raise CourseError(message["refused"])
        if "ready" in message:
            worker.ready, self.failed_starts = True, 0
            return
        task = worker.tasks.popleft()
        worker.since = time.monotonic()
        if "lost" in message:
            yield from self._again(task, message["lost"])
            return
        verdict = Verdict.from_json(message["verdict"])
        if verdict.status == "INTERNAL" and task.tries == 0:
            yield from self._again(task, verdict.reason)
            return
        yield Outcome(task, message["submission"], verdict, message.get("graded", ""))

    def _watch(self) -> Iterator[Outcome]:
        """End workers that are far beyond what a submission may take."""
        for worker in list(self.workers):
            allowed = self.longest if worker.ready else START_SECONDS
            busy = worker.tasks or not worker.ready
            if busy and time.monotonic() - worker.since > allowed:
                yield from self._lose(worker, "the grader's process did not answer")

    def _lose(self, worker: _Worker, why: str) -> Iterator[Outcome]:
        said = worker.said()
        self.workers.remove(worker)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(worker.process.pid, signal.SIGKILL)
        worker.end(patience=0.2)
        if not worker.ready:
            self.failed_starts += 1
            if self.failed_starts >= STARTS:
                raise CourseError(
                    f"the grader's processes do not start ({said[-200:] or why}); "
                    "coursekit doctor says what is missing"
                )
        tasks = list(worker.tasks)
        self.waiting.extendleft(reversed(tasks[1:]))  # these it had not begun
        if tasks:
            yield from self._again(tasks[0], why)

    def _again(self, task: Task, why: str) -> Iterator[Outcome]:
        task.tries += 1
        task.lost.append(why)
        if task.tries < 2:
            self.waiting.append(task)
        else:
            yield Outcome(task, "", internal(task.lost))

    def _end(self, patience: float) -> None:
        while self.workers:
            self.workers.pop().end(patience)


def internal(lost: list[str]) -> Verdict:
    """Return the verdict that is none: the grader failed, and will try again in the next run."""
    return Verdict(
        assignment="",
        status="INTERNAL",
        reason="the grader itself failed; this is not the student's fault, and no grade",
        points=0.0,
        max_points=0.0,
        flags=[f"grader failed: {why}" for why in dict.fromkeys(lost)],
    )
