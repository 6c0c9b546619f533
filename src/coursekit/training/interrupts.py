"""Ctrl-C in a training: the step at hand is finished and saved, then the training ends."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_wait() -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether Ctrl-C has come; a second one interrupts at once."""
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set  # Python gives signals to the main thread only
        return
    former = signal.getsignal(signal.SIGINT)

    def note(signum: int, frame: object) -> None:
        pressed.set()
        signal.signal(signal.SIGINT, former)

    signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, former)
