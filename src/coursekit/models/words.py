"""Words as vectors, and vectors as words: one matrix for both (Press and Wolf, 2017).

Shapes: B batch, T length, D width, V vocabulary.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn


class WordEmbedding(nn.Embedding):
    """An `nn.Embedding` that can also be read backwards.

    Both readings are calls of this module, and nobody else touches its weight: what moves weights
    about (offloading, sharding) brings them when a module is called, and before that they may be
    elsewhere.
    """

    def forward(self, x: Tensor, bias: Tensor | None = None, *, scores: bool = False) -> Tensor:
        """Tokens x (B, T) -> (B, T, D); with `scores`, vectors x (..., D) -> (..., V).

        The score of a word says how well its vector agrees with x; `bias` (V,) is added to it.
        """
        return F.linear(x, self.weight, bias) if scores else super().forward(x)
