"""Answers that look at nothing: zeros, ones, the input itself, its mean.

Of the right form each time, since they ask the reference for it. A case that one of them passes
says little about an answer: such cases alone earn nothing. They are wrong answers as others are,
but for their number: every question has the same.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from coursetools.questions.question import Misconception

Fill = Callable[[Any, tuple[Any, ...]], Any]  # what the reference returns, the arguments -> instead
Wrap = Callable[
    [Callable[..., Any], bool], Callable[..., Any]
]  # a function, is it a method? -> one


def idle(reference: Any) -> tuple[Misconception, ...]:
    """Return the idle answers, of the same kind as the reference."""
    fills: dict[str, Fill] = {
        "zeros": lambda value, _: _all(value, 0),
        "ones": lambda value, _: _all(value, 1),
        "the input": _input,
        "its mean": _mean,
    }
    return tuple(
        Misconception(f"an answer that looks at nothing ({name})", _filled(reference, fill))
        for name, fill in fills.items()
    )


def instead(reference: Any, wrap: Wrap) -> Any:
    """Return an answer of the same kind as the reference whose functions `wrap` has made."""
    if not inspect.isclass(reference):
        return wrap(reference, False)
    common = set(dir(nn.Module)) - {"forward"}
    methods = {
        name: wrap(getattr(reference, name), True)
        for name in dir(reference)
        if not name.startswith("_") and inspect.isfunction(getattr(reference, name))
        if name not in common
    }
    return type(reference.__name__, (reference,), methods)


def _filled(reference: Any, fill: Fill) -> Any:
    return instead(reference, lambda function, method: _wrapped(function, fill, method))


def _wrapped(function: Callable[..., Any], fill: Fill, method: bool) -> Callable[..., Any]:
    def answer(*arguments: Any, **named: Any) -> Any:
        given = arguments[method:]
        try:
            value = function(*arguments, **named)
        except Exception:  # who looks at nothing objects to nothing
            return given[0] if given else None
        return fill(value, given)

    return answer


def _all(value: Any, number: int) -> Any:
    if isinstance(value, Tensor):
        return torch.full_like(value, number).detach()
    if isinstance(value, (bool, int, float)):
        return type(value)(number)
    if isinstance(value, str):
        return ""
    if isinstance(value, dict):
        return {key: _all(item, number) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_all(item, number) for item in value)
    return value


def _input(value: Any, given: tuple[Any, ...]) -> Any:
    return given[0] if given else value


def _mean(value: Any, given: tuple[Any, ...]) -> Any:
    first = next((x for x in given if isinstance(x, Tensor) and x.is_floating_point()), None)
    if first is None or not isinstance(value, Tensor):
        return _all(value, 0)
    return torch.zeros_like(value) + first.mean().to(value.dtype)
