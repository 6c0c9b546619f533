"""Jobs on a Dask cluster: each is executed in a process below a worker of the cluster.

The task is pure: a job in, an answer out. A worker that dies takes nothing with it: its job is done
again elsewhere, `TRIES` times at most. Once nobody wants an answer any more, its process ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

from coursekit.errors import CourseError
from coursekit.jobs.cluster import CONNECT_SECONDS, connect

TRIES = 3  # after the first


def execute(job: dict[str, Any], program: str) -> dict[str, Any]:
    """Execute one job below a worker of the cluster; return the answer of its process."""
    from distributed import get_worker

    from coursekit.jobs.hands import finished
    from coursekit.training.hardware import cores
    from coursekit.trainings.train import GRACE

    worker = get_worker()
    key = worker.get_current_task()
    threads = job.get("threads") or max(1, cores() // worker.state.nthreads)

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state == "executing"

    jobs = [{**job, "threads": threads}]
    with closing(finished(jobs, 1, program, grace=GRACE, wanted=wanted)) as answers:
        for _, answer in answers:
            return answer
    return {"ok": False, "error": "nobody waits for it any more"}


def on_cluster(
    jobs: list[dict[str, Any]], address: str, program: str
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each job with its answer, in the order in which they finish."""
    client = connect(address, CONNECT_SECONDS)
    try:
        from distributed import as_completed

        # A folder of this machine means nothing on another one.
        sent = [{**job, "folder": None, "source": None} for job in jobs]
        lost = [0] * len(jobs)
        going, which = as_completed(loop=client.loop), {}

        def send(number: int) -> None:
            future = client.submit(execute, sent[number], program, pure=False, retries=0)
            which[future.key] = number
            going.add(future)

        for number in range(len(jobs)):
            send(number)
        for future in going:
            number = which.pop(future.key)
            error = future.exception() if future.status == "error" else None
            if future.status == "finished":
                yield jobs[number], future.result()
                continue
            if client.status != "running":
                raise CourseError(f"the Dask scheduler at {address} has gone away")
            # Dask itself has tried again elsewhere, as often as its configuration says.
            lost[number] += 1 + getattr(error, "allowed_failures", 0)
            if lost[number] <= TRIES:
                send(number)
                continue
            why = f"{type(error).__name__}: {error}" if error else future.status
            why = " ".join(why.split())[:300]
            yield jobs[number], {"ok": False, "error": f"its workers were lost ({why})"}
    finally:
        client.close(timeout=2)
