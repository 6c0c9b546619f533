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
            if own:
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
        items = {key: _mapped(item, change) for key, item in value.items()}
        return value if all(map(is_, items.values(), value.values())) else items
    return value


def _dtypes(value: Any) -> Iterator[torch.dtype]:
    if isinstance(value, Tensor):
        yield value.dtype
    elif isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _dtypes(item)
