"""What cases use to look at an answer: random inputs that are always the same, and gradients.

`gradients` and `after` take whatever can be called: a function in this process, a module, or the
proxy of an answer in another process, which has methods of the same meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np
import numpy.random  # here, so that no case waits for it
import torch
from torch import Tensor, nn


class Chance:
    """Random numbers that `seed` alone decides: the same on every machine, whatever torch it has.

    They are those of numpy's `RandomState`, whose numbers are promised to stay as they are. The
    methods are called as torch's functions.
    """

    def __init__(self, seed: int) -> None:
        self._draws = np.random.RandomState(seed)

    def rand(self, *shape: Any, dtype: torch.dtype = torch.float32) -> Tensor:
        """Return numbers between 0 and 1."""
        return torch.tensor(self._draws.random_sample(_shape(shape)), dtype=dtype)

    def randn(self, *shape: Any, dtype: torch.dtype = torch.float32) -> Tensor:
        """Return normal numbers, rounded to `dtype`."""
        return torch.tensor(self._draws.standard_normal(_shape(shape)), dtype=dtype)

    def randint(self, *bounds_and_shape: Any) -> Tensor:
        """Return whole numbers below `high`: of `(high, shape)` or `(low, high, shape)`."""
        low, high, shape = bounds_and_shape if len(bounds_and_shape) > 2 else (0, *bounds_and_shape)
        numbers = self._draws.randint(low, high, shape, dtype=np.int64)
        return torch.tensor(numbers)

    def randperm(self, n: int) -> Tensor:
        """Return the whole numbers below `n` in some order."""
        return torch.tensor(self._draws.permutation(n).astype(np.int64))


def randn(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return normal random numbers that depend on `seed` alone, rounded to `dtype`."""
    return Chance(seed).randn(*shape, dtype=dtype)


def _shape(given: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(given[0]) if len(given) == 1 and not isinstance(given[0], int) else given


def gradients(answer: Callable[..., Any], *arguments: Any) -> tuple[Any, list[Tensor | None]]:
    """Call `answer` and return its output and the gradient at each floating-point argument.

    The gradient is that of a weighted sum of the output, so that rows which always sum to one have
    a gradient too; None stands for an argument that the output does not depend on. An answer that
    changes such an argument in place fails here, as it would in training.
    """
    elsewhere = _method(answer, "_gradients")
    if elsewhere is not None:
        output, grads = elsewhere(*arguments)
        return output, list(grads)
    output, leaves, grads = _backward(answer, arguments, [])
    return output, grads[: len(leaves)]


def module_gradients(
    module: Any, *arguments: Any
) -> tuple[Any, list[Tensor | None], dict[str, Tensor | None]]:
    """Return what `gradients` returns, and the gradient at each parameter of `module` by name."""
    elsewhere = _method(module, "_module_gradients")
    if elsewhere is not None:
        output, grads, named = elsewhere(*arguments)
        return output, list(grads), dict(named)
    names, parameters = zip(*module.named_parameters()) if _has_parameters(module) else ((), ())
    output, leaves, grads = _backward(module, arguments, parameters)
    return output, grads[: len(leaves)], dict(zip(names, grads[len(leaves) :]))


def after(answer: Callable[..., Any], *arguments: Any) -> tuple[Any, list[Any]]:
    """Call `answer` and return its output and the arguments as they are after the call."""
    elsewhere = _method(answer, "_after")
    if elsewhere is not None:
        output, arguments_after = elsewhere(*arguments)
        return output, list(arguments_after)
    copies = [value.clone() if isinstance(value, Tensor) else value for value in arguments]
    return answer(*copies), copies


def asks_for_gradients(run: Callable[..., Any]) -> bool:
    """Return whether a case calls `gradients` or `module_gradients`, itself or by a helper."""
    waiting, looked_at = [run], set()
    while waiting:
        function = waiting.pop()
        if function in (gradients, module_gradients):
            return True
        if not isinstance(function, FunctionType) or function in looked_at:
            continue
        looked_at.add(function)
        names = function.__globals__
        if names is not globals():
            waiting += [names[name] for name in function.__code__.co_names if name in names]
    return False


def weigh(output: Any) -> Tensor:
    """Return one number that depends on every floating-point tensor in `output`, differently."""
    tensors = [value for value in _flat(output) if value.is_floating_point()]
    total = torch.zeros((), dtype=torch.float64)
    for tensor in tensors:
        weights = torch.arange(tensor.numel(), dtype=torch.float64).cos().reshape(tensor.shape)
        total = total + (tensor.double() * weights).sum()
    return total


def _backward(
    answer: Callable[..., Any], arguments: Sequence[Any], parameters: Sequence[Tensor]
) -> tuple[Any, list[Tensor], list[Tensor | None]]:
    """Call, go backwards, and return the output, the leaves, and the gradients at both kinds."""
    tensors, leaves = [], []
    for value in arguments:
        if isinstance(value, Tensor) and value.is_floating_point():
            value = value.detach().clone().requires_grad_()
            leaves.append(value)
        tensors.append(value)
    with torch.enable_grad():
        output = answer(*tensors)
        total = weigh(output)
    wanted = [*leaves, *parameters]
    grads: list[Tensor | None] = [None] * len(wanted)
    if wanted and total.requires_grad:
        grads = list(torch.autograd.grad(total, wanted, allow_unused=True))
    return output, leaves, grads


def _flat(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return []
    return [tensor for item in value for tensor in _flat(item)]


def _has_parameters(module: Any) -> bool:
    return isinstance(module, nn.Module) and any(True for _ in module.parameters())


def _method(answer: Any, name: str) -> Callable[..., Any] | None:
    """Return the proxy's own way to do it; a learner's module or function has none."""
    return getattr(type(answer), name, None) and getattr(answer, name)
