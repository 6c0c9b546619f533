"""How long work shows where it is: a bar on a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 30.0  # between two lines, at most, where something is finished


class Progress:
    """Counts finished items; this one is silent, and is what `--quiet` gets."""

    def advance(self, text: str) -> None:
        """Say that one more item is finished; `text` names it."""

    def note(self, text: str) -> None:
        """Say something that is not a finished item."""


class _Lines(Progress):
    """A line each tenth of the way, or each half minute, for logs and pipes."""

    def __init__(self, total: int, label: str) -> None:
        self.total, self.label, self.done = total, label, 0
        self.said, self.last = 0, time.monotonic()  # tenths of the way; when

    def advance(self, text: str) -> None:
        self.done += 1
        tenths = 10 * self.done // self.total
        if tenths > self.said or time.monotonic() - self.last >= SECONDS:
            self.said, self.last = tenths, time.monotonic()
            self._write(f"{self.label} {self.done}/{self.total}: {text}")

    def note(self, text: str) -> None:
        self._write(f"{self.label}: {text}")

    def _write(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)


class _Bar(Progress):
    """tqdm's bar, for people."""

    def __init__(self, total: int, label: str) -> None:
        from tqdm import tqdm

        self.bar = tqdm(total=total, desc=label, file=sys.stderr, dynamic_ncols=True)

    def advance(self, text: str) -> None:
        self.bar.set_postfix_str(text, refresh=False)
        self.bar.update()

    def note(self, text: str) -> None:
        self.bar.write(text, file=sys.stderr)


@contextmanager
def track(total: int, label: str, quiet: bool = False) -> Iterator[Progress]:
    """Yield the `Progress` that fits where the output goes; `advance(text)` after each item."""
    if quiet or total == 0:
        yield Progress()
    elif sys.stderr.isatty():
        progress = _Bar(total, label)
        try:
            yield progress
        finally:
            progress.bar.close()
    else:
        yield _Lines(total, label)
