"""What came out of a case: the value that it returned, or the error that it raised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from coursekit.check.compare import Difference, same
from coursekit.check.determinism import copied, same_chance


@dataclass(frozen=True)
class Outcome:
    """The value that a case returned, or the error that it raised; never changed later.

    `alike` remembers for whoever was asked about whether it is what they answer to the same case.
    """

    value: Any = None
    error: BaseException | None = None
    alike: dict[str, bool] = field(default_factory=dict, compare=False, repr=False)


def observe(run: Callable[[Any], Any], student: Any) -> Outcome:
    """Run a case; an error of the answer, or an assertion of the case, is an outcome as well."""
    with same_chance():
        try:
            return Outcome(value=copied(run(student)))
        except Exception as error:
            return Outcome(error=error)


def differ(actual: Outcome, expected: Outcome, tolerance: float) -> Difference | None:
    """Return how two outcomes differ; two errors are the same if they are of the same type."""
    if actual.error is not None or expected.error is not None:
        names = [type(outcome.error).__name__ for outcome in (actual, expected)]
        if names[0] == names[1]:
            return None
        return Difference(f"raised {names[0]}" if actual.error is not None else "raised nothing")
    return same(actual.value, expected.value, tolerance)
