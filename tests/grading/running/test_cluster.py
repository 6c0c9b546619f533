"""The same tasks on two Dask workers on this machine; one of them is killed in mid-run."""

from __future__ import annotations

import os
import signal

import pytest
from helpers import FAKE

from coursekit._base.errors import CourseError
from coursetools.grading.running.run import Options, grade_class

pytest.importorskip("distributed", reason="a cluster needs Dask (distributed)")
pytestmark = pytest.mark.usefixtures("quick_gradebook")


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
