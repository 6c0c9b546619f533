"""The grader's side of one student's process.

Nothing here trusts what comes in: output is cut while it is read, messages have caps, every wait
has an end, and whatever goes wrong with a student's process is a `Stopped` with its status.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import selectors
import signal
import socket
import time
from typing import TYPE_CHECKING, Any, NoReturn

from coursekit.grading.verdict import Status

if TYPE_CHECKING:
    from coursekit.grading.forks import Warm
    from coursekit.grading.wire import Letter

PIECE = 1 << 16  # bytes taken in at once; for more than this Python asks the system for memory
STALE = 1000  # answers out of turn that are passed over


class Stopped(BaseException):
    """A student's process has come to an end; no `except Exception` of a test may swallow it."""

    def __init__(self, status: Status, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


class WarmDied(BaseException):
    """The warm process is gone, or cannot do its work: the grader's own fault, never a zero.

    No `except Exception` may make it a student's.
    """


class Printed:
    """What came out of one pipe, as much as may be kept."""

    def __init__(self, room: int) -> None:
        self.data, self.room, self.cut = bytearray(), room, False

    def add(self, data: bytes) -> None:
        """Keep what there is room for."""
        self.data += data[: max(0, self.room - len(self.data))]
        self.cut = self.cut or len(self.data) >= self.room

    def text(self) -> str:
        """Return it as text, whatever bytes it was."""
        text = self.data.decode("utf-8", errors="replace")
        return f"{text}\n[the rest is cut]\n" if self.cut else text


class StudentProcess:
    """One submission's process: requests go in, answers and printed text come out."""

    def __init__(self, warm: Warm, child: int, channel: socket.socket, out: int, err: int) -> None:
        self.limits, self._warm, self._child, self._channel = warm.limits, warm, child, channel
        self.layers: dict[str, str] = {}
        self.peak = 0
        self.greedy = False
        self.ended = False
        self._pipes = {out: "stdout", err: "stderr"}
        self.printed: dict[str, Printed] = {}
        self._total, self._number, self._stale = 0, 0, 0
        self._incoming = bytearray()
        self.clear()
        channel.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(channel, selectors.EVENT_READ)
        self._selector.register(warm.fileno(), selectors.EVENT_READ)
        for pipe in self._pipes:
            os.set_blocking(pipe, False)
            self._selector.register(pipe, selectors.EVENT_READ)
        self._greet()

    def clear(self) -> None:
        """Forget what has been printed so far."""
        room = self.limits.cell_output
        self.printed = {"stdout": Printed(room), "stderr": Printed(room)}

    def ask(
        self, message: dict[str, Any], buffers: list[Any], deadline: float
    ) -> tuple[dict[str, Any], list[memoryview]]:
        """Send a request and return its answer, or raise `Stopped`; keep what was printed."""
        from coursekit.grading import wire

        _, reply = self.exchange(wire.seal(message, buffers), {}, deadline)
        self._drain()
        return self.unseal(reply)

    def exchange(
        self, letter: Letter, about: dict[str, Any], deadline: float
    ) -> tuple[dict[str, Any], Letter]:
        """Send a letter with `about` on its envelope; return the reply's envelope and letter."""
        from coursekit.grading import wire

        if self.ended:
            raise Stopped("CRASH", "the process had ended")
        self._number += 1
        token = secrets.token_hex(8)
        envelope = {**about, "sequence": self._number, "token": token}
        self._send(wire.frame(envelope, letter), deadline)
        while True:
            try:
                header, body = wire.lengths(self._take(wire.PREFIX.size, deadline))
                text = bytes(self._take(header, deadline))
                envelope, reply = wire.unframe(text, self._take(body, deadline))
            except wire.Garbled as error:
                self.refuse(error)
            if envelope.get("sequence") == self._number and envelope.get("token") == token:
                return envelope, reply
            self._stale += 1
            if self._stale > STALE:
                self._stop("CRASH", "the process answered what nobody had asked")

    def unseal(self, reply: Letter) -> tuple[dict[str, Any], list[memoryview]]:
        """Open a letter of this process; if it is none, the process is ended."""
        from coursekit.grading import wire

        try:
            return wire.unseal(reply)
        except wire.Garbled as error:
            self.refuse(error)

    def refuse(self, error: Exception) -> NoReturn:
        """End a process that does not speak as agreed."""
        self._stop("CRASH", f"the process answered with {error}")

    def end(self) -> None:
        """Kill the process and everything that it has started; what it says now is lost."""
        if self.ended:
            return
        self._warm.end_child()
        self._over()

    def _greet(self) -> None:
        """Wait for the report of the sandbox, sent before any code of the student runs."""
        deadline = time.monotonic() + 30
        try:
            while b"\n" not in self._incoming:
                self._wait(deadline)
        except Stopped as stop:
            said = self.printed["stderr"].text().strip()[-300:]
            raise WarmDied(f"a sandbox could not be made: {said or stop.sentence}") from stop
        line, _, self._incoming = self._incoming.partition(b"\n")
        self.layers = json.loads(line)["layers"]

    def _send(self, frame: bytes, deadline: float) -> None:
        view = memoryview(frame)
        while len(view):
            try:
                view = view[self._channel.send(view) :]
                continue
            except BlockingIOError:
                pass
            except OSError:
                self._died()
            self._selector.modify(self._channel, selectors.EVENT_READ | selectors.EVENT_WRITE)
            try:
                self._wait(deadline, writing=True)
            finally:
                if not self.ended:
                    self._selector.modify(self._channel, selectors.EVENT_READ)

    def _take(self, size: int, deadline: float) -> bytearray:
        """Return the next bytes of the channel; memory grows only as they arrive."""
        while len(self._incoming) < size:
            self._wait(deadline)
        taken = self._incoming[:size]
        del self._incoming[:size]
        return taken

    def _wait(self, deadline: float, writing: bool = False) -> None:
        """Take in whatever comes next, from wherever."""
        left = deadline - time.monotonic()
        ready = self._selector.select(max(0.0, left)) if left > 0 else []
        if not ready:
            self._stop("TIMEOUT", "")
        died = False
        for key, events in ready:
            if key.fd in self._pipes:
                self._read_pipe(key.fd)
            elif key.fd == self._warm.fileno():
                died = self._warm.has_ended(self._child)
            elif events & selectors.EVENT_READ or not writing:
                self._read_channel()
        if died:
            self._died()

    def _read_channel(self) -> None:
        try:
            data = self._channel.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._died()
        self._incoming += data

    def _read_pipe(self, pipe: int) -> bool:
        try:
            data = os.read(pipe, 1 << 16)
        except BlockingIOError:
            return False
        if not data:
            self._selector.unregister(pipe)
            return False
        self.printed[self._pipes[pipe]].add(data)
        self._total += len(data)
        if self._total > self.limits.notebook_output:
            limit = self.limits.notebook_output
            self._stop("OUTPUT", f"it printed more than the {limit:,} bytes that a notebook may")
        return True

    def _drain(self) -> None:
        """Read what was printed before the answer was sent."""
        for pipe in self._pipes:
            while pipe in self._selector.get_map() and self._read_pipe(pipe):
                pass

    def _died(self) -> None:
        """The process is gone, or has closed its channel, which is the same."""
        with contextlib.suppress(Stopped):
            self._drain()
        self._warm.end_child()
        status = self._over()
        if self.greedy:
            raise Stopped("MEM", "its processes asked for more memory than a submission may use")
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
            raise Stopped("TIMEOUT", "it used up its processor time")
        raise Stopped("CRASH", f"the process ended by itself ({_how(status)})")

    def _stop(self, status: Status, sentence: str) -> NoReturn:
        self._warm.end_child()
        self._over()
        raise Stopped(status, sentence)

    def _over(self) -> int:
        """Let go of the process and return how it ended."""
        self.ended = True
        self._selector.close()
        self._channel.close()
        for pipe in self._pipes:
            os.close(pipe)
        said = self._warm.ended(self._child)
        self.peak, self.greedy = int(said["peak"]), said["greedy"] is True
        return int(said["exit"])


def _how(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        with contextlib.suppress(ValueError):
            return signal.Signals(number).name
        return f"signal {number}"
    return f"exit code {os.waitstatus_to_exitcode(status)}"
