"""The same tasks on two Dask workers on this machine; one of them is killed in mid-run."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import FAKE

from coursekit._base.errors import CourseError
from coursetools.grading.running.grade_class import Options, grade_class

pytest.importorskip("distributed", reason="a cluster needs Dask (distributed)")
pytestmark = pytest.mark.usefixtures("quick_gradebook")

ROOT = Path(__file__).resolve().parents[3]


def options(address: str) -> Options:
    return Options(cluster=address, **FAKE)


def test_a_worker_killed_in_mid_run(classroom, dask):
    address, workers = dask
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

    summary = grade_class(classroom.course, "ps1", options(address), Killer())
    assert summary.counts == {"OK": 20, "PARTIAL": 20, "MALFORMED": 1}
    assert workers[0].wait() == -signal.SIGKILL
    assert grade_class(classroom.course, "ps1", options(address)).graded == 0
    # a fault of the engine, on the worker that is left
    classroom.hand_in("dan", classroom.answered(square="0  # raise"))
    assert grade_class(classroom.course, "ps1", options(address)).internal == ["dan"]
    with pytest.raises(CourseError, match="moon"):
        moon = Options(**{**options(address).__dict__, "require": frozenset({"moon"})})
        grade_class(classroom.course, "ps1", moon)


def test_nobody_there(classroom, monkeypatch):
    monkeypatch.setattr("coursetools.jobs.cluster.CONNECT_SECONDS", 0.5)
    classroom.hand_in("ada")
    with pytest.raises(CourseError, match="no Dask scheduler answers"):
        grade_class(classroom.course, "ps1", options("tcp://127.0.0.1:9"))


@pytest.mark.skipif(sys.platform == "win32", reason="a script of a shell")
def test_the_job_in_the_guide(classroom, tmp_path):
    """It runs as it stands there, but for a free port, and with programs that stand for Slurm's."""
    page = (ROOT / "book" / "grading.md").read_text(encoding="utf-8")
    (job,) = re.findall(r"^```bash\n(#!.*?#SBATCH.*?)^```", page, flags=re.M | re.S)
    with socket.create_server(("127.0.0.1", 0)) as free:
        job = job.replace("8786", str(free.getsockname()[1]))
    programs = {
        "hostname": "echo 127.0.0.1 10.0.0.1",
        "srun": '"$@" --host 127.0.0.1 & "$@" --host 127.0.0.1 & wait',
        "dask": f'exec {sys.executable} -m distributed.cli.dask_"$@"',
        "coursekit": f'exec {sys.executable} -m coursetools.cli "$@"',
    }
    for name, code in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{code}\n")
        (tmp_path / name).chmod(0o755)
    classroom.hand_in("ada")
    classroom.hand_in("ben", classroom.answered(square="0"))
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    done = subprocess.Popen(
        ["bash", "-s", "ps1"], cwd=classroom.root, env={**os.environ, "PATH": path}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        done.stdin.write(job)
        done.stdin.close()
        assert done.wait(timeout=300) == 0
    finally:  # Slurm ends what a job has left running
        os.killpg(done.pid, signal.SIGKILL)
    assert "2 graded" in done.stdout.read()
