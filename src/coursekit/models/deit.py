"""DeiT: a ViT that learns from a teacher through a token of its own (Touvron et al., 2021).

A distillation token is beside the class token and has a head of its own. In training the class
head learns the label and the distillation head learns what the teacher says
(`coursekit.objectives.distillation`); at test time the two are averaged. Everything else is `ViT`,
and this file imports it, for a DeiT *is* a ViT with one more token and head. DeiT without
distillation, the 86M and 22M of the paper's table 1, is a `ViT` of the same sizes.

Where it departs from the paper: at test time the logits of the two heads are averaged, as in its
code; its text adds their softmaxes.
Shapes: B batch, C channels, N patches, D width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn

from coursekit._base.checks import check_int
from coursekit.models.patches import PatchEmbedding
from coursekit.models.vit import ViT, ViTConfig


@dataclass(frozen=True, kw_only=True)
class DeiTConfig(ViTConfig):
    """Sizes and choices of a `DeiT`: those of a `ViT` with one more token before the patches."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int(classes=self.classes)
        if self.pool != "class" or self.representation:
            raise ValueError(
                "the heads of a DeiT read the two tokens directly: pool must be 'class' and "
                f"representation 0, found {self.pool!r} and {self.representation}"
            )

    @property
    def prefix(self) -> int:
        """How many tokens come before the patches: class and distillation."""
        return 2

    @classmethod
    def tiny(cls, **changes: Any) -> Self:
        """Return DeiT-Ti⚗ (table 1), with the paper's stochastic depth."""
        sizes = {"width": 192, "heads": 3, "hidden": 768, "drop_path": 0.1}
        return cls(**(sizes | changes))

    @classmethod
    def small(cls, **changes: Any) -> Self:
        """Return DeiT-S⚗."""
        sizes = {"width": 384, "heads": 6, "hidden": 1536, "drop_path": 0.1}
        return cls(**(sizes | changes))

    @classmethod
    def base(cls, **changes: Any) -> Self:
        """Return DeiT-B⚗."""
        return cls(**({"drop_path": 0.1} | changes))


class DeiTLogits(NamedTuple):
    """What the two heads say."""

    label: Tensor  # (B, classes), read from the class token
    teacher: Tensor  # (B, classes), read from the distillation token

    def mean(self) -> Tensor:
        """-> (B, classes): the answer at test time."""
        return (self.label + self.teacher) / 2


class DeiT(ViT):
    """The data-efficient image Transformer with its distillation token."""

    class_token: nn.Parameter  # a ViT may lack both of these, a DeiT never does
    head: nn.Linear

    def __init__(self, config: DeiTConfig, *, backbone: nn.Module | None = None) -> None:
        super().__init__(config, backbone=backbone)
        self.distillation_token = nn.Parameter(torch.zeros(1, 1, config.width))
        self.distillation_head = nn.Linear(config.width, config.classes)
        for module in self.modules():  # the paper's code draws everything from one normal
            if isinstance(module, nn.Linear | PatchEmbedding):
                nn.init.trunc_normal_(module.weight, std=0.02)
                nn.init.zeros_(module.bias)
        for token in (self.class_token, self.distillation_token):
            nn.init.trunc_normal_(token, std=0.02)

    def prefix(self) -> Tensor:
        """-> (1, 2, D): the class token, then the distillation token."""
        return torch.cat([self.class_token, self.distillation_token], dim=1)

    def read_out(self, x: Tensor) -> Tensor:
        """x (B, 2 + N, D) -> logits (B, classes), the mean of the two heads."""
        return self.both(x).mean()

    def both(self, x: Tensor) -> DeiTLogits:
        """Read each head's logits, 2 × (B, classes), from the `features` x (B, 2 + N, D)."""
        return DeiTLogits(self.head(x[:, 0]), self.distillation_head(x[:, 1]))
