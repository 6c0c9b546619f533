"""The worker process of a pool: reads jobs on stdin and answers on stdout, a line each.

`python -m coursetools.jobs.worker MODULE`: its function `work(start, jobs)` yields once when it is
ready, then an answer for each job. Once stdin closes, nobody wants the answer at hand any more:
the function `stop` of the module is called in a thread, or `work` gets a KeyboardInterrupt. That
covers Ctrl-C in the driver as well as its sudden death.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import signal
import sys
import threading
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any

from coursekit._base.errors import CourseError
from coursetools.course import quick_imports

PATIENCE = 15.0  # seconds for `stop` to have an effect


def serve(name: str) -> None:
    """Do what the module of that name does until stdin closes."""
    # Whatever a library prints is no answer.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored below a job of a shell
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    # From the beginning, so that the driver never waits for room in the pipe.
    threading.Thread(target=_listen, args=(name, lines), daemon=True).start()
    with suppress(KeyboardInterrupt, BrokenPipeError):
        with quick_imports():
            module = import_module(name)
        jobs = _jobs(lines)
        try:
            for answer in module.work(next(jobs), jobs):
                print(json.dumps(answer), file=answers, flush=True)
        except CourseError as error:
            print(json.dumps({"refused": str(error)}), file=answers, flush=True)


def _listen(name: str, lines: queue.SimpleQueue) -> None:
    with open(sys.stdin.fileno(), "rb", closefd=False) as stdin:  # of its own: none to be locked
        for line in stdin:
            lines.put(line)
    lines.put(b"")
    getattr(sys.modules.get(name), "stop", _interrupt)()
    time.sleep(PATIENCE)  # the process ends before that if all is well
    os._exit(1)


def _jobs(lines: queue.SimpleQueue) -> Iterator[Any]:
    for line in iter(lines.get, b""):
        yield pickle.loads(b64decode(line))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # nothing is left that could be given up


def _interrupt() -> None:
    """Raise KeyboardInterrupt in the main thread, also where that waits for the system."""
    if sys.platform == "win32":
        signal.raise_signal(signal.SIGINT)
    else:
        main = threading.main_thread().ident
        assert main is not None  # it has started
        signal.pthread_kill(main, signal.SIGINT)


if __name__ == "__main__":
    serve(sys.argv[1])
