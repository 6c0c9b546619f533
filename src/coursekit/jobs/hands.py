"""Processes that execute notebooks, one job after the other, and end when this process ends.

A worker process is a program that reads jobs on stdin, one JSON line each, and answers each with a
line on stdout. Once its stdin closes, it ends its kernel and then itself.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

GRACE = 10.0  # seconds for a worker to end its kernel before it is killed


def finished(
    jobs: list[dict[str, Any]],
    workers: int,
    program: str,
    *,
    aloud: bool = False,
    grace: float = GRACE,
    wanted: Callable[[], bool] = lambda: True,
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each job with its worker's answer, in the order in which they finish.

    `program` is the Python source of a worker. What workers write to stderr goes to this process's
    own if `aloud`. Once the answers are not `wanted` any more, the workers end; one that needs more
    than `grace` seconds for that is killed.
    """
    waiting: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    answers: queue.SimpleQueue[tuple[dict[str, Any], dict[str, Any]]] = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)
    hands = [_Hand(waiting, answers, program, aloud) for _ in range(workers)]
    try:
        for hand in hands:
            hand.start()
        for _ in jobs:
            while True:
                try:
                    answer = answers.get(timeout=0.2)  # returns often, so that Ctrl-C is heard
                    break
                except queue.Empty:
                    if not wanted():
                        return
            yield answer
    finally:
        with _deaf_to_interrupts():
            for hand in hands:
                hand.stop()
            for hand in hands:
                hand.finish(grace)


class _Hand(threading.Thread):
    """Keeps one worker process busy; the thread itself only waits for the worker's answers."""

    def __init__(
        self, waiting: queue.SimpleQueue, answers: queue.SimpleQueue, program: str, aloud: bool
    ) -> None:
        super().__init__(daemon=True)
        self.waiting, self.answers = waiting, answers
        self.program, self.aloud = program, aloud
        self.stopping = threading.Event()
        self.worker: subprocess.Popen[str] | None = None
        self.starting = threading.Lock()

    def run(self) -> None:
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
            while not self.stopping.is_set():
                try:
                    job = self.waiting.get_nowait()
                except queue.Empty:
                    return
                answer = self._ask(job, log)
                if answer is not None and not self.stopping.is_set():
                    self.answers.put((job, answer))

    def _ask(self, job: dict[str, Any], log: IO[str]) -> dict[str, Any] | None:
        try:
            with self.starting:
                if self.stopping.is_set():
                    return None
                if self.worker is None or self.worker.poll() is not None:
                    self.worker = _start_worker(self.program, None if self.aloud else log)
            self.worker.stdin.write(json.dumps(job) + "\n")
            self.worker.stdin.flush()
            line = self.worker.stdout.readline()
            if line:
                return json.loads(line)
            code = self.worker.wait()
        except (OSError, ValueError) as error:
            return {"ok": False, "error": f"its worker process could not be used ({error})"}
        log.seek(0)
        last = [line.strip() for line in log if line.strip()][-1:]
        said = f", after it wrote: {last[0]}" if last else ""
        return {"ok": False, "error": f"its worker process ended with code {code}{said}"}

    def stop(self) -> None:
        """Close the worker's input: it ends its kernel and then itself."""
        self.stopping.set()
        with self.starting:
            if self.worker is not None:
                with suppress(OSError, ValueError):
                    self.worker.stdin.close()

    def finish(self, grace: float) -> None:
        """Wait for the worker, and kill it if it does not end; its kernel then ends by itself."""
        if self.worker is not None:
            try:
                self.worker.wait(grace)
            except subprocess.TimeoutExpired:
                self.worker.kill()
                self.worker.wait()
        if self.is_alive():
            self.join(grace)
        if self.worker is not None:
            self.worker.stdout.close()


def _start_worker(program: str, log: IO[str] | None) -> subprocess.Popen[str]:
    package = str(Path(__file__).resolve().parents[2])
    inherited = os.environ.get("PYTHONPATH")
    path = package + (os.pathsep + inherited if inherited else "")
    # A session of its own: Ctrl-C reaches this process alone, which then ends the workers in order.
    if sys.platform == "win32":
        apart: dict[str, Any] = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    else:
        apart = {"start_new_session": True}
    return subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": path},
        **apart,
    )


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
