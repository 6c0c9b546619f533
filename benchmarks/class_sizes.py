"""Large classes: each assignment of ours, and a class of 100,000 on a cluster that changes.

    python benchmarks/class_sizes.py --each 1000            all twenty, each in turn
    python benchmarks/class_sizes.py --each 10000 --only a01,a19
    python benchmarks/class_sizes.py --cluster 100000

`--each` grades that many invented submissions of an assignment, right ones and every known mistake,
with two workers. `--cluster` shows what a large class asks of everything but the judging: a Dask
scheduler, four workers of which one is killed every half minute and another one begins, the driver,
the verdicts' files and the gradebook. A stand-in for the engine answers at once there, since two
cores would judge such a class for an hour and a half. Every student must be graded exactly once.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from grading import NAME, ROOT, Ours, own_class, points
from harness import RESULTS, arguments, resident, write

from coursekit._base.errors import CourseError
from coursetools.course import Course
from coursetools.grading.running.grade_class import Options, grade_class

STAND_IN = f"{Path(__file__).parent / 'stand_in.py'}:StandIn"
WORKERS, CHANGES_EVERY = 4, 30.0  # workers of the cluster; seconds until one of them is killed


def each(students: int, only: list[str], folder: Path) -> Iterator[dict]:
    """Grade a class of every assignment, one after the other, and yield their rows."""
    for name in Course(ROOT).assignments:
        if only and not any(name.startswith(one) for one in only):
            continue
        course = own_class(folder / name, students, name, hostile=False)
        handed_in = len(list((course / "autograder" / "submitted").glob("*/*/*.ipynb")))
        start = time.perf_counter()
        summary = grade_class(Course(course), name, Options(workers=2))
        seconds = time.perf_counter() - start
        if summary.exit_code or summary.graded != handed_in:
            raise CourseError(f"{name}: {summary.counts} of {handed_in}")
        yield row(f"{students:,} of {name}", seconds, handed_in)


class Changing:
    """A scheduler and workers on this machine, of which one goes and one comes all the time."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        port = self.address.rpartition(":")[2]
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", port)
        self.workers = [self._worker() for _ in range(WORKERS)]
        self.killed, self.over = 0, threading.Event()
        self.changing = threading.Thread(target=self._change, daemon=True)

    def _start(self, *words: str) -> subprocess.Popen:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        environment = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "20"}
        command = [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]]
        return subprocess.Popen([*command, "--no-dashboard"], env=environment, **quiet)

    def _worker(self) -> subprocess.Popen:
        return self._start("worker", self.address, "--nthreads", "1", "--no-nanny")

    def _change(self) -> None:
        dice = random.Random(0)
        while not self.over.wait(CHANGES_EVERY):
            worker = self.workers.pop(dice.randrange(len(self.workers)))
            worker.send_signal(signal.SIGKILL)
            worker.wait()
            self.killed += 1
            self.workers.append(self._worker())

    def __enter__(self) -> Changing:
        self.changing.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.changing.join()
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


def on_cluster(students: int, folder: Path) -> dict:
    """Grade a class with the stand-in on a changing cluster, and return its row."""
    course = Ours(folder)
    for number in range(students):
        course.hand_in(number)
    with Changing() as cluster:
        start = time.perf_counter()
        how = Options(cluster=cluster.address, engine=STAND_IN)
        summary = grade_class(Course(folder), NAME, how)
        seconds = time.perf_counter() - start
        killed = cluster.killed
    graded = points(folder)
    if summary.counts != {"OK": students} or len(graded) != students:
        raise CourseError(f"{summary.counts} of {students}, {len(graded)} in the gradebook")
    again = grade_class(Course(folder), NAME, Options(engine=STAND_IN))
    if again.graded:
        raise CourseError(f"{again.graded} were graded a second time")
    name = f"{students:,} on a cluster, a stand-in for the judging, {killed} workers killed"
    return row(name, seconds, students, peak=round(resident("VmHWM") / 1e6, 1))


def row(contest: str, seconds: float, students: int, peak: float | None = None) -> dict:
    """Return and print what one class took."""
    each_ms = round(1e3 * seconds / students, 1)
    print(f"{contest:72} {seconds:8.0f} s {each_ms:8.1f} ms each {peak or ''}", flush=True)
    about = {"contest": contest, "name": "ours", "milliseconds": each_ms, "seconds": round(seconds)}
    return {**about, "times_ours": 1.0, "peak_MB": peak}


def main() -> None:
    """Run what the options say."""
    number = {"type": int, "default": 0}
    args = arguments("class_sizes", each=number, cluster=number)
    with tempfile.TemporaryDirectory() as temporary, contextlib.suppress(KeyboardInterrupt):
        place, made = Path(temporary), []
        if args.smoke:
            list(each(3, ["a01"], place / "each"))
            on_cluster(30, place / "cluster")
            return
        if args.cluster:
            made.append(on_cluster(args.cluster, place / "cluster"))
        if args.each:
            only = [name for name in args.only.split(",") if name]
            for one in each(args.each, only, place / "each"):
                made.append(one)
    before = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    measured = {one["contest"] for one in made}
    kept = before.get("class_sizes", {}).get("rows", [])
    made += [one for one in kept if one["contest"] not in measured]
    args.rounds = 1
    write("class_sizes", "milliseconds a submission, two cores", made, args)


if __name__ == "__main__":
    main()
