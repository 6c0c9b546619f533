"""How an answer was called last: what `check` shows of a case that fails."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


class Recorder:
    """Stands between the cases and the answer and remembers how it was called last."""

    def __init__(self, name: str, answer: Any) -> None:
        self.name, self.answer = name, answer
        self.call = ""  # "shares(scores: (2, 3))"
        self.misfits: dict[BaseException, str] = {}  # arguments that do not fit the signature

    def stand_in(self) -> Callable[..., Any]:
        """Return what the cases call in place of the answer."""

        def call(*arguments: Any, **named: Any) -> Any:
            self._note(self.name, self.answer, arguments, named)
            try:
                made = self.answer(*arguments, **named)
            except TypeError as error:
                self._fits(error, arguments, named)
                raise
            if isinstance(made, nn.Module):
                made.register_forward_pre_hook(self._forward, with_kwargs=True)
            return made

        return call

    def _forward(
        self, module: nn.Module, arguments: tuple[object, ...], named: dict[str, Any]
    ) -> None:
        self._note(f"{self.name}.forward", module.forward, arguments, named)

    def _note(
        self, name: str, function: Any, arguments: tuple[object, ...], named: dict[str, Any]
    ) -> None:
        try:
            bound = inspect.signature(function).bind(*arguments, **named).arguments
            flat = list(bound.items())
        except (TypeError, ValueError):
            flat = [("", value) for value in arguments] + list(named.items())
        lines = [f"{key}: {_said(value)}" if key else _said(value) for key, value in flat]
        self.call = f"{name}({', '.join(lines)})"

    def _fits(
        self, raised: TypeError, arguments: tuple[object, ...], named: dict[str, Any]
    ) -> None:
        try:
            signature = inspect.signature(self.answer)
            signature.bind(*arguments, **named)
        except TypeError as error:
            self.misfits[raised] = f"{self.name}{signature} cannot be called like this: {error}"
        except ValueError:
            pass


def _said(value: Any) -> str:
    if isinstance(value, Tensor):
        kind = "" if value.dtype == torch.float32 else f" {str(value.dtype).removeprefix('torch.')}"
        return f"{tuple(value.shape)}{kind}"
    if isinstance(value, dict):
        return "{...}"
    if type(value) in (list, tuple) and any(isinstance(item, Tensor) for item in value):
        text = ("[{}]" if type(value) is list else "({})").format(", ".join(map(_said, value)))
    else:
        text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
