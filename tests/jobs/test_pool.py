"""Each job gets one answer, whatever becomes of its worker, and no worker outlives its driver."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time

import pytest

from coursekit._base.errors import CourseError
from coursetools.jobs.pool import Pool

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
TOY = """
import os, signal, sys, time
from pathlib import Path
from coursekit._base.errors import CourseError


def work(start, jobs):
    if start == "refuse":
        raise CourseError("the moon is missing")
    if start == "fall":
        raise RuntimeError("no way")
    print("a library says hello")
    if isinstance(start, Path):
        (start / f"ready-{os.getpid()}").touch()
    yield "ready"
    try:
        for job in jobs:
            yield do(start, job)
    finally:
        if isinstance(start, Path):
            (start / f"ended-{os.getpid()}").touch()


def do(start, job):
    order, value = job
    if order == "die" and not Path(value).exists():
        Path(value).touch()
        print("farewell", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if order == "sleep":
        if isinstance(start, Path):
            (start / f"begun-{value}").touch()
        time.sleep(value)
    if order == "where":
        return [os.getpid(), os.environ["OMP_NUM_THREADS"]]
    return [start if order == "start" else None, value]
"""


@pytest.fixture(autouse=True)
def toy(tmp_path, monkeypatch):
    """Write a module whose function `work` does as it is told."""
    (tmp_path / "toy_work.py").write_text(TOY)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def answers(jobs, workers=1, **options):
    with Pool("toy_work", workers, **options) as pool:
        return list(pool.run(jobs))


def test_each_job_has_its_answer_in_the_order_in_which_they_finish():
    jobs = [("sleep", 2.0), ("start", 1), ("start", 2)]
    found = answers(jobs, 2, start={"x": 1})
    assert found == [
        (jobs[1], [{"x": 1}, 1]),
        (jobs[2], [{"x": 1}, 2]),
        (jobs[0], [None, 2.0]),
    ]
    assert found[2][0] is jobs[0]
    assert answers([], 2) == []


def test_workers_are_as_many_as_needed_with_one_thread_each(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    found = answers([("where", 0)] * 5, 1)
    assert len({pid for _, (pid, _) in found}) == 1 and found[0][1][0] != os.getpid()
    assert found[0][1][1] == "1"
    with Pool("toy_work", 4) as pool:
        next(pool.run([("where", 0)]))
        assert len(pool.workers) == 1


def test_nothing_is_too_large_to_be_sent_or_answered():
    """Neither side waits for the other to make room in a pipe."""
    large = "x" * 1_000_000
    found = answers([("start", large)] * 6, 2, start=large, ahead=2)
    assert [answer for _, answer in found] == [[large, large]] * 6


@POSIX
@pytest.mark.parametrize("ahead", [1, 2])
def test_a_job_that_kills_its_worker_says_so_and_costs_no_other(tmp_path, ahead):
    jobs = [("start", 1), ("die", str(tmp_path / "died")), ("start", 2), ("start", 3)]
    found = dict(answers(jobs, ahead=ahead))
    assert found[jobs[1]] == {
        "ok": False,
        "error": "its worker process ended with code -9, after it wrote: farewell",
    }
    assert [found[job] for job in jobs if job != jobs[1]] == [[None, 1], [None, 2], [None, 3]]


@POSIX
def test_a_job_may_be_done_again(tmp_path):
    job = ("die", str(tmp_path / "died"))
    found = []
    with Pool("toy_work", 2) as pool:
        for what, answer in pool.run([job, ("start", 1)]):
            found.append(answer)
            if "error" in answer:
                pool.again(what)
    assert len(found) == 3 and [None, job[1]] in found


@POSIX
def test_a_job_that_takes_too_long_is_ended_and_costs_no_other(processes):
    jobs = [("sleep", 600), ("start", 1)]
    before = set(processes.below(os.getpid()))  # another test's: a browser, a fork server
    with Pool("toy_work", 1, seconds=1.0, ahead=2) as pool:
        found = pool.run(jobs)
        late, answer = next(found)
        assert set(processes.below(os.getpid())) <= before
        assert late == jobs[0]
        assert answer["error"] == "its worker process did not answer within 1 s"
        assert list(found) == [(jobs[1], [None, 1])]


def test_whoever_answered_in_time_is_heard_however_slow_the_driver_is():
    jobs = [("start", number) for number in range(4)]
    with Pool("toy_work", 2, seconds=1.0, ahead=2) as pool:
        for _, answer in pool.run(jobs):
            assert "error" not in answer
            time.sleep(1.5)


@pytest.mark.parametrize(
    ("module", "start", "said"),
    [
        ("toy_work", "refuse", "^the moon is missing$"),
        ("toy_work", "fall", r"do not start .* code 1, after it wrote: RuntimeError: no way"),
        ("no_such_work", None, "do not start .*No module named 'no_such_work'.*coursekit doctor"),
    ],
)
def test_what_cannot_begin_is_one_sentence(module, start, said):
    with Pool(module, 2, start=start) as pool, pytest.raises(CourseError, match=said) as caught:
        list(pool.run([("start", 1)]))
    assert "\n" not in str(caught.value)


def test_a_machine_that_starts_no_process_is_one_sentence(monkeypatch):
    def refuse(*_, **options):
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("coursetools.jobs.pool.subprocess.Popen", refuse)
    with pytest.raises(CourseError, match=r"can be started \(Resource temporarily unavailable\)"):
        answers([("start", 1)])


def test_what_is_not_wanted_any_more_ends():
    until = time.monotonic() + 3
    with Pool("toy_work", 1) as pool:
        assert list(pool.run([("sleep", 600)], lambda: time.monotonic() < until)) == []
    assert pool.workers == []


@POSIX
@pytest.mark.parametrize("how", ["killed", "interrupted"])
def test_workers_end_with_their_driver_and_clear_up(tmp_path, processes, how):
    """Those that are at work, and those that wait for some."""
    driver = os.fork()
    if driver == 0:
        gc.callbacks.clear()  # hypothesis has one, and what is raised in it is not passed on
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            answers([("sleep", 1), ("sleep", 600)], 2, start=tmp_path)
        finally:
            os._exit(0)
    processes.wait_for((tmp_path / "begun-600").exists, "the second job")
    processes.wait_for(lambda: len(list(tmp_path.glob("ready-*"))) == 2, "the second worker")
    below = processes.below(driver)
    os.kill(driver, signal.SIGKILL if how == "killed" else signal.SIGINT)
    os.waitpid(driver, 0)
    if how == "killed":
        processes.wait_for(lambda: not processes.living(below), "the end of the workers")
    assert len(below) == 2 and processes.living(below) == []
    assert len(list(tmp_path.glob("ended-*"))) == 2
