"""The grader's side of one student's process.

Nothing here trusts what comes in: output is cut while it is read, messages have caps, every wait
has an end, and whatever goes wrong with a student's process is a `Stopped` with its status. Time is
that of the processor: how busy the machine is with others makes no answer slower. What we do
ourselves for a process, reading its packets or computing what it asks, is of its time, too.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import selectors
import signal
import socket
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from coursekit.submission.resource_limits import MB
from coursetools.grading.records.verdict import Status

if TYPE_CHECKING:
    from coursetools.grading.student.wire import Packet

PIECE = 1 << 16  # bytes taken in at once; for more than this Python asks the system for memory
STALE = 1000  # answers out of turn that are passed over
GLANCE = 0.25  # seconds between two looks at how long a process has worked
CREDENTIALS = struct.Struct("3i")  # process, user, group
PASS_CREDENTIALS = 16  # of Linux; Python has no name for it


class Stopped(BaseException):
    """A student's process has come to an end; no `except Exception` of a test may swallow it."""

    def __init__(self, status: Status, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


class ForkServerDied(BaseException):
    """The fork server is gone, or cannot do its work: the grader's own fault, never a zero.

    No `except Exception` may make it a student's.
    """


@dataclass(frozen=True)
class Until:
    """The end of a wait: when the process has worked so long, or done nothing for longer."""

    worked: float  # seconds of the processor, on the clock of the process
    late: float  # on ours
    kept: float  # seconds for which others had kept it from working when the wait began


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

    def __init__(self, server: Any, child: int, channel: socket.socket, out: int, err: int) -> None:
        self.limits, self._server, self._child, self._channel = (
            server.limits,
            server,
            child,
            channel,
        )
        self.layers: dict[str, str] = {}
        self.peak = 0
        self.worked = 0.0  # seconds of processor time, as they were when somebody last looked
        self.served = 0.0  # seconds of ours for its sake
        self.lent = 0.0  # of these, in calls of our answers
        self._serving: float | None = None  # our clock, as it was when we last looked
        self._queued = 0.0  # seconds for which it was ready, while others had the processors
        self._away = 0.0  # seconds by the clock for which it has waited for answers of ours
        self.waited = 0.0  # seconds for which we have waited for it, less those
        self._looked = 0.0
        self.greedy = False
        self.ended = False
        self._pid, self._asks_who = 0, False  # in our eyes; it has another number in its own
        self._pipes = {out: "stdout", err: "stderr"}
        self.printed: dict[str, Printed] = {}
        self._total, self._number, self._stale = 0, 0, 0
        self._incoming = bytearray()
        self.clear()
        channel.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(channel, selectors.EVENT_READ)
        self._selector.register(server.fileno(), selectors.EVENT_READ)
        for pipe in self._pipes:
            os.set_blocking(pipe, False)
            self._selector.register(pipe, selectors.EVENT_READ)
        self._greet()

    def clear(self) -> None:
        """Forget what has been printed so far."""
        room = self.limits.cell_output
        self.printed = {"stdout": Printed(room), "stderr": Printed(room)}

    def until(self, seconds: float) -> Until:
        """Return when a wait for `seconds` of work ends."""
        late = time.monotonic() + seconds * self.limits.patience
        return Until(self.look() + seconds, late, self.kept)

    @property
    def spent(self) -> float:
        """Seconds of its time: worked by it or for it, or its share of those it has slept."""
        return max(self.look(), self.waited / self.limits.patience)

    @property
    def kept(self) -> float:
        """Seconds for which others have kept it from working."""
        return self._queued + self._away

    @contextlib.contextmanager
    def serving(self) -> Iterator[None]:
        """Count what is done meanwhile, in this thread, as time of the process."""
        if self._serving is not None:
            yield
            return
        self._serving = time.thread_time()
        try:
            yield
        finally:
            self.look()
            self._serving = None

    def look(self) -> float:
        """Return how long the process has worked, if the system says so, and we have for it."""
        if self._serving is not None:
            now = time.thread_time()
            self.served, self._serving = self.served + now - self._serving, now
        if self._pid and not self.ended:
            with contextlib.suppress(OSError):
                self.worked = time.clock_gettime(~self._pid << 3 | 2)  # the clock of a process
            if time.monotonic() > self._looked + GLANCE / 5:
                self._look_closely()
        return self.worked + self.served

    def _look_closely(self) -> None:
        self._looked = time.monotonic()
        with contextlib.suppress(OSError, ValueError, IndexError):
            self._queued = int(Path(f"/proc/{self._pid}/schedstat").read_bytes().split()[1]) / 1e9

    def check(self, until: Until) -> float:
        """Return how much time is left, in seconds; at the end of it, end the process."""
        left = self._left(until)
        if left <= 0:
            self._stop("TIMEOUT", "")
        return left

    def _left(self, until: Until) -> float:
        """Return for how long one may wait before one has to look again; 0 or less at the end."""
        worked, left = self.look(), until.late - time.monotonic()
        if left <= 0:
            self._look_closely()
            left += self.kept - until.kept
        return min(left, until.worked - worked)

    def ask(
        self, message: dict[str, Any], buffers: list[Any], until: Until
    ) -> tuple[dict[str, Any], list[memoryview]]:
        """Send a request and return its answer, or raise `Stopped`; keep what was printed."""
        from coursetools.grading.student import wire

        _, reply = self.exchange(wire.seal(message, buffers), {}, until)
        self._drain()
        return self.unseal(reply)

    def exchange(
        self,
        packet: Packet,
        about: dict[str, Any],
        until: Until,
        ours: Callable[[Packet, float], Packet] | None = None,
        room: int | None = None,
    ) -> tuple[dict[str, Any], Packet]:
        """Send a packet with `about` on its envelope; return the envelope and the reply.

        While it answers, the process may call back, and is answered by `ours`. `room` is for all
        bytes that it sends, and for what it is answered.
        """
        if self.ended:
            raise Stopped("CRASH", "the process had ended")
        began, kept = time.monotonic(), self.kept
        try:
            with self.serving():
                return self._exchange(packet, about, until, ours, room)
        finally:
            self.waited += max(0.0, time.monotonic() - began - (self.kept - kept))

    def _exchange(
        self,
        packet: Packet,
        about: dict[str, Any],
        until: Until,
        ours: Callable[[Packet, float], Packet] | None,
        room: int | None,
    ) -> tuple[dict[str, Any], Packet]:
        from coursetools.grading.student import wire

        self._number += 1
        token = secrets.token_hex(8)
        envelope = {**about, "sequence": self._number, "token": token}
        self._send(wire.frame(envelope, packet), until)
        calls, left = 0, wire.BODY_BYTES if room is None else room
        while True:
            try:
                header, body = wire.lengths(self._take(wire.PREFIX.size, until), left)
                text = bytes(self._take(header, until))
                envelope, reply = wire.unframe(text, self._take(body, until))
            except wire.Garbled as error:
                if room is not None and isinstance(error, wire.TooLarge):
                    self._too_much()
                self.refuse(error)
            if envelope.get("sequence") != self._number or envelope.get("token") != token:
                self._stale += 1
                if self._stale > STALE:
                    self._stop("CRASH", "the process sent replies that nobody asked for")
                continue
            if ours is None or envelope.get("back") is not True:
                return envelope, reply
            calls += 1
            if calls > self.limits.lent_calls:
                most = f"{self.limits.lent_calls:,}"
                self._stop("TIMEOUT", f"it called our reference answers more than {most} times")
            answer = self._lend(ours, reply, until)
            left -= body + len(answer.body)
            if left < 0:
                self._too_much()
            self._send(wire.frame({}, answer), until)

    def _lend(
        self, ours: Callable[[Packet, float], Packet], packet: Packet, until: Until
    ) -> Packet:
        """Ask an answer of ours, within the time that is left."""
        left, served, began = self.check(until), self.served, time.monotonic()
        try:
            return ours(packet, left)
        finally:
            self.look()
            self.lent += self.served - served
            self._away += time.monotonic() - began

    def _too_much(self) -> NoReturn:
        most = self.limits.answer_bytes / MB
        self._stop("MEM", f"its result is larger than {most:g} MB, the limit")

    def unseal(self, reply: Packet) -> tuple[dict[str, Any], list[memoryview]]:
        """Open a packet of this process; if it is none, the process is ended."""
        from coursetools.grading.student import wire

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
        self.look()
        self._server.end_child()
        self._over()

    def _greet(self) -> None:
        """Wait for the report of the sandbox, sent before any code of the student runs."""
        until = Until(float("inf"), time.monotonic() + 30, 0.0)
        pid = self._tell_pid(True)
        try:
            while b"\n" not in self._incoming:
                self._wait(until)
        except Stopped as stop:
            errors = self.printed["stderr"].text().strip()[-300:]
            raise ForkServerDied(
                f"a sandbox could not be made: {errors or stop.sentence}"
            ) from stop
        if pid:
            self._tell_pid(False)
        line, _, self._incoming = self._incoming.partition(b"\n")
        self.layers = json.loads(line)["layers"]

    def _tell_pid(self, wanted: bool) -> bool:
        """Have the system say whose words come in, by the number that the process has for us."""
        try:
            self._channel.setsockopt(socket.SOL_SOCKET, PASS_CREDENTIALS, int(wanted))
        except OSError:
            return False
        self._asks_who = wanted
        return wanted

    def _send(self, frame: bytes, until: Until) -> None:
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
                self._wait(until, writing=True)
            finally:
                if not self.ended:
                    self._selector.modify(self._channel, selectors.EVENT_READ)

    def _take(self, size: int, until: Until) -> bytearray:
        """Return the next bytes of the channel; memory grows only as they arrive."""
        while len(self._incoming) < size:
            self._wait(until)
        if len(self._incoming) == size:
            received, self._incoming = self._incoming, bytearray()
            return received
        received = self._incoming[:size]
        del self._incoming[:size]
        return received

    def _wait(self, until: Until, writing: bool = False) -> None:
        """Take in whatever comes next, from wherever."""
        ready: list[Any] = []
        while not ready:
            ready = self._selector.select(min(self.check(until), GLANCE))
        died = False
        for key, events in ready:
            if key.fd in self._pipes:
                self._read_pipe(key.fd)
            elif key.fd == self._server.fileno():
                died = self._server.has_ended(self._child)
            elif events & selectors.EVENT_READ or not writing:
                self._read_channel()
        if died:
            self._died()

    def _read_channel(self) -> None:
        try:
            if self._asks_who:
                data, about, _, _ = self._channel.recvmsg(PIECE, socket.CMSG_SPACE(64))
                for _, _, credentials in about:
                    if len(credentials) == CREDENTIALS.size:
                        self._pid = CREDENTIALS.unpack(credentials)[0]
            else:
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
        self._server.end_child()
        status = self._over()
        if self.greedy:
            raise Stopped("MEM", "its processes asked for more memory than a submission may use")
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
            raise Stopped("TIMEOUT", "it used up its processor time")
        raise Stopped("CRASH", f"the process ended by itself ({_how(status)})")

    def _stop(self, status: Status, sentence: str) -> NoReturn:
        self.look()
        self._server.end_child()
        self._over()
        raise Stopped(status, sentence)

    def _over(self) -> int:
        """Let go of the process and return how it ended."""
        self.ended = True
        self._selector.close()
        self._channel.close()
        for pipe in self._pipes:
            os.close(pipe)
        message = self._server.ended(self._child)
        self.peak, self.greedy = int(message["peak"]), message["greedy"] is True
        return int(message["exit"])


def _how(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        with contextlib.suppress(ValueError):
            return signal.Signals(number).name
        return f"signal {number}"
    return f"exit code {os.waitstatus_to_exitcode(status)}"
