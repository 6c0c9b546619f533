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
        """Add the detour to the weight of the layer, in place, and return the layer alone."""
        self.frozen.weight += self.scale * self.B @ self.A  # (O, D)
        return self.frozen


def add_lora(model: Model, *, rank: int, alpha: float, names: Collection[str] = ("qkv",)) -> Model:
    """Freeze a model and give its linear layers of these names a detour, in place; return it.

    In the models of this course `qkv` makes queries, keys and values, `out` follows attention. What
    learns is the detours; a head that is added afterwards learns, too. Set torch's seed before.
    """
    if isinstance(names, str):
        raise TypeError(f"names must be several, found {names!r}: write ({names!r},)")
    model.requires_grad_(False)
    adapted = 0
    for part in list(model.modules()):
        for name, layer in list(part.named_children()):
            if name in names and isinstance(layer, nn.Linear):
                setattr(part, name, LoRA(layer, rank=rank, alpha=alpha))
                adapted += 1
    if not adapted:
        kind = type(model).__name__
        raise ValueError(f"{kind} has no linear layer called {' or '.join(names)}")
    return model


def merge_lora(model: Model) -> Model:
    """Add every detour to the weight beside it and remove it, in place; return the model."""
    for part in list(model.modules()):
        for name, layer in list(part.named_children()):
            if isinstance(layer, LoRA):
                setattr(part, name, layer.merge())
    return model


def learned_weights(model: nn.Module) -> dict[str, Tensor]:
    """Return copies of the weights that learn, by name: what there is to save.

    `model.load_state_dict(saved, strict=False)` puts them back into a model made in the same way.
    """
    return {name: weight.detach().clone()
            for name, weight in model.named_parameters() if weight.requires_grad}  # fmt: skip
