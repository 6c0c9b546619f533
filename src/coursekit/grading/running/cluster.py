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

from coursekit.errors import CourseError
from coursekit.grading.folders import read_plain
from coursekit.grading.running.pool import Outcome, Task, internal
from coursekit.grading.running.worker import Judges, digest
from coursekit.grading.verdict import Verdict
from coursekit.jobs.cluster import CONNECT_SECONDS, connect

_judges: dict[str, Judges] = {}
_one_at_a_time = threading.Lock()


def judge(start: str, notebook: str, data: bytes) -> str:
    """Judge one submission in a process of the cluster; return the verdict as JSON."""
    with _one_at_a_time:
        if start not in _judges:
            for old in _judges.values():
                old.close()
            _judges.clear()
            _judges[start] = Judges(json.loads(start))
        return json.dumps(_judges[start].grade(notebook, data)[0].as_json())


def _itself(start: str) -> str:
    return start


class Cluster:
    """Runs tasks on the Dask scheduler at `address`; has the form of `pool.Pool`."""

    def __init__(self, start: dict[str, Any], address: str) -> None:
        self.start, self.most = json.dumps(start), int(start["limits"]["submission_bytes"])
        self.client = connect(address, CONNECT_SECONDS)

    def run(self, tasks: Iterable[Task]) -> Iterator[Outcome]:
        """Yield one outcome for each task, in the order in which they are finished."""
        from distributed import as_completed

        try:
            # A task of its own, not scattered data: the scheduler can make it again anywhere.
            start = self.client.submit(_itself, self.start, pure=False)
            source, going = iter(tasks), as_completed(loop=self.client.loop)
            open_tasks: dict[str, tuple[Task, bytes]] = {}

            def send(task: Task, data: bytes) -> None:
                future = self.client.submit(
                    judge, start, task.notebook, data, pure=False, retries=0
                )
                open_tasks[future.key] = (task, data)
                going.add(future)

            def fill() -> None:
                room = 4 * max(1, sum(self.client.nthreads().values())) - len(open_tasks)
                for task in (next(source, None) for _ in range(max(0, room))):
                    if task is None:
                        return
                    try:
                        send(task, read_plain(task.path, self.most))
                    except OSError as error:
                        unread.append(Outcome(task, "", internal([str(error)])))

            unread: list[Outcome] = []
            fill()
            for future in going:
                task, data = open_tasks.pop(future.key)
                verdict, why = self._result(future)
                del future
                if verdict is None or (verdict.status == "INTERNAL" and task.tries == 0):
                    task.tries += 1
                    task.lost.append(why or (verdict.reason if verdict else ""))
                    if task.tries < 2:
                        send(task, data)
                    else:
                        yield Outcome(task, digest(data), internal(task.lost))
                else:
                    yield Outcome(task, digest(data), verdict)
                fill()
                yield from unread
                unread.clear()
            yield from unread
        finally:
            self.client.close(timeout=2)

    def _result(self, future: Any) -> tuple[Verdict | None, str]:
        error = future.exception()
        if error is None:
            return Verdict.from_json(json.loads(future.result())), ""
        if isinstance(error, CourseError):
            raise error
        return None, f"{type(error).__name__}: {' '.join(str(error).split())}"[:500]
