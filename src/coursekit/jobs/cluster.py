"""A Dask cluster: how one is reached, and what it needs."""

from __future__ import annotations

from typing import Any

from coursekit.errors import CourseError

CONNECT_SECONDS = 15.0
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
