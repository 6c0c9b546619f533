"""A Dask cluster: how one is reached, what it needs, and jobs that are done on it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, Self

from coursekit._base.errors import CourseError

CONNECT_SECONDS = 15.0
AHEAD = 4  # jobs for each thread of the cluster
NEEDS = 'a cluster needs Dask: pip install "coursekit[cluster]" here and on every machine of it'


def connect(address: str, seconds: float) -> Any:
    """Return a client of the scheduler at `address`."""
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise CourseError(NEEDS) from error
    try:
        return Client(address, timeout=seconds, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise CourseError(f"no Dask scheduler answers at {address}") from error


class Cluster:
    """Does jobs on the Dask scheduler at `address`; has the form of `Pool`.

    With a `resource`, such as GPU, and workers that offer it, a job takes one of it.
    """

    def __init__(self, address: str, resource: str = "") -> None:
        self.address, self.client = address, connect(address, CONNECT_SECONDS)
        self.waiting: deque[Any] = deque()
        self.resource = resource

    def _needs(self) -> dict[str, int] | None:
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        offered = any(worker["resources"].get(self.resource) for worker in workers)
        return {self.resource: 1} if offered else None

    def run(
        self, jobs: Iterable[Any], work: Callable[..., Any], arguments: Callable[[Any], tuple]
    ) -> Iterator[tuple[Any, Any]]:
        """Yield each job with what `work(*arguments(job))` returns, in the order of their ends.

        A job that raises, or kills those who do it, has the answer `{"error": …, "tries": …}`.
        """
        from distributed import as_completed

        self.waiting.extend(jobs)
        going = as_completed(loop=self.client.loop)
        doing: dict[str, object] = {}
        needs = self._needs()
        while self.waiting or doing:
            most = AHEAD * max(1, sum(self.client.nthreads().values()))
            while self.waiting and len(doing) < most:
                job = self.waiting.popleft()
                try:
                    given = arguments(job)
                except OSError as unreadable:
                    yield job, _failed(unreadable)
                    continue
                future = self.client.submit(work, *given, pure=False, retries=0, resources=needs)
                doing[future.key] = job
                going.add(future)
            if not doing:
                continue
            batch = {future.key: future for future in going.next_batch()}
            answers = self.client.gather(batch, errors="skip")  # one call for all of them
            for key, future in batch.items():
                job = doing.pop(key)
                if future.status == "finished":
                    yield job, answers[key]
                    continue
                if self.client.status != "running":
                    raise CourseError(f"the Dask scheduler at {self.address} has gone away")
                error = future.exception() if future.status == "error" else None
                if isinstance(error, CourseError):
                    raise error
                yield job, _failed(error or RuntimeError(future.status))

    def again(self, job: Any) -> None:
        """Let `run` do a job once more, after all that wait."""
        self.waiting.append(job)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(TimeoutError):  # of a scheduler that is busy, or gone; the answers are here
            self.client.close(timeout=2)


def _failed(error: BaseException) -> dict[str, Any]:
    """Return an answer; Dask has tried again elsewhere, as often as its configuration says."""
    reason = f"{type(error).__name__}: {' '.join(str(error).split())}"[:500]
    return {"error": reason, "tries": 1 + getattr(error, "allowed_failures", 0)}
