"""Counting and ending the processes of a submission, by what /proc says."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path


def memory_of(rollup: Path) -> int:
    """Return what a process has of memory, what it shares with others counted in parts."""
    with contextlib.suppress(OSError, ValueError, IndexError, StopIteration):
        lines = rollup.read_text().splitlines()
        return int(next(line for line in lines if line.startswith("Pss_Anon:")).split()[1]) << 10
    return 0


def threads_of(uid: int) -> int:
    """Count the threads that `uid` has already, which the limit counts too; 0 for a uid of its own.

    In a PID namespace only our own are seen, and only our own are counted.
    """
    if uid != os.geteuid():
        return 0
    count = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines())
            if int(fields["Uid"].split()[0]) == uid:
                count += int(fields["Threads"])
    return count


def kill_all_of(uid: int) -> None:
    """Kill every process of a uid, from a process of that uid.

    The kernel reaches all of them at once, and none forks with such a signal before it; twice, in
    case one was just being born.
    """
    for _ in range(2):
        child = os.fork()
        if child == 0:
            try:
                os.setresuid(uid, uid, uid)
                os.kill(-1, signal.SIGKILL)  # all that this uid may signal, but not itself
            finally:
                os._exit(0)
        os.waitpid(child, 0)


def kill_descendants() -> None:
    """Kill whatever has this process as its parent: what a child left comes to us."""
    for _ in range(100):
        _reap()
        children = _children()
        if not children:
            return
        for child in children:
            with contextlib.suppress(ProcessLookupError, PermissionError, ChildProcessError):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)  # where others have the processors it dies later


def _children() -> list[int]:
    own, children = os.getpid(), []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            if int(entry.read_text().rpartition(")")[2].split()[1]) == own:
                children.append(int(entry.parent.name))
    return children


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
