"""The door to the Hugging Face hub: the only file of `coursekit.data` that uses the network."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from coursekit._base.errors import CourseError


def rows(repository: str, split: str, revision: str) -> Iterable[dict[str, Any]]:
    """Return the rows of one split of a data set on the hub, at a fixed revision."""
    try:
        from datasets import load_dataset
    except ImportError as error:
        raise CourseError(
            'source="full" needs the package datasets; install it with `pip install datasets`'
        ) from error
    try:
        return load_dataset(repository, split=split, revision=revision)
    except Exception as error:  # connection, server, proxy, disk: each library has its own
        reason = " ".join(str(error).split())[:120] or "no reason given"
        raise CourseError(
            f"{repository} did not come from the hub ({type(error).__name__}: {reason}); with a "
            f"network, run `hf download --repo-type dataset {repository} --revision {revision}`, "
            'and without one leave out source="full"'
        ) from error
