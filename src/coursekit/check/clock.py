"""Running somebody's function for a limited time, in silence."""

from __future__ import annotations

import contextlib
import io
import signal
import threading
import time
from collections.abc import Iterator

PATIENCE = 4  # how many times as long an answer may take that only waits
KEPT = 2000  # characters of what an answer prints; a loop may print for ever


class TooLong(BaseException):
    """The time is up. Not an Exception, so that a learner's `except Exception` lets it through."""

    def __init__(self, seconds: float = 0.0, work: float = 0.0) -> None:
        super().__init__(seconds, work)
        self.seconds, self.work = seconds, work  # by the clock, and of the processor

    @property
    def waited(self) -> bool:
        """Whether it did next to nothing in this time."""
        return self.work < self.seconds / 10

    def __str__(self) -> str:
        ended = f"stopped after {_number(self.seconds)} seconds"
        if self.waited:
            return f"{ended} of waiting; does it sleep, or wait for something that never comes?"
        if self.seconds - self.work > max(0.5, self.seconds / 5):
            ended += f" on a busy machine, {_number(self.work)} of them at work"
        return f"{ended}; does a loop never end?"


@contextlib.contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise `TooLong` after `seconds` of work, or after `PATIENCE` times as long by the clock.

    Work is the processor's time: on a busy machine an answer is no slower than elsewhere. Only the
    main thread of a system with alarms can be stopped; elsewhere the block just runs. So the time
    by the clock may be longer than `seconds`: `TooLong` has both.
    """
    if not hasattr(signal, "setitimer") or (
        threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    start, work = time.monotonic(), time.process_time()

    def ring(*_: object) -> None:
        # Once more in a moment, for an answer that swallows even this.
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        raise TooLong(time.monotonic() - start, time.process_time() - work)

    before = {number: signal.signal(number, ring) for number in (signal.SIGALRM, signal.SIGPROF)}
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE * seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Printed(io.TextIOBase):
    """Stands in for stdout: counts the lines and keeps the first of what was printed."""

    def __init__(self) -> None:
        self.lines = 0
        self.start = ""

    def writable(self) -> bool:
        """Say yes, as a stream must."""
        return True

    def write(self, text: str) -> int:
        """Take what is printed."""
        self.lines += text.count("\n")
        self.start += text[: KEPT - len(self.start)]
        return len(text)


@contextlib.contextmanager
def silence() -> Iterator[Printed]:
    """Keep what the block prints off the page, warnings included."""
    printed = Printed()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        yield printed


def _number(seconds: float) -> str:
    return f"{seconds:.0f}" if seconds >= 2 else f"{seconds:.1f}"
