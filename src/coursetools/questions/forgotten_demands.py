"""Our answer with one demand forgotten: names that the text of a question may use.

    ## "in the dtype of the scores"
    + wrong = single(entropy_bits)

What `becomes` and its kin return takes an answer and gives back a worse one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Answer = Callable[..., Any]
Heedless = Callable[[Answer], Answer]


def becomes(change: Callable[[Any], Any]) -> Heedless:
    """Change what an answer returns."""
    return lambda answer: lambda *given, **named: change(answer(*given, **named))


def each(change: Callable[[Any], Any]) -> Heedless:
    """Change each of several results."""
    return becomes(lambda results: tuple(map(change, results)))


def at(place: int, change: Callable[[Any], Any]) -> Heedless:
    """Change one of several results."""
    return becomes(
        lambda results: tuple(change(x) if n == place else x for n, x in enumerate(results))
    )


def without(place: int) -> Heedless:
    """Let no gradient reach one of the arguments."""

    def made(answer: Answer) -> Answer:
        def call(*given: Any, **named: Any) -> Any:
            detached = [x.detach() if n == place else x for n, x in enumerate(given)]
            return answer(*detached, **named)

        return call

    return made


def single(answer: Answer) -> Answer:
    """Return single precision, whatever was given."""
    return lambda *given, **named: answer(*given, **named).float()


def rough(answer: Answer) -> Answer:
    """Compute in single precision and return the dtype that is asked for."""

    def call(first: Any, *given: Any, **named: Any) -> Any:
        less = [x.float() if torch.is_tensor(x) and x.is_floating_point() else x for x in given]
        return answer(first.float(), *less, **named).to(first.dtype)

    return call


def spoils(place: int) -> Heedless:
    """Return what is right, and write into what was given at this place."""

    def made(answer: Answer) -> Answer:
        def call(*given: Any, **named: Any) -> Any:
            result = answer(*given, **named)
            _spoil(given[place])
            return result

        return call

    return made


def _spoil(given: Any) -> None:
    if torch.is_tensor(given):
        given.data.zero_()
    elif isinstance(given, dict):
        _spoil(next(iter(given.values())))
    elif given and isinstance(given[0], dict):
        _spoil(given[0])
    else:
        given.append(given[0] if given else 0)
