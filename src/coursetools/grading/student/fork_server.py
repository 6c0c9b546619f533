"""The fork server: has torch loaded, knows nothing, and forks a child for each submission.

It is started with an empty environment, confines itself first (`sandbox.Ground`), then imports what
notebooks import, computes nothing, and waits for requests. It never sees a test, a solution, a
reference or a grade, so there is nothing of that kind in the memory that its children inherit.

    python -c "from coursetools.grading.student.fork_server import main; main(FD)"
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from coursetools.grading.sandbox import syscalls
from coursetools.grading.sandbox.confine import Ground
from coursetools.grading.sandbox.sandbox_plan import Plan

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
LOOK = 0.1  # seconds between two looks at how much memory is used
CONNECTION = 3  # the descriptor on which a child is asked


def main(descriptor: int) -> None:
    """Serve the grader on the other side of `descriptor` until it closes."""
    with socket.socket(fileno=descriptor) as control:
        lines = control.makefile("r", encoding="utf-8")
        plan = Plan.from_json(json.loads(lines.readline()))
        sys.path[:] = plan.path
        probe = Path(__file__).parents[3].joinpath("coursekit", "check", "probe.py").read_text()
        ground = Ground(plan)  # from here on the folder of `check` is out of sight
        try:
            gc.disable()  # imports leave nothing to collect: a sixth of their time
            student = _load(plan, probe) if plan.torch else None
            gc.collect()
            syscalls.fold_pages()
            gc.freeze()  # children write to fewer of the pages that they share with us
            gc.enable()
            _say(control, {"ready": True})
            _serve(control, ground, student)
        finally:
            ground.leave()


def _load(plan: Plan, probe: str) -> Any:
    """Import what notebooks use, on one thread; return what answers in a child."""
    os.environ.update(dict.fromkeys(THREADS, "1"))  # before torch: it looks only once
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot
    import numpy
    import torch
    import torch.nn.functional
    import torch.testing
    from IPython.core.inputtransformer2 import TransformerManager  # noqa: F401

    torch.set_num_threads(1)
    with contextlib.suppress(RuntimeError):
        torch.set_num_interop_threads(1)
    for name in THREADS:
        del os.environ[name]
    from coursetools.grading.student.serve import Student, make_probe

    del matplotlib, numpy
    student = Student(plan.limits, make_probe(probe), plan.watched, plan.modules)
    student.rehearse(plan.cells)
    return student


def _serve(control: socket.socket, ground: Ground, student: Any) -> None:
    count = 0
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 4096, 3)
        if not message:
            return
        if len(descriptors) != 3:
            continue  # "end" for a child that had ended already
        count += 1
        child = ground.fork()
        if child == 0:
            _be_a_student(descriptors, ground, student)
        for descriptor in descriptors:
            os.close(descriptor)
        closed, greedy = _wait(control, child, ground)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        _, status, used = os.wait4(child, 0)
        ground.clean(child)
        if closed:
            return
        unit = 1 if sys.platform == "darwin" else 1024
        _say(
            control,
            {"child": count, "exit": status, "peak": used.ru_maxrss * unit, "greedy": greedy},
        )


def _wait(control: socket.socket, child: int, ground: Ground) -> tuple[bool, bool]:
    """Wait until the child ends, takes too much, or the grader wants an end.

    Return whether the grader has gone, and whether it was the memory.
    """
    try:
        ended = os.pidfd_open(child)
    except (AttributeError, OSError):
        return _wait_by_asking(control, child), False
    watched: list[socket.socket | int] = [control, ended]
    try:
        while True:
            ready, _, _ = select.select(watched, [], [], LOOK)
            if ready:
                return control in ready and not control.recv(4096), False
            if ground.greedy():
                return False, True
    finally:
        os.close(ended)


def _wait_by_asking(control: socket.socket, child: int) -> bool:
    """Do the same on systems whose processes cannot be waited for by descriptor."""
    while True:
        ready, _, _ = select.select([control], [], [], 0.01)
        if ready:
            return not control.recv(4096)
        info = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if info is not None:
            return False


def _be_a_student(descriptors: list[int], ground: Ground, student: Any) -> None:
    """Become a submission's process: rearrange the descriptors, be confined, serve. No return."""
    try:
        connection, out, err = (os.dup(descriptor) for descriptor in descriptors)
        high = max(connection, out, err, CONNECTION) + 1
        connection = _move(connection, high)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        report = ground.confine()
        os.dup2(connection, CONNECTION)
        os.closerange(CONNECTION + 1, 1024)
        channel = socket.socket(fileno=CONNECTION)
        channel.settimeout(None)
        _say(channel, {"layers": report})
        if student is None:
            time.sleep(600)
            os._exit(0)
        _attach_streams()
        student.serve(channel)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(70)


def _attach_streams() -> None:
    """Give Python's streams the pipes that are now this process's standard output and error."""
    for number, name in ((1, "stdout"), (2, "stderr")):
        stream = open(  # noqa: SIM115 - lives as long as the process
            number,
            "w",
            buffering=1,
            encoding="utf-8",
            errors="backslashreplace",
            closefd=False,
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    for name in ("stdin", "__stdin__"):
        setattr(sys, name, stdin)


def _move(descriptor: int, to: int) -> int:
    os.dup2(descriptor, to)
    os.close(descriptor)
    return to


def _say(channel: socket.socket, message: dict[str, Any]) -> None:
    channel.sendall(json.dumps(message).encode() + b"\n")
