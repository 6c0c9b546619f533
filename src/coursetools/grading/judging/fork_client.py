"""The grader's side of the fork server: starting it, asking it for children, ending it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import asdict
from typing import Any, Self

from coursekit._base.errors import CourseError
from coursekit.submission.resource_limits import Limits
from coursetools.grading.judging.process import ForkServerDied, StudentProcess
from coursetools.grading.sandbox.sandbox_plan import Plan, plan

START = 120.0  # seconds for the fork server to load torch, on a busy machine
NEVER = (
    "was started twice and does not answer; the machine may be too busy, or short of memory: close "
    "other programs, or wait, and run the command again, which continues where it stopped"
)
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp/work", "LANG": "C.UTF-8"}
PROGRAM = """
import sys
sys.path[:] = {path!r}
from coursetools.grading.student.fork_server import main
main({descriptor})
"""


class ForkServer:
    """A fork server, and the way to ask it for children."""

    def __init__(self, plan: Plan) -> None:
        self.limits = plan.limits
        self._children = 0
        for again in (True, False):
            self._start(plan)
            try:
                self.hear(START)
                break
            except ForkServerDied as error:
                self._control.close()
                self._process.kill()
                errors = self._process.communicate()[1].decode(errors="replace").strip()
                if not again:
                    why = f"does not start: {errors[-500:]}" if errors else NEVER
                    raise CourseError(f"the process for students' code {why}") from error
        assert self._process.stderr is not None
        self._process.stderr.close()

    def _start(self, plan: Plan) -> None:
        self._control, theirs = socket.socketpair()
        program = PROGRAM.format(path=plan.path, descriptor=theirs.fileno())
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", program],
                env=ENVIRONMENT,
                cwd="/",
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        self._lines = bytearray()
        with contextlib.suppress(OSError):  # it has ended; `hear` says so
            self._control.sendall(json.dumps(asdict(plan)).encode() + b"\n")

    def fork(self) -> StudentProcess:
        """Return the process of a new submission."""
        ours, theirs = socket.socketpair()
        out, out_theirs = os.pipe()
        err, err_theirs = os.pipe()
        try:
            socket.send_fds(self._control, [b"fork\n"], [theirs.fileno(), out_theirs, err_theirs])
        except OSError as error:
            raise ForkServerDied("the process for students' code has ended") from error
        finally:
            theirs.close()
            os.close(out_theirs)
            os.close(err_theirs)
        self._children += 1
        return StudentProcess(self, self._children, ours, out, err)

    def fileno(self) -> int:
        """Return the descriptor on which the fork server speaks."""
        return self._control.fileno()

    def end_child(self) -> None:
        """Have the present child killed, if it is still there."""
        with contextlib.suppress(OSError):
            self._control.sendall(b"end\n")

    def hear(self, seconds: float) -> dict[str, Any]:
        """Return the next message of the fork server."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self._lines:
            self._control.settimeout(max(0.001, deadline - time.monotonic()))
            try:
                data = self._control.recv(4096)
            except OSError as error:
                raise ForkServerDied("the process for students' code does not answer") from error
            if not data:
                raise ForkServerDied("the process for students' code has ended")
            self._lines += data
        line, _, self._lines = self._lines.partition(b"\n")
        self._control.settimeout(None)
        return json.loads(line)

    def ended(self, child: int) -> dict[str, Any]:
        """Wait until a child has ended and return how; what is said of earlier ones is old."""
        while True:
            message = self.hear(30)
            if message["child"] == child:
                return message

    def has_ended(self, child: int) -> bool:
        """Say, when there is something to be heard, whether it is the end of this child."""
        self._control.settimeout(0)
        try:
            data = self._control.recv(4096, socket.MSG_PEEK)
        except OSError:
            return False
        if not data:
            raise ForkServerDied("the process for students' code has ended")
        lines = [json.loads(line) for line in data.splitlines() if line.endswith(b"}")]
        if any(line["child"] == child for line in lines):
            return True
        self.hear(1)  # of an earlier one
        return False

    def close(self) -> None:
        """End the fork server and all of its children."""
        self._control.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def available() -> dict[str, str]:
    """Return each layer with "held", or why it cannot be had here; asks a throwaway child."""
    with ForkServer(plan(Limits(), torch=False)) as server:
        child = server.fork()
        try:
            return child.layers
        finally:
            child.end()
