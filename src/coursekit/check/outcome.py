"""What came out of a case: the value that it returned, or the error that it raised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from coursekit.check.advice import NO_GRADIENT
from coursekit.check.compare import TENSORS, Difference, same
from coursekit.check.determinism import copied, same_chance
from coursekit.check.probe import asks_for_gradients

COUNTED = ("first", "second", "third", "fourth", "fifth", "sixth")


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


def explained(difference: Difference | None, run: Callable[[Any], Any]) -> Difference | None:
    """Return a difference, and of a missing gradient that it is one.

    `gradients` gives the output, then the gradients at the floating-point inputs, then those at
    parameters by name, with None where the output does not depend on one.
    """
    if difference is None or difference.actual is not None or len(difference.place) < 2:
        return difference
    part, which = difference.place[-2:]
    if type(difference.expected) not in TENSORS or not asks_for_gradients(run):
        return difference
    if part == 2:
        sentence = f"{NO_GRADIENT} the parameter {which}"
    elif isinstance(which, int) and which < len(COUNTED):
        sentence = f"{NO_GRADIENT} the {COUNTED[which]} floating-point input"
    else:
        sentence = f"{NO_GRADIENT} one of the inputs"
    return Difference(f"{sentence}: the output should depend on it")
