"""What a model computes on the way: every layer's states and every head's attention weights.

A model returns its answer and nothing else; `capture` runs it once and records at its layers. The
book uses it in "Many heads", "BERT" and wherever it looks inside a trained model.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from torch import Tensor, nn


@dataclass
class Recording:
    """One call of a model: its `output`, and what its layers computed, first layer first.

    Names are those of the model's attributes without the blocks' numbers: `weights` of a `GPT` is
    {"stack.self_attention": [(B, H, T, S), …]}, `states` is {"stack": [(B, T, D), …]}, the input of
    the first block and the output of each.
    """

    output: Any = None
    weights: dict[str, list[Tensor]] = field(default_factory=lambda: defaultdict(list))
    states: dict[str, list[Tensor]] = field(default_factory=lambda: defaultdict(list))


def capture(model: nn.Module, *inputs: Any, **options: Any) -> Recording:
    """Call `model` with `inputs` and `options`, and return its output with what its layers did.

    Attention weights are computed by each module's own `weights`, from what the module was called
    with. Gradients flow as in any other call; write `torch.no_grad()` where none are needed.
    """
    recording = Recording()
    hooks = []
    for path, module in model.named_modules():
        if callable(getattr(module, "weights", None)):
            listen = partial(_record_weights, recording.weights[_name(path)])
            hooks.append(module.register_forward_hook(listen, with_kwargs=True))
        blocks = getattr(module, "blocks", None)
        if isinstance(blocks, nn.ModuleList):
            states = recording.states[path]
            hooks.append(blocks[0].register_forward_pre_hook(partial(_record_input, states)))
            hooks += [
                block.register_forward_hook(partial(_record_state, states)) for block in blocks
            ]
    try:
        recording.output = model(*inputs, **options)
    finally:
        for hook in hooks:
            hook.remove()
    return recording


def _name(path: str) -> str:
    """Return an attention module's path without the numbers of its blocks."""
    return re.sub(r"(^|\.)blocks\.\d+", "", path).lstrip(".")


def _record_weights(
    weights: list[Tensor],
    module: Any,
    inputs: tuple[Tensor, ...],
    options: dict[str, Any],
    output: Tensor,
) -> None:
    if options.get("cache") is not None:
        raise ValueError("weights are recorded of a call without a cache, found one with a cache")
    options = {name: value for name, value in options.items() if name in _OF_WEIGHTS}
    weights.append(module.weights(*inputs[:2], **options))


_OF_WEIGHTS = ("key", "mask", "causal", "bias", "position_ids")


def _record_input(states: list[Tensor], module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
    states.append(inputs[0])


def _record_state(
    states: list[Tensor], module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor
) -> None:
    states.append(output)
