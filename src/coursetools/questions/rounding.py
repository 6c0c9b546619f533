"""The same answer with more digits, and with inputs that are off by a rounding.

The first is as right as ours and must not lose a point for it. The second shows how far rounding
alone may take a right answer from ours: far where scores are in the thousands, since their last
digit is large, or where nearly equal numbers are subtracted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import is_
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.utils._python_dispatch import TorchDispatchMode

from coursetools.questions.trivial_answers import instead

ROUNDED = {torch.float32: 2.0**-24, torch.float64: 2.0**-53}  # how far, relatively
Change = Callable[[Tensor], Tensor]


def in_double(answer: Any) -> Any:
    """Return the same answer, computed in double precision from inputs in single."""
    return _changed(answer, _up)


def nudged(answer: Any, seed: int) -> Any:
    """Return the same answer for inputs that are each one rounding smaller or larger.

    Computed in double precision; inputs of one size are always nudged alike, so that what a case
    gives twice stays the same.
    """

    def nudge(tensor: Tensor) -> Tensor:
        if tensor.dtype not in ROUNDED:
            return tensor
        generator = torch.Generator().manual_seed(seed)
        signs = 2 * torch.randint(2, tensor.shape, generator=generator) - 1
        return _up(tensor) * (1 + ROUNDED[tensor.dtype] * signs)

    return _changed(answer, nudge)


def _changed(answer: Any, change: Change) -> Any:
    def wrap(function: Callable[..., Any], method: bool) -> Callable[..., Any]:
        def changed(*arguments: Any, **named: Any) -> Any:
            home = arguments[0] if method else None
            own = _tensors(home) if isinstance(home, nn.Module) else {}
            wide = torch.float64 in _dtypes([own, arguments[method:], named])
            given, named = _mapped(list(arguments[method:]), change), _mapped(named, change)
            if isinstance(home, nn.Module) and own:
                output = _with(home, function, own, change, given, named)
            else:
                output = function(*arguments[:method], *given, **named)
            return output if wide else _mapped(output, _down)

        return changed

    return instead(answer, wrap)


class _Runs(nn.Module):
    """Runs a function of a module as its forward pass, which `functional_call` asks for."""

    def __init__(self, home: nn.Module, function: Callable[..., Any]) -> None:
        super().__init__()
        self.home, self.function = home, function

    def forward(self, *arguments: Any, **named: Any) -> Any:
        return self.function(self.home, *arguments, **named)


def _with(
    home: nn.Module,
    function: Callable[..., Any],
    own: dict[str, Tensor],
    change: Change,
    arguments: list[Any],
    named: dict[str, Any],
) -> Any:
    """Call a module's function with other numbers in its place; what it has noted it keeps."""
    others = {f"home.{name}": change(value) for name, value in own.items()}
    output = functional_call(_Runs(home, function), others, tuple(arguments), named)
    with torch.no_grad():
        for name, buffer in home.named_buffers():
            buffer.copy_(others[f"home.{name}"])
    return output


def _tensors(home: nn.Module) -> dict[str, Tensor]:
    return {**dict(home.named_parameters()), **dict(home.named_buffers())}


def _up(tensor: Tensor) -> Tensor:
    return tensor.double() if tensor.dtype == torch.float32 else tensor


def _down(tensor: Tensor) -> Tensor:
    return tensor.float() if tensor.dtype == torch.float64 else tensor


def _mapped(value: Any, change: Change) -> Any:
    """Return a value with its tensors changed; a list in which none is stays the same list."""
    if isinstance(value, Tensor):
        return change(value)
    if type(value) in (list, tuple):
        items = [_mapped(item, change) for item in value]
        return value if all(map(is_, items, value)) else type(value)(items)
    if type(value) is dict:
        pairs = {key: _mapped(item, change) for key, item in value.items()}
        return value if all(map(is_, pairs.values(), value.values())) else pairs
    return value


def _dtypes(value: Any) -> Iterator[torch.dtype]:
    if isinstance(value, Tensor):
        yield value.dtype
    elif isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _dtypes(item)


def _softmax(x: Tensor, dim: int, _: bool) -> Tensor:
    return (x - x.logsumexp(dim, keepdim=True)).exp()


def _log_softmax(x: Tensor, dim: int, _: bool) -> Tensor:
    return x - x.logsumexp(dim, keepdim=True)


ELSEWISE = {  # equal on paper, and off by a rounding of the scores
    torch.ops.aten._softmax.default: _softmax,
    torch.ops.aten._log_softmax.default: _log_softmax,
}


class Rounded(TorchDispatchMode):
    """Rounds each result in single precision up or down, as another way to compute it might.

    What is exact stays as it is: a sum that needs no rounding, a maximum, a copy. The direction
    follows from the bits that are rounded away, so what a case computes twice is the same twice.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = 2 * seed + 1

    def __torch_dispatch__(
        self, function: Any, types: Any, arguments: Any = (), named: Any = None
    ) -> Any:
        named, other = named or {}, ELSEWISE.get(function)
        if other is not None and arguments[0].dtype == torch.float32:
            with self:
                return other(*arguments, **named)
        output = function(*arguments, **named)
        if _may_round(function) and torch.float32 in _dtypes(output):
            exact = self._exact(function, arguments, named)
            if exact is not None:
                return _paired(output, exact, self._rounded)
        return output

    def _exact(self, function: Any, arguments: Any, named: Any) -> Any:
        given = _mapped([list(arguments), named], _up)
        if torch.float64 not in _dtypes(given):
            return None  # numbers of its own, as in `arange`
        try:
            return function(*given[0], **given[1])
        except (RuntimeError, TypeError):
            return None

    def _rounded(self, single: Tensor, exact: Tensor) -> Tensor:
        if single.dtype != torch.float32 or exact.dtype != torch.float64:
            return single
        nearest = exact.float()
        over = exact - nearest.double()
        bits = (exact.contiguous().view(torch.int64) * (0x9E3779B97F4A7C1 * self._seed)) >> 40
        toward = torch.where(over > 0, torch.inf, -torch.inf).float()
        other = torch.nextafter(nearest, toward)
        turned = (bits & 1).bool() & (over != 0) & nearest.isfinite() & other.isfinite()
        return torch.where(turned, other, nearest)


def _may_round(function: Any) -> bool:
    """Return whether an operation makes numbers of its own: no view, no change in place."""
    returns = function._schema.returns
    return torch.Tag.nondeterministic_seeded not in function.tags and not any(
        one.alias_info is not None for one in returns
    )


def _paired(output: Any, exact: Any, change: Callable[[Tensor, Tensor], Tensor]) -> Any:
    if isinstance(output, Tensor):
        return change(output, exact)
    if isinstance(output, (list, tuple)):
        return type(output)(_paired(one, other, change) for one, other in zip(output, exact))
    return output
