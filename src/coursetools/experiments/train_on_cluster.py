"""Trainings on a Dask cluster: each is executed in a process below a worker of the cluster.

The task is pure: a job in, an answer out. A worker that dies takes nothing with it: its job is done
again elsewhere, `TRIES` times at most. Once nobody wants an answer any more, its process ends.
A training gets a card of its own from workers that were started with `--resources GPU=1`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from coursekit._base.errors import CourseError
from coursetools.jobs.cluster import Cluster

TRIES = 3  # after the first


def execute(job: dict[str, Any], module: str) -> dict[str, Any]:
    """Execute one job below a worker of the cluster; return the answer of its process."""
    from distributed import get_worker

    from coursekit.training.hardware import cores
    from coursetools.experiments.train import GRACE
    from coursetools.jobs.pool import Pool

    worker = get_worker()
    key = worker.get_current_task()
    threads = job.get("threads") or max(1, cores() // worker.state.nthreads)

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state == "executing"

    try:
        with Pool(module, 1, grace=GRACE) as pool:
            for _, answer in pool.run([{**job, "threads": threads}], wanted):
                return answer
    except CourseError as error:  # this machine lacks something
        return {"ok": False, "error": str(error)}
    return {"ok": False, "error": "nobody waits for it any more"}


def on_cluster(
    jobs: list[dict[str, Any]], address: str, module: str
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each job with its answer, in the order in which they finish."""
    lost: Counter[int] = Counter()

    def arguments(job: dict[str, Any]) -> tuple:
        # A folder of this machine means nothing on another one.
        return {**job, "folder": None, "source": None}, module

    with Cluster(address, resource="GPU") as cluster:
        for job, answer in cluster.run(jobs, execute, arguments):
            lost[id(job)] += answer.get("tries", 0)
            if "tries" not in answer:
                yield job, answer
            elif lost[id(job)] <= TRIES:
                cluster.again(job)
            else:
                yield job, {"ok": False, "error": f"its workers were lost ({answer['error']})"}
