"""An end for the judge's own part of a case, which a student's value may lead astray.

Counted is the judge's own work: waiting for the student's process, or for the machine, is none. One
within another has its own time, and the outer one waits.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Overtime(BaseException):
    """The judge's own part of a case has no end: a student's value has led it astray."""


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise `Overtime` after some seconds of work, where there is an alarm to be had."""
    usable = hasattr(signal, "setitimer") and (
        threading.current_thread() is threading.main_thread()
    )
    if not usable:
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise Overtime

    left, _ = signal.setitimer(signal.ITIMER_PROF, 0)
    before = signal.signal(signal.SIGPROF, ring)
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        signal.setitimer(signal.ITIMER_PROF, left)
