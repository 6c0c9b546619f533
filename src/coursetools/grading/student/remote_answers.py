"""In a student's process: what stands for earlier answers of theirs that are wrong.

A right answer must not lose its points because it calls a wrong one. So it is judged again with
ours in that one's place. Ours never gets into this process: what is here sends its arguments to
the judge and gets back what comes of them, and, going backwards, the gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from coursetools.grading.student import wire

Ask = Callable[[dict[str, Any], list[Any]], tuple[dict[str, Any], list[memoryview]]]


def made(kinds: dict[str, str], ask: Ask) -> dict[str, Any]:
    """Return, by name, what stands for each function or class."""
    return {
        name: _class(name, ask) if kind == "class" else _function(name, ask)
        for name, kind in kinds.items()
    }


def _function(name: str, ask: Ask) -> Callable[..., Any]:
    def stand_in(*arguments: Any, **named: Any) -> Any:
        return _asked(ask, {"do": "call", "name": name}, [arguments, named])

    stand_in.__name__ = stand_in.__qualname__ = name
    return stand_in


def _class(name: str, ask: Ask) -> type[nn.Module]:
    class StandIn(nn.Module):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__()
            self._made = [arguments, named]
            encoder = wire.Encoder(_refuse)
            message = {"do": "make", "name": name, "values": encoder.encode(self._made)}
            for path, value in _answer(ask, message, encoder.buffers).items():
                *parents, leaf = path.split(".")
                home: nn.Module = self
                for parent in parents:
                    if parent not in home._modules:
                        home.add_module(parent, nn.Module())
                    home = home.get_submodule(parent)
                if value.requires_grad:
                    home.register_parameter(leaf, nn.Parameter(value.detach()))
                else:
                    home.register_buffer(leaf, value)

        def forward(self, *arguments: Any, **named: Any) -> Any:
            message = {"do": "forward", "name": name}
            tensors = {**dict(self.named_parameters()), **dict(self.named_buffers())}
            return _asked(ask, message, [self._made, tensors, self.training, arguments, named])

    StandIn.__name__ = StandIn.__qualname__ = name
    return StandIn


def _asked(ask: Ask, message: dict[str, Any], values: Any) -> Any:
    """Return what the judge answers; part of the graph wherever an argument is."""
    encoder = wire.Encoder(_refuse)
    message = message | {"values": encoder.encode(values)}
    value = _answer(ask, message, encoder.buffers)
    wanted = [a for a in encoder.arrays if isinstance(a, Tensor) and a.requires_grad]
    outputs = [tensor for tensor in tensors_in(value) if tensor.requires_grad]
    if not (wanted and outputs and torch.is_grad_enabled()):
        return _put(value, iter([tensor.detach() for tensor in outputs]))
    backwards = (ask, message, encoder.buffers, [tensor.detach() for tensor in outputs])
    return _put(value, iter(_Elsewhere.apply(backwards, *wanted)))


def _answer(ask: Ask, message: dict[str, Any], buffers: list[Any]) -> Any:
    answer, arrays = ask(message, buffers)
    if "error" in answer:
        raise RuntimeError(answer["error"])
    return wire.Decoder(arrays, _refuse, grad=True).decode(answer["value"])


class _Elsewhere(torch.autograd.Function):
    """A step of the graph that is computed by the judge."""

    @staticmethod
    def forward(ctx: Any, backwards: Any, *wanted: Tensor) -> tuple[Tensor, ...]:
        *ctx.question, outputs = backwards
        ctx.set_materialize_grads(True)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Any, ...]:
        ask, message, buffers = ctx.question
        encoder = wire.Encoder(_refuse)
        encoder.buffers = list(buffers)
        message = message | {"grads": encoder.encode(list(grads))}
        return (None, *_answer(ask, message, encoder.buffers))


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Yield the tensors of a value, in their order."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(item)


def _put(value: Any, outputs: Iterator[Tensor]) -> Any:
    """Return a value again, the tensors in it that have gradients replaced in turn."""
    if isinstance(value, Tensor):
        return next(outputs) if value.requires_grad else value
    if isinstance(value, dict):
        return {key: _put(item, outputs) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_put(item, outputs) for item in value)
    return value


def _refuse(value: Any) -> Any:
    raise TypeError(f"ours takes plain values only, found {type(value).__name__}")
