"""The same tasks on a Dask cluster: master, submission, limits in; a verdict out.

The driver stays the only one that writes. A worker that dies takes nothing with it: Dask hands its
tasks to another one, and what has killed several workers is `INTERNAL`. The processes of the
cluster judge and are trusted like our own; students' code runs in the engine's sandbox below them.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from coursetools.grading.records.folders import read_plain
from coursetools.grading.running.judge_job import Judges, digest
from coursetools.grading.running.tasks import Outcome, Task, outcomes
from coursetools.jobs.cluster import Cluster

_judges: dict[str, Judges] = {}
_one_at_a_time = threading.Lock()


def judge(start: str, notebook: str, data: bytes, student: str) -> dict[str, Any]:
    """Judge one submission in a process of the cluster; return what the driver is told about it."""
    with _one_at_a_time:
        if start not in _judges:
            for old in _judges.values():
                old.close()
            _judges.clear()
            _judges[start] = Judges(json.loads(start))
        verdict, _ = _judges[start].grade(notebook, data, student)
    return {"submission": digest(data), "verdict": verdict.as_json()}


def _itself(start: str) -> str:
    return start


def judged_on_cluster(
    start: dict[str, Any], tasks: Iterable[Task], address: str
) -> Iterator[Outcome]:
    """Yield one outcome for each task, in the order in which they are finished."""
    with Cluster(address) as cluster:
        # A task of its own, not scattered data: the scheduler can make it again anywhere.
        shared = cluster.client.submit(_itself, json.dumps(start), pure=False)
        most = int(start["limits"]["submission_bytes"])

        def arguments(task: Task) -> tuple:
            return shared, task.notebook, read_plain(task.path, most), task.student

        yield from outcomes(cluster, cluster.run(tasks, judge, arguments))
