"""LoRA: the weights stay as they are, and a few new ones beside them learn (Hu et al., 2022).

Beside a matrix W of a trained model comes a product of two thin ones, and these alone learn. What a
task needs of its own is then small, and once the product is added to W the model is what it was,
in size and in speed. The book explains it in "Fine-tuning practice".
Shapes: D what goes into a layer, O what comes out, r rank.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar

import torch
from torch import Tensor, nn

from coursekit._base.checks import check_int, check_positive

Model = TypeVar("Model", bound=nn.Module)


class LoRA(nn.Module):
    """A frozen linear layer with a detour beside it: W x + (alpha / rank) · B A x.

    B starts at zero, so a new detour changes nothing; A is random, or neither would ever learn.
    """

    def __init__(self, frozen: nn.Linear, *, rank: int, alpha: float) -> None:
        super().__init__()
        check_int(rank=rank)
        check_positive(alpha=alpha)
        out, width = frozen.weight.shape
        self.frozen = frozen.requires_grad_(False)
        self.A = nn.Parameter(frozen.weight.new_empty(rank, width))  # (r, D)
        self.B = nn.Parameter(frozen.weight.new_zeros(out, rank))  # (O, r)
        nn.init.normal_(self.A, std=width**-0.5)
        self.scale = alpha / rank

    def forward(self, x: Tensor) -> Tensor:
        """x (…, D) -> (…, O)."""
        detour = x @ self.A.T @ self.B.T  # (…, D) -> (…, r) -> (…, O)
        return self.frozen(x) + self.scale * detour

    @torch.no_grad()
    def merge(self) -> nn.Linear:
        """Give the layer the sum of its weight and the detour, and return the layer alone.

        The sum is a new tensor: a weight that is tied to another layer's stays there as it was.
        """
        merged = self.frozen.weight + self.scale * self.B @ self.A  # (O, D)
        self.frozen.weight = nn.Parameter(merged, requires_grad=False)
        return self.frozen


def add_lora(model: Model, *, rank: int, alpha: float, names: Collection[str] = ("qkv",)) -> Model:
    """Freeze a model and give its linear layers of these names a detour, in place; return it.

    In the models of this course `qkv` makes queries, keys and values, `out` follows attention. What
    learns is the detours; a head that is added afterwards learns, too. A layer that is used in
    several places has one detour. Set torch's seed before.
    """
    if isinstance(names, str):
        raise TypeError(f"names must be several, found {names!r}: write ({names!r},)")
    model.requires_grad_(False)
    adapted: dict[nn.Module, LoRA] = {}  # the layers, each once, and their detours
    for part, name, layer in _places(model):
        if name in names and isinstance(layer, nn.Linear):
            if layer not in adapted:
                adapted[layer] = LoRA(layer, rank=rank, alpha=alpha)
            setattr(part, name, adapted[layer])
    if not adapted:
        kind = type(model).__name__
        raise ValueError(f"{kind} has no linear layer called {' or '.join(names)}")
    return model


def merge_lora(model: Model) -> Model:
    """Add every detour to the weight beside it and remove it, in place; return the model."""
    merged: dict[LoRA, nn.Linear] = {}
    for part, name, layer in _places(model):
        if isinstance(layer, LoRA):
            if layer not in merged:
                merged[layer] = layer.merge()
            setattr(part, name, merged[layer])
    return model


def _places(model: nn.Module) -> list[tuple[nn.Module, str, nn.Module]]:
    """Return (module, name, child) for every place of every child, also of one with several."""
    return [
        (part, name, child)
        for part in model.modules()
        for name, child in part._modules.items()
        if child is not None
    ]


def learned_weights(model: nn.Module) -> dict[str, Tensor]:
    """Return copies of the weights that learn, by name: what there is to save.

    `model.load_state_dict(saved, strict=False)` puts them back into a model made in the same way.
    """
    return {name: weight.detach().clone()
            for name, weight in model.named_parameters() if weight.requires_grad}  # fmt: skip
