"""What a running notebook prints, for the person who waits: whole on a terminal, thinned in a log.

A progress bar writes itself anew many times a minute. On a terminal it is in one line; in a log
only its state every few seconds is kept, each a line.
"""

from __future__ import annotations

import re
import time
from typing import Any, TextIO

from coursetools.notebooks.kernel import ANSI

EVERY = 15.0  # seconds between two states of a bar in a log


class Live:
    """Passes on what the cells of one notebook print; the `silent` one passes on nothing."""

    def __init__(self, file: TextIO, *, silent: bool = False, every: float = EVERY) -> None:
        self.file, self.silent, self.every = file, silent, every
        self.terminal = file.isatty()
        self.state, self.bar, self.said = "", False, -every
        self.speaker, self.open = "", False  # who wrote last, and whether the line has no end yet

    def cell(self, number: int, total: int, name: str) -> None:
        """Say which cell begins."""
        self.print(f"cell {number}/{total}: {name}\n", "cell")

    def message(self, message: dict[str, Any]) -> None:
        """Hear what the kernel publishes."""
        if message["msg_type"] == "stream":
            self.print(message["content"]["text"], message["content"]["name"])

    def print(self, text: str, speaker: str = "stdout") -> None:
        """Pass `text` on; what another one of the speakers left open gets its end first."""
        if self.open and speaker != self.speaker:
            self.open = False
            self.print("\n", self.speaker)
        self.speaker, self.open = speaker, not text.endswith("\n")
        if self.terminal:
            self._write(text)
            return
        for part in re.split(r"(\r\n|\r|\n)", ANSI.sub("", text)):
            if part in ("\n", "\r\n"):
                self._line()
                self.bar = False
            elif part == "\r":
                self.state, self.bar = "", True
            else:
                self.state += part
        if self.bar:
            self._now_and_then()

    def _now_and_then(self) -> None:
        if self.state.strip() and time.monotonic() - self.said >= self.every:
            self._line()
            self.said = time.monotonic()

    def _line(self) -> None:
        if self.state.strip():
            self._write(self.state.rstrip() + "\n")
        self.state = ""

    def _write(self, text: str) -> None:
        if not self.silent:
            self.file.write(text)
            self.file.flush()
