"""The same tasks on two Dask workers on this machine; one of them is killed in mid-run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from coursekit.errors import CourseError
from coursekit.grading.run import Options, grade_class

distributed = pytest.importorskip("distributed", reason="a cluster needs Dask (distributed)")
pytestmark = pytest.mark.usefixtures("quick_gradebook")

FAKE = str(Path(__file__).with_name("fake_engine.py"))


def start(*arguments: str, **environment: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1", **environment},
    )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Yield the address of a scheduler and its two worker processes."""
    folder = tmp_path_factory.mktemp("dask")
    file = folder / "scheduler.json"
    local = ["--host", "127.0.0.1"]
    processes = [
        start(
            "dask_scheduler", *local, "--port", "0", "--no-dashboard", "--scheduler-file", str(file)
        )
    ]
    try:
        while not file.exists():
            time.sleep(0.05)
        workers = []
        for number in range(2):
            own = ["--local-directory", str(folder / str(number)), "--no-dashboard", "--no-nanny"]
            options = ["--scheduler-file", str(file), "--nthreads", "1", *own]
            workers.append(start("dask_worker", *local, *options))
        processes += workers
        client = distributed.Client(scheduler_file=str(file), set_as_default=False)
        client.wait_for_workers(2, timeout=60)
        yield client.scheduler.address, workers
        client.close()
    finally:
        for process in processes:
            process.kill()
            process.wait()


def options(address: str) -> Options:
    return Options(cluster=address, engine=f"{FAKE}:Fake", master=f"{FAKE}:Master")


def test_a_worker_killed_in_mid_run(classroom, cluster):
    address, workers = cluster
    for number in range(40):
        answer = f"{'x * x' if number % 2 else '0'}  # sleep 0.05"
        classroom.hand_in(f"s{number:02}", classroom.answered(square=answer))
    classroom.hand_in("broken", b"{")
    done = []

    class Killer:
        def advance(self, text):
            done.append(text)
            if len(done) == 10:
                os.kill(workers[0].pid, signal.SIGKILL)

        def note(self, text):
            pass

    summary = grade_class(classroom.root, "ps1", options(address), Killer())
    assert summary.counts == {"OK": 20, "PARTIAL": 20, "MALFORMED": 1}
    assert workers[0].wait() == -signal.SIGKILL
    assert grade_class(classroom.root, "ps1", options(address)).graded == 0
    # a fault of the engine, on the worker that is left
    classroom.hand_in("dan", classroom.answered(square="0  # raise"))
    assert grade_class(classroom.root, "ps1", options(address)).internal == ["dan"]
    with pytest.raises(CourseError, match="moon"):
        moon = Options(**{**options(address).__dict__, "require": frozenset({"moon"})})
        grade_class(classroom.root, "ps1", moon)


def test_nobody_there(classroom, monkeypatch):
    monkeypatch.setattr("coursekit.grading.cluster.CONNECT_SECONDS", 0.5)
    classroom.hand_in("ada")
    with pytest.raises(CourseError, match="no Dask scheduler answers"):
        grade_class(classroom.root, "ps1", options("tcp://127.0.0.1:9"))
